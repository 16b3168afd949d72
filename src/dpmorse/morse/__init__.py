"""Public tower, part 2: modes, saddles and merge trees of released densities. Never sees data.

Other packages import from here; ``morse.critical`` offers the parts of the search, ``morse.rules`` what it
takes to write a merge rule.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
