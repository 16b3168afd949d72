"""What it takes to write a base of your own; docs/bases.md is the guide.

A base spends a budget on records and releases a mixture of Gaussians. Derive from ``PrivateFit``: it checks
the input, reserves the budget, reads the records, reports, saves and loads, and leaves two questions to
you: what shares of the budget its stages get (``stages``), and what is asked (``release``). ``Queries``
answers with released values.
"""

from dpmorse.bases.base import FitResult as FitResult
from dpmorse.bases.base import PrivateFit as PrivateFit
from dpmorse.bases.centres import DPCube as DPCube
from dpmorse.bases.centres import DPLloyd as DPLloyd
from dpmorse.bases.centres import DPTree as DPTree
from dpmorse.bases.centres.base import CENTRES as CENTRES
from dpmorse.bases.centres.base import CentreBase as CentreBase
from dpmorse.bases.centres.base import CentrePlan as CentrePlan
from dpmorse.bases.centres.base import CentreSettings as CentreSettings
from dpmorse.bases.em import DPMoG as DPMoG
from dpmorse.bases.em import DPMoGHard as DPMoGHard
from dpmorse.bases.labelling import Label as Label
from dpmorse.bases.labelling import OfClipped as OfClipped
from dpmorse.bases.labelling import each_record as each_record
from dpmorse.bases.mixture_estimator import NO_LABELS as NO_LABELS
from dpmorse.bases.mixture_estimator import PrivateMixtureEstimator as PrivateMixtureEstimator
from dpmorse.bases.mixture_estimator import draw_records as draw_records
from dpmorse.bases.mixture_estimator import set_at_once as set_at_once
from dpmorse.bases.plan import Plan as Plan
from dpmorse.bases.plan import Stage as Stage
from dpmorse.bases.plan import SumsOf as SumsOf
from dpmorse.bases.queries import Queries as Queries
from dpmorse.bases.queries import Tallied as Tallied
from dpmorse.bases.registry import ENTRY_POINTS as ENTRY_POINTS
from dpmorse.bases.registry import available_bases as available_bases
from dpmorse.bases.registry import base_from_document as base_from_document
from dpmorse.bases.rehearsal import Rehearsed as Rehearsed
from dpmorse.bases.rehearsal import rehearse as rehearse
from dpmorse.bases.settings import Settings as Settings
from dpmorse.bases.settings import parameter as parameter
from dpmorse.bases.staged import PrivateGaussianMixture as PrivateGaussianMixture
from dpmorse.bases.staged import default_n_components as default_n_components
from dpmorse.statistics import BinaryCodes as BinaryCodes
from dpmorse.statistics import CellMoments as CellMoments
from dpmorse.statistics import Domain as Domain
from dpmorse.statistics import GaussianCells as GaussianCells
from dpmorse.statistics import MomentShares as MomentShares
from dpmorse.statistics import SecondMoments as SecondMoments
