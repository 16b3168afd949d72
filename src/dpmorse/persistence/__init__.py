"""Model files: released values as JSON, every field checked when it is read back."""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
