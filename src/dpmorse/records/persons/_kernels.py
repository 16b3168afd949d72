"""Hashes of ids and records, the same on every machine. They choose and compare rows, and are not secret."""

from typing import Any

import numpy as np

from dpmorse._compile import compiled

_SIGN = np.uint64(1 << 63)
"""The bits of -0.0. They are hashed as those of 0.0, which is the same number."""

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
"""First multiplier of SplitMix64's finaliser. It is odd, so that multiplication modulo 2^64 is invertible."""

_SECOND = np.uint64(0x94D049BB133111EB)
"""Second multiplier of SplitMix64's finaliser, odd as well."""

_START = np.uint64(0x9E3779B97F4A7C15)
"""SplitMix64's increment, 2^64 divided by the golden ratio. Without it the number 0 would have the hash 0."""

_BLOCK = 1024
"""Rows that are hashed at a time: 8 KB of words."""

_LARGEST = np.uint64((1 << 63) - 1)
"""The largest 64-bit integer."""

_MINUS, _ZERO = np.uint8(ord("-")), np.uint8(ord("0"))
"""The bytes of "-" and "0"."""


@compiled
def _mixed(word: Any) -> Any:
    """Spread every bit over the whole word by the finaliser of SplitMix64.

    It is a bijection: xors with a shifted word and odd factors can be undone, so that no two words collide.
    """
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@compiled
def hash_numbers(numbers: Any, hashes: Any) -> None:
    """Hash 64-bit words; different words have different hashes."""
    for i in range(len(numbers)):
        hashes[i] = _mixed(numbers[i] + _START)


@compiled
def hash_texts(data: Any, ends: Any, hashes: Any) -> None:
    """Hash texts that lie one behind the other in ``data``, as bytes of UTF-8.

    A text that writes a 64-bit integer in the usual way is hashed as the integer.
    """
    begin = 0
    for i in range(len(ends)):
        stop = ends[i]
        digits = begin + (1 if stop > begin and data[begin] == _MINUS else 0)
        value, usual = _integer(data, digits, stop)
        negative = digits > begin
        if usual and value <= _LARGEST + np.uint64(negative) and not (negative and value == 0):
            hashes[i] = _mixed((~value + np.uint64(1) if negative else value) + _START)
        else:
            hashes[i] = _hash_of_bytes(data, begin, stop)
        begin = stop


@compiled
def _integer(data: Any, begin: int, stop: int) -> Any:
    """Return the number that up to nineteen digits write, and whether the bytes are such digits."""
    value = np.uint64(0)
    if not 1 <= stop - begin <= 19 or (data[begin] == _ZERO and stop - begin > 1):
        return value, False
    for j in range(begin, stop):
        digit = data[j] - _ZERO
        if data[j] < _ZERO or digit > 9:
            return value, False
        value = value * np.uint64(10) + np.uint64(digit)
    return value, True


@compiled
def _hash_of_bytes(data: Any, begin: int, stop: int) -> Any:
    # The length is part of the hash, and the start differs from that of numbers.
    word = _mixed(np.uint64(stop - begin) ^ _SECOND)
    for j in range(begin, stop):
        word = (word ^ np.uint64(data[j])) * _FIRST
        word ^= word >> np.uint64(29)
    return _mixed(word)


@compiled
def hash_rows(bits: Any, seeds: Any, hashes: Any) -> None:
    """Hash rows of float64 bits; each begins with a seed of its own."""
    # Column by column in blocks that stay in cache: the loop over rows has no dependency and vectorises.
    for begin in range(0, bits.shape[0], _BLOCK):
        words = hashes[begin : begin + _BLOCK]
        for i in range(len(words)):
            words[i] = seeds[begin + i]
        for j in range(bits.shape[1]):
            column = bits[:, j][begin : begin + _BLOCK]
            for i in range(len(words)):
                value = np.uint64(0) if column[i] == _SIGN else column[i]
                word = (words[i] ^ value) * _FIRST
                words[i] = word ^ (word >> np.uint64(32))
        for i in range(len(words)):
            words[i] = _mixed(words[i])


@compiled
def smallest_of_each(places: Any, hashes: Any, ends: Any, kept_ends: Any, ordered: Any, kept: Any) -> None:
    """Sort the hashes of each place, and keep the smallest.

    Those of place k go to ``ordered`` from ``ends[k - 1]`` to ``ends[k]``; the first of them, as many as
    there is room for up to ``kept_ends[k]``, are copied to ``kept``. ``ends`` is used up.
    """
    for i in range(len(places) - 1, -1, -1):
        ends[places[i]] -= 1
        ordered[ends[places[i]]] = hashes[i]
    n_places, begin = len(ends), 0
    for k in range(n_places):
        stop = ends[k + 1] if k + 1 < n_places else len(hashes)
        _sort(ordered, ends[k], stop)
        for i in range(kept_ends[k] - begin):
            kept[begin + i] = ordered[ends[k] + i]
        begin = kept_ends[k]


@compiled
def _sort(words: Any, begin: int, stop: int) -> None:
    """Sort a part in place; nearly all owners have few rows, for which insertion sort is fastest."""
    if stop - begin > 32:
        words[begin:stop] = np.sort(words[begin:stop])
        return
    for i in range(begin + 1, stop):
        word, j = words[i], i
        while j > begin and words[j - 1] > word:
            words[j] = words[j - 1]
            j -= 1
        words[j] = word


@compiled
def find_places(table: Any, starts: Any, shift: Any, hashes: Any, places: Any) -> None:
    """Find hashes in a sorted table, -1 for those that are not there.

    Hashes are spread evenly, so that their first bits give nearly the position: ``starts[b]`` is where the
    hashes begin that are b after shifting.
    """
    for i in range(len(hashes)):
        places[i] = -1
        bucket = hashes[i] >> shift
        for j in range(starts[bucket], starts[bucket + np.uint64(1)]):
            if table[j] == hashes[i]:
                places[i] = j


@compiled
def number_words(words: Any, places: Any) -> Any:
    """Number distinct words in the order of their first appearance; return where each appears first."""
    table, firsts, n_distinct = np.full(1 << 12, -1), np.empty(1 << 11, dtype=np.int64), 0
    for i in range(len(words)):
        at = _entry(words, firsts, table, words[i])
        if table[at] < 0:
            if n_distinct == len(firsts):
                table, firsts = _larger(words, firsts)
                at = _entry(words, firsts, table, words[i])
            table[at] = n_distinct
            firsts[n_distinct] = i
            n_distinct += 1
        places[i] = table[at]
    return firsts[:n_distinct].copy()


@compiled
def _entry(words: Any, firsts: Any, table: Any, word: Any) -> Any:
    """Return the entry of a word in the table, or a free one (-1); the table is at most half full."""
    mask = np.uint64(len(table) - 1)
    at = _mixed(word) & mask
    while table[at] >= 0 and words[firsts[table[at]]] != word:
        at = (at + np.uint64(1)) & mask
    return at


@compiled
def _larger(words: Any, firsts: Any) -> Any:
    """Return a table four times as large with the same words, and room for as many more."""
    n = len(firsts)
    table, more = np.full(8 * n, -1), np.empty(4 * n, dtype=np.int64)
    more[:n] = firsts
    for k in range(n):
        table[_entry(words, more, table, words[firsts[k]])] = k
    return table, more
