"""A recorded fit: its questions about its records, and the answers.

Given the same answers, a fit must ask the same questions whatever its records are: questions are functions
of public and of released values. What differs between two neighbouring datasets is then the exact answers,
one by one.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpmorse._threads import one_library_thread
from dpmorse.bases import PrivateFit, Queries
from dpmorse.engine import InMemoryEngine, Source
from dpmorse.privacy import (
    Ledger,
    Mechanism,
    NoiseSampler,
    PlannedChoice,
    PlannedRelease,
    ReleaseEvent,
)
from dpmorse.privacy.exact import Exact, opened
from dpmorse.typing import FloatArray, IntArray

_SEED_OF_STARTS = 0
"""Seed of the random starts of a fit. They do not depend on records, so both fits may use the same ones."""


@dataclass(frozen=True)
class Asked:
    """One question to the mechanism with its exact answer, and the answer that was given."""

    planned: PlannedRelease | PlannedChoice
    exact: IntArray
    answer: Any


@dataclass
class Transcript:
    """All questions of a fit, to the engine and to the mechanism, and the events of its ledger."""

    asked: list[Asked] = field(default_factory=list)
    questions: list[bytes] = field(default_factory=list)
    events: tuple[ReleaseEvent, ...] = ()


class WatchedMechanism(Mechanism):
    """Answers as ``Mechanism`` does and records them, or repeats the answers of an earlier fit."""

    transcript: Transcript
    earlier: Transcript | None

    def release(self, exact: Exact[IntArray], planned: PlannedRelease) -> IntArray:
        """Release sums."""
        answer: IntArray = self._answer(super().release, exact, planned)
        return answer

    def choose(self, exact: Exact[IntArray], planned: PlannedChoice) -> int:
        """Choose an option."""
        return int(self._answer(super().choose, exact, planned))

    def _answer(self, ask: Callable[..., Any], exact: Exact[IntArray], planned: Any) -> Any:
        asked = self.transcript.asked
        if self.earlier is None:
            answer = ask(exact, planned)
        else:
            self._record(planned.event)
            if len(asked) >= len(self.earlier.asked):
                raise QuestionsDifferError
            answer = self.earlier.asked[len(asked)].answer
        asked.append(Asked(planned, opened(exact).copy(), answer))
        return answer


def same_question(first: Asked, second: Asked) -> bool:
    """Say whether two fits asked for the same number of values, with the same noise, at the same cost."""
    if first.planned.event != second.planned.event or first.exact.shape != second.exact.shape:
        return False
    if isinstance(first.planned, PlannedChoice) or isinstance(second.planned, PlannedChoice):
        return first.planned == second.planned
    return np.array_equal(first.planned.scales, second.planned.scales)


class QuestionsDifferError(Exception):
    """A fit asked more questions than the fit whose answers it repeats."""


@dataclass(frozen=True)
class WatchedEngine(InMemoryEngine):
    """Adds up as ``InMemoryEngine`` does, and records the questions in a transcript."""

    transcript: Transcript = field(default_factory=Transcript, repr=False, compare=False)

    def reduce(self, records: Any, statistic: Any, cells: Any) -> Any:
        """Add up a statistic."""
        self._note(statistic, cells)
        return super().reduce(records, statistic, cells)

    def count(self, records: FloatArray, statistic: Any) -> Exact[IntArray]:
        """Count records in bins."""
        self._note(statistic)
        return super().count(records, statistic)

    def tally(self, records: FloatArray, codes: Any) -> Any:
        """Count codes."""
        self._note(codes)
        return super().tally(records, codes)

    def _note(self, *question: Any) -> None:
        self.transcript.questions.append(pickle.dumps(question))


def watched_fit(
    base: PrivateFit, X: FloatArray, sampler: NoiseSampler, earlier: Transcript | None = None
) -> Transcript:
    """Fit invented records on a budget of their own, as ``fit`` does, and return the transcript."""
    transcript = Transcript()
    plan = base.plan(X.shape[1])
    ledger = Ledger(plan.settings.budget)
    with (
        WatchedMechanism.reserve([ledger], plan.events, sampler, ledger.budget) as mechanism,
        one_library_thread(),
    ):
        mechanism.transcript, mechanism.earlier = transcript, earlier  # type: ignore[attr-defined]
        engine = WatchedEngine(transcript=transcript)
        queries = Queries(Source(X, engine), mechanism, plan.settings.budget)
        base.spend(queries, plan, np.random.default_rng(_SEED_OF_STARTS))
    transcript.events = ledger.events
    return transcript
