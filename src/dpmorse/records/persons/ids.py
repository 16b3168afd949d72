"""Sets of ids in canonical form: 64-bit integers, and text in Unicode's NFC for all others.

Canonical forms are compared exactly.

Privacy
-------
Unicode has two spellings of "José": with one character for the accented letter (NFC), or with the letter and
an accent behind it (NFD). By its definition they are the same text, and files and databases of one
organisation often hold both. Compared byte by byte they would be two persons, and twice as many rows would be
used of the one person behind them as Lemma 4 of docs/privacy.md allows. So texts are compared in NFC. (Should
two persons differ in nothing but the spelling of one text, which no reader can see, they are one unit, like
all who share an id.)

Nothing else is folded: not case, not blanks, not look-alikes such as full-width digits. They may be somebody
else, and the promise is made to each person, not to two who were joined by mistake; the holder of the data
knows. The form is that of Python's ``unicodedata`` everywhere, never that of another library: two tables of
Unicode could split one person.
"""

import operator
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpmorse.engine import HashArray
from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.persons._kernels import hash_numbers, hash_texts
from dpmorse.typing import IntArray

_USUAL = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
"""How programs write a 64-bit integer: without a plus sign, leading zeros or spaces."""

_SAME_HASH = (
    "{name} must not hold two ids with the same 64-bit hash, which is all but impossible by chance. Write "
    "the ids in another way, such as with a letter in front."
)
"""The error about a collision of hashes, by which later passes recognise ids."""

_LARGEST = (1 << 63) - 1
"""The largest 64-bit integer; larger numbers are kept as text."""

_SMALLEST = -(1 << 63)
"""The smallest 64-bit integer."""


def canonical(value: int | str) -> int | str:
    """Return the canonical form of an id: a 64-bit integer if the value is or writes one, otherwise text.

    It depends on this value alone, not on other ids.
    """
    if isinstance(value, str):
        # str.__str__ gives the value of a string enumeration, str(value) its name.
        text = unicodedata.normalize("NFC", str.__str__(value))
        return int(text) if _USUAL.fullmatch(text) and _SMALLEST <= int(text) <= _LARGEST else text
    return int(value) if _SMALLEST <= value <= _LARGEST else str(int(value))


class EncodedTexts(Sequence[str]):
    """Texts that are in memory as UTF-8 already; most passes need only their hashes."""

    def utf8(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Return the bytes of all texts, one behind the other, and where each ends."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ids:
    """Distinct ids: first the integers, then the texts. An id's place is its position in this order."""

    numbers: IntArray
    texts: Sequence[str] = ()
    """Texts in NFC that write no 64-bit integer in the usual way."""

    @classmethod
    def of(cls, values: Sequence[int | str]) -> tuple["Ids", IntArray]:
        """Return the distinct ids among values, which need not be canonical, and the place of each value."""
        forms = [canonical(value) for value in values]
        distinct = dict.fromkeys(forms)
        numbers = [form for form in distinct if isinstance(form, int)]
        texts = [form for form in distinct if isinstance(form, str)]
        place = {form: i for i, form in enumerate([*numbers, *texts])}
        places = np.fromiter((place[form] for form in forms), dtype=np.int64, count=len(forms))
        return cls(np.array(numbers, dtype=np.int64), texts), places

    def __len__(self) -> int:
        return len(self.numbers) + len(self.texts)

    def take(self, places: IntArray) -> "Ids":
        """Return the ids at places, which must be in ascending order."""
        n = len(self.numbers)
        return Ids(self.numbers[places[places < n]], [self.texts[i] for i in places[places >= n] - n])

    def merged(self, other: "Ids") -> tuple["Ids", IntArray, IntArray]:
        """Return all ids of both, and the new places of those of each."""
        numbers, of_numbers = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        texts, of_texts = _distinct_texts(self, other)
        mine, theirs = np.split(of_numbers, [len(self.numbers)])
        my_texts, their_texts = np.split(of_texts + len(numbers), [len(self.texts)])
        return (
            Ids(numbers, texts),
            np.concatenate([mine, my_texts]),
            np.concatenate([theirs, their_texts]),
        )

    @cached_property
    def hashes(self) -> HashArray:
        """One hash for each id, the same wherever it comes from."""
        hashes = np.empty(len(self), dtype=np.uint64)
        hash_numbers(self.numbers.view(np.uint64), hashes[: len(self.numbers)])
        if isinstance(self.texts, EncodedTexts):
            data, ends = self.texts.utf8()
        else:
            encoded = [text.encode("utf-8", "surrogatepass") for text in self.texts]
            ends = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
            data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        hash_texts(data, ends, hashes[len(self.numbers) :])
        return hashes

    def check_distinct_hashes(self, name: str) -> None:
        """Refuse ids of which two have the same hash, so that comparing hashes is comparing ids."""
        if len(np.unique(self.hashes)) < len(self):
            raise InvalidParameterError(_SAME_HASH.format(name=name))

    def spell_a_number_twice(self) -> bool:
        """Say whether two of these ids are the same number, such as 7 and "007", or "7.0" and "7"."""
        if not self.texts:
            return False
        values = [value for text in self.texts if (value := _number_spelled(text)) is not None]
        whole = [int(value) for value in values if _SMALLEST <= value <= _LARGEST and value == int(value)]
        return len(set(values)) < len(values) or bool(np.isin(np.array(whole, np.int64), self.numbers).any())


def _distinct_texts(one: Ids, other: Ids) -> tuple[list[str], IntArray]:
    """Return the distinct texts of both, and the place of each; those with equal hashes are compared."""
    hashes = np.concatenate([ids.hashes[len(ids.numbers) :] for ids in (one, other)])
    _, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    every = [*one.texts, *other.texts]
    texts = [every[i] for i in first.tolist()]
    if not all(map(operator.eq, every, map(texts.__getitem__, places.tolist()))):
        raise InvalidParameterError(_SAME_HASH.format(name="groups"))
    return texts, places


def _number_spelled(text: str) -> Decimal | None:
    """Return the number that a text spells in any way, or None."""
    start = text.strip()[:1]
    if start.isascii() and start not in set("+-.0123456789"):
        return None  # nearly all texts are rejected here, without the slow parser
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not value and "e" in text.lower():
        return None  # 0e12 is an id in hexadecimal digits rather than a way to write 0
    return value if value.is_finite() else None
