"""Tensors that a schema describes: they hold codes, since a tensor holds numbers only.

A category is the place of its value in the list, from 0 on, an ordinal value its rank, and a date the number
of days since the earliest. NaN is a missing value. All else that is no code is "other", or, where there is no
such level, missing; and so is infinity where a number is described.
"""

from typing import Any

import torch

from dpmorse.records.encoding import refuse_missing, refuse_unreadable
from dpmorse.schema import Schema


def encode_tensor(tensor: Any, schema: Schema) -> Any:
    """Return encoded records, on the device of the tensor; each is encoded by itself."""
    columns = {name: tensor[:, j].to(torch.float64) for j, name in enumerate(schema.names)}
    numbers = {name: column.from_codes(columns[name], torch) for name, column in schema.numbers}
    codes = {name: column.from_codes(columns[name], torch) for name, column in schema.categories}
    refuse_unreadable([name for name, values in numbers.items() if bool(torch.isinf(values).any())], schema)
    numbers = {name: values.masked_fill(torch.isinf(values), torch.nan) for name, values in numbers.items()}
    both = {**numbers, **codes}
    refuse_missing([name for name, values in both.items() if bool(torch.isnan(values).any())], schema)
    encoded = torch.zeros((len(tensor), schema.layout.width), dtype=torch.float64, device=tensor.device)
    holes = _put_numbers(encoded, list(numbers.values()), schema)
    _put_levels(encoded, [*codes.values(), *(holes[j] for j in schema.tracked)], schema)
    return encoded


def _put_numbers(encoded: Any, numbers: list[Any], schema: Schema) -> list[Any]:
    """Put numbers and holes where the layout says; return the holes of all numbers."""
    layout = schema.layout
    holes = [torch.isnan(values) for values in numbers]
    for j, (values, hole) in enumerate(zip(numbers, holes, strict=True)):
        encoded[:, layout.n_holes + j] = torch.where(hole, float(layout.middle[j]), values)
    for i, j in enumerate(layout.holes):
        encoded[:, i] = holes[j].to(torch.float64)
    return [hole.to(torch.float64) for hole in holes]


def _put_levels(encoded: Any, codes: list[Any], schema: Schema) -> None:
    """Put levels where the layout says."""
    start = schema.layout.level_part.start
    for part, code in zip(schema.layout.levels, codes, strict=True):
        rows = torch.nonzero(~torch.isnan(code)).ravel()
        encoded[rows, start + part.start + code[rows].to(torch.int64)] = 1.0
