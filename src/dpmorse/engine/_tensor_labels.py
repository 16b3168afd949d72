"""Labels, bins and codes of a chunk of a torch tensor, in plain torch, on any device.

Exactness is that of ``_tensor_passes``, but for labels of a density, which are computed in float64.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from dpmorse.engine._tensor_rules import Tensor, on_device
from dpmorse.statistics import (
    BIN_BITS,
    GRID_BITS,
    N_BINS,
    N_MAGNITUDES,
    SMALLEST_EXPONENT,
    BinaryCodes,
    Domain,
    NearestCubes,
    PrefixCells,
    ProfileCounts,
)
from dpmorse.typing import FloatArray, LabelArray


def sums_of_labelled(cells: Any, q: Tensor) -> Tensor:
    """Return counts and sums of quantised records in each cell, shape (n_cells, 1 + D)."""
    with_count = torch.cat([torch.ones_like(q[:, :1]), q], dim=1)
    totals = torch.zeros((cells.n_cells + 1, with_count.shape[1]), dtype=torch.float64, device=q.device)
    # the first row is for records in no cell
    return totals.index_add_(0, _cell_labels(cells, q) + 1, with_count)[1:].to(torch.int64)


def is_table_of_floats(records: Any) -> bool:
    """Say whether records are a tensor of two dimensions, float32 or float64."""
    is_tensor = isinstance(records, torch.Tensor)
    return is_tensor and records.ndim == 2 and records.dtype in {torch.float32, torch.float64}


def _cell_labels(cells: Any, q: Tensor) -> Tensor:
    """Return the cell of each quantised record, -1 for none; unknown rules are asked on the host."""
    if isinstance(cells, PrefixCells):
        codes = binary_codes(cells.codes, q)
        starts, ends = on_device(cells.starts, q.device), on_device(cells.ends, q.device)
        cell = torch.searchsorted(starts, codes, right=True) - 1
        inside = (cell >= 0) & (codes < ends[cell.clamp(min=0)])
        return torch.where(inside, cell, -1)
    if isinstance(cells, NearestCubes):
        return _cube_labels(cells, q)
    return on_device(cells.labels(q.cpu().numpy().astype(np.int64)), q.device)


def _cube_labels(cells: NearestCubes, q: Tensor) -> Tensor:
    """Follow ``NearestCubes.labels``: all axes have been halved ``depth`` times."""
    rule, spare = cells.codes, cells.codes.bits - cells.depth
    cubes = ((2 * (_axis_cells(rule, q) >> spare) + 1) << spare) - (1 << rule.bits)
    centres = on_device(cells.centres, q.device)
    distances = torch.zeros((len(q), len(centres)), dtype=torch.int64, device=q.device)
    for axis in range(rule.n_axes):
        distances += (cubes[:, axis, None] - centres[:, axis]).square()
    return distances.argmin(dim=1)


def binary_codes(rule: BinaryCodes, q: Tensor) -> Tensor:
    """Return the code of each quantised record, as ``BinaryCodes.codes``."""
    cells = _axis_cells(rule, q)
    codes = torch.zeros(len(q), dtype=torch.int64, device=q.device)
    for bit in range(rule.bits - 1, -1, -1):
        for axis in range(rule.n_axes):
            codes = (codes << 1) | ((cells[:, axis] >> bit) & 1)
    return codes


def _axis_cells(rule: BinaryCodes, q: Tensor) -> Tensor:
    y = (q @ on_device(rule.projection, q.device).T).to(torch.int64)
    return ((y + (rule.width << rule.bits) // 2) // rule.width).clamp_(0, (1 << rule.bits) - 1)


def column_bins(values: Tensor, q: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Return the bin of each number from its value and its integer, as ``ColumnHistograms.bins``."""
    shift = GRID_BITS + 1 - BIN_BITS
    bins = ((q.to(torch.int64) + (1 << GRID_BITS)) >> shift).clamp_(max=N_BINS - 1)
    bins = torch.where(values <= upper, bins, N_BINS + 1)
    return torch.where(values >= lower, bins, N_BINS)


def magnitude_bins(X: Tensor) -> Tensor:
    """Return the bin of each value, as ``MagnitudeHistograms.bins``; NaN falls into the middle."""
    values = X.to(torch.float64)
    steps = (torch.frexp(values).exponent - SMALLEST_EXPONENT).clamp(0, N_MAGNITUDES).to(torch.int64)
    signed = torch.where(values > 0, steps, torch.where(values < 0, -steps, 0))
    return signed + N_MAGNITUDES


def counts_of(bins: Tensor, n_bins: int) -> Tensor:
    """Count the bins of each column, shape (n_features, n_bins); -1 is in none."""
    n_features = bins.shape[1]
    first = n_bins * torch.arange(n_features, dtype=bins.dtype, device=bins.device)
    found = (bins + first)[bins >= 0]
    return torch.bincount(found, minlength=n_features * n_bins).view(n_features, n_bins)


_APART = 1 << 22
"""Steps between the edges of one cell and those of the next: more than a grid has."""


def profile_counts(labels: Tensor, q: Tensor, statistic: ProfileCounts) -> Tensor:
    """Count records in the bins of their cells, as ``ProfileCounts.counts``; no number is missing."""
    n_cells, n_bins = statistic.n_features, statistic.n_bins
    places = [torch.zeros_like(labels)]
    cells = np.arange(n_cells)[:, None] * _APART
    for j in range(statistic.layout.n_numbers):
        # The edges of all cells in one row: those below a value are those of its cell, and of all before.
        edges = on_device((cells + statistic.edges[:, j]).ravel(), q.device)
        value = q[:, statistic.layout.number_part.start + j].to(torch.int64)
        below = torch.searchsorted(edges, labels * _APART + value) - labels * statistic.edges.shape[2]
        places.append(int(statistic.starts[j]) + below)
    for j, levels in enumerate(statistic.level_places, statistic.layout.n_numbers):
        has = q[:, int(levels[0]) : int(levels[-1]) + 1] > 0
        level = int(statistic.starts[j]) + has.to(torch.uint8).argmax(dim=1)
        places.append(torch.where(has.any(dim=1), level, int(statistic.missing_at[j])))
    total = torch.zeros(n_cells * n_bins, dtype=torch.int64, device=q.device)
    for place in places:
        there = place >= 0
        total += torch.bincount((labels * n_bins + place)[there], minlength=n_cells * n_bins)
    return total.view(n_cells, n_bins)


# -- labels of a density ------------------------------------------------------------------------------


class Density(NamedTuple):
    """A mixture and its domain on a device; ``radius`` is infinite for the box."""

    means: Tensor
    whiteners: Tensor
    log_factors: Tensor
    lower: Tensor
    upper: Tensor
    centre: Tensor
    unit: Tensor
    radius: float


def density_on(
    device: Any, means: FloatArray, whiteners: FloatArray, log_factors: FloatArray, domain: Domain
) -> Density:
    """Return a mixture and its domain on a device."""
    parts = (means, whiteners, log_factors, domain.lower, domain.upper, domain.centre, domain.unit)
    radius = float("inf") if domain.radius is None else domain.radius
    return Density._make([*(on_device(part, device) for part in parts), radius])


def most_probable(X: Tensor, density: Density, names: LabelArray) -> Tensor:
    """Return the name of the most probable component of each record in the domain; the first of equals."""
    points = _clip(X.to(torch.float64), density)
    log_densities = [
        log_factor - 0.5 * ((points - mean) @ whitener.T).square_().sum(dim=1)
        for mean, whitener, log_factor in zip(
            density.means, density.whiteners, density.log_factors, strict=True
        )
    ]
    components = torch.stack(log_densities, dim=1).argmax(dim=1)
    return torch.as_tensor(names, device=components.device)[components]


def _clip(points: Tensor, density: Density) -> Tensor:
    """Move points into the domain, as ``Domain.clip``."""
    inside = torch.minimum(torch.maximum(points, density.lower), density.upper)
    if density.radius == float("inf"):
        return inside
    scaled = (inside - density.centre) / density.unit
    norms = torch.linalg.norm(scaled, dim=1, keepdim=True)
    radius = torch.full_like(norms, density.radius)
    return density.centre + density.unit * (scaled * (radius / torch.maximum(norms, radius)))
