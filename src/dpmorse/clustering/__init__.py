"""Clusters of a released mixture: the default estimator, the Morse step on any base, and loading."""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
