"""Private tower, part 4: where records are, from arrays to clusters. Each kind brings the engine it needs."""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
