"""Hostile files, arguments and arrays: how they are made, read in processes of their own, and judged."""
