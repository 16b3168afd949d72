"""Damage, by accident and on purpose: bytes, JSON documents and text that are almost right.

Every function takes a NumPy generator, so that a case is found again by its seed.
"""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

CANARY = "dpmorse-canary"
"""A file of this name in the working folder would mean that a file was run as code."""

ESCAPES = "\x1b]0;owned\x07\x1b[31m\u202e"
CODE = f"__import__('pathlib').Path({CANARY!r}).touch()"
PICKLE = f"cpathlib\nPath\n(S'{CANARY}'\ntR(S'touch'\n."

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 7, 0.5, -0.0, 1e-320, 1e-9, 1e9, 1e308, -1e308, 2**31, 2**53 + 1,
    2**63, 10**30, 10**400, "", "auto", "private", "1", "nan", ESCAPES, CODE, PICKLE, "a" * 5000, [], {},
    [[]], [None], [0], [1e308] * 3, [[0.0] * 40] * 40, {"": 0}, {"__class__": CODE}, [[[[[[[[]]]]]]]],
)  # fmt: skip

_INTERESTING = [
    b"\x00",
    b"\xff",
    b"\n",
    b"\r",
    b'"',
    b"{",
    b"[",
    b"}",
    b"]",
    b",",
    b"\\",
    b"\x1b",
    b"NaN",
    b"1e999",
]


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the data with one to four accidents."""
    for _ in range(rng.integers(1, 5)):
        data = _BYTE_ACCIDENTS[rng.integers(len(_BYTE_ACCIDENTS))](data, rng)
    return data


def _span(data: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(rng.integers(1, 65)))


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def _overwrite(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + rng.bytes(end - start) + data[end:]


def _remove(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * int(rng.integers(1, 20)) + data[end:]


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + _INTERESTING[rng.integers(len(_INTERESTING))] + data[at:]


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _move(data: bytes, rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    at = int(rng.integers(len(data) + 1))
    return data[:at] + data[start:end] + data[at:]


_BYTE_ACCIDENTS: list[Callable[[bytes, np.random.Generator], bytes]] = [
    _flip, _flip, _overwrite, _remove, _repeat, _insert, _cut, _move,
]  # fmt: skip


# -- documents ----------------------------------------------------------------------------------------


def mutate_document(document: Any, rng: np.random.Generator) -> Any:
    """Return a copy of a JSON document with one to three edits that somebody might think clever."""
    changed = copy.deepcopy(document)
    for _ in range(rng.integers(1, 4)):
        places = list(_places(changed))
        if not places:
            break
        holder, key = places[rng.integers(len(places))]
        _DOCUMENT_EDITS[rng.integers(len(_DOCUMENT_EDITS))](holder, key, rng)
    return changed


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or dictionary of a document with every key it has."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def _hostile(rng: np.random.Generator) -> Any:
    """Return a copy: an edit of a later case would else change the value for all cases after it."""
    return copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])


def _replace(holder: Any, key: Any, rng: np.random.Generator) -> None:
    holder[key] = _hostile(rng)


def _delete(holder: Any, key: Any, rng: np.random.Generator) -> None:  # noqa: ARG001 - edits share a signature
    del holder[key]


def _nudge(holder: Any, key: Any, rng: np.random.Generator) -> None:
    """Change a number a little or a lot; leave anything else to `_replace`."""
    value = holder[key]
    if type(value) not in {int, float} or abs(value) > 1e300:
        _replace(holder, key, rng)
        return
    changes = [-value, value + 1, value * 2, value / 2, math.nextafter(value, math.inf), value * 1e6]
    holder[key] = changes[rng.integers(len(changes))]


def _copy_sibling(holder: Any, key: Any, rng: np.random.Generator) -> None:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    holder[key] = copy.deepcopy(holder[keys[rng.integers(len(keys))]])


def _lengthen(holder: Any, key: Any, rng: np.random.Generator) -> None:
    value = holder[key]
    if isinstance(value, list) and value:
        value.extend(copy.deepcopy(value[-1:]) * int(rng.integers(1, 50)))
    elif isinstance(value, dict):
        value[f"extra{rng.integers(9)}"] = _hostile(rng)
    else:
        holder[key] = [value]


def _shorten(holder: Any, key: Any, rng: np.random.Generator) -> None:
    value = holder[key]
    if isinstance(value, list | str):
        holder[key] = value[: int(rng.integers(len(value) + 1))]
    else:
        _nudge(holder, key, rng)


_DOCUMENT_EDITS: list[Callable[[Any, Any, np.random.Generator], None]] = [
    _replace, _replace, _delete, _nudge, _nudge, _copy_sibling, _lengthen, _shorten,
]  # fmt: skip


# -- text ---------------------------------------------------------------------------------------------

_WORDS = [
    "nan", "inf", "-inf", "1e999", "-0", "0x10", "1_000", '"', "'", "?", "=1+1", "\x1b[31m", "\u202e",
    "\ufeff", "\x00", "[[", "]]", "{", "}", "#", ",", ";", "\t", "\r\n", "\n\n", "true", "[bounds]",
    "lower", "upper", "a.b.c", "9" * 400, "1979-05-27T07:32:00Z", "[" * 600, "{a=" * 300,
]  # fmt: skip


def mutate_text(text: str, rng: np.random.Generator) -> str:
    """Return a text in which words were replaced, repeated, swapped or put in."""
    words = [word for line in text.splitlines(keepends=True) for word in _split(line)]
    for _ in range(rng.integers(1, 5)):
        at, other = (int(n) for n in rng.integers(len(words), size=2))
        new = _WORDS[rng.integers(len(_WORDS))]
        edits: tuple[list[str], ...] = ([new], [words[at], new], [], [words[at]] * 3, [words[other]])
        words[at : at + 1] = edits[rng.integers(len(edits))] or [""]
    return "".join(words)


def _split(line: str) -> list[str]:
    """Split at commas, equals signs and spaces, which are kept as words."""
    parts, word = [], ""
    for character in line:
        if character in ",= \n":
            parts += [word, character]
            word = ""
        else:
            word += character
    return [*parts, word]
