"""Whose record each row is, and which rows of a person are used."""
