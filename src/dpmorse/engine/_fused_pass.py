"""Run the fused kernel on a CUDA tensor; records whose cell it cannot decide are added up by plain torch."""

from typing import Any

import numpy as np
import torch

from dpmorse.engine import _tensor_passes as passes
from dpmorse.engine._fused_tables import TILE, decode, fast_rule, grid_table, n_sums, picks_of
from dpmorse.engine._gpu import can_run_on, is_interpreted, processors, working_on
from dpmorse.engine._triton_kernels import ROWS_BEFORE_FLUSH, hard_kernel
from dpmorse.statistics import GRID_BITS, CellMoments, Domain, GaussianCells
from dpmorse.typing import IntArray

Tensor = Any  # torch has no types where it is not installed

MOST_FEATURES = 16
"""Most columns that the kernel supports. Its products, and the registers that they take, grow with the square
of the columns; with more, plain torch adds up."""

MOST_CELLS = 64
"""Most cells that the kernel supports: every program keeps sums of all cells. With more, plain torch adds
up."""

_BLOCK = 64
"""Records that a program takes at a time."""

_WARPS = 4
"""Warps of a program: 128 threads for a block of 64 records."""

_PROGRAMS_PER_PROCESSOR = 16
"""Programs for each multiprocessor, of which four run at a time. The others even out the load at the end."""

_ROWS_PER_DOUBTFUL = 64
"""The list of undecided records has room for one in this many rows. If it overflows, all records are scored
exactly: the list costs memory, the exact scores time."""

_LARGEST_KNOWN_STRIDE = 1 << 10
"""Largest distance between rows, in values, that the kernel is compiled for. Each distance is a compilation
of its own; larger ones are passed as an argument."""


def covers(records: Tensor, cells: GaussianCells) -> bool:
    """Say whether the kernel can run on these records, and is exact for these cells."""
    # The kernel rounds by adding 1.5 * 2^52, which is correct below 2^51.
    small = records.shape[1] <= MOST_FEATURES and cells.n_cells <= MOST_CELLS
    coarse = cells.grid_bits == GRID_BITS  # coordinates are packed into digits of that many bits
    moderate = float(cells.residual_steps.max()) < 2.0**23  # |v| < 2^27, and what is rounded must be < 2^51
    return len(records) > 0 and small and coarse and moderate and can_run_on(records.device)


def hard_moments(records: Tensor, statistic: CellMoments, cells: GaussianCells) -> IntArray:
    """Return counts, sums and lower second moments, one row for each cell.

    The kernel lists the records whose cell its fast scores do not decide; plain torch adds these up. If there
    are too many, the kernel scores all records exactly instead.
    """
    device = records.device
    listed = torch.empty(len(records) // _ROWS_PER_DOUBTFUL + 1, dtype=torch.int64, device=device)
    n_listed = passes.zeros((1,), device)
    sums = _launch(records, statistic, cells, listed, n_listed, exact=False)
    n_left = int(n_listed.item())
    if n_left > len(listed):
        return _launch(records, statistic, cells, listed, n_listed, exact=True)
    return sums + _listed_moments(records, statistic, cells, listed[:n_left])


def _listed_moments(
    records: Tensor, statistic: CellMoments, cells: GaussianCells, listed: Tensor
) -> IntArray:
    """Add up some records in plain torch."""
    device, n_features = records.device, records.shape[1]
    total = passes.zeros((cells.n_cells, n_sums(n_features)), device)
    if len(listed):
        grid, rule = passes.grid_of(statistic.domain, device), passes.rule_of(cells, device)
        for rows in listed.split(passes.rows_at_a_time(device, n_features, cells.n_cells)):
            q = passes.quantise(records[rows], grid)
            total += passes.hard_moments(q, rule, of_residuals=statistic.of_residuals)
    sums: IntArray = total.cpu().numpy()
    return sums


def _launch(
    records: Tensor,
    statistic: CellMoments,
    cells: GaussianCells,
    listed: Tensor,
    n_listed: Tensor,
    *,
    exact: bool,
) -> IntArray:
    """Run the kernel and return its sums."""
    device, n_features = records.device, records.shape[1]
    width = 8 if n_features <= 8 else 16
    picks = picks_of(n_features, width)
    n_padded = max(16, 1 << (cells.n_cells - 1).bit_length())
    n_programs = min(-(-len(records) // _BLOCK), _PROGRAMS_PER_PROCESSOR * processors(device))
    totals = passes.zeros((n_programs, len(picks), 3, TILE, n_padded), device)
    of_cells = (cells.factors, cells.offsets, cells.constants, cells.residual_steps)
    tables = (grid_table(statistic.domain, width), *fast_rule(cells, width), *of_cells, picks)
    with working_on(device):
        hard_kernel[(n_programs,)](
            records,
            len(records),
            *records.stride(),
            cells.n_cells,
            *(passes.on_device(table, device) for table in tables),
            totals,
            listed,
            n_listed,
            len(listed),
            D=n_features,
            WIDTH=width,
            ROW=_known_stride(records),
            SINGLE=_is_single(records, statistic.domain),
            BALL=statistic.domain.radius is not None,
            RESIDUALS=statistic.of_residuals,
            EXACT=exact,
            FOURS=-(-cells.n_cells // 4),
            CELLS=n_padded,
            BLOCK=_BLOCK,
            TILE=TILE,
            TILES=len(picks),
            BLOCKS_BEFORE_FLUSH=ROWS_BEFORE_FLUSH // _BLOCK,
            PACKED=not is_interpreted(),
            **_compilation(len(picks) * n_padded),
        )
    return decode(totals.sum(dim=0).cpu().numpy(), n_features, cells.n_cells)


def _compilation(size: int) -> dict[str, Any]:
    """Return options for the compiler: few registers for a small kernel, so that four run at a time.

    It must not fuse what the plain form rounds one by one, see ``_triton_labels``.
    """
    registers = {"maxnreg": 128} if size <= 16 else {}
    return {"num_warps": _WARPS, "num_stages": 1, "enable_fp_fusion": False, **registers}


def _known_stride(records: Tensor) -> int:
    """Return the distance between rows whose columns lie side by side, 0 for other layouts."""
    row, column = records.stride()
    return int(row) if column == 1 and 0 < row <= _LARGEST_KNOWN_STRIDE else 0


def _is_single(records: Tensor, domain: Domain) -> bool:
    """Say whether float32 is enough to quantise: a box around 0, as wide as powers of two.

    Then nothing is subtracted, and multiplication by a power of two is exact, unless it underflows, where the
    result is rounded to 0 in either precision.
    """
    mantissa, exponent = np.frexp(domain.half_width)
    powers = np.all((mantissa == 0.5) | (domain.half_width == 0)) and np.all(np.abs(exponent) < 100)
    return bool(records.dtype == torch.float32 and np.all(domain.centre == 0) and powers)
