"""A mixture for tables with categories and holes: its stages, in the order in which they are made."""
