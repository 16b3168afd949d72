"""Hostile files, arguments and arrays: made, read in processes of their own, and judged."""
