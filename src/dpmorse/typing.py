"""Names for the array types that travel between modules."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
LabelArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def label_dtype(n_labels: int) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed type that holds the labels 0 to ``n_labels - 1``, and -1."""
    smallest: np.dtype[np.signedinteger[Any]] = np.dtype(np.min_scalar_type(-max(n_labels, 1)))
    return smallest
