"""How much privacy may be spent, and on whom."""

import warnings
from dataclasses import dataclass
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, PrivacyLeakWarning
from dpmorse.privacy.unit import Neighboring, Unit

DEFAULT_DELTA = 1e-6
"""Public and fixed: a delta such as 1/n would reveal n, which add/remove-one protects."""

SMALLEST_EPSILON = 1e-4
"""Below this epsilon, float64 accounting is not certified to the margins of ``accounting``."""

SMALLEST_DELTA = 1e-100
"""Below this delta, float64 accounting is not certified to the margins of ``accounting``."""

LARGEST_SENSIBLE_EPSILON = 10.0
"""Above this epsilon a fit warns: a release may change the odds on a record by a factor of e^10 = 22,000."""

LARGEST_SENSIBLE_DELTA = 1e-3
"""Above this delta a fit warns: a release of delta * n whole records would keep the promise."""


@dataclass(frozen=True)
class Budget:
    """An (epsilon, delta) promise under a stated neighbouring relation.

    Parameters
    ----------
    epsilon : float
        Finite, at least 1e-4. Above 10 the promise is weak, and a fit says so.
    delta : float
        Between 1e-100 and 1. Above 1e-3 a fit warns. Some methods offer 0, pure differential privacy.
    neighboring : Neighboring
        The neighbouring relation.
    max_rows_per_group : int or None
        Largest number of records of a group that are used; None unless the relation is about groups.
    unit : str or None
        Public name of a group, such as "patient", where the relation is about groups. None is a group without
        a name; a ledger with such a budget pays for one fit.
    """

    epsilon: float
    delta: float = DEFAULT_DELTA
    neighboring: Neighboring = Neighboring.ADD_REMOVE
    max_rows_per_group: int | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        """Validate before anything can be planned with this budget."""
        hint = "A privacy budget has no default: 1 is a common choice, smaller is more private."
        object.__setattr__(self, "epsilon", _validate.positive_real(epsilon=self.epsilon, hint=hint))
        delta = 0.0
        if type(self.delta) not in (int, float) or self.delta != 0:
            delta = _validate.open_unit_interval(delta=self.delta)
            if delta < SMALLEST_DELTA:
                raise InvalidParameterError(f"delta must be at least {SMALLEST_DELTA:g}, got {delta:g}.")
        object.__setattr__(self, "delta", delta)
        unit = Unit(self.neighboring, self.max_rows_per_group, self.unit)
        object.__setattr__(self, "neighboring", unit.neighboring)
        object.__setattr__(self, "max_rows_per_group", unit.max_rows)
        if self.epsilon < SMALLEST_EPSILON:
            raise InvalidParameterError(
                f"epsilon must be at least {SMALLEST_EPSILON:g}, got {self.epsilon:g}: less buys nothing."
            )

    @classmethod
    def of(cls, estimator: Any) -> "Budget":
        """Read the budget from the parameters of an estimator."""
        unit = Unit.of(estimator)
        return cls(estimator.epsilon, estimator.delta, unit.neighboring, unit.max_rows)

    @property
    def protects(self) -> Unit:
        """Whose budget it is: what neighbours differ in, and all words about it."""
        return Unit(self.neighboring, self.max_rows_per_group, self.unit)

    @property
    def rows(self) -> int:
        """How many records neighbours may differ in."""
        return self.protects.rows

    @property
    def neighboring_rows(self) -> Neighboring:
        """The relation between datasets that differ in one record."""
        return self.protects.of_a_row

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
