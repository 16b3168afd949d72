"""What the columns of a table are: public facts, which both towers may know.

Other packages import from here.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
