"""What it takes to write a base of your own; docs/bases.md is the guide.

A base spends a budget on records and releases a mixture of Gaussians. Derive from ``PrivateFit``: it checks
the input, reserves the budget, reads the records, reports, saves and loads, and leaves two questions to
you: what may be spent (``_plan``), and what is released (``_release``). ``Releases`` answers in exact sums
with noise.
"""

from dpmorse.estimators._bases import ENTRY_POINTS as ENTRY_POINTS
from dpmorse.estimators._bases import available_bases as available_bases
from dpmorse.estimators._centres import CentreBase as CentreBase
from dpmorse.estimators._centres import CentrePlan as CentrePlan
from dpmorse.estimators._centres import CentreSettings as CentreSettings
from dpmorse.estimators._fitting import PrivateFit as PrivateFit
from dpmorse.estimators._fitting import Released as Released
from dpmorse.estimators._releases import Releases as Releases
from dpmorse.estimators._settings import Settings as Settings
from dpmorse.estimators._settings import common_values as common_values
from dpmorse.estimators._stages import Stage as Stage
from dpmorse.estimators._stages import Stages as Stages
from dpmorse.statistics import BinaryCodes as BinaryCodes
from dpmorse.statistics import CellMoments as CellMoments
from dpmorse.statistics import Domain as Domain
from dpmorse.statistics import GaussianCells as GaussianCells
from dpmorse.statistics import MomentShares as MomentShares
from dpmorse.statistics import SecondMoments as SecondMoments
