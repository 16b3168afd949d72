"""Private tower, part 1: budgets, noise, accounting. Nothing here knows what the data mean.

Other packages import from here. What draws random numbers (``sampler``, ``random_bytes``,
``opendp_noise``) is left out on purpose: whoever needs it imports those modules by name, and an import rule
in pyproject.toml says who must not. So are ``sealed`` and ``opened``, which only the private tower may use.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
