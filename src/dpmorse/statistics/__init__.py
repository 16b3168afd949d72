"""Private tower, part 2: what is summed over records, and how far one record can move it.

Other packages import from here.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
