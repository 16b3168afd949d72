"""The parameters of a base as data: one table gives checks, messages, files, restoring and negative tests.

The table of a base is a dataclass derived from ``Settings``: a field for each parameter of the constructor
that has a part in what is released, declared by ``parameter``. ``Settings.of`` reads an estimator by it,
``to_dict`` writes a model file by it, ``restored`` reads one back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self

from dpmorse import _validate
from dpmorse._plain_data import holds_boolean
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, ModelFormatError
from dpmorse.privacy import Budget, Calibration
from dpmorse.records import listed
from dpmorse.schema import Schema
from dpmorse.statistics import LARGEST_N_CELLS, PRIVATE, Domain

LARGEST_N_ITER = 10_000
"""More rounds would leave each with less than a ten-thousandth of the budget, which measures nothing."""

LARGEST_MODEL = 1 << 21
"""Entries of all lower triangles, of covariances and of what else a base releases of components: a file of
them is about 40 MB, and 64 MB can be read back."""

NOISE_BACKENDS = ("native", "opendp")

Check = Callable[[str, Any, Mapping[str, Any]], Any]
"""Takes the name of a parameter, its value, and what was checked before; returns the value to be used."""


@dataclass(frozen=True)
class Parameter:
    """How one parameter is checked, and how it is written to a file and read back."""

    check: Check
    refused: tuple[Any, ...]
    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]


def parameter(
    check: Check,
    *,
    refused: tuple[Any, ...],
    to_plain: Callable[[Any], Any] = lambda value: value,
    from_plain: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Declare a parameter: its check, examples of what is refused, and its form in files."""
    return field(metadata={"parameter": Parameter(check, refused, to_plain, from_plain)})


def whole(at_most: int | None = None, *, optional: bool = False) -> Check:
    """Return a check for whole numbers from 1 on, or None if that is an option."""

    def check(name: str, value: Any, _: Mapping[str, Any]) -> int | None:
        if optional and value is None:
            return None
        return _validate.positive_int(**{name: value}, at_most=at_most)

    return check


def one_of(among: Iterable[str]) -> Check:
    """Return a check for one of a few words."""
    return lambda name, value, _: _validate.choice(**{name: value}, among=among)


def positive(name: str, value: Any, _: Mapping[str, Any]) -> float:
    """Check a number above 0."""
    return _validate.positive_real(**{name: value})


def true_or_false(name: str, value: Any, _: Mapping[str, Any]) -> bool:
    """Check a boolean."""
    return _validate.boolean(**{name: value})


def _of_budget(name: str, _: Any, given: Mapping[str, Any]) -> Any:
    """Take what the budget made of a value: its parts are checked together."""
    budget: Budget = given["budget"]
    return budget.neighboring_rows.value if name == "neighboring" else getattr(budget, name)


def _given(name: str, _: Any, given: Mapping[str, Any]) -> Any:
    """Take bounds and columns as they were read: together, and first, because other checks depend on them."""
    return given["of_columns"][name]


def _of_columns(estimator: Any, n_features: int, names: Sequence[Any] | None) -> dict[str, Any]:
    """Return bounds, and what the columns are: of these two parameters an estimator has one.

    Bounds are lists with a value for each column; those that are yet to be released stay a word, and columns
    have placeholders.
    """
    bounds, schema = estimator.bounds, Schema.of_stated(estimator.columns)
    if schema.stated:
        if len(schema.names) != n_features:
            raise InvalidParameterError(
                f"columns must name every column of X: it names {len(schema.names)}, X has {n_features}."
            )
        if bounds is not None:
            raise InvalidParameterError(
                f"bounds must be None where columns are given, got {_validate.describe(bounds)}: "
                "Numeric(lower, upper) states those of a column."
            )
        return {"bounds": None, "columns": schema}
    ordered = _in_order_of_columns(bounds, names) if isinstance(bounds, Mapping) else bounds
    box = Domain.from_bounds(ordered, n_features, names=names)
    is_private = isinstance(bounds, str) and bounds == PRIVATE
    return {
        "bounds": PRIVATE if is_private else [box.lower.tolist(), box.upper.tolist()],
        "columns": Schema.of_numbers(None, box.lower, box.upper),
    }


def _in_order_of_columns(bounds: Mapping[Any, Any], names: Sequence[Any] | None) -> Any:
    """Return bounds by name, such as ``{"age": (0, 120)}``, as a pair (lower, upper).

    Where columns have no names, bounds go by their position, as those of ``columns`` do.
    """
    for name, pair in bounds.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidTypeError(
                f"bounds must have a pair (lower, upper) for each column, got {_validate.describe(pair)} for "
                f"{name!r}. For instance: bounds={{'age': (0, 120)}}."
            )
    order = list(bounds) if names is None else list(names)
    unknown, without = (
        [name for name in bounds if name not in order],
        [name for name in order if name not in bounds],
    )
    if unknown:
        raise InvalidParameterError(
            f"bounds must name columns of X, and X has no {listed(unknown)}. Check the spelling."
            f"{_validate.did_you_mean(unknown[0], without)}"
        )
    if without:
        raise InvalidParameterError(
            f"bounds must name every column of X, and lacks {listed(without)}. Give their bounds, or leave "
            "the columns out, such as by X[list(bounds)]."
        )
    return tuple([bounds[name][end] for name in order] for end in (0, 1))


def _numbers_only(value: Any) -> Any:
    if holds_boolean(value):
        raise ModelFormatError("parameters.bounds must hold numbers only.")
    return value


def calibration_parameter(among: Iterable[str]) -> Any:
    """Declare the proof that sets the noise."""
    return parameter(
        lambda name, value, _: Calibration(_validate.choice(**{name: value}, among=among)),
        refused=("none", None, 1),
        to_plain=lambda calibration: calibration.value,
    )


def radius_parameter() -> Any:
    """Declare the radius of the ball that records are shrunk to, in units of the box; None for no ball."""
    return parameter(
        lambda _, value, given: Domain.unknown(given["n_features"], value).radius,
        refused=(0, -1.0, float("nan"), "wide"),
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Checked values of the parameters that all bases have; subclasses add their own.

    ``n_features`` is no parameter: it is the number of columns that the others were checked for.
    """

    numbers_only: ClassVar[bool] = True
    """Whether tables must have columns of numbers without missing values."""

    n_features: int
    n_components: int = parameter(whole(LARGEST_N_CELLS), refused=(0, -1, 2.5, "three", True))
    epsilon: float = parameter(_of_budget, refused=(0, -1.0, float("nan"), float("inf"), None, "one", True))
    delta: float = parameter(_of_budget, refused=(-0.1, 1.0, 2.0, None, "small"))
    bounds: Any = parameter(
        _given, refused=(None, 3, (1, -1), ("a", "b"), (0, float("inf"))), from_plain=_numbers_only
    )
    neighboring: str = parameter(_of_budget, refused=("add", None, 1))
    max_rows_per_group: int | None = parameter(_of_budget, refused=(0, -3, 1.5, "two", True))
    calibration: Calibration = calibration_parameter(("gaussian", "zcdp"))
    noise: str = parameter(one_of(NOISE_BACKENDS), refused=("loud", None, 1))
    columns: Schema = parameter(
        _given,
        refused=({}, {"age": (0, 120)}, "age"),
        to_plain=Schema.to_plain,
        from_plain=Schema.from_plain,
    )

    @classmethod
    def of(cls, estimator: Any, n_features: int, names: Sequence[Any] | None = None) -> Self:
        """Read and check an estimator's parameters, for a table with ``n_features`` columns, by these names.

        What checks need to know beside the parameters is taken away again: it is no setting. Models that a
        file could not hold are refused, before anything is spent on them.
        """
        budget, of_columns = Budget.of(estimator), _of_columns(estimator, n_features, names)
        if cls.numbers_only and not of_columns["columns"].layout.only_numbers:
            raise InvalidParameterError(
                "columns must be numbers with missing='refuse' for this base. Use PrivateGaussianMixture, "
                "which also takes categories and missing values."
            )
        beside = {"budget": budget, "of_columns": of_columns}
        checked: dict[str, Any] = {"n_features": n_features, **beside}
        for name, each in cls.table().items():
            checked[name] = each.check(name, getattr(estimator, name), checked)
        settings = cls(**{name: value for name, value in checked.items() if name not in beside})
        n_values = settings.n_components * settings.values_of_a_component
        if n_values > LARGEST_MODEL:
            raise InvalidParameterError(
                f"n_components={settings.n_components} with {n_features} columns needs {n_values} values; at "
                f"most {LARGEST_MODEL} are supported. Lower n_components, or use fewer columns"
                + (", or profile=False." if getattr(settings, "profile", False) else ".")
            )
        return settings

    @classmethod
    def table(cls) -> dict[str, Parameter]:
        """Return the parameters by name, in the order of files."""
        return {each.name: each.metadata["parameter"] for each in fields(cls) if each.metadata}

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file; columns only if stated."""
        content = {name: each.to_plain(getattr(self, name)) for name, each in self.table().items()}
        if not self.schema.stated:
            del content["columns"]
        return content

    @classmethod
    def restored(cls, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the constructor's parameters from plain data; ``of`` checks their values."""
        table = cls.table()
        if {*content, "columns"} != set(table):
            raise ModelFormatError(f"parameters must have exactly the fields {', '.join(sorted(table))}.")
        return {name: table[name].from_plain(value) for name, value in content.items()}

    @cached_property
    def budget(self) -> Budget:
        """The privacy budget of a fit."""
        return Budget.of(self)

    @property
    def values_of_a_component(self) -> int:
        """Values that a file holds of each component: those of its covariance, and what a base adds."""
        return self.n_features * (self.n_features + 1) // 2

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.columns

    @property
    def private_bounds(self) -> bool:
        """Whether bounds are yet to be released."""
        return isinstance(self.bounds, str)

    @cached_property
    def domain(self) -> Domain:
        """Where records are clipped to; a placeholder where bounds are yet to be released."""
        layout = self.schema.layout
        bounds = PRIVATE if self.private_bounds else (list(layout.lower), list(layout.upper))
        radius = getattr(self, "radius", None)  # a parameter of some bases
        return Domain.from_bounds(bounds, self.n_features, radius)
