"""Readers of files, and the properties that they must keep for any content.

A target makes hostile cases from valid files (``make``) and checks the answer to one (``check``), which is
"refused" or "accepted". A wrong answer is an ``AssertionError`` or any exception that is not documented; the
worker records either.
"""

import json
import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from audits.fuzzing.arrays import Arrays
from audits.fuzzing.commands import COMMAND_TARGETS
from audits.fuzzing.corpus import Corpus
from audits.fuzzing.damage import mutate_bytes, mutate_document
from audits.fuzzing.described import DescribedTables
from dpmorse import BudgetExceededError, InvalidParameterError, ModelFormatError, load
from dpmorse.persistence import model_file as _model_file
from dpmorse.privacy import Step, ledger_lines
from dpmorse.privacy.events import ReleaseEvent
from dpmorse.privacy.ledger_file import FileLedger


@dataclass(frozen=True)
class Case:
    """A hostile file: its content, its origin, and whether its checksum was made to match."""

    content: bytes
    source: Path
    signed: bool = False
    meaning: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class ModelFiles:
    """``dpmorse.load``: a model that is loaded means exactly what its file says."""

    corpus: Corpus

    @cached_property
    def _sources(self) -> list[tuple[Path, bytes, Any]]:
        return [(path, data, json.loads(data)) for path in self.corpus.models for data in [path.read_bytes()]]

    def warm_up(self) -> None:
        """Use every model once: some code is compiled on its first use."""
        for path in self.corpus.models:
            _use(load(path))

    def make(self, rng: np.random.Generator) -> Case:
        """Damage the bytes of a model, or edit the document and sign it anew."""
        path, data, document = self._sources[rng.integers(len(self._sources))]
        if rng.random() < 0.3:
            return Case(mutate_bytes(data, rng), path)
        edited = mutate_document({key: document[key] for key in document if key != "checksum"}, rng)
        return Case(_signed(edited), path, signed=True, meaning=edited)

    def check(self, case: Case, path: Path) -> str:
        """Load: the original, the edited document itself, or a ``ModelFormatError``."""
        try:
            model = load(path)
        except ModelFormatError as refusal:
            return _refused(refusal)
        again = path.with_suffix(".again")
        model.save(again)
        written = json.loads(again.read_bytes())
        meant = case.meaning if case.signed else json.loads(case.source.read_bytes())
        assert _same(_without_checksum(meant), _without_checksum(written)), (
            "a model that means something else"
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a model of absurd numbers may overflow, in a file of its own making
            _use(model)
        return "accepted"


def _refused(refusal: Exception) -> str:
    assert len(str(refusal)) < 1000, "a message that a file can make arbitrarily long"
    return "refused"


def _signed(document: dict[str, Any]) -> bytes:
    """Write a document with the checksum that it should have; what cannot be written gets none."""
    with suppress(ModelFormatError):
        document = {**document, "checksum": _model_file._checksum(document)}  # noqa: SLF001 - as an attacker
    return json.dumps(document).encode()


def _without_checksum(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "checksum"}


def _same(a: Any, b: Any, key: str = "") -> bool:
    """Say whether two documents mean the same: 1 is 1.0, but True is not 1.

    Three things may be stated otherwise than they are written again: weights and what the events add up
    to, which are compared up to rounding, and the number of averaged rounds, which has a default.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(_same(a[name], b[name], name) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y, key) for x, y in zip(a, b, strict=True))
    if key == "n_averaged" and a is None:
        return True
    if type(a) in {int, float} and type(b) in {int, float}:
        return math.isclose(a, b, rel_tol=1e-6 if key in {"epsilon", "rho", "weights"} else 1e-15)
    return bool(a == b) and type(a) is type(b)


def _use(model: Any) -> None:
    """Do with a model what people do; its promise must follow from its events."""
    points, _ = model.sample(3, random_state=0)
    assert len(model.predict(points)) == 3
    report = model.privacy_
    assert 0 <= report.epsilon <= report.budget.epsilon * (1 + 1e-9), "more was spent than is promised"
    assert report.statement
    assert repr(report)


@dataclass(frozen=True)
class BudgetFiles:
    """``FileLedger``: what is accepted is a whole account, and can be added up."""

    corpus: Corpus

    @cached_property
    def _data(self) -> bytes:
        return self.corpus.path("team.budget").read_bytes()

    @cached_property
    def _accounts(self) -> list[dict[str, Any]]:
        """The account after each line of the file."""
        lines = self._data.splitlines(keepends=True)
        wholes = (b"".join(lines[:n]) for n in range(1, len(lines) + 1))
        return [dict(ledger_lines.read_account(whole, "team").fits) for whole in wholes]

    def make(self, rng: np.random.Generator) -> Case:
        """Damage the bytes, or edit a line and make all checksums match again."""
        source = self.corpus.path("team.budget")
        if rng.random() < 0.4:
            return Case(mutate_bytes(self._data, rng), source)
        contents = [_without_checksum(json.loads(line)) for line in self._data.splitlines()]
        edited = mutate_document(contents, rng)
        return Case(_chained(edited), source, signed=True)

    def check(self, case: Case, path: Path) -> str:
        """Open: an account that adds up, or ``InvalidParameterError``."""
        try:
            ledger = FileLedger(path)
        except InvalidParameterError as refusal:
            return _refused(refusal)
        account = ledger.account()
        if not case.signed:
            assert account.fits in self._accounts, "a spend was changed"
        assert 0 <= account.spent.epsilon(account.budget.delta) < np.inf or account.budget.delta == 0
        _try_to_spend(ledger)
        return "accepted"


def _chained(contents: list[Any]) -> bytes:
    lines, previous = [], ""
    for content in contents:
        try:
            line = ledger_lines._line(content, previous)  # noqa: SLF001 - as an attacker would
        except (TypeError, ValueError):
            line = json.dumps(content).encode() + b"\n"
        else:
            previous = json.loads(line)["checksum"]
        lines.append(line)
    return b"".join(lines)


def _try_to_spend(ledger: FileLedger) -> None:
    """Reserve a little: it is written and counted, or refused as documented."""
    planned = ReleaseEvent(
        step=Step("one more"),
        neighboring=ledger.budget.neighboring,
        rho=1e-6,
        n_draws=1,
        smallest_scale=2**24,
        noise_stddev={"count": 1.0},
    )
    before = len(ledger.events)
    try:
        ledger.reserve([planned])
    except BudgetExceededError:
        return
    assert len(ledger.events) == before + 1, "a reservation that is not on disk"


TARGETS: dict[str, Any] = {
    "models": ModelFiles,
    "budgets": BudgetFiles,
    "arrays": Arrays,
    "described": DescribedTables,
    **COMMAND_TARGETS,
}
"""All targets by name; each is made with a corpus."""
