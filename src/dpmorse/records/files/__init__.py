"""Records in files: how each is written, its columns, and its rows in batches."""
