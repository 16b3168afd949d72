"""Public tower, part 1: released densities. Never imports the private tower, never sees data."""

from dpmorse.densities.differing import DifferingPart as DifferingPart
from dpmorse.densities.differing import differing_part as differing_part
from dpmorse.densities.mixture import GaussianMixture as GaussianMixture
from dpmorse.densities.mixture import carried as carried
from dpmorse.densities.mixture import rows_of_each as rows_of_each
from dpmorse.densities.product import SMALLEST_GINI as SMALLEST_GINI
from dpmorse.densities.product import ProductMixture as ProductMixture
from dpmorse.densities.shrinkage import floor_spectrum as floor_spectrum
from dpmorse.densities.shrinkage import james_stein as james_stein
from dpmorse.densities.shrinkage import rebuild as rebuild
from dpmorse.densities.shrinkage import shrink_to_identity as shrink_to_identity
