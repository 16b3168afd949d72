"""Privacy budgets, and the neighbouring relations that they are stated for."""

import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, PrivacyLeakWarning

DEFAULT_DELTA = 1e-6
"""Public and fixed: a delta such as 1/n would reveal n, which add/remove-one protects."""

SMALLEST_EPSILON = 1e-4
"""Below this epsilon, float64 accounting is not certified to the margins of ``accounting``."""

SMALLEST_DELTA = 1e-100
"""Below this delta, float64 accounting is not certified to the margins of ``accounting``."""

LARGEST_GROUP = 10_000
"""Most rows of a group: a cost grows with their number or its square, and more would drown in noise."""

LONGEST_UNIT = 200
"""The most characters of a unit's name, which stands in sentences and in every budget file."""

LARGEST_SENSIBLE_EPSILON = 10.0
"""Above this epsilon a fit warns: a release may change the odds on a record by a factor of e^10 = 22,000."""

LARGEST_SENSIBLE_DELTA = 1e-3
"""Above this delta a fit warns: a release of delta * n whole records would keep the promise."""


class Neighboring(StrEnum):
    """Which pairs of datasets must be hard to tell apart.

    ``ADD_REMOVE``: one holds one record more than the other; the number of records is protected too.
    ``REPLACE_ONE``: both hold the same, public, number of records and differ in the value of one.
    ``ADD_REMOVE_GROUP``: one holds all records of one more group, such as a person; "add-remove" means this
    for estimators that are given groups.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    ADD_REMOVE_GROUP = "add-remove-group"

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
        object.__setattr__(self, "delta", _checked_delta(self.delta))
        object.__setattr__(self, "neighboring", Neighboring.parse(self.neighboring))
        if self.max_rows_per_group is not None:
            rows = _validate.positive_int(max_rows_per_group=self.max_rows_per_group, at_most=LARGEST_GROUP)
            object.__setattr__(self, "max_rows_per_group", rows)
        if (self.max_rows_per_group is None) == (self.neighboring is Neighboring.ADD_REMOVE_GROUP):
            raise InvalidParameterError(
                f"max_rows_per_group={self.max_rows_per_group} does not go with neighboring="
                f"'{self.neighboring}': a number goes with groups that are added or removed, and only there."
            )
        if self.unit is not None:
            _check_unit(self.unit, self.neighboring)
        if self.epsilon < SMALLEST_EPSILON:
            raise InvalidParameterError(
                f"epsilon must be at least {SMALLEST_EPSILON:g}, got {self.epsilon:g}: less buys nothing."
            )

    @classmethod
    def of(cls, estimator: Any) -> "Budget":
        """Read the budget from the parameters of an estimator."""
        rows = estimator.max_rows_per_group
        relation = Neighboring(
            _validate.choice(neighboring=estimator.neighboring, among=("add-remove", "replace-one"))
        )
        if rows is not None:
            if relation is not Neighboring.ADD_REMOVE:
                raise InvalidParameterError(
                    "neighboring must be 'add-remove' with max_rows_per_group, got 'replace-one': the number "
                    "of records is not public where groups may have any number of them."
                )
            relation = Neighboring.ADD_REMOVE_GROUP
        return cls(estimator.epsilon, estimator.delta, relation, rows)

    @property
    def lacks_a_name(self) -> bool:
        """Whether it is a budget of groups without a name."""
        return self.neighboring is Neighboring.ADD_REMOVE_GROUP and self.unit is None

    @property
    def unit_name(self) -> str:
        """Whose budget it is, in a word: "row", the name of the unit, or "group" if it has none."""
        return "row" if self.neighboring is not Neighboring.ADD_REMOVE_GROUP else self.unit or "group"

    def check_pays_for(self, fit: "Budget") -> None:
        """Refuse a fit that protects another unit than this budget, or uses more rows of one.

        The cost of a fit covers all rows of a unit that it uses, so that fits with fewer rows add up with
        others; what this budget says of rows is the most that any fit may use.
        """
        if fit.neighboring is self.neighboring and fit.unit != self.unit:
            raise InvalidParameterError(_another_unit(self, fit))
        if fit.rows > self.rows:
            raise InvalidParameterError(
                f"max_rows_per_group must be at most {self.rows} as in the ledger, got {fit.rows}. Nothing "
                "was released. Use fewer rows of each, or another ledger (with --budget, another file)."
            )

    @property
    def rows(self) -> int:
        """Largest number of records in which neighbours differ."""
        return self.max_rows_per_group or 1

    @property
    def neighboring_rows(self) -> Neighboring:
        """The relation between datasets that differ in one record."""
        return (
            Neighboring.REPLACE_ONE if self.neighboring is Neighboring.REPLACE_ONE else Neighboring.ADD_REMOVE
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


def _check_unit(unit: object, neighboring: Neighboring) -> None:
    """Return a name, which stands in files and in sentences, or refuse the value."""
    if not isinstance(unit, str):
        raise InvalidTypeError(f"unit must be a text or None, got {_validate.describe(unit)}.")
    if not unit.strip() or len(unit) > LONGEST_UNIT or not unit.isprintable():
        raise InvalidParameterError(
            f"unit must be a text of 1 to {LONGEST_UNIT} printable characters, got {len(unit)}"
            f"{'' if unit.isprintable() else ', not all printable'}. It is the name of the column or Series "
            "that groups are given as: name that otherwise."
        )
    if neighboring is not Neighboring.ADD_REMOVE_GROUP:
        raise InvalidParameterError(
            f"unit={unit!r} does not go with neighboring='{neighboring}': it names groups that are added or "
            "removed. Leave it out, or use neighboring='add-remove-group' with max_rows_per_group."
        )


def without_names() -> InvalidParameterError:
    """Return the error for groups without a name on a ledger that was used for groups without a name."""
    return InvalidParameterError(
        "groups must have a name on a ledger that several fits share, got groups without one: nothing tells "
        "if they are those of the fit before, such as patients, or others, such as households. Nothing was "
        "released. Give groups as the name of a column or as a named Series, with a ledger that names it, "
        "Budget(..., unit='patient') (with --budget, another file); or give this fit a ledger of its own."
    )


def _another_unit(ledger: Budget, fit: Budget) -> str:
    if ledger.unit is None:
        hint = (
            f"Use a ledger that names the unit, Budget(..., unit={fit.unit!r}) (with --budget, another file)."
        )
    else:
        hint = (
            "Use another ledger for this unit (with --budget, another file); or, if it is the same, give "
            f"groups as a column or Series named {ledger.unit!r}."
        )
    return (
        f"groups must be of the unit {_quoted(ledger)} as in the ledger, got {_quoted(fit)}: promises to "
        f"different units do not add up. Nothing was released. {hint}"
    )


def _quoted(budget: Budget) -> str:
    return "'group' (without a name)" if budget.unit is None else repr(budget.unit)


def _checked_delta(delta: object) -> float:
    if type(delta) in (int, float) and delta == 0:
        return 0.0
    value = _validate.open_unit_interval(delta=delta)
    if value < SMALLEST_DELTA:
        raise InvalidParameterError(f"delta must be at least {SMALLEST_DELTA:g}, got {value:g}.")
    return value
