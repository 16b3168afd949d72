"""Private tower, part 1: budgets, noise, accounting. Nothing here knows what the data mean.

Other packages import from here. The modules that draw random numbers (``sampler``, ``random_bytes``,
``opendp_noise``) are left out on purpose: code that needs them imports them by name, and an import rule in
pyproject.toml says which code must not. So are ``sealed`` and ``opened``, which are for the private tower
alone.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
