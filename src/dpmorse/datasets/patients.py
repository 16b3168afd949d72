"""Invented people, for demonstrations with units that everybody knows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse.datasets.draws import check_sizes, draw_labels, generator
from dpmorse.typing import FloatArray, IntArray

_CENTRES = np.array([[24.0, 115.0], [46.0, 124.0], [72.0, 132.0], [66.0, 172.0]])
_SPREADS = np.array([[5.0, 8.0], [7.0, 9.0], [8.0, 8.0], [9.0, 11.0]])
_SHARES = np.array([0.30, 0.35, 0.20, 0.15])

_WARDS = np.array(["surgery", "medicine", "cardiology"], dtype=object)
_WARD_SHARES = np.array([[0.7, 0.25, 0.05], [0.4, 0.5, 0.1], [0.2, 0.6, 0.2], [0.05, 0.25, 0.7]])
_WOMEN = np.array([0.5, 0.45, 0.65, 0.35])
_SMOKERS = np.array([0.35, 0.25, 0.1, 0.5])
_FIRST_DAY = np.datetime64("2015-01-01")
_DAYS = np.array([3000.0, 2400.0, 1800.0, 1200.0])
"""Day of admission by group, counted from the first: older people came earlier."""

_MISSING = 0.08
"""Part of the blood pressures, and of the answers about smoking, that is missing."""


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


def make_patient_table(
    n_samples: int = 20_000, *, random_state: Any = None
) -> tuple[dict[str, npt.NDArray[Any]], IntArray]:
    """The same people with sex, smoking, ward and day of admission: categories, dates and missing values.

    Parameters
    ----------
    n_samples : int
        Number of people.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    columns : dict of ndarray
        ``age``, ``pressure`` (NaN where it is missing), ``sex``, ``smoker`` (None where it is missing),
        ``ward`` and ``admitted`` (datetime64[D]).
    y : ndarray of shape (n_samples,)
        As in ``make_patients``.
    """
    rng = generator(random_state)
    points, y = make_patients(n_samples, random_state=rng)
    n = len(y)
    smoker = (rng.random(n) < _SMOKERS[y]).astype(object)
    smoker[rng.random(n) < _MISSING] = None
    steps = np.cumsum(_WARD_SHARES, axis=1)[y, :-1]
    days = _DAYS[y] + 200 * rng.standard_normal(n)
    columns = {
        "age": points[:, 0].round(1),
        "pressure": np.where(rng.random(n) < _MISSING, np.nan, points[:, 1].round(1)),
        "sex": np.where(rng.random(n) < _WOMEN[y], "female", "male").astype(object),
        "smoker": smoker,
        "ward": _WARDS[(rng.random(n)[:, None] >= steps).sum(axis=1)],
        "admitted": _FIRST_DAY + np.maximum(days, 0).astype("timedelta64[D]"),
    }
    return columns, y
