"""Differentially private clustering: a private mixture of Gaussians and its Morse structure."""

from dpmorse._facade import names_of

__version__ = "0.1.0"

__getattr__, __dir__, _names = names_of(__name__, __file__)
__all__ = [name for name in _names if name not in {"DataFiles", "Query"}]  # they need pyarrow
