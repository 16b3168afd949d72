"""Records in torch tensors and CuPy arrays, which stay on their device."""

from typing import Any

import numpy as np
import torch

from dpmorse.engine import Engine, InMemoryEngine
from dpmorse.engine.tensors import TensorEngine
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function
from dpmorse.records.in_memory import REPLACE, listed

_CHUNK_ROWS = 1 << 20


class TensorRecords:
    """A tensor on any device. One on the CPU is worked on by the usual engine, which shares its memory."""

    def __init__(self, X: Any) -> None:
        self._tensor, self._is_cupy = _open(X)
        self.columns = Columns.of(self._tensor.shape[1])

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that works where the tensor is."""
        on_cpu = self._tensor.device.type == "cpu"
        if not on_cpu and isinstance(given, InMemoryEngine):
            raise InvalidTypeError(
                f"engine=InMemoryEngine() takes arrays, and X is on {self._tensor.device}. Leave engine at "
                f"None, or pass {'X.get()' if self._is_cupy else 'X.cpu()'}."
            )
        if given is not None:
            return given
        return InMemoryEngine() if on_cpu else TensorEngine()

    def read(self, estimator: Any) -> Any:
        """Return the tensor; refuse what is not finite."""
        if 0 in self._tensor.shape:
            raise InvalidParameterError(
                f"X has {self._tensor.shape[0]} sample(s) and {self._tensor.shape[1]} feature(s), while a "
                f"minimum of 1 is required by {type(estimator).__name__}."
            )
        _check_finite(self._tensor)
        return self._tensor

    def matching(self, estimator: Any) -> "TensorRecords":
        """Refuse columns that are not those of the fit."""
        self.columns.check_those_of(estimator)
        return self

    def each(self, estimator: Any, function: Function) -> Any:
        """Return a tensor, on the same device, with the function of every record."""
        _check_finite(self._tensor)
        on_device = getattr(function, "of_tensor", None)
        if on_device is not None and self._tensor.device.type != "cpu":
            return self._like_x(on_device(self._tensor))
        parts = [torch.from_numpy(function(chunk.cpu().numpy())) for chunk in self._tensor.split(_CHUNK_ROWS)]
        return self._like_x(torch.cat(parts).to(self._tensor.device))

    def _like_x(self, tensor: Any) -> Any:
        if not self._is_cupy:
            return tensor
        import cupy  # noqa: PLC0415 - X is of this library

        return cupy.from_dlpack(tensor)


def _open(X: Any) -> tuple[Any, bool]:
    """Return a tensor of floats without copying where X has them, and whether X is CuPy's."""
    is_tensor = isinstance(X, torch.Tensor)
    tensor = X.detach() if is_tensor else _from_cupy(X)
    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.is_quantized:
        raise InvalidTypeError("X must be a dense tensor of real numbers.")
    if tensor.ndim != 2:
        raise InvalidParameterError(
            f"X must have two dimensions, (n_samples, n_features), got {tensor.ndim}. "
            "Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one record."
        )
    if tensor.is_floating_point():
        return (tensor if tensor.dtype.itemsize >= 4 else tensor.to(torch.float32)), not is_tensor
    return tensor.to(torch.float64), not is_tensor


def _from_cupy(X: Any) -> Any:
    """Share the memory of a CuPy array, or of a copy where it runs backwards, which no tensor does."""
    return torch.from_dlpack(X if min(X.strides, default=0) >= 0 else X.copy())


def _check_finite(tensor: Any) -> None:
    """Refuse NaN and infinity, naming their columns."""
    if bool(torch.isfinite(tensor.sum())):  # one that overflows is looked at more closely
        return
    for what, found in (("NaN", torch.isnan), ("infinity", torch.isinf)):
        bad = np.zeros(tensor.shape[1], dtype=bool)
        for chunk in tensor.split(_CHUNK_ROWS):
            bad |= found(chunk).any(dim=0).cpu().numpy()
        if bad.any():
            raise InvalidParameterError(
                f"X contains {what} in the columns {listed(list(np.flatnonzero(bad).tolist()))}. {REPLACE}"
            )
