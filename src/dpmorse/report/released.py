"""The released parts of a model, of any estimator, which are all that a page uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpmorse import _validate
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.morse import MergeTree, merge_tree
from dpmorse.profiles import Again, Profile
from dpmorse.report.columns import ShownColumn, table_columns
from dpmorse.report.noise import noise_of_last_release
from dpmorse.report.space import Box, PlainSpace, Source, Space, TableSpace
from dpmorse.report.text import plain
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray


class Promise(Protocol):
    """The part of a privacy report that a page shows."""

    epsilon: float
    delta: float
    neighboring: str
    secure: bool
    statement: str

    @property
    def unit(self) -> str:
        """Who is protected, in a few words."""

    @property
    def claims(self) -> Mapping[str, str]:
        """What the promise states, point by point."""

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the ledger, one row per release."""


@dataclass(frozen=True)
class ReleasedModel:
    """The released parts of a fitted or loaded model, without access to anything else of it.

    Attributes
    ----------
    kind : str
        Name of the estimator.
    density : GaussianMixture or ProductMixture
        The released mixture.
    space : Space
        Where it is drawn.
    tree, promise : objects
        How components merge, what is promised.
    profile : Profile or None
        What was measured of the records of each component; None if the base released none.
    noise : ndarray of shape (n_components,) or None
        Of their sizes, as far as it is known; with a profile it is not needed.
    smallest_seen : int or None
        Size from which on a group that lies apart is found in 19 of 20 such fits, where that is known.
    columns : list of ShownColumn
        The columns of the table.
    n_clusters : int
        Number of clusters the page opens with.
    schema : Schema
        What the columns are.
    again : callable
        How often the clusters of a cut into so many were found again; None where that is not known.
    suggestion : str
        How many clusters are suggested, in words.
    """

    kind: str
    density: GaussianMixture | ProductMixture
    space: Space
    tree: MergeTree
    promise: Promise
    profile: Profile | None
    noise: FloatArray | None
    smallest_seen: int | None
    columns: list[ShownColumn]
    n_clusters: int
    schema: Schema
    again: Callable[[int], Again | None]
    suggestion: str

    @property
    def mixture(self) -> GaussianMixture:
        """The Gaussians that are drawn."""
        return self.space.mixture

    @property
    def numbers(self) -> list[ShownColumn]:
        """The columns that have a median and quartiles."""
        return [column for column in self.columns if column.is_number]

    def members(self, n_clusters: int) -> FloatArray:
        """Return 1 where a component belongs to a cluster, of shape (n_clusters, n_components)."""
        labels = self.tree.cut(n_clusters)[: self.mixture.n_components]
        return np.asarray(labels == np.arange(n_clusters)[:, None], dtype=np.float64)


class Base(Protocol):
    """What a page reads of the base that released a mixture; ``bases/fitted.py`` has all that a base is."""

    profile_: Profile | None
    partition_: Any
    schema_: Schema
    described_domain: Box | None
    domain_: Box | None
    privacy_: Any
    plan_: Any
    _smallest_seen: int | None


@dataclass(frozen=True)
class _OfOthers:
    """A base that others wrote: it has a mixture and a promise, and may have names of columns."""

    partition_: GaussianMixture | ProductMixture
    privacy_: Any
    names: Any
    profile_: None = None
    described_domain: None = None
    domain_: None = None
    plan_: None = None
    _smallest_seen: None = None

    @property
    def schema_(self) -> Schema:
        """Columns of numbers; nobody knows their bounds."""
        unknown = np.full(self.partition_.n_features, np.inf)
        return Schema.of_numbers(self.names, -unknown, unknown)


def released(model: Any, columns: Sequence[str] | None = None) -> ReleasedModel:
    """Take the released parts of a model; a base alone gets the tree that the estimators would build."""
    mixture, promise = getattr(model, "mixture_", None), getattr(model, "privacy_", None)
    if not isinstance(mixture, GaussianMixture | ProductMixture) or promise is None:
        raise InvalidTypeError(
            f"model must be a fitted estimator of dpmorse, got {_validate.describe(type(model).__name__)}. "
            "Call fit first, or give what dpmorse.load returns."
        )
    if hasattr(model, "_released"):
        base: Any = model._released
    else:
        base = _OfOthers(mixture, promise, getattr(model, "feature_names_in_", None))
    profile, partition = base.profile_, base.partition_
    tree = getattr(model, "merge_tree_", None) or merge_tree(partition.landscape, rule="auto")
    schema = _schema(base, columns)
    source = None if profile is None else Source(profile, partition, schema)
    if isinstance(mixture, ProductMixture):
        space: Space = TableSpace(mixture, schema, source)
    else:
        space = PlainSpace(mixture, partition, source, base.domain_)
    return ReleasedModel(
        kind=plain(type(model).__name__),
        density=mixture,
        space=space,
        tree=tree,
        promise=promise,
        profile=profile,
        noise=noise_of_last_release(base, space.mixture, space.domain),
        smallest_seen=base._smallest_seen,
        columns=table_columns(schema),
        n_clusters=int(getattr(model, "n_clusters_", tree.suggested_n_clusters)),
        schema=schema,
        again=getattr(model, "_again", lambda _: None),
        suggestion=str(getattr(model, "suggestion_", tree.suggestion.in_words)),
    )


def _schema(base: Base, names: object) -> Schema:
    """Return the columns under the names that are given, if any are.

    Those that were not stated are shown with the bounds inside which the mixture describes records.
    """
    schema, box = base.schema_, base.described_domain
    called = schema.names if names is None else _checked_names(names, len(schema.names))
    if schema.stated:
        if len(set(called)) < len(called):
            raise InvalidParameterError(
                "columns must be different names, got one twice. Columns of a table are told apart by them."
            )
        return schema.called(called)
    shown = [plain(name) for name in called]
    return schema.called(shown) if box is None else Schema.of_numbers(shown, box.lower, box.upper)


def _checked_names(columns: object, n_features: int) -> list[str]:
    if isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray):
        raise InvalidTypeError(f"columns must be a list of names, got {_validate.describe(columns)}.")
    if len(columns) != n_features:
        raise InvalidParameterError(
            f"columns must have one name for each of the {n_features} columns, got {len(columns)}. "
            "Or give None to take the names of the table that was fitted."
        )
    if not all(isinstance(name, str) for name in columns):
        raise InvalidTypeError(f"columns must be names of type str, got {_validate.describe(list(columns))}.")
    return [str(name) for name in columns]
