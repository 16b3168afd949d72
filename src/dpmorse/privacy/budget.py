"""How much privacy may be spent, and who counts as a neighbour."""

import warnings
from dataclasses import dataclass
from enum import StrEnum

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, PrivacyLeakWarning

DEFAULT_DELTA = 1e-6
"""Public and fixed: a delta such as 1/n would reveal n, which add/remove-one protects."""

SMALLEST_EPSILON = 1e-4
SMALLEST_DELTA = 1e-100
"""Below these, float64 accounting is not certified to the margins of ``accounting``."""

LARGEST_SENSIBLE_EPSILON = 10.0
LARGEST_SENSIBLE_DELTA = 1e-3


class Neighboring(StrEnum):
    """Which pairs of datasets must be hard to tell apart.

    ``ADD_REMOVE``: one holds one record more than the other; the number of records is protected too.
    ``REPLACE_ONE``: both hold the same, public, number of records and differ in the value of one.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def parse(cls, value: object) -> "Neighboring":
        """Read the relation from the parameter ``neighboring`` of an estimator or a file."""
        return cls(_validate.choice(neighboring=value, among=cls))


@dataclass(frozen=True)
class Budget:
    """An (epsilon, delta) promise under a stated neighbouring relation.

    Parameters
    ----------
    epsilon : float
        Finite, at least 1e-4. Above 10 the promise is weak, and a fit says so.
    delta : float
        Between 1e-100 and 1. Above 1e-3 a fit warns. 0, pure differential privacy, is for the methods that
        say so.
    neighboring : Neighboring
        The neighbouring relation.
    """

    epsilon: float
    delta: float = DEFAULT_DELTA
    neighboring: Neighboring = Neighboring.ADD_REMOVE

    def __post_init__(self) -> None:
        """Validate before anything can be planned with this budget."""
        hint = "A privacy budget has no default: 1 is a common choice, smaller is more private."
        object.__setattr__(self, "epsilon", _validate.positive_real(epsilon=self.epsilon, hint=hint))
        object.__setattr__(self, "delta", _checked_delta(self.delta))
        object.__setattr__(self, "neighboring", Neighboring.parse(self.neighboring))
        if self.epsilon < SMALLEST_EPSILON:
            raise InvalidParameterError(
                f"epsilon must be at least {SMALLEST_EPSILON:g}, got {self.epsilon:g}: less buys nothing."
            )

    @property
    def is_pure(self) -> bool:
        """Whether the promise may never fail: delta = 0."""
        return self.delta == 0

    def warn_if_weak(self, stacklevel: int) -> None:
        """Emit a ``PrivacyLeakWarning`` for a promise that protects little; ``stacklevel`` as in ``warn``."""
        if self.epsilon > LARGEST_SENSIBLE_EPSILON:
            warnings.warn(
                f"epsilon={self.epsilon:g} is above {LARGEST_SENSIBLE_EPSILON:g}: "
                "the promise to each person is weak.",
                PrivacyLeakWarning,
                stacklevel=stacklevel,
            )
        if self.delta > LARGEST_SENSIBLE_DELTA:
            warnings.warn(
                f"delta={self.delta:g} is above {LARGEST_SENSIBLE_DELTA:g}: "
                "a release may expose about delta * n records entirely.",
                PrivacyLeakWarning,
                stacklevel=stacklevel,
            )


def _checked_delta(delta: object) -> float:
    if type(delta) in (int, float) and delta == 0:
        return 0.0
    value = _validate.open_unit_interval(delta=delta)
    if value < SMALLEST_DELTA:
        raise InvalidParameterError(f"delta must be at least {SMALLEST_DELTA:g}, got {value:g}.")
    return value
