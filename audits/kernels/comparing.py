"""The same question to every engine, and to neighbouring datasets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from audits.attacks.cases import RELATIONS, parts_of
from audits.kernels import plain
from audits.kernels.hostile import KINDS, Rng
from audits.kernels.paths import PATHS
from audits.kernels.questions import Question, Sums
from dpmorse.audit import Pair
from dpmorse.engine import Checked, Fingerprint, InMemoryEngine, Partitions, Reads, StreamedEngine, _rules
from dpmorse.privacy import Neighboring
from dpmorse.statistics import Domain, GaussianCells, ProfileCounts
from dpmorse.typing import FloatArray, IntArray

try:
    import dask
except ImportError:
    dask = None
try:
    import torch
except ImportError:
    torch = None

_SIZES = (1, 7, 4095, 4096, 4097, 9001)
"""Numbers of records: around those of a block, and few."""

_EXACT_ROWS = 60
"""Rows whose scores are computed by integers of any size as well."""

N_NEIGHBOURS = 6
"""Records that are added, or put in another's place, to each dataset."""


@dataclass
class Compared:
    """Results for one kind of question."""

    cases: int = 0
    records: int = 0
    differences: list[str] = field(default_factory=list)
    """Cases in which an engine gave another answer than the plain form."""

    neighbours: int = 0
    moved: float = 0.0
    """Largest change of an answer of compiled code between neighbours, as a part of what is paid for."""

    attacked: set[type] = field(default_factory=set)
    engines: set[str] = field(default_factory=set)


def compare(path: str, n_cases: int, seed: int) -> Compared:
    """Ask every engine ``n_cases`` questions of one kind."""
    found, rng = Compared(), np.random.default_rng([seed, list(PATHS).index(path)])
    for i in range(n_cases):
        question = PATHS[path](rng, KINDS[i % len(KINDS)])
        X = _as_type(question.draw(rng, int(rng.choice(_SIZES))), str(rng.choice(["float32", "float64"])))
        found.cases, found.records = found.cases + 1, found.records + len(X)
        found.attacked |= set(parts_of(question.statistic, question))
        expected = question.plain(X)
        for name, answer in _answers(question, X):
            found.engines.add(name)
            if not np.array_equal(answer(), expected):
                found.differences.append(f"{path}, case {i}: {name}")
        if not _plain_is_exact(question, X[:_EXACT_ROWS]):
            found.differences.append(f"{path}, case {i}: integers of any size")
        _move(found, question, X[: 3 * _EXACT_ROWS], rng)
    return found


def _answers(question: Question, X: FloatArray) -> Iterator[tuple[str, Callable[[], IntArray]]]:
    """Yield the names of engines, and functions that ask them."""
    yield "one pass", lambda: question.answer(InMemoryEngine(), X)
    in_columns = np.asfortranarray(X[::-1])
    yield "chunks and threads", lambda: question.answer(InMemoryEngine(700, n_threads=3), in_columns)
    if _rules_of(question):
        yield "float32 distrusted", lambda: _distrusting(question, X)
    if isinstance(question, Sums) and question.statistic.weight_bits:
        engine = InMemoryEngine()
        yield "kept integers", lambda: question.answer(engine, engine.on_grid(X, question.statistic.domain))
    yield "streamed", lambda: question.answer(StreamedEngine(), _streamed(X))
    if dask is not None:
        yield "Dask", lambda: _in_dask(question, X)
    if torch is not None:
        from dpmorse.engine import TensorEngine

        yield "tensors", lambda: question.answer(TensorEngine(), torch.from_numpy(np.ascontiguousarray(X)))


def _distrusting(question: Question, X: FloatArray) -> IntArray:
    with doubted():
        return question.answer(InMemoryEngine(), X)


@contextmanager
def doubted() -> Iterator[None]:
    """Let exact scores decide everywhere, as if no float32 score could be trusted."""
    original = _rules._single_precision  # noqa: SLF001 - the one place where the bound is made

    def distrusted(*arguments: Any) -> Any:
        return original(*arguments)[0], np.array([1e30, 0.0], np.float32)

    with mock.patch.object(_rules, "_single_precision", distrusted):
        yield


def _streamed(X: FloatArray) -> Partitions:
    parts = [X[start : start + 611] for start in range(0, len(X), 611)]
    reads = Reads(lambda: iter(parts), lambda rows: Checked(Fingerprint(), rows))
    return Partitions(reads, Fingerprint(), len(X), list)


def _in_dask(question: Question, X: FloatArray) -> IntArray:
    from dpmorse.engine import DaskEngine

    starts = range(0, len(X), 2003)
    parts = [dask.delayed(Checked)(Fingerprint(), X[start : start + 2003]) for start in starts]
    with dask.config.set(scheduler="sync"):
        return question.answer(DaskEngine(), Partitions(parts, Fingerprint(), len(X), list))


def _as_type(X: FloatArray, dtype: Any) -> Any:
    with np.errstate(over="ignore"):  # what is beyond single precision becomes infinite, and is clipped
        return X.astype(dtype)


def _rules_of(question: Question) -> list[tuple[Domain, GaussianCells]]:
    """Return the rules that have scores, with the domains that they are for."""
    if isinstance(question.statistic, ProfileCounts):
        return [(question.statistic.ball, question.statistic.rule)]
    cells, domain = getattr(question, "cells", None), getattr(question.statistic, "domain", None)
    return [(domain, cells)] if domain is not None and isinstance(cells, GaussianCells) else []


def _plain_is_exact(question: Question, X: FloatArray) -> bool:
    """Say whether the plain form is right about scores, and about missing numbers, where there are any."""
    exact = all(plain.scores_are_exact(domain.quantise(X), rule) for domain, rule in _rules_of(question))
    if not isinstance(question.statistic, ProfileCounts):
        return exact
    return exact and plain.integrals_are_right(X, question.statistic)


def _move(found: Compared, question: Question, X: FloatArray, rng: Rng) -> None:
    """Note how far records that are added, or put in another's place, move what compiled code adds up."""
    new = _as_type(question.draw(rng, N_NEIGHBOURS), X.dtype)
    for relation in RELATIONS:
        planned = question.planned(rng, relation)
        first = np.vstack([new[:1], X]) if relation is Neighboring.REPLACE_ONE else X
        before = question.answer(InMemoryEngine(), first)
        for record in new[1:]:
            after = question.answer(InMemoryEngine(), np.vstack([record[None], X]))
            found.moved = max(found.moved, Pair(planned, before, after).moved)
            found.neighbours += 1
