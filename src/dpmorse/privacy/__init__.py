"""Private tower, part 1: budgets, noise, accounting. Nothing here knows what the data mean.

Other packages import from here. What draws random numbers (``sampler``, ``random_bytes``,
``opendp_noise``) is left out on purpose: whoever needs it imports those modules by name, and an import rule
in pyproject.toml says who must not. So are ``sealed`` and ``opened``, which only the private tower may use.
"""

from dpmorse.privacy.accounting import Calibration as Calibration
from dpmorse.privacy.accounting import gaussian_epsilon as gaussian_epsilon
from dpmorse.privacy.budget import DEFAULT_DELTA as DEFAULT_DELTA
from dpmorse.privacy.budget import Budget as Budget
from dpmorse.privacy.budget import Neighboring as Neighboring
from dpmorse.privacy.events import Composition as Composition
from dpmorse.privacy.events import ReleaseEvent as ReleaseEvent
from dpmorse.privacy.events import event_from_dict as event_from_dict
from dpmorse.privacy.events import event_to_dict as event_to_dict
from dpmorse.privacy.events import release_event as release_event
from dpmorse.privacy.events import same_events as same_events
from dpmorse.privacy.exact import Exact as Exact
from dpmorse.privacy.ledger import Ledger as Ledger
from dpmorse.privacy.ledger_file import FileLedger as FileLedger
from dpmorse.privacy.mechanism import Mechanism as Mechanism
from dpmorse.privacy.mechanism import PlannedChoice as PlannedChoice
from dpmorse.privacy.mechanism import PlannedRelease as PlannedRelease
from dpmorse.privacy.noise import CHOICE as CHOICE
from dpmorse.privacy.noise import GAUSSIAN as GAUSSIAN
from dpmorse.privacy.noise import LAPLACE as LAPLACE
from dpmorse.privacy.noise import LARGEST_SCALE as LARGEST_SCALE
from dpmorse.privacy.noise import SMALLEST_SCALE as SMALLEST_SCALE
from dpmorse.privacy.noise import GaussianNoise as GaussianNoise
from dpmorse.privacy.noise import LaplaceNoise as LaplaceNoise
from dpmorse.privacy.noise import Law as Law
from dpmorse.privacy.noise import Noise as Noise
from dpmorse.privacy.noise import NoiseSampler as NoiseSampler
from dpmorse.privacy.noise import Norm as Norm
from dpmorse.privacy.noise import RandomChoice as RandomChoice
from dpmorse.privacy.noise import noise_of_sums as noise_of_sums
from dpmorse.privacy.noise import refuse_pure as refuse_pure
from dpmorse.privacy.report import PrivacyReport as PrivacyReport
from dpmorse.privacy.steps import Step as Step
