"""Ids in columns of files: the first pass reads each distinct id, later ones hash the bytes in place.

Texts are told apart by their bytes, which is right for texts in NFC. Nearly all are, as their largest byte
tells (``_FIRST_MARK``); others are brought to NFC first. Which way is taken changes the time, not an id.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmorse.engine import HashArray
from dpmorse.records.files.batched_table import is_text
from dpmorse.records.persons._kernels import hash_numbers, hash_texts
from dpmorse.records.persons.id_values import not_ids, owners_of
from dpmorse.records.persons.ids import EncodedTexts, Ids
from dpmorse.records.persons.owners import Owners, called
from dpmorse.typing import IntArray

_USUAL = "^(0|-?[1-9][0-9]{0,17})$"
"""Texts that write an integer in the usual way, with up to 18 digits: these are all below 2^63."""

_LONGER = "^-?[1-9][0-9]{18}$"
"""Texts with 19 digits, which may or may not be below 2^63. In columns with such texts each distinct text is
read as a Python object, with the same ids."""

_FIRST_MARK = 0xCC
"""Texts whose bytes are all smaller are in NFC. In UTF-8 this byte begins U+0300, the first character that
may be joined to the one before; all characters that NFC spells in another way come later."""


@dataclass(frozen=True)
class ColumnOwners:
    """A column of ids without missing values; ``name`` is the column's."""

    column: Any
    name: str

    def __len__(self) -> int:
        return len(self.column)

    @property
    def n_bytes(self) -> int:
        """Memory of the ids."""
        return int(self.column.nbytes)

    def row_hashes(self) -> HashArray:
        """Return the hash of each row's owner."""
        if is_text(self.column.type):
            return self._hashes_of_texts()
        if not _is_int64(self.column.type):
            return self.exact().row_hashes()
        hashes = np.empty(len(self.column), dtype=np.uint64)
        hash_numbers(self.column.to_numpy().astype(np.int64).view(np.uint64), hashes)
        return hashes

    def _hashes_of_texts(self) -> HashArray:
        """Hash the bytes of all texts; those that may not be in NFC are read, and hashed again."""
        data, ends = _utf8(self.column)
        hashes = np.empty(len(ends), dtype=np.uint64)
        hash_texts(data, ends, hashes)
        if not _show_nfc(data, ends):
            rows = np.flatnonzero(~pc.string_is_ascii(self.column).to_numpy(zero_copy_only=False))
            hashes[rows] = owners_in(self.column.take(rows), self.name).row_hashes()
        return hashes

    def exact(self) -> Owners:
        """Return the ids themselves."""
        return owners_in(self.column, self.name)


@dataclass(frozen=True)
class ArrowTexts(EncodedTexts):
    """A pyarrow array of texts."""

    array: Any

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i: Any) -> Any:
        return self.array[i].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self.array.to_pylist())

    def utf8(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Return the bytes of all texts, one behind the other, and where each ends."""
        return _utf8(self.array)


def owners_in(column: Any, name: str) -> Owners:
    """Read the ids of a column without missing values; each distinct one is looked at once."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        encoded = column.dictionary_encode()
    except pa.ArrowNotImplementedError:  # lists, structures and the like
        raise not_ids(called(name), str(column.type).partition("<")[0]) from None
    distinct, places = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    if is_text(distinct.type) and _is_canonical(distinct):
        usual = pc.match_substring_regex(distinct, _USUAL)
        mask = usual.to_numpy(zero_copy_only=False)
        numbers = distinct.filter(usual).cast(pa.int64()).to_numpy()
        texts = ArrowTexts(distinct.filter(pc.invert(usual)))
        place_of = np.where(mask, np.cumsum(mask) - 1, len(numbers) + np.cumsum(~mask) - 1)
        return Owners(Ids(numbers, texts), place_of[places], frozenset({"text"}))
    if _is_int64(distinct.type):
        numbers = distinct.to_numpy().astype(np.int64)
        return Owners(Ids(numbers), places, frozenset({str(distinct.type)}))
    return owners_of(pa.chunked_array([distinct]), called(name)).spread(places)


def _show_nfc(data: npt.NDArray[np.uint8], ends: IntArray) -> bool:
    """Say whether the bytes alone tell that all texts are in NFC, as those of ASCII and most of Latin do."""
    return not len(ends) or int(data[: ends[-1]].max(initial=0)) < _FIRST_MARK


def _is_canonical(distinct: Any) -> bool:
    """Say whether all texts are in NFC, and none has the 19 digits that may or may not be an integer."""
    if pc.any(pc.match_substring_regex(distinct, _LONGER)).as_py():
        return False
    if _show_nfc(*_utf8(distinct)):
        return True
    try:
        return all(unicodedata.is_normalized("NFC", text) for text in distinct.to_pylist())
    except UnicodeError:
        return False  # not UTF-8: refused where texts are read


def _is_int64(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) and kind != pa.uint64())


def _utf8(array: Any) -> tuple[npt.NDArray[np.uint8], IntArray]:
    """Return the bytes of all texts, one behind the other and not copied, and where each ends."""
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        return np.empty(0, dtype=np.uint8), np.zeros(len(array), dtype=np.int64)
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    ends = np.frombuffer(offsets, dtype=kind)[array.offset :][: len(array) + 1].astype(np.int64)
    return np.frombuffer(data, dtype=np.uint8)[ends[0] :], ends[1:] - ends[0]
