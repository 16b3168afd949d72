"""Records in databases, and in what other libraries hand over in Arrow batches."""
