"""Arrays in model files: nested lists of numbers; of symmetric or triangular matrices the lower triangles."""

from typing import Any

import numpy as np

from dpmorse._plain_data import holds_boolean
from dpmorse.exceptions import ModelFormatError
from dpmorse.typing import FloatArray


def array_of(name: str, key: str, value: object) -> Any:
    """Return nested lists of numbers as an array, or say which field holds something else."""
    if not isinstance(value, list):
        raise ModelFormatError(f"{name}.{key} must be a list of numbers.")
    array = np.array(value)  # ragged lists raise ValueError, which `rebuild` turns into a format error
    if array.dtype.kind not in "fi" or holds_boolean(value):
        raise ModelFormatError(f"{name}.{key} must hold numbers only.")
    return array


def lower_triangles(matrices: FloatArray) -> Any:
    """Return the lower triangles, row by row."""
    rows, columns = np.tril_indices(matrices.shape[-1])
    return matrices[:, rows, columns].tolist()


def unfolded(name: str, lower: FloatArray, k: int, d: int) -> FloatArray:
    """Return k lower triangular matrices; the shape is checked before anything of their size is allocated."""
    if lower.shape != (k, d * (d + 1) // 2):
        raise ModelFormatError(f"{name} does not have the shape of k lower triangles.")
    matrices = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d)
    matrices[:, rows, columns] = lower
    return matrices
