"""What the compiled passes are handed: tuples of arrays, padded to whole groups of four columns."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpmorse.typing import BoolArray, FloatArray, IntArray

Reals = npt.NDArray[np.floating[Any]]
Span = tuple[int, int]
"""The first of some entries of a record, and the one after the last."""

FAR = np.float32(3e38)
"""A score above all others. It is finite, because the fast loops are compiled on the assumption that no value
is infinite."""


class Box(NamedTuple):
    """How numbers are clipped and rounded to integers; ``squared_radius`` is 0 where there is no ball."""

    centre: FloatArray
    half_width: FloatArray
    steps_per_unit: FloatArray
    squared_radius: float


class Grid(NamedTuple):
    """How a record becomes integers.

    ``matrix`` is empty, or projects records that are already integers in the box ``before``.
    """

    box: Box
    matrix: FloatArray
    before: Box


class Rule(NamedTuple):
    """A padded ``GaussianCells``, in float32 or float64.

    ``filled`` says which blocks of four rows and columns of a factor are not all zeros. Where all cells are
    equally round, scores in float32 are linear: the rule has no constants, and one factor and offset, whose
    rows are the cells.
    """

    factors: Reals
    offsets: Reals
    constants: Reals
    filled: BoolArray


class Nearest(NamedTuple):
    """How a record finds its cell: by float32 scores, and by exact ones where those may be wrong."""

    grid: Grid
    fast: Rule
    exact: Rule
    bound: Reals


class Numbers(NamedTuple):
    """Numbers whose values are counted: where they are in a record, and between which bounds.

    ``first`` is the place of the first; ``holes`` tells where it stands that each is missing, or has -1.
    """

    first: int
    holes: IntArray
    lower: FloatArray
    upper: FloatArray
    box: Box


class Gaps(NamedTuple):
    """A ``GapRule``: numbers are the entries ``first`` to ``last`` of a record.

    ``unit`` is that of whitened numbers. Without numbers that may be missing there are no ``holes``.
    """

    holes: IntArray
    first: int
    last: int
    unit: float
    whitening: FloatArray
    products: FloatArray
    logs: FloatArray


class Counted(NamedTuple):
    """A ``ProfileCounts``: the grid, the edges of bins, and which entry of a row of counts is whose.

    ``levels`` has the first entry of the levels of each category in a record, and the one after the last.
    """

    grid: Grid
    edges: FloatArray
    first: int
    holes: IntArray
    levels: IntArray
    starts: IntArray
    missing_at: IntArray
    gaps: Gaps


class Segments(NamedTuple):
    """Where the records of each cell are in a sorted block, and where each record went.

    Cell k has ``begins[k]:ends[k]``; from there to ``begins[k + 1]`` there are zeros.
    """

    begins: IntArray
    ends: IntArray
    places: IntArray


class SoftScratch(NamedTuple):
    """Memory of a soft pass: of a block of records, and of the members of all cells."""

    columns: Reals
    fast_u: Reals
    fast_scores: Reals
    best: Reals
    near: BoolArray
    members: npt.NDArray[np.int32]
    sizes: IntArray
    scores: FloatArray
    packed: FloatArray
    measured: FloatArray
    lowest: FloatArray
    total: FloatArray
    shrink: FloatArray

    @classmethod
    def of(cls, n_cells: int, width: int, block: int) -> "SoftScratch":
        """Take memory; the padding of columns stays 0."""
        return cls(
            columns=np.zeros((width, block), np.float32),
            fast_u=np.empty((4, block), np.float32),
            fast_scores=np.empty((n_cells, block), np.float32),
            best=np.empty(block, np.float32),
            near=np.empty(block, np.bool_),
            members=np.empty((n_cells, block), np.int32),
            sizes=np.empty(n_cells, np.int64),
            scores=np.empty((n_cells, block)),
            packed=np.zeros((width, block)),
            measured=np.empty(n_cells * width * block),
            lowest=np.empty(block),
            total=np.empty(block),
            shrink=np.empty(block),
        )


class Totals(NamedTuple):
    """Running int64 sums, padded; second moments are meaningful up to the diagonal, or have no columns."""

    counts: IntArray
    sums: IntArray
    second_moments: IntArray
