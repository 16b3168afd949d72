"""Values of three shapes with mean 0 and variance 1."""

import numpy as np

from dpmorse.typing import FloatArray

SHAPES = ("normal", "lognormal", "t3")

_LOG_SD = 0.75


def noise(shape: str, size: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Draw values with mean 0 and variance 1."""
    if shape == "t3":
        values: FloatArray = rng.standard_t(3, size) / np.sqrt(3)
    elif shape == "normal":
        values = rng.standard_normal(size)
    else:
        variance = np.exp(_LOG_SD**2)
        positive = np.exp(_LOG_SD * rng.standard_normal(size))
        values = (positive - np.sqrt(variance)) / np.sqrt(variance * (variance - 1))
    return values
