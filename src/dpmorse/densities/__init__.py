"""Public tower, part 1: released densities. Never imports the private tower, never sees data."""

from dpmorse.densities.carrying import carried as carried
from dpmorse.densities.mixture import GaussianMixture as GaussianMixture
