"""Records in memory: arrays, lists and data frames."""
