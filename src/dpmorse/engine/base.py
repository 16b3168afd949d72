"""What an engine is: a way to compute exact sums over records, wherever the records are."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

from dpmorse.privacy import Exact
from dpmorse.statistics import (
    BinaryCodes,
    CellMoments,
    Domain,
    ExactMoments,
    GaussianCells,
    Histograms,
    SecondMoments,
    Tally,
)
from dpmorse.typing import IntArray

Sums = TypeVar("Sums", bound=Any)
"""What an engine returns: sums of parts of the records can be added, in any order."""


def add_up(parts: Iterable[Sums]) -> Sums:
    """Add up the sums of parts of the records as a balanced tree: tallies grow while they are merged."""
    # Like a binary counter: `pending` holds sums of 2^height parts, heights descending.
    pending: list[tuple[int, Sums]] = []
    for part in parts:
        height, total = 0, part
        while pending and pending[-1][0] == height:
            total = pending.pop()[1] + total
            height += 1
        pending.append((height, total))
    (_, total), *others = reversed(pending)
    for _, other in others:
        total = other + total
    return total


def spans(n_rows: int, statistic: CellMoments) -> list[slice]:
    """Cut rows into spans whose sums fit in 64 bits; nearly always this is one span."""
    most = statistic.largest_n_rows
    return [slice(start, start + most) for start in range(0, max(n_rows, 1), most)]


def check_cells(statistic: CellMoments, cells: "Cells") -> None:
    """Refuse cells that the statistic is not of: compiled code would write beside its arrays."""
    if cells.n_cells != statistic.n_cells:
        raise ValueError("cells must be as many as those of the statistic")
    if statistic.layout is not None and not isinstance(cells, GaussianCells):
        raise ValueError("records of tables are added up in Gaussian cells only")
    if isinstance(cells, GaussianCells):
        rule, domain = (cells.offsets.shape[1], cells.grid_bits), statistic.domain
        if rule != (domain.n_features, domain.grid_bits):
            raise ValueError("cells must be for the columns and the grid of the statistic")
    else:
        plain = not (statistic.of_residuals or statistic.weight_bits)
        if not plain or statistic.second_moments is not SecondMoments.NONE:
            raise ValueError("cells that are only labels have counts and sums of records, nothing else")


class LabelledCells(Protocol):
    """A rule that gives each record one cell or none, from that record and released values alone."""

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        ...

    def labels(self, q: IntArray) -> IntArray:
        """Return the cell of each quantised record, -1 for none."""
        ...


Cells = GaussianCells | LabelledCells


class Engine(Protocol):
    """Computes exact integer statistics of records. It never adds noise and never releases anything.

    What it returns is sealed (``Exact``): only a mechanism turns it into released values.

    Conformance (tests/contracts/test_engines.py): the result equals the plain NumPy form bit for bit,
    for every order, chunking and degree of parallelism. Options of an engine change speed and memory
    only, never a sum and so never privacy or the released model.
    """

    def reduce(self, records: Any, statistic: CellMoments, cells: Cells) -> Exact[ExactMoments]:
        """Add up ``statistic`` over all records, each in the cell (or cells) that ``cells`` gives it.

        Cells that are only labels have counts and sums of records: no residuals, no second moments.
        """
        ...

    def count(self, records: Any, statistic: Histograms) -> Exact[IntArray]:
        """Return how many records fall into each bin of each column or cell, one row for each of those."""
        ...

    def tally(self, records: Any, codes: BinaryCodes) -> Exact[Tally]:
        """Return how many records have which code."""
        ...


@runtime_checkable
class KeepsIntegers(Protocol):
    """An engine that is faster where soft cells are asked for in many rounds: it quantises records once."""

    def on_grid(self, records: Any, domain: Domain) -> Any:
        """Return the records in a form of which ``reduce`` has the same sums for soft cells of the domain."""
        ...
