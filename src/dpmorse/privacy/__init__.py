"""Private tower, part 1: budgets, noise, accounting. Nothing here knows what the data mean."""

from dpmorse.privacy.budget import DEFAULT_DELTA as DEFAULT_DELTA
from dpmorse.privacy.budget import Budget as Budget
from dpmorse.privacy.budget import Neighboring as Neighboring
from dpmorse.privacy.calibration import SMALLEST_SCALE as SMALLEST_SCALE
from dpmorse.privacy.calibration import Calibration as Calibration
from dpmorse.privacy.calibration import affordable_epsilon as affordable_epsilon
from dpmorse.privacy.calibration import affordable_rho as affordable_rho
from dpmorse.privacy.calibration import refuse_pure as refuse_pure
from dpmorse.privacy.event_records import event_from_dict as event_from_dict
from dpmorse.privacy.event_records import event_to_dict as event_to_dict
from dpmorse.privacy.event_records import same_events as same_events
from dpmorse.privacy.events import Composition as Composition
from dpmorse.privacy.events import Noise as Noise
from dpmorse.privacy.events import ReleaseEvent as ReleaseEvent
from dpmorse.privacy.events import noise_of_sums as noise_of_sums
from dpmorse.privacy.events import release_event as release_event
from dpmorse.privacy.exact import Exact as Exact
from dpmorse.privacy.ledger import Ledger as Ledger
from dpmorse.privacy.ledger_file import FileLedger as FileLedger
from dpmorse.privacy.mechanism import Mechanism as Mechanism
from dpmorse.privacy.mechanism import PlannedChoice as PlannedChoice
from dpmorse.privacy.mechanism import PlannedRelease as PlannedRelease
from dpmorse.privacy.report import PrivacyReport as PrivacyReport
from dpmorse.privacy.steps import Step as Step
