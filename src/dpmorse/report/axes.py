"""The axes of a page: columns in the caller's units, and two directions in which the mixture spreads most."""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.typing import FloatArray, IntArray

MOST_COLUMNS = 60
"""Most columns on a page. With more, menus and tables are too long to read."""

_MOST_CENTRE_VALUES = 60_000
"""Most values of centres on a page, columns times components, which limits its size."""

_MOST_CORRELATIONS = 24_000
"""Most correlations on a page, pairs of axes times components, which limits its size."""

_FEWEST_COLUMNS = 2
"""Columns that are shown in any case: a view needs two."""

_SAMPLE_FOR_RANGES = 4000
"""Points drawn from the mixture to find the ends of the axes; the quantiles used leave out eight at either
end."""

_NAMED_LOADINGS = 3
"""Columns that are named for a principal direction: those with the largest loadings."""

_SHOWN_DIRECTIONS = 2
"""Directions of a table that may be chosen: those in which components differ most."""

_PLUS, _MINUS = "+", "\N{MINUS SIGN}"
"""Signs of loadings, as they are shown."""


@dataclass(frozen=True)
class Axes:
    """The axes of all views of a page.

    Attributes
    ----------
    columns : ndarray of int of shape (n_columns,)
        Columns that are shown, in their order.
    directions : ndarray of shape (n_directions, n_features)
        Principal directions of the mixture with standardised columns: none or two.
    names : list of str
        Of the columns, then of the directions.
    viewable : ndarray of int
        Axes that a pair may be chosen from: all, unless there are very many components.
    mean, stddev : ndarray of shape (n_features,)
        Of the whole mixture.
    about : list of str
        For each direction, the columns that it is mostly made of.
    """

    columns: IntArray
    directions: FloatArray
    names: list[str]
    viewable: IntArray
    mean: FloatArray
    stddev: FloatArray
    about: list[str]

    def project(self, points: FloatArray) -> FloatArray:
        """Return coordinates on all axes, columns first."""
        return np.hstack([points[:, self.columns], (points - self.mean) @ self.directions.T])

    def covariances(self, mixture: GaussianMixture) -> FloatArray:
        """Return the covariances of the components on the axes, shape (n_components, n_axes, n_axes)."""
        frame = np.vstack([np.eye(mixture.n_features)[self.columns], self.directions])
        on_axes: FloatArray = frame @ mixture.covariances @ frame.T
        return on_axes

    def ranges(self, mixture: GaussianMixture, include: FloatArray) -> FloatArray:
        """Return low and high ends of the axes: nearly all of the mixture, and all of ``include``."""
        sample = self.project(mixture.sample(_SAMPLE_FOR_RANGES, rng=0)[0])
        low, high = np.quantile(sample, [0.002, 0.998], axis=0)
        inside = self.project(include)
        low, high = np.minimum(low, inside.min(axis=0)), np.maximum(high, inside.max(axis=0))
        margin = 0.06 * (high - low)
        return np.array([low - margin, high + margin])


def choose_axes(mixture: GaussianMixture, names: list[str]) -> Axes:
    """Choose the axes; if there are too many columns, those in which components differ most."""
    mean, covariance, explained = _overall(mixture)
    stddev = np.sqrt(np.diagonal(covariance))
    directions, parts = _principal(covariance, stddev)
    columns, viewable = _columns(mixture, explained, len(parts))
    labels, about = [names[i] for i in columns], []
    for i, part in enumerate(parts):
        label = f"Principal direction {i + 1}, {100 * part:.0f} %"
        labels.append(label)
        about.append(f"{label} of the variance: {_largest(directions[i] * stddev, names)}.")
    return Axes(columns, directions, labels, viewable, mean, stddev, about)


def table_axes(mixture: GaussianMixture, names: list[str], entries: list[str], loadings: FloatArray) -> Axes:
    """Choose the axes of a table: columns that are numbers, and the directions that come after them.

    ``entries`` names what directions are made of, and ``loadings`` says how much of each.
    """
    mean, covariance, explained = _overall(mixture)
    n, n_directions = len(names), min(_SHOWN_DIRECTIONS, mixture.n_features - len(names))
    directions = np.eye(mixture.n_features)[n : n + n_directions]
    columns, viewable = _columns(mixture, explained[:n], n_directions)
    labels, about = [names[i] for i in columns], []
    for i, differ in enumerate(("most", "next most")[:n_directions]):
        labels.append(f"Direction {i + 1}")
        made_of = _largest(loadings[i], entries)
        about.append(f"Direction {i + 1}, in which groups differ {differ}: {made_of}.")
    stddev = np.sqrt(np.diagonal(covariance))
    return Axes(columns, directions, labels, viewable, mean, stddev, about)


def _overall(mixture: GaussianMixture) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and covariance of the mixture, and how much of each variance lies between components."""
    mean: FloatArray = mixture.weights @ mixture.means
    offsets = mixture.means - mean
    # Law of total variance: Cov = sum_k w_k (mu_k - mu)(mu_k - mu)^T + sum_k w_k Sigma_k.
    between = (mixture.weights[:, None] * offsets).T @ offsets
    covariance = between + np.einsum("k,kij->ij", mixture.weights, mixture.covariances)
    return mean, covariance, np.diagonal(between) / np.diagonal(covariance)


def _columns(mixture: GaussianMixture, explained: FloatArray, n_directions: int) -> tuple[IntArray, IntArray]:
    """Return the columns that are shown, and the axes whose pairs can be drawn.

    These are as many as there is room for centres, and for correlations.
    """
    ranked = np.argsort(-explained, kind="stable")
    affordable = max(_FEWEST_COLUMNS, _MOST_CENTRE_VALUES // mixture.n_components)
    columns = np.sort(ranked[: min(MOST_COLUMNS, affordable)])
    n_axes = int(np.sqrt(2 * _MOST_CORRELATIONS / mixture.n_components))
    best = ranked[: max(_FEWEST_COLUMNS, n_axes - n_directions)]
    return columns, np.r_[np.flatnonzero(np.isin(columns, best)), len(columns) + np.arange(n_directions)]


def _principal(covariance: FloatArray, stddev: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first two principal directions of standardised columns, and their parts of the variance."""
    if len(stddev) <= 2:  # the columns themselves can be drawn
        return np.empty((0, len(stddev))), np.empty(0)
    values, vectors = np.linalg.eigh(covariance / stddev[:, None] / stddev)
    first = vectors[:, :-3:-1].T
    largest = np.abs(first).argmax(axis=1)
    # Eigenvectors have no sign of their own: the largest loading is made positive.
    first = first * np.sign(first[[0, 1], largest])[:, None]
    return first / stddev, values[:-3:-1] / values.sum()


def _largest(loading: FloatArray, names: list[str]) -> str:
    order = np.argsort(-np.abs(loading))[:_NAMED_LOADINGS]
    return ", ".join(f"{_PLUS if loading[i] > 0 else _MINUS} {names[i]}" for i in order)
