"""What records are before their values are read: their columns, and the ways to read them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self, TypeVar

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dpmorse.engine import Engine
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.names import refuse_data_as_names
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray

Result = TypeVar("Result")
Function = Callable[[FloatArray], Any]
"""Turns an array of records into an array with one entry for each of them."""


_GIVE_NAMES = (
    "Perhaps X was read from a file without a header: read it again and give names, such as "
    "pandas.read_csv(path, header=None, names=[...])."
)
"""The advice in the error about column names that look like values."""


class Columns(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Number and names of the columns of a table, found without changing any estimator."""

    n_features_in_: int
    library: str | None = None
    """The library of the data frame that has these columns, if it is one."""

    def __init__(self, table: Any = None) -> None:
        if table is not None:
            validate_data(self, table, reset=True, skip_check_array=True)
            frame = nw.from_native(table, pass_through=True)
            self.library = frame.implementation.name.lower() if isinstance(frame, nw.DataFrame) else None

    @classmethod
    def of(cls, n_features: int, names: Any = None, library: str | None = None) -> "Columns":
        """Return columns with these names, or none."""
        columns = cls()
        columns.n_features_in_, columns.library = n_features, library
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        return columns

    @property
    def names(self) -> Any:
        """Names of the columns, or None if they have none."""
        return getattr(self, "feature_names_in_", None)

    def check_published_names(self) -> None:
        """Refuse names that look like a record, because a fit publishes names."""
        if self.names is not None:
            refuse_data_as_names(self.names, "the header of X", _GIVE_NAMES)

    def same_as(self, other: Any) -> bool:
        """Say whether these are the columns of another table or of a fit; only names that both have count."""
        theirs = getattr(other, "feature_names_in_", None)
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


def held(records: Any) -> AbstractContextManager[Any]:
    """Return a context with the records as they are now, where their storage can hold them: in a transaction.

    All others must stay as they are by themselves; passes that differ are refused.
    """
    context: AbstractContextManager[Any] = (
        records.held() if hasattr(records, "held") else nullcontext(records)
    )
    return context


class Records(Protocol):
    """Records in any kind of storage. Opening them reads no value; ``read`` and ``each`` do."""

    @property
    def columns(self) -> Columns:
        """Number and names of the columns."""
        ...

    @property
    def owned(self) -> bool:
        """Whether the owner of each row is known."""
        ...

    @property
    def unit(self) -> str | None:
        """What an owner is called: the name of the column of ids, if they are in one."""
        ...

    def owned_by(self, groups: Any) -> Self:
        """Return these records with owners: values, one for each row, or the name of a column."""
        ...

    def described_by(self, schema: Schema) -> Self:
        """Return these records with a schema: they are encoded when they are read."""
        ...

    def engine(self, given: Engine | None) -> Engine:
        """Return the engine that adds up these records; ``given`` adds up the parts that are in memory."""
        ...

    def read(self, estimator: Any, most: int | None = None) -> Any:
        """Refuse values that are not finite numbers; return what the engine takes, with a length.

        Of each owner at most ``most`` records are used; None for all.
        """
        ...

    def matching(self, estimator: Any) -> Self:
        """Return the records with the columns of a fitted estimator, or refuse."""
        ...

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the function of every record, in order, in a container that goes with theirs."""
        ...
