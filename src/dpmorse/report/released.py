"""The released parts of a model, of any estimator, which are all that a page uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpmorse import _validate
from dpmorse.densities import GaussianMixture, ProductMixture, carried
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.morse import MergeTree, merge_tree
from dpmorse.profiles import Profile
from dpmorse.report.text import plain
from dpmorse.typing import FloatArray


class Promise(Protocol):
    """The part of a privacy report that a page shows."""

    epsilon: float
    delta: float
    neighboring: str
    secure: bool
    statement: str

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the ledger, one row per release."""


class Box(Protocol):
    """Where records lie after clipping; a statistic counts in units of its half-widths."""

    centre: FloatArray
    half_width: FloatArray
    unit: FloatArray


@dataclass(frozen=True)
class LastRelease:
    """What the plan and the ledger say of the last release of a fit."""

    n_values: int
    """How many numbers were released."""

    stddev: Mapping[str, float]
    """Noise of a count, and of a sum if there is one, in the units of what is added up."""

    sums_of: str
    """What was added up; see ``report/noise.py``."""

    reach: float
    """What residuals were divided by."""


def last_release(base: Any) -> LastRelease | None:
    """Return the last release of a fitted base without a profile, if it has a plan."""
    if getattr(base, "profile_", None) is not None:
        return None  # its numbers have intervals
    plan, events = getattr(base, "plan_", None), getattr(getattr(base, "privacy_", None), "events", ())
    if plan is None or not events:
        return None
    event = events[-1]
    stage = plan[event.step.stage]
    return LastRelease(event.n_draws, event.noise_stddev, str(stage.sums_of), stage.reach)


@dataclass(frozen=True)
class ReleasedModel:
    """The released parts of a fitted or loaded model, without access to anything else of it.

    Attributes
    ----------
    kind : str
        Name of the estimator.
    mixture, tree, promise : objects
        What was released, how it merges, what is promised.
    partition : GaussianMixture
        What the tree is of; another mixture than that where clipping had moved records.
    domain : Box or None
        Where records were clipped to; None if the base does not say.
    profile : Profile or None
        What was measured of the records of each component; None if the base released none.
    last_release : LastRelease or None
        What the weights and means come from; None if there is a profile, or no plan.
    names : list of str
        Names of the columns, fit to be shown.
    n_clusters : int
        Number of clusters the page opens with.
    """

    kind: str
    mixture: GaussianMixture
    partition: GaussianMixture
    tree: MergeTree
    promise: Promise
    domain: Box | None
    profile: Profile | None
    last_release: LastRelease | None
    names: list[str]
    n_clusters: int

    def shown(self, points: FloatArray) -> FloatArray:
        """Return points of the tree where a page shows them: among the records that the mixture describes."""
        return carried(points, self.partition, self.mixture)


def released(model: Any, columns: Sequence[str] | None) -> ReleasedModel:
    """Take the released parts of a model; a base alone gets the tree that the estimators would build."""
    mixture, promise = getattr(model, "mixture_", None), getattr(model, "privacy_", None)
    if isinstance(mixture, ProductMixture):
        raise InvalidTypeError(
            "model must be one of numbers alone: the page cannot show categories, dates and missing values "
            "yet. Use `dpmorse show --model FILE`, or summary() in Python."
        )
    if not isinstance(mixture, GaussianMixture) or promise is None:
        raise InvalidTypeError(
            f"model must be a fitted estimator of dpmorse, got {_validate.describe(type(model).__name__)}. "
            "Call fit first, or give what dpmorse.load returns."
        )
    base = getattr(model, "base_", model)
    partition = getattr(base, "partition_", mixture)
    tree = getattr(model, "merge_tree_", None) or merge_tree(partition, rule="auto")
    return ReleasedModel(
        kind=plain(type(model).__name__),
        mixture=mixture,
        partition=partition,
        tree=tree,
        promise=promise,
        domain=getattr(base, "domain_", None),
        profile=getattr(base, "profile_", None),
        last_release=last_release(base),
        names=_names(model, columns, mixture.n_features),
        n_clusters=int(getattr(model, "n_clusters_", tree.suggested_n_clusters)),
    )


def _names(model: Any, columns: object, n_features: int) -> list[str]:
    """Return the given names, else those of the fit, else numbers."""
    if columns is None:
        fallback = [f"column {i}" for i in range(n_features)]
        return [plain(str(name)) for name in getattr(model, "feature_names_in_", fallback)]
    if isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray):
        raise InvalidTypeError(f"columns must be a list of names, got {_validate.describe(columns)}.")
    if len(columns) != n_features:
        raise InvalidParameterError(
            f"columns must have one name for each of the {n_features} columns, got {len(columns)}. "
            "Or give None to take the names of the table that was fitted."
        )
    if not all(isinstance(name, str) for name in columns):
        raise InvalidTypeError(f"columns must be names of type str, got {_validate.describe(list(columns))}.")
    return [plain(name) for name in columns]
