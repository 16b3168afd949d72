"""What records are before their values are read: their columns, and the ways to read them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol, Self, runtime_checkable

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dpmorse.engine import Checked, Engine, Partitions
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.names import listed, refuse_data_as_names, shown
from dpmorse.records.persons.owners import called, unit_of
from dpmorse.records.persons.row_choice import Total, choose
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray


class Function(Protocol):
    """Turns an array of records into an array with one entry for each of them."""

    def __call__(self, records: FloatArray, /) -> Any:
        """Return one entry for each record."""
        ...


@runtime_checkable
class TensorFunction(Function, Protocol):
    """One that works on a tensor where it is, too."""

    def of_tensor(self, records: Any) -> Any:
        """Return a tensor with one entry for each record."""
        ...


_GIVE_NAMES = (
    "Perhaps X was read from a file without a header: read it again and give names, such as "
    "pandas.read_csv(path, header=None, names=[...])."
)
"""The advice in the error about column names that look like values."""


def names_of(estimator: Any) -> Any:
    """Return the names of the columns of a fit; scikit-learn's contract leaves them out where X had none."""
    return getattr(estimator, "feature_names_in_", None)


class Columns(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Number and names of the columns of a table, found without changing any estimator."""

    n_features_in_: int
    width: int
    """Number of columns of the arrays that records become: with a schema, that of its layout."""

    library: str | None = None
    """The library of the data frame that has these columns, if it is one."""

    def __init__(self, table: Any = None) -> None:
        if table is not None:
            validate_data(self, table, reset=True, skip_check_array=True)
            frame = nw.from_native(table, pass_through=True)
            self.library = frame.implementation.name.lower() if isinstance(frame, nw.DataFrame) else None
            self.width = self.n_features_in_

    @classmethod
    def of(
        cls, n_features: int, names: Any = None, library: str | None = None, width: int | None = None
    ) -> "Columns":
        """Return columns with these names, or none; ``width`` is that of their encoded records."""
        columns = cls()
        columns.n_features_in_, columns.library, columns.width = n_features, library, width or n_features
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        return columns

    @property
    def names(self) -> Any:
        """Names of the columns, or None if they have none."""
        return names_of(self)

    def check_published_names(self) -> None:
        """Refuse names that look like a record, because a fit publishes names."""
        if self.names is not None:
            refuse_data_as_names(self.names, "the header of X", _GIVE_NAMES)

    def encoded_by(self, schema: Schema | None) -> "Columns":
        """Return the columns of a schema, with names if these have names; refuse others."""
        if schema is None:
            return self
        places_in(self.names, self.n_features_in_, schema)
        names = None if self.names is None else schema.names
        return Columns.of(len(schema.names), names, self.library, schema.layout.width)

    def same_as(self, other: Any) -> bool:
        """Say whether these are the columns of another table or of a fit; only names that both have count."""
        theirs = names_of(other)
        same_names = theirs is None or self.names is None or list(theirs) == list(self.names)
        return bool(self.n_features_in_ == other.n_features_in_ and same_names)

    def check_those_of(self, estimator: Any) -> None:
        """Refuse columns that are not those of the fit."""
        if self.n_features_in_ != estimator.n_features_in_:
            raise InvalidParameterError(
                f"X has {self.n_features_in_} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        if not self.same_as(estimator):
            raise InvalidParameterError("X must have the columns of the fit, in the same order.")


def places_in(names: Sequence[Any] | None, n_columns: int, schema: Schema) -> list[int]:
    """Return where the columns of a schema are in a table: by name, or one by one where it has no names."""
    if names is None:
        if n_columns != len(schema.names):
            raise InvalidParameterError(
                f"X has {n_columns} features, but columns describes {len(schema.names)}. X has no names, so "
                "that its columns must be those that are described, in the same order."
            )
        return list(range(n_columns))
    names = list(names)
    absent = [name for name in schema.names if name not in names]
    if absent:
        raise InvalidParameterError(
            f"X must have the columns that columns describes, and lacks {listed(absent)}. Leave out their "
            "description, or give X with these columns."
        )
    others = [name for name, told in zip(shown(names), names, strict=True) if told not in schema.names]
    if others:
        raise InvalidParameterError(
            f"X has columns that columns does not describe: {listed(others)}. Describe them, or leave them "
            "out, such as by X[list(columns)]; in files, by DataFiles(path, columns=list(columns))."
        )
    return [names.index(name) for name in schema.names]


def refuse_none(n_rows: int, estimator: Any) -> None:
    """Refuse records of which there are none, in words that contain scikit-learn's."""
    if n_rows == 0:
        name = type(estimator).__name__
        raise InvalidParameterError(
            f"X has no rows: 0 sample(s), while a minimum of 1 is required by {name}."
        )


def refuse_no_columns(n_features: int, estimator: Any) -> None:
    """Refuse a table without columns, in words that contain scikit-learn's but for its number of rows."""
    if n_features == 0:
        raise InvalidParameterError(
            "X has no columns: 0 feature(s) (shape=(, 0)) while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )


class Records(ABC):
    """Records in any kind of storage. Opening them reads no value; ``read`` and ``each`` do."""

    _columns: Columns
    unit: str | None = None
    """What an owner is called: the name of the column of ids, if they are in one."""

    drops_rows: bool = False
    """Whether rows with missing values are left out."""

    @property
    def columns(self) -> Columns:
        """Number and names of the columns."""
        return self._columns

    @property
    def owned(self) -> bool:
        """Whether it is known whose record each row is."""
        return self.unit is not None

    @property
    def unowned(self) -> Any:
        """What a model can label, also one of another library: the table without its column of ids."""
        return self

    @abstractmethod
    def owned_by(self, groups: Any) -> Self:
        """Return these records with owners: values, one for each row, or the name of a column."""

    @abstractmethod
    def described_by(self, schema: Schema) -> Self:
        """Return these records with a schema: they are encoded when they are read."""

    def held(self) -> AbstractContextManager[Self]:
        """Return a context with the records as they are now, where their storage can hold them.

        All others must stay as they are by themselves; passes that differ are refused.
        """
        return nullcontext(self)

    def matching(self, estimator: Any) -> Self:
        """Return the records with the columns of a fitted estimator, or refuse."""
        self.columns.check_those_of(estimator)
        return self

    @abstractmethod
    def engine(self, given: Engine | None) -> Engine:
        """Return the engine that adds up these records; ``given`` adds up the parts that are in memory."""

    @abstractmethod
    def read(self, estimator: Any, most: int | None = None) -> Any:
        """Refuse values that are not finite numbers; return what the engine takes, with a length.

        Of each owner at most ``most`` records are used; None for all.
        """

    @abstractmethod
    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of every record, in order, in a container that goes with theirs."""

    def _used_parts(
        self, surveyed: Checked[Any], total: Total, then: Callable[[Any], Any], estimator: Any
    ) -> Partitions:
        """Return the rows that are used of records in parts, of which the first pass has found ``surveyed``.

        ``total`` makes another pass, and adds up a function of all batches; ``then`` returns the parts with a
        function of each batch in its place.
        """
        refuse_none(surveyed.seen.n_rows, estimator)
        chosen = choose(surveyed, total, called(self.unit))
        there = replace(chosen, at_limit=None)  # rows at limits are added up here, beside the parts
        return Partitions(then(there.rows_of), chosen.seen, chosen.n_used, chosen.others)


class GivenRecords(Records):
    """Records in an object of the caller, which is opened anew where owners or a schema are given later."""

    def __init__(self, given: Any, groups: Any = None, schema: Schema | None = None) -> None:
        self._given, self._groups, self._schema = given, groups, schema
        self.unit = unit_of(groups)

    @property
    def owned(self) -> bool:
        """Whether it is known whose record each row is."""
        return self._groups is not None

    def owned_by(self, groups: Any) -> Self:
        """Return these records with owners: values, one for each row, or the name of a column."""
        return type(self)(self._given, groups, self._schema)

    def described_by(self, schema: Schema) -> Self:
        """Return these records with a schema: they are encoded when they are read."""
        return type(self)(self._given, self._groups, schema)
