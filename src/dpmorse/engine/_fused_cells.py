"""Run the kernels of ``_triton_cells``: scores, and moments of residuals, of many cells at once."""

from functools import cache
from typing import Any

import numpy as np
import torch

from dpmorse.engine._gpu import can_run_on, processors, working_on
from dpmorse.engine._tensor_passes import PLAIN, SOFT_ROWS, Arithmetic, Rule, Tensor, rule_of
from dpmorse.engine._triton_cells import moments_kernel, scores_kernel
from dpmorse.statistics import GRID_BITS, GaussianCells

MOST_FEATURES = 63
"""Most columns that the kernels support: tiles as wide as the columns and one more stay in shared memory."""

_BLOCK = 64
"""Records that a program takes at a time."""

_PROGRAMS_PER_PROCESSOR = 16
"""Programs for each multiprocessor, of which few run at a time. The others even out the load at the end."""

_LARGEST_STEP = 2.0**23
"""Largest step of residuals: |v| < 2^27, and what the kernels round must be below 2^51."""


def covers(records: Tensor, cells: GaussianCells) -> bool:
    """Say whether the kernels can run on these records, and are exact for these cells."""
    n_features, device = cells.offsets.shape[1], records.device
    small = n_features <= MOST_FEATURES and float(cells.residual_steps.max()) < _LARGEST_STEP
    return len(records) > 0 and small and can_run_on(device) and _agrees(device, n_features)


@cache
def _agrees(device: Any, n_features: int) -> bool:
    """Say whether this device, driver and compiler give the sums of plain torch, on invented records.

    A kernel that is compiled for another device or by another compiler is not what was tested.
    """
    rng, n_cells = np.random.default_rng(0), 5
    means, spreads = rng.uniform(-1, 1, (n_cells, n_features)), rng.uniform(0.01, 1, (n_cells, n_features))
    covariances = np.eye(n_features) * spreads[:, None] ** 2
    cells = GaussianCells.from_mixture(np.full(n_cells, 0.2), means, covariances, radii=2.0)
    steps = rng.integers(-(1 << GRID_BITS), (1 << GRID_BITS) + 1, (300, n_features))
    q, rule = torch.from_numpy(steps.astype(np.float64)).to(device), rule_of(cells, device)
    weights = torch.from_numpy(rng.integers(0, 1 << 12, (300, n_cells)).astype(np.float64)).to(device)
    compared = [
        (scores(q, rule), PLAIN.scores(q, rule)),
        (residual_moments(weights, q, rule), PLAIN.residual_moments(weights, q, rule)),
    ]
    return all(bool(torch.equal(found, plain)) for found, plain in compared)


def scores(q: Tensor, rule: Rule) -> Tensor:
    """Return the exact scores, shape (n, K), those of a cell side by side in memory."""
    n_rows, n_features = q.shape
    n_cells = len(rule.constants)
    found = torch.empty((n_cells, n_rows), dtype=torch.float64, device=q.device)
    with working_on(q.device):
        scores_kernel[(-(-n_rows // _BLOCK),)](
            q.contiguous(),
            n_rows,
            n_cells,
            rule.factors,
            rule.offsets,
            rule.constants,
            found,
            **_compilation(n_features),
        )
    return found.T


def residual_moments(weights: Tensor, q: Tensor, rule: Rule) -> Tensor:
    """Return counts, sums and lower second moments of residuals in every cell, shape (K, ...), in int64."""
    n_rows, n_features = q.shape
    n_cells, options = len(rule.constants), _compilation(n_features)
    # A program adds up in float64: at most half of the rows whose sums are exact there.
    enough = -(-2 * n_rows // SOFT_ROWS)
    programs = max(enough, _PROGRAMS_PER_PROCESSOR * processors(q.device) // n_cells, 1)
    shape = (programs, n_cells, options["WIDTH"], options["WIDTH"])
    totals = torch.empty(shape, dtype=torch.int64, device=q.device)
    with working_on(q.device):
        moments_kernel[(programs, n_cells)](
            q.contiguous(),
            n_rows,
            n_cells,
            weights.T.contiguous(),
            rule.factors,
            rule.offsets,
            rule.residual_steps,
            totals,
            **options,
        )
    total = totals.sum(dim=0)
    second = total[:, :n_features, :n_features].reshape(n_cells, -1).index_select(1, rule.lower)
    return torch.cat(
        [total[:, n_features, n_features, None], total[:, n_features, :n_features], second], dim=1
    )


FUSED = Arithmetic(scores, residual_moments)
"""What plain torch computes as well, bit for bit."""


def _compilation(n_features: int) -> dict[str, Any]:
    """Return the sizes that kernels are compiled for, and options for the compiler.

    Tiles are as wide as a power of two, with room for the columns and 1. Nothing may be fused.
    """
    width = max(16, 1 << n_features.bit_length())
    warps = 4 if width <= 32 else 8
    sizes = {"D": n_features, "WIDTH": width, "BLOCK": _BLOCK}
    return {**sizes, "num_warps": warps, "num_stages": 1, "enable_fp_fusion": False}
