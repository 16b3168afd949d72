"""The name of the default base for tables with stated columns."""

from dataclasses import dataclass

from dpmorse.bases.staged.private_gaussian_mixture import PrivateGaussianMixture


@dataclass(eq=False, repr=False)
class PrivateTableMixture(PrivateGaussianMixture):
    """``PrivateGaussianMixture`` of a table whose ``columns`` are stated."""
