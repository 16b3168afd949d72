"""Records bound to the engine that adds them up: queries are answered, the records are not accessible."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from dpmorse._progress import one_pass
from dpmorse.engine.base import Cells, Engine, KeepsIntegers
from dpmorse.exceptions import InvalidTypeError
from dpmorse.privacy import Budget, Neighboring, Step
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import BinaryCodes, CellMoments, Domain, ExactMoments, Histograms, Tally
from dpmorse.typing import IntArray


class Source:
    """Answers queries about records. All answers are sealed, and the records are not an attribute.

    Parameters
    ----------
    records : object with a length
        Records of the kind that the engine takes.
    engine : Engine
        What adds them up.
    """

    def __init__(self, records: Any, engine: Engine) -> None:
        self._n_records = sealed(len(records))
        # in closures, whose text shows nothing: an attribute would be shown by debuggers with its values
        self._reduce, self._keeping = _reducing(records, engine)
        self._count: Callable[..., Any] = lambda *question: engine.count(records, *question)
        self._tally: Callable[..., Any] = lambda *question: engine.tally(records, *question)

    def moments(
        self, step: Step, statistic: CellMoments, cells: Cells, n_repeats: int = 0
    ) -> Exact[ExactMoments]:
        """Add up moments of cells; ``n_repeats`` passes like this one follow, which is told as progress."""
        return self._answer(step, self._reduce, statistic, cells, n_repeats=n_repeats)

    def keeping(self) -> AbstractContextManager[None]:
        """Return a context in which an engine may keep records as integers, between rounds of soft cells."""
        context: AbstractContextManager[None] = self._keeping()
        return context

    def histograms(self, step: Step, statistic: Histograms) -> Exact[IntArray]:
        """Count the records in the bins of each column."""
        return self._answer(step, self._count, statistic)

    def tally(self, step: Step, codes: BinaryCodes) -> Exact[Tally]:
        """Count the records with each code."""
        return self._answer(step, self._tally, codes)

    def size(self) -> Exact[IntArray]:
        """Return the number of records, as an array of one."""
        return sealed(np.array([opened(self._n_records)]))

    def public_size(self, budget: Budget) -> int | None:
        """Return the number of records where the budget says that it is public: under replace-one."""
        public = budget.neighboring is Neighboring.REPLACE_ONE
        return opened(self._n_records) if public else None

    def _answer(self, step: Step, ask: Callable[..., Any], *question: Any, n_repeats: int = 0) -> Exact[Any]:
        with one_pass(str(step), opened(self._n_records), n_repeats):
            answer = ask(*question)
            if not isinstance(answer, Exact):  # of an engine of the caller
                raise InvalidTypeError("engine must return values that are sealed (dpmorse.privacy.Exact).")
            return answer


def _reducing(records: Any, engine: Engine) -> tuple[Callable[..., Any], Callable[[], Any]]:
    """Return what asks for moments, and the context in which records may be kept as integers for it."""
    lasting = False
    domain: Domain | None = None
    kept: Any = None

    @contextmanager
    def keeping() -> Iterator[None]:
        nonlocal lasting, domain, kept
        lasting = True
        try:
            yield
        finally:
            lasting, domain, kept = False, None, None

    def reduce(statistic: CellMoments, cells: Cells) -> Any:
        nonlocal domain, kept
        if not (lasting and statistic.weight_bits and isinstance(engine, KeepsIntegers)):
            return engine.reduce(records, statistic, cells)
        if domain is None or not domain.is_same_as(statistic.domain):
            domain, kept = statistic.domain, engine.on_grid(records, statistic.domain)
        return engine.reduce(kept, statistic, cells)

    return reduce, keeping
