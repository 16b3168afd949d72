"""Common parts of generators: randomness, checks of sizes, shares of classes, labels and centres."""

from typing import Any

import numpy as np

from dpmorse._validate import describe, positive_int
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.typing import FloatArray, IntArray

Rng = np.random.Generator


def generator(random_state: Any) -> Rng:
    """Return the Generator that a seed, a Generator, a RandomState or None stands for."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        kind = InvalidTypeError if isinstance(error, TypeError) else InvalidParameterError
        raise kind(
            f"random_state must be None, an integer >= 0, a Generator or a RandomState, "
            f"got {describe(random_state)}."
        ) from error


def check_sizes(n_samples: object, n_features: object, n_clusters: object) -> tuple[int, int, int]:
    """Return the three sizes as integers >= 1, with at least one record for every class."""
    rows = positive_int(n_samples=n_samples)
    columns = positive_int(n_features=n_features)
    classes = positive_int(n_clusters=n_clusters)
    if rows < classes:
        raise InvalidParameterError(
            f"n_samples must be at least n_clusters = {classes}, got {rows}. Every class has a record."
        )
    return rows, columns, classes


def plane_or_more(n_features: object, hint: str) -> int:
    """Return the number of columns, at least 2."""
    columns = positive_int(n_features=n_features, hint=hint)
    if columns < 2:
        raise InvalidParameterError(f"n_features must be >= 2, got {columns}. {hint}")
    return columns


def draw_shares(k: int, evenness: float, rng: Rng) -> FloatArray:
    """Draw k positive shares with sum 1; the larger ``evenness``, the more alike."""
    return rng.dirichlet(np.full(k, evenness))


def draw_labels(n: int, shares: FloatArray, rng: Rng) -> IntArray:
    """Draw n labels with the given shares, each label at least once where n allows, in random order."""
    k = min(shares.size, n)
    rest = rng.choice(shares.size, size=n - k, p=shares / shares.sum())
    return rng.permutation(np.concatenate([np.arange(k), rest])).astype(np.int64)


def draw_centres(k: int, d: int, separation: float, rng: Rng) -> FloatArray:
    """Draw k centres whose median distance to the nearest other centre is ``separation``.

    One number then means about the same overlap of neighbours in any number of columns and classes.
    """
    centres = rng.standard_normal((k, d))
    if k == 1:
        return centres
    squares = ((centres[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return centres * float(separation / np.median(np.sqrt(squares.min(axis=1))))


def with_nuisance(X: FloatArray, n_nuisance: int, rng: Rng) -> FloatArray:
    """Append columns that tell nothing of the class, as wide as the average column."""
    width = X.std(axis=0).mean()
    return np.hstack([X, width * rng.standard_normal((len(X), n_nuisance))])
