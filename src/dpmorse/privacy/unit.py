"""Who a promise protects: one row, or all rows of a group such as a person."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError

LARGEST_GROUP = 10_000
"""The most rows of a group: a cost grows with their number or its square, and more would drown in noise."""

LONGEST_NAME = 200
"""The most characters of a unit's name, which stands in sentences and in every budget file."""


class Neighboring(StrEnum):
    """Which pairs of datasets must be hard to tell apart.

    ``ADD_REMOVE``: one holds one record more than the other; the number of records is protected too.
    ``REPLACE_ONE``: both hold the same, public, number of records and differ in the value of one.
    ``ADD_REMOVE_GROUP``: one holds all records of one more group, such as a person; this is what "add-remove"
    is for estimators that are given groups.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    ADD_REMOVE_GROUP = "add-remove-group"

    @classmethod
    def parse(cls, value: object) -> "Neighboring":
        """Read the relation from the parameter ``neighboring`` of an estimator or a file."""
        return cls(_validate.choice(neighboring=value, among=cls))


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: what neighbouring tables differ in, and what it is called.

    Parameters
    ----------
    neighboring : Neighboring
        The neighbouring relation.
    max_rows : int or None
        How many records of a group are used at most; None unless the relation is about groups.
    name : str or None
        What a group is, such as "patient": a public name, and only where the relation is about groups.
    """

    neighboring: Neighboring = Neighboring.ADD_REMOVE
    max_rows: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Validate; errors name the parameters of estimators and budgets."""
        object.__setattr__(self, "neighboring", Neighboring.parse(self.neighboring))
        if self.max_rows is not None:
            rows = _validate.positive_int(max_rows_per_group=self.max_rows, at_most=LARGEST_GROUP)
            object.__setattr__(self, "max_rows", rows)
        if (self.max_rows is None) == self.is_group:
            raise InvalidParameterError(
                f"max_rows_per_group={self.max_rows} does not go with neighboring="
                f"'{self.neighboring}': a number goes with groups that are added or removed, and only there."
            )
        if self.name is not None:
            self._check_name(self.name)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Read the unit from the parameters of an estimator; its name comes with the records."""
        relation = Neighboring(
            _validate.choice(neighboring=estimator.neighboring, among=("add-remove", "replace-one"))
        )
        if estimator.max_rows_per_group is None:
            return cls(relation)
        if relation is not Neighboring.ADD_REMOVE:
            raise InvalidParameterError(
                "neighboring must be 'add-remove' with max_rows_per_group, got 'replace-one': the number "
                "of records is not public where groups may have any number of them."
            )
        return cls(Neighboring.ADD_REMOVE_GROUP, estimator.max_rows_per_group)

    @property
    def is_group(self) -> bool:
        """Whether it is all rows of a group."""
        return self.neighboring is Neighboring.ADD_REMOVE_GROUP

    @property
    def rows(self) -> int:
        """How many records neighbours may differ in."""
        return self.max_rows or 1

    @property
    def of_a_row(self) -> Neighboring:
        """The relation between datasets that differ in one record."""
        return Neighboring.ADD_REMOVE if self.is_group else self.neighboring

    @property
    def word(self) -> str:
        """What it is called: "row", the name of the group, or "group" if it has none."""
        return (self.name or "group") if self.is_group else "row"

    @property
    def short(self) -> str:
        """The unit in a few words."""
        return f"one {self.word}, up to {self.rows} rows" if self.is_group else "one row"

    @property
    def relation(self) -> str:
        """What a promise is with respect to, in words."""
        if self.is_group:
            group = self.name or "group (such as a person)"
            return (
                f"adding or removing all records of one {group}, of which at most {self.rows} are used. "
                "The numbers of records and of such groups are protected as well"
            )
        if self.neighboring is Neighboring.REPLACE_ONE:
            return "replacing the values of one record (a row). The number of records is treated as public"
        return "adding or removing one record (a row). The number of records is protected as well"

    @property
    def protected(self) -> str:
        """What a claim says of the unit of privacy."""
        if self.is_group:
            return (
                f"All records of one {self.word}, of which at most {self.rows} are used. "
                "Somebody who counts as several is protected less."
            )
        return (
            "One record (a row of the table). Somebody who has several rows is protected less: the loss "
            "grows with their number."
        )

    @property
    def neighbours(self) -> str:
        """What a claim says of neighbouring tables."""
        if self.neighboring is Neighboring.REPLACE_ONE:
            return "Tables that differ in the values of one unit. The number of records is treated as public."
        return "Tables of which one has one unit more. The number of records is protected as well."

    def check_pays_for(self, fit: "Unit") -> None:
        """Refuse a fit that protects another unit than this one of a ledger, or uses more rows of it.

        The cost of a fit covers all rows of a unit that it uses, so that fits with fewer rows add up with
        others; what a ledger says of rows is the most that any fit may use.
        """
        if fit.neighboring is self.neighboring and fit.name != self.name:
            hint = (
                "Use another ledger for this unit (with --budget, another file); or, if it is the same, give "
                f"groups as a column or Series named {self.name!r}."
            )
            if self.name is None:
                hint = f"Use a ledger that names the unit, Budget(..., unit={fit.name!r})"
                hint += " (with --budget, another file)."
            raise InvalidParameterError(
                f"groups must be of the unit {_quoted(self)} as in the ledger, got {_quoted(fit)}: promises "
                f"to different units do not add up. Nothing was released. {hint}"
            )
        if fit.rows > self.rows:
            raise InvalidParameterError(
                f"max_rows_per_group must be at most {self.rows} as in the ledger, got {fit.rows}. Nothing "
                "was released. Use fewer rows of each, or another ledger (with --budget, another file)."
            )

    def check_pays_for_another(self) -> None:
        """Refuse a second fit by groups without a name: nothing tells if they are those of the first."""
        if self.is_group and self.name is None:
            raise InvalidParameterError(
                "groups must have a name on a ledger that several fits share, got groups without one: "
                "nothing tells if they are those of the fit before, such as patients, or others, such as "
                "households. Nothing was released. Give groups as the name of a column or as a named Series, "
                "with a ledger that names it, Budget(..., unit='patient') (with --budget, another file); or "
                "give this fit a ledger of its own."
            )

    def _check_name(self, name: object) -> None:
        """Refuse what is no name: it stands in files and in sentences."""
        if not isinstance(name, str):
            raise InvalidTypeError(f"unit must be a text or None, got {_validate.describe(name)}.")
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InvalidParameterError(
                f"unit must be a text of 1 to {LONGEST_NAME} printable characters, got {len(name)}"
                f"{'' if name.isprintable() else ', not all printable'}. It is the name of the column or "
                "Series that groups are given as: name that otherwise."
            )
        if not self.is_group:
            raise InvalidParameterError(
                f"unit={name!r} does not go with neighboring='{self.neighboring}': it names groups that are "
                "added or removed. Leave it out, or use neighboring='add-remove-group' with "
                "max_rows_per_group."
            )


def _quoted(unit: Unit) -> str:
    return "'group' (without a name)" if unit.name is None else repr(unit.name)
