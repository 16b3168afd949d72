"""What it takes to write a base of your own; docs/bases.md is the guide.

A base spends a budget on records and releases a mixture of Gaussians. Derive from ``PrivateFit``: it checks
the input, reserves the budget, reads the records, reports, saves and loads, and leaves two questions to
you: what shares of the budget its stages get (``stages``), and what is asked (``release``). ``Queries``
answers with released values.
"""

from dpmorse._facade import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
