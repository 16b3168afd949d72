"""Private tower, part 1: budgets, noise, accounting. Nothing here knows what the data mean."""

from dpmorse.privacy.budget import DEFAULT_DELTA as DEFAULT_DELTA
from dpmorse.privacy.budget import Budget as Budget
from dpmorse.privacy.budget import Neighboring as Neighboring
from dpmorse.privacy.calibration import Calibration as Calibration
from dpmorse.privacy.events import Noise as Noise
from dpmorse.privacy.events import ReleaseEvent as ReleaseEvent
from dpmorse.privacy.ledger import Ledger as Ledger
from dpmorse.privacy.ledger_file import FileLedger as FileLedger
from dpmorse.privacy.mechanism import Mechanism as Mechanism
from dpmorse.privacy.mechanism import PlannedChoice as PlannedChoice
from dpmorse.privacy.mechanism import PlannedRelease as PlannedRelease
from dpmorse.privacy.report import PrivacyReport as PrivacyReport
