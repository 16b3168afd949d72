"""Private tower, part 3: how exact sums are computed. An engine never adds noise."""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
