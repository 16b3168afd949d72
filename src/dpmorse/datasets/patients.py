"""Invented people, for demonstrations with units that everybody knows."""

from typing import Any

import numpy as np

from dpmorse.datasets.draws import check_sizes, draw_labels, generator
from dpmorse.typing import FloatArray, IntArray

_CENTRES = np.array([[24.0, 115.0], [46.0, 124.0], [72.0, 132.0], [66.0, 172.0]])
_SPREADS = np.array([[5.0, 8.0], [7.0, 9.0], [8.0, 8.0], [9.0, 11.0]])
_SHARES = np.array([0.30, 0.35, 0.20, 0.15])


def make_patients(n_samples: int = 20_000, *, random_state: Any = None) -> tuple[FloatArray, IntArray]:
    """Age in years and systolic blood pressure in mmHg of four groups of invented people.

    Parameters
    ----------
    n_samples : int
        Number of people.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 young, 1 middle-aged, 2 older, 3 older with hypertension.
    """
    rng = generator(random_state)
    n, _, _ = check_sizes(n_samples, 2, len(_SHARES))
    y = draw_labels(n, _SHARES, rng)
    return _CENTRES[y] + _SPREADS[y] * rng.standard_normal((len(y), 2)), y
