"""Labelled records in a box known beforehand: what the families and public datasets of the benchmarks are."""

from dataclasses import dataclass

import numpy as np

from dpmorse._validate import describe
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import FloatArray, IntArray

NOISE = -1


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Records, their classes, and the box they lie in.

    Parameters
    ----------
    name : str
        Name of the dataset.
    X : ndarray of shape (n_samples, n_features), float64
        Records, unscaled.
    y : ndarray of shape (n_samples,), int64
        Class of each record; -1 marks background noise that belongs to no class.
    bounds : tuple of two ndarrays of shape (n_features,)
        Lower and upper bound of every column, as the estimators' ``bounds`` wants them.

    Attributes
    ----------
    n_clusters : int
        Number of classes, the background not counted.
    """

    name: str
    X: FloatArray
    y: IntArray
    bounds: tuple[FloatArray, FloatArray]

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1]:
            raise InvalidParameterError(
                f"y must hold one label per row of X, got X of shape {self.X.shape} "
                f"and y of shape {self.y.shape}."
            )
        lower, upper = self.bounds
        if not (np.all(lower <= self.X) and np.all(upper >= self.X)):
            raise InvalidParameterError(
                f"bounds must contain every record of {describe(self.name)}, got a box that does not."
            )

    @property
    def n_clusters(self) -> int:
        """Number of classes, the background not counted."""
        return int(np.unique(self.y[self.y != NOISE]).size)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"LabelledData({self.name!r}, {rows} x {columns}, {self.n_clusters} classes)"


def widened_bounds(X: FloatArray, margin: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """Return the box of the records, widened on each side by a share of its sides."""
    lower, upper = X.min(axis=0), X.max(axis=0)
    sides = upper - lower
    room = margin * np.where(sides > 0, sides, 1.0)  # a constant column has a range, too
    return lower - room, upper + room
