"""The default base: a mixture that is measured in stages, each in units found by the one before."""
