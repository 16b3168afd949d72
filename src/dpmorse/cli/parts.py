"""What is known of each cluster of a model: measured numbers with intervals, or moments of the mixture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.cli.models import Model
from dpmorse.clustering import MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles import Profile
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Part:
    """A cluster, or a component of a model without clusters; ends of intervals where there is a profile."""

    share: float
    """Of all records."""

    mean: FloatArray
    deviation: FloatArray
    records: float | None = None
    ends: Mapping[str, Any] | None = None
    """By "share", "mean" and "standard_deviation", and "levels" of a table: the low and the high end."""

    levels: FloatArray | None = None
    """Shares of the levels of all categories, where there are categories."""


def parts(model: Model, *, population: bool = False) -> list[Part]:
    """Describe the clusters of a model, heaviest first: from its profile, else from the mixture alone."""
    if profile_of(model) is not None:
        return list(_measured(model, population=population))
    if population:
        raise InvalidParameterError("--population needs intervals, and this model has no profile.")
    return list(_moments(model, _labels(model)))


def profile_of(model: Model) -> Profile | None:
    """Return what was measured of the clusters, if anything was."""
    return getattr(getattr(model, "base_", model), "profile_", None)


def _measured(model: Model, *, population: bool) -> Iterator[Part]:
    table = model.table(population=population)
    estimates = {"share": table.share, "mean": table.centre, "standard_deviation": table.spread}
    for c in range(len(table.counts)):
        ends = {name: (of.low[c], of.high[c]) for name, of in estimates.items()}
        values = (float(table.share.value[c]), table.centre.value[c], table.spread.value[c])
        levels = None
        if table.levels is not None:
            of_levels = table.levels.share
            levels, ends["levels"] = of_levels.value[c], (of_levels.low[c], of_levels.high[c])
        yield Part(*values, float(table.counts[c]), ends, levels)


def _labels(model: Model) -> IntArray:
    if isinstance(model, MorseEstimator):
        return model.component_labels_
    return np.arange(model.mixture_.n_components)


def _moments(model: Model, labels: IntArray) -> Iterator[Part]:
    mixture = model.mixture_
    probabilities = getattr(mixture, "probabilities", None)
    for label in range(int(labels.max()) + 1):
        mine = labels == label
        share = float(mixture.weights[mine].sum())
        weights = mixture.weights[mine] / share if share > 0 else np.full(mine.sum(), 1 / max(mine.sum(), 1))
        # Law of total variance: the variance inside the components plus that between their means.
        mean = weights @ mixture.means[mine]
        inside = weights @ np.diagonal(mixture.covariances[mine], axis1=1, axis2=2)
        between = weights @ (mixture.means[mine] - mean) ** 2
        levels = None if probabilities is None else weights @ probabilities[mine]
        yield Part(share, mean, np.sqrt(inside + between), levels=levels)
