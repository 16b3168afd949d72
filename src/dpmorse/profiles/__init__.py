"""Public tower, part 2: numbers about clusters that may be published, each with its interval."""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
