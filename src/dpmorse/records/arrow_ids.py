"""Ids in columns of files: each distinct one is looked at once; after the first pass no text is copied."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.records.ids import EncodedTexts, Ids
from dpmorse.records.owners import Owners, called, owners_of
from dpmorse.typing import IntArray

_USUAL = "^(0|-?[1-9][0-9]{0,17})$"  # 18 digits are less than 2^63
_LONGER = "^-?[1-9][0-9]{18}$"  # may be


@dataclass(frozen=True)
class ArrowTexts(EncodedTexts):
    """A pyarrow array of large strings."""

    array: Any

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i: Any) -> Any:
        return self.array[i].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self.array.to_pylist())

    def utf8(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Return the bytes of all texts, one behind the other, and where each ends."""
        if not len(self.array):
            return np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
        _, offsets, data = self.array.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[self.array.offset :][: len(self.array) + 1]
        empty = np.empty(0, dtype=np.uint8)
        held = empty if data is None else np.frombuffer(data, dtype=np.uint8)[ends[0] :]
        return held, ends[1:] - ends[0]


def owners_in(column: Any, name: str) -> Owners:
    """Read the ids of a column without missing values; ``name`` is the column's."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode()
    distinct, places = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    if _is_text(distinct.type):
        distinct = distinct.cast(pa.large_string())
        if not pc.any(pc.match_substring_regex(distinct, _LONGER)).as_py():
            return _of_texts(distinct, places)
    if pa.types.is_integer(distinct.type) and distinct.type != pa.uint64():
        numbers = distinct.to_numpy().astype(np.int64)
        return Owners(Ids(numbers), places, frozenset({str(distinct.type)}))
    return owners_of(pa.chunked_array([distinct]), called(name)).spread(places)


def _is_text(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, _is_view))


def _is_view(kind: Any) -> bool:
    return bool(pa.types.is_string_view(kind)) if hasattr(pa.types, "is_string_view") else False


def _of_texts(distinct: Any, places: IntArray) -> Owners:
    """Split distinct texts into those that spell an integer in the usual way and all others."""
    usual = pc.match_substring_regex(distinct, _USUAL)
    mask = usual.to_numpy(zero_copy_only=False)
    numbers = distinct.filter(usual).cast(pa.int64()).to_numpy()
    ids = Ids(numbers, ArrowTexts(distinct.filter(pc.invert(usual))))
    new_places = np.where(mask, np.cumsum(mask) - 1, len(numbers) + np.cumsum(~mask) - 1)
    return Owners(ids, new_places[places], frozenset({"text"}))
