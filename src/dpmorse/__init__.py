"""Differentially private clustering: a private mixture of Gaussians and its Morse structure."""

from typing import Any

from dpmorse._progress import Progress as Progress
from dpmorse._progress import progress as progress
from dpmorse.bases import DPCube as DPCube
from dpmorse.bases import DPLloyd as DPLloyd
from dpmorse.bases import DPMoG as DPMoG
from dpmorse.bases import DPMoGHard as DPMoGHard
from dpmorse.bases import DPTree as DPTree
from dpmorse.bases import PrivateGaussianMixture as PrivateGaussianMixture
from dpmorse.bases import PrivateTableMixture as PrivateTableMixture
from dpmorse.clustering import DPMorse as DPMorse
from dpmorse.clustering import MorseClustering as MorseClustering
from dpmorse.clustering import load as load
from dpmorse.densities import GaussianMixture as GaussianMixture
from dpmorse.engine import InMemoryEngine as InMemoryEngine
from dpmorse.exceptions import BudgetExceededError as BudgetExceededError
from dpmorse.exceptions import DPMorseError as DPMorseError
from dpmorse.exceptions import InvalidParameterError as InvalidParameterError
from dpmorse.exceptions import InvalidTypeError as InvalidTypeError
from dpmorse.exceptions import ModelFormatError as ModelFormatError
from dpmorse.exceptions import NoisyModelWarning as NoisyModelWarning
from dpmorse.exceptions import PrivacyLeakWarning as PrivacyLeakWarning
from dpmorse.exceptions import TreeNotBuiltError as TreeNotBuiltError
from dpmorse.exceptions import WorkersLostError as WorkersLostError
from dpmorse.privacy import Budget as Budget
from dpmorse.privacy import FileLedger as FileLedger
from dpmorse.privacy import Ledger as Ledger
from dpmorse.privacy import PrivacyReport as PrivacyReport
from dpmorse.schema import Boolean as Boolean
from dpmorse.schema import Date as Date
from dpmorse.schema import Nominal as Nominal
from dpmorse.schema import Numeric as Numeric
from dpmorse.schema import Ordinal as Ordinal
from dpmorse.schema import Schema as Schema
from dpmorse.statistics import MomentShares as MomentShares

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load what needs an optional library only when it is asked for."""
    if name in {"DataFiles", "Query"}:
        from dpmorse import records  # noqa: PLC0415 - they need pyarrow

        return getattr(records, name)
    raise AttributeError(f"module 'dpmorse' has no attribute {name!r}")
