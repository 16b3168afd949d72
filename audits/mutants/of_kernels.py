"""Mistakes in the passes over records."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import COMPARED, KERNELS

OF_KERNELS = (
    Mutant(
        "memberships are rounded to the nearest, and add up to more than 1",
        (
            Change(
                f"{KERNELS}:_memberships", "np.floor(score[r] * _WEIGHT_ONE", "np.rint(score[r] * _WEIGHT_ONE"
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "close calls are left to single precision",
        (Change(f"{KERNELS}:_settle", "if in_doubt[r]:", "if in_doubt[r] and r < 0:"),),
        (COMPARED,),
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
)
