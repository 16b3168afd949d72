"""The default base: a mixture that is measured in stages, each in units found by the one before."""

from dpmorse.bases.staged.private_gaussian_mixture import PrivateGaussianMixture as PrivateGaussianMixture
from dpmorse.bases.staged.private_gaussian_mixture import default_n_components as default_n_components
