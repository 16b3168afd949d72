"""Records bound to the engine that adds them up: queries are answered, the records are not accessible."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpmorse._progress import one_pass
from dpmorse.engine.base import Cells, Engine, KeepsIntegers
from dpmorse.exceptions import InvalidTypeError
from dpmorse.privacy import Budget, Neighboring, Step
from dpmorse.privacy.exact import Exact, opened, sealed
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    Domain,
    ExactMoments,
    Histograms,
    Tally,
)
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
        self._reduce: Callable[..., Any] = _reducing(records, engine)
        self._count: Callable[..., Any] = lambda *question: engine.count(records, *question)
        self._tally: Callable[..., Any] = lambda *question: engine.tally(records, *question)

    def moments(
        self, step: Step, statistic: CellMoments, cells: Cells, n_repeats: int = 0
    ) -> Exact[ExactMoments]:
        """Add up moments of cells; ``n_repeats`` passes like this one follow."""
        with self._pass(step, n_repeats):
            return _checked(self._reduce(statistic, cells, n_repeats))

    def histograms(self, step: Step, statistic: Histograms) -> Exact[IntArray]:
        """Count the records in the bins of each column."""
        with self._pass(step):
            return _checked(self._count(statistic))

    def tally(self, step: Step, codes: BinaryCodes) -> Exact[Tally]:
        """Count the records with each code."""
        with self._pass(step):
            return _checked(self._tally(codes))

    def size(self) -> Exact[IntArray]:
        """Return the number of records, as an array of one."""
        return sealed(np.array([opened(self._n_records)]))

    def public_size(self, budget: Budget) -> int | None:
        """Return the number of records where the budget says that it is public: under replace-one."""
        public = budget.neighboring is Neighboring.REPLACE_ONE
        return opened(self._n_records) if public else None

    def _pass(self, step: Step, n_repeats: int = 0) -> Any:
        return one_pass(str(step), opened(self._n_records), n_repeats)


def _reducing(records: Any, engine: Engine) -> Callable[[CellMoments, Cells, int], Any]:
    """Return what asks for moments; between rounds of soft cells an engine may keep records as integers."""
    domain: Domain | None = None
    kept: Any = None

    def of_soft_cells(statistic: CellMoments, n_repeats: int) -> Any:
        nonlocal domain, kept
        if domain is not None and domain.is_same_as(statistic.domain):
            return kept
        if not (n_repeats and isinstance(engine, KeepsIntegers)):
            return records
        domain, kept = statistic.domain, engine.on_grid(records, statistic.domain)
        return kept

    def reduce(statistic: CellMoments, cells: Cells, n_repeats: int) -> Any:
        nonlocal domain, kept
        asked = of_soft_cells(statistic, n_repeats) if statistic.weight_bits else records
        answer = engine.reduce(asked, statistic, cells)
        if not n_repeats:
            domain = kept = None
        return answer

    return reduce


def _checked(answer: Exact[Any]) -> Exact[Any]:
    """Refuse an engine of the caller whose answers are not sealed."""
    if not isinstance(answer, Exact):
        raise InvalidTypeError("engine must return values that are sealed (dpmorse.privacy.Exact).")
    return answer
