"""Private tower, part 2: sums over records, and their sensitivities.

Other packages import from here.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
