"""Private tower, part 2: what is summed over records, and how far one record can move it."""

from dpmorse.statistics.cells import GaussianCells as GaussianCells
from dpmorse.statistics.domain import Domain as Domain
from dpmorse.statistics.moments import CellMoments as CellMoments
from dpmorse.statistics.moments import ExactMoments as ExactMoments
from dpmorse.statistics.moments import MomentShares as MomentShares
from dpmorse.statistics.moments import NoisyMoments as NoisyMoments
