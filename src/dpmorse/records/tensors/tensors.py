"""Records in torch tensors and CuPy arrays, which stay on their device.

With a schema a tensor holds codes, since it holds numbers only. A category is the place of its value in the
list, from 0 on, an ordinal value its rank, and a date the number of days since the earliest. NaN is a missing
value. All else that is no code is "other", or, where there is no such level, missing; and so is infinity
where a number is described.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from dpmorse.engine import Engine, InMemoryEngine, TensorEngine
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import (
    Columns,
    Function,
    GivenRecords,
    TensorFunction,
    refuse_no_columns,
    refuse_none,
)
from dpmorse.records.encoding import refuse_missing, refuse_unreadable
from dpmorse.records.memory.number_tables import REPLACE
from dpmorse.records.names import listed
from dpmorse.records.persons.id_values import not_ids, owners_of
from dpmorse.records.persons.owners import Batch, Owners, called, check_length
from dpmorse.records.persons.row_choice import choose_among
from dpmorse.schema import Schema

_CHUNK_ROWS = 1 << 20
"""Rows that are copied to the host, or checked, at a time, which limits the memory of temporaries."""


class TensorRecords(GivenRecords):
    """A tensor on any device. One on the CPU is worked on by the usual engine, which shares its memory."""

    def __init__(self, X: Any, groups: Any = None, schema: Schema | None = None) -> None:
        if isinstance(groups, str):
            raise InvalidTypeError(
                "groups must have one value for each row; a tensor has no names of columns."
            )
        super().__init__(X, groups, schema)
        self._tensor, self._is_cupy = _open(X)
        self._columns = Columns.of(self._tensor.shape[1]).encoded_by(schema)

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

    def read(self, estimator: Any, most: int | None = None) -> Any:
        """Return the tensor of the records that are used; refuse what is not finite."""
        refuse_no_columns(self._tensor.shape[1], estimator)
        refuse_none(self._tensor.shape[0], estimator)
        tensor = self._checked()
        return tensor if most is None else self._used(tensor, most)

    def _checked(self) -> Any:
        """Return the records as numbers; refuse what is not finite."""
        if self._schema is not None:
            return _encoded(self._tensor, self._schema)
        _check_finite(self._tensor)
        return self._tensor

    def _used(self, tensor: Any, most: int) -> Any:
        """Choose rows on the host, a chunk at a time, and take them where they are."""
        groups = self._groups
        if isinstance(groups, torch.Tensor):
            if groups.dtype in {torch.bfloat16, torch.float16} or groups.is_complex():
                raise not_ids("groups", str(groups.dtype))
            groups = groups.detach().cpu().numpy()
        elif type(groups).__module__.partition(".")[0] == "cupy":
            groups = groups.get()
        owners = owners_of(groups)
        check_length(owners, len(tensor))
        chosen = choose_among(partial(_batches, tensor, owners), most, called(self.unit))
        masks = [chosen.mask_of(batch) for batch in _batches(tensor, owners)]
        used = tensor[torch.from_numpy(np.concatenate(masks)).to(tensor.device)]
        others = [torch.from_numpy(rows).to(used.device, used.dtype) for rows in chosen.others()]
        return torch.cat([used, *others])

    def each(self, estimator: Any, function: Function) -> Any:
        """Return a tensor, on the same device, with the function of every record."""
        tensor = self._checked()
        if isinstance(function, TensorFunction) and tensor.device.type != "cpu":
            return self._like_x(function.of_tensor(tensor))
        parts = [torch.from_numpy(function(chunk.cpu().numpy())) for chunk in tensor.split(_CHUNK_ROWS)]
        return self._like_x(torch.cat(parts).to(tensor.device))

    def _like_x(self, tensor: Any) -> Any:
        if not self._is_cupy:
            return tensor
        import cupy  # noqa: PLC0415 - X is of this library

        return cupy.from_dlpack(tensor)


def _open(X: Any) -> tuple[Any, bool]:
    """Return a tensor of floats without copying where X has them, and whether X is CuPy's."""
    is_tensor = isinstance(X, torch.Tensor)
    if not is_tensor and min(X.strides, default=0) < 0:  # which no tensor has
        X = X.copy()
    tensor = X.detach() if is_tensor else torch.from_dlpack(X)
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


def _batches(tensor: Any, owners: Owners) -> Iterator[Batch]:
    """Yield chunks of a tensor on the host, with their owners."""
    for start in range(0, len(tensor), _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        yield Batch(tensor[rows].cpu().numpy(), owners[rows])


def _check_finite(tensor: Any) -> None:
    """Refuse NaN and infinity, naming their columns."""
    # The sum of finite numbers is finite, unless it overflows; the loop below then finds nothing.
    if bool(torch.isfinite(tensor.sum())):
        return
    for what, found in (("NaN", torch.isnan), ("infinity", torch.isinf)):
        bad = np.zeros(tensor.shape[1], dtype=bool)
        for chunk in tensor.split(_CHUNK_ROWS):
            bad |= found(chunk).any(dim=0).cpu().numpy()
        if bad.any():
            raise InvalidParameterError(
                f"X contains {what} in the columns {listed(list(np.flatnonzero(bad).tolist()))}. {REPLACE}"
            )


def _encoded(tensor: Any, schema: Schema) -> Any:
    """Return encoded records, on the device of the tensor; each is encoded by itself."""
    columns = {name: tensor[:, j].to(torch.float64) for j, name in enumerate(schema.names)}
    numbers = {name: column.from_codes(columns[name], torch) for name, column in schema.numbers}
    codes = {name: column.from_codes(columns[name], torch) for name, column in schema.categories}
    refuse_unreadable([name for name, values in numbers.items() if bool(torch.isinf(values).any())], schema)
    numbers = {name: values.masked_fill(torch.isinf(values), torch.nan) for name, values in numbers.items()}
    both = {**numbers, **codes}
    refuse_missing([name for name, values in both.items() if bool(torch.isnan(values).any())], schema)
    layout = schema.layout
    encoded = torch.zeros((len(tensor), layout.width), dtype=torch.float64, device=tensor.device)
    holes = [torch.isnan(values) for values in numbers.values()]
    for j, (values, hole) in enumerate(zip(numbers.values(), holes, strict=True)):
        encoded[:, layout.n_holes + j] = torch.where(hole, float(layout.middle[j]), values)
    for i, j in enumerate(layout.holes):
        encoded[:, i] = holes[j].to(torch.float64)
    levels = [*codes.values(), *(holes[j].to(torch.float64) for j in schema.tracked)]
    for part, code in zip(layout.levels, levels, strict=True):
        rows = torch.nonzero(~torch.isnan(code)).ravel()
        encoded[rows, layout.level_part.start + part.start + code[rows].to(torch.int64)] = 1.0
    return encoded
