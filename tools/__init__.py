"""Tools of releases: lock files, distributions built twice, a bill of materials."""
