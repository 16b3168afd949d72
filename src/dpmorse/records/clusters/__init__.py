"""Records in partitions that may be on many machines: Dask and Spark."""
