"""What it takes to write a base of your own; docs/bases.md is the guide.

A base spends a budget on records and releases a mixture of Gaussians. Derive from ``PrivateFit``: it checks
the input, reserves the budget, reads the records, reports, saves and loads, and leaves two questions to
you: what may be spent (``_plan``), and what is released (``_release``). ``Queries`` answers in exact sums
with noise.
"""

from dpmorse.bases.base import FitResult as FitResult
from dpmorse.bases.base import PrivateFit as PrivateFit
from dpmorse.bases.centres import DPCube as DPCube
from dpmorse.bases.centres import DPLloyd as DPLloyd
from dpmorse.bases.centres import DPTree as DPTree
from dpmorse.bases.centres.base import CentreBase as CentreBase
from dpmorse.bases.centres.base import CentrePlan as CentrePlan
from dpmorse.bases.centres.base import CentreSettings as CentreSettings
from dpmorse.bases.em import DPMoG as DPMoG
from dpmorse.bases.em import DPMoGHard as DPMoGHard
from dpmorse.bases.plan import Stage as Stage
from dpmorse.bases.plan import Stages as Stages
from dpmorse.bases.queries import Queries as Queries
from dpmorse.bases.registry import ENTRY_POINTS as ENTRY_POINTS
from dpmorse.bases.registry import available_bases as available_bases
from dpmorse.bases.settings import Settings as Settings
from dpmorse.bases.settings import common_values as common_values
from dpmorse.bases.staged import PrivateGaussianMixture as PrivateGaussianMixture
from dpmorse.statistics import BinaryCodes as BinaryCodes
from dpmorse.statistics import CellMoments as CellMoments
from dpmorse.statistics import Domain as Domain
from dpmorse.statistics import GaussianCells as GaussianCells
from dpmorse.statistics import MomentShares as MomentShares
from dpmorse.statistics import SecondMoments as SecondMoments
