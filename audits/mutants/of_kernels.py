"""Mistakes in the passes over records, and in the costs of profiles."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import AUDITED, KERNELS, MOVED

_COMPARED = "tests/audit/test_kernels.py"
_IN_PROFILES = f"{AUDITED}[PrivateGaussianMixture-2-add-remove-1.0]"

OF_KERNELS = (
    Mutant(
        "memberships are rounded to the nearest, and add up to more than 1",
        (
            Change(
                f"{KERNELS}:_memberships", "np.floor(score[r] * _WEIGHT_ONE", "np.rint(score[r] * _WEIGHT_ONE"
            ),
        ),
        (_COMPARED,),
    ),
    Mutant(
        "close calls are left to single precision",
        (Change(f"{KERNELS}:_settle", "if in_doubt[r]:", "if in_doubt[r] and r < 0:"),),
        (_COMPARED,),
    ),
    Mutant(
        "a record is counted in two bins of lengths",
        (
            Change(
                f"{KERNELS}:_count_lengths",
                "            counts[place] += 1",
                "            counts[place] += 1\n            counts[0] += 1",
            ),
        ),
        (_COMPARED,),
    ),
    Mutant(
        "profiles are measured in the ball",
        (
            Change(
                f"{KERNELS}:hard_pass",
                "_quantise(X, begin, begin + n, measured.grid, whole)",
                "_quantise(X, begin, begin + n, nearest.grid, whole)",
            ),
        ),
        (_COMPARED,),
    ),
    Mutant(
        "integers of one domain answer for another",
        (
            Change(
                "dpmorse.engine.source:_reducing",
                "domain is None or not domain.is_same_as(statistic.domain)",
                "domain is None",
            ),
        ),
        ("tests/engine/test_on_grid.py",),
    ),
    Mutant(
        "lengths cost as much as the whole profile",
        (
            Change(
                "dpmorse.bases.staged.profile:Questions.lengths",
                "LENGTHS * self.stage.cost",
                "self.stage.cost",
            ),
        ),
        (_IN_PROFILES,),
        "profiles",
    ),
    Mutant(
        "moments of a profile with half their sensitivity",
        (
            Change(
                "dpmorse.statistics.moments:CellMoments.largest_squared_norm",
                "return Fraction(1 if self.n_measured else 0)",
                "return Fraction(1, 2)",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "counts of lengths with half their sensitivity",
        (
            Change(
                "dpmorse.statistics.profiles:RadiusHistograms.counts",
                "GroupCounts(self.cells.n_cells * self.n_bins)",
                "GroupCounts(self.cells.n_cells * self.n_bins, 0.5)",
            ),
        ),
        (MOVED,),
        "stages",
    ),
)
