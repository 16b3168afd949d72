"""Private tower, part 2: what is summed over records, and how far one record can move it.

Other packages import from here.
"""

from dpmorse.statistics.cells import EXP_TABLE as EXP_TABLE
from dpmorse.statistics.cells import LARGEST_N_CELLS as LARGEST_N_CELLS
from dpmorse.statistics.cells import LARGEST_RESIDUAL as LARGEST_RESIDUAL
from dpmorse.statistics.cells import ROUNDING_BITS as ROUNDING_BITS
from dpmorse.statistics.cells import WEIGHT_BITS as WEIGHT_BITS
from dpmorse.statistics.cells import GaussianCells as GaussianCells
from dpmorse.statistics.codes import LARGEST_N_BITS as LARGEST_N_BITS
from dpmorse.statistics.codes import BinaryCodes as BinaryCodes
from dpmorse.statistics.codes import NearestCubes as NearestCubes
from dpmorse.statistics.codes import PrefixCells as PrefixCells
from dpmorse.statistics.codes import Tally as Tally
from dpmorse.statistics.codes import counts_starting_with as counts_starting_with
from dpmorse.statistics.counts import GroupCounts as GroupCounts
from dpmorse.statistics.domain import GRID_BITS as GRID_BITS
from dpmorse.statistics.domain import PRIVATE as PRIVATE
from dpmorse.statistics.domain import Domain as Domain
from dpmorse.statistics.domain import shrink_to_ball as shrink_to_ball
from dpmorse.statistics.histograms import BIN_BITS as BIN_BITS
from dpmorse.statistics.histograms import N_BINS as N_BINS
from dpmorse.statistics.histograms import N_MAGNITUDES as N_MAGNITUDES
from dpmorse.statistics.histograms import SMALLEST_EXPONENT as SMALLEST_EXPONENT
from dpmorse.statistics.histograms import ColumnHistograms as ColumnHistograms
from dpmorse.statistics.histograms import MagnitudeHistograms as MagnitudeHistograms
from dpmorse.statistics.moments import CellMoments as CellMoments
from dpmorse.statistics.scales import MomentShares as MomentShares
from dpmorse.statistics.scales import NoiseScales as NoiseScales
from dpmorse.statistics.sensitivity import SecondMoments as SecondMoments
from dpmorse.statistics.sums import ExactMoments as ExactMoments
from dpmorse.statistics.sums import NoisyMoments as NoisyMoments
from dpmorse.statistics.swaps import SwapCosts as SwapCosts
