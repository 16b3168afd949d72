"""Passes over a chunk of a torch tensor in plain torch, on any device: quantise, find the cell, add up.

Exactness. All values are integers held in float64. Those that are added up or multiplied by a matrix stay
below 2^53 together with all their partial sums, so that every sum is exact in any order that a library or
a GPU takes, with or without fused multiply-add. (Reduced precision such as TF32 is for float32 products;
there are none here.) Other operations are done one at a time, each correctly rounded as IEEE 754 specifies,
like in the plain NumPy form; for operations where torch does not promise that, see ``shrink``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from dpmorse.statistics import (
    BIN_BITS,
    EXP_TABLE,
    GRID_BITS,
    LARGEST_RESIDUAL,
    N_BINS,
    N_MAGNITUDES,
    ROUNDING_BITS,
    SMALLEST_EXPONENT,
    WEIGHT_BITS,
    BinaryCodes,
    Domain,
    GaussianCells,
    NearestCubes,
    PrefixCells,
)
from dpmorse.typing import FloatArray, LabelArray

Tensor = Any
"""A torch.Tensor: torch is optional, and has no types where it is not installed."""

HARD_ROWS = 1 << 29
"""Rows that may be added up in float64 with hard cells: products up to 2^24, summed over 2^29 rows, reach at
most 2^53, up to which every integer is exact."""

SOFT_ROWS = 1 << 17
"""The same with soft cells: weights up to 2^12 times products up to 2^24, summed over 2^17 rows, reach at
most 2^53."""

_PRODUCTS = 64
"""Products z_i z_j that are held at a time: memory against the size of the matrices that are multiplied."""

_BLOCK_ROWS = 1024
"""Rows of a block in ``moments_of_each``: enough blocks to keep a GPU busy, each long enough to be
efficient."""

_BYTES = {"cpu": 1 << 23, "cuda": 1 << 30}
"""Bytes of temporaries at a time: what a processor's cache holds, or a small part of a GPU's memory."""


class Grid(NamedTuple):
    """How a record becomes integers, on a device; ``squared_radius`` is 0 for the box.

    ``projection`` is None, or a grid and the matrix that records on it are multiplied by first.
    """

    centre: Tensor
    half_width: Tensor
    steps_per_unit: Tensor
    squared_radius: float
    projection: Any


class Rule(NamedTuple):
    """A ``GaussianCells`` on a device.

    Factors of all cells are side by side, shape (D, K D); ``lower`` says where the lower triangle is among
    the D^2 products of coordinates.
    """

    factors: Tensor
    offsets: Tensor
    constants: Tensor
    residual_steps: Tensor
    table: Tensor
    steps_per_score: float
    lower: Tensor


def grid_of(domain: Domain, device: Any) -> Grid:
    """Return the grid of a domain."""
    squared_radius = 0.0 if domain.radius is None else float(domain.largest_squared_norm)
    parts = (domain.centre, domain.half_width, domain.steps_per_unit)
    centre, half_width, steps_per_unit = (on_device(part, device) for part in parts)
    first = domain.projection
    projection = first and (grid_of(first.domain, device), on_device(first.matrix.T, device))
    return Grid(centre, half_width, steps_per_unit, squared_radius, projection)


def rule_of(cells: GaussianCells, device: Any) -> Rule:
    """Return the rule of cells."""
    n_features = cells.offsets.shape[1]
    return Rule(
        on_device(cells.factors.reshape(-1, n_features).T, device),
        on_device(cells.offsets.ravel(), device),
        on_device(cells.constants, device),
        on_device(cells.residual_steps, device),
        on_device(EXP_TABLE, device),
        cells.steps_per_score,
        on_device(np.flatnonzero(np.tri(n_features)), device),
    )


def on_device(array: Any, device: Any) -> Tensor:
    """Copy an array to a device."""
    return torch.from_numpy(np.array(array, order="C")).to(device)


def zeros(shape: tuple[int, ...], device: Any, dtype: str = "int64") -> Tensor:
    """Return zeros on a device."""
    return torch.zeros(shape, dtype=getattr(torch, dtype), device=device)


def is_table_of_floats(records: Any) -> bool:
    """Say whether records are a tensor of two dimensions, float32 or float64."""
    is_tensor = isinstance(records, torch.Tensor)
    return is_tensor and records.ndim == 2 and records.dtype in {torch.float32, torch.float64}


def rows_at_a_time(device: Any, n_features: int, n_cells: int, by: "Arithmetic | None" = None) -> int:
    """Return how many rows take about as much memory as is set aside for temporaries."""
    of_cells = n_cells * (n_features + 1) if by is None or by is PLAIN else n_cells + n_features
    columns = 6 * of_cells + 2 * _PRODUCTS
    return max(256, _BYTES.get(device.type, _BYTES["cuda"]) // (8 * columns))


# -- from records to integers -------------------------------------------------------------------------


def quantise(X: Tensor, grid: Grid) -> Tensor:
    """Return records as integers; the same arithmetic as ``Domain.quantise``."""
    if grid.projection is not None:
        before, matrix = grid.projection
        X = quantise(X, before) @ matrix  # integers below 2^53 with all partial sums
    half = grid.half_width
    offset = X.to(torch.float64) - grid.centre
    offset = torch.where(offset < half, offset, half)  # NaN must not pass, see privacy.md
    offset = torch.where(offset > -half, offset, -half)
    q = (offset * grid.steps_per_unit).round_()
    return shrink(q, grid.squared_radius) if grid.squared_radius > 0 else q


def shrink(points: Tensor, largest: float) -> Tensor:
    """Shrink integer points, one a row, to squared norms of at most ``largest``, towards zero."""
    squared_norm = torch.zeros_like(points[..., 0])
    # Column by column: beyond 2^53 sums are rounded, and the order of additions matters.
    for column in points.unbind(-1):
        squared_norm += column * column
    # A tensor, not a number: torch may divide by a number with a reciprocal, which is not correctly rounded.
    limit = torch.full_like(squared_norm, largest)
    factor = _square_root(limit / torch.maximum(squared_norm, limit))
    return torch.trunc(points * factor[..., None])


def _square_root(values: Tensor) -> Tensor:
    """Return correctly rounded square roots: CUDA promises them, torch on a CPU does not and NumPy does."""
    if values.is_cuda and torch.version.hip is None:
        return torch.sqrt(values)
    return torch.from_numpy(np.sqrt(values.cpu().numpy())).to(values.device)


# -- from integers to cells ---------------------------------------------------------------------------


def whitened(q: Tensor, rule: Rule) -> Tensor:
    """Return ``v = rint(2^-25 u)`` of ``GaussianCells``, shape (n, K, D)."""
    # Integers below 2^53 with all partial sums: exact in any order of the library.
    u = torch.addmm(rule.offsets, q, rule.factors)
    return u.mul_(2.0**-ROUNDING_BITS).round_().view(len(q), len(rule.constants), -1)


def scores(q: Tensor, rule: Rule) -> Tensor:
    """Return the exact scores, shape (n, K)."""
    return whitened(q, rule).square_().sum(dim=2) + rule.constants


def own_coordinates(q: Tensor, rule: Rule, labels: Tensor) -> Tensor:
    """Return ``v`` of each record in one cell, shape (n, D)."""
    n_cells = len(rule.constants)
    u = rule.offsets.view(n_cells, -1)[labels]
    for column, factors in zip(q.unbind(1), rule.factors.view(q.shape[1], n_cells, -1), strict=True):
        u += column[:, None] * factors[labels]  # exact: integers below 2^53
    return u.mul_(2.0**-ROUNDING_BITS).round_()


def memberships(exact_scores: Tensor, rule: Rule) -> Tensor:
    """Return integer memberships, as ``GaussianCells.responsibilities`` does."""
    # Relative to the lowest score, so that the largest weight is never 0.
    behind = exact_scores - exact_scores.min(dim=1, keepdim=True).values
    steps = torch.floor(behind * rule.steps_per_score)
    last = len(rule.table) - 1
    weight = rule.table[steps.clamp(max=last).to(torch.int64)].masked_fill_(steps > last, 0.0)
    # Rounded down, so that the memberships of one record add up to at most 1.
    return torch.floor(weight * 2.0**WEIGHT_BITS / weight.sum(dim=1, keepdim=True))


def residuals(v: Tensor, steps: Tensor) -> Tensor:
    """Return whitened coordinates in steps of residuals and shrunk, as ``GaussianCells.residuals``."""
    return shrink((v * steps[..., None]).round_(), LARGEST_RESIDUAL)


# -- from cells to sums -------------------------------------------------------------------------------


def residual_moments(weights: Tensor, q: Tensor, rule: Rule) -> Tensor:
    """Return counts, sums and lower second moments of residuals, each record in all cells by its weights."""
    return moments_of_each(weights, residuals(whitened(q, rule), rule.residual_steps), rule.lower)


class Arithmetic(NamedTuple):
    """What is written twice: in plain torch here, and as kernels (``_fused_cells``).

    Plain torch holds the coordinates of every record in every cell for it: most of what a pass costs.
    """

    scores: Callable[[Tensor, Rule], Tensor]
    residual_moments: Callable[[Tensor, Tensor, Rule], Tensor]


PLAIN = Arithmetic(scores, residual_moments)
"""The two in plain torch."""


def hard_moments(q: Tensor, rule: Rule, *, of_residuals: bool, by: Arithmetic = PLAIN) -> Tensor:
    """Return counts, sums and lower second moments, each record in its nearest cell, shape (K, ...)."""
    labels = by.scores(q, rule).argmin(dim=1)  # the first of equal scores
    if of_residuals:
        q = residuals(own_coordinates(q, rule, labels), rule.residual_steps[labels])
    return moments(one_hot(labels, len(rule.constants)), q, rule.lower)


def soft_moments(q: Tensor, rule: Rule, *, of_residuals: bool, by: Arithmetic = PLAIN) -> Tensor:
    """Return counts, sums and lower second moments, each record in all cells by its memberships."""
    weights = memberships(by.scores(q, rule), rule)
    return by.residual_moments(weights, q, rule) if of_residuals else moments(weights, q, rule.lower)


def table_moments(q: Tensor, rule: Rule, measured: slice, *, soft: bool) -> Tensor:
    """Return what the others do for encoded records: numbers are whitened, holes and levels added up."""
    v = whitened(q, rule)
    found = v.square().sum(dim=2) + rule.constants
    weights = memberships(found, rule) if soft else one_hot(found.argmin(dim=1), len(rule.constants))
    sums, d = (weights.T @ q).to(torch.int64), measured.stop - measured.start
    if d == 0:
        return torch.cat([weights.sum(dim=0)[:, None].to(torch.int64), sums], dim=1)
    own = residuals(v[..., measured], rule.residual_steps)
    numbers = moments_of_each(weights, own, lower_of(d, q.device))
    sums[:, measured] = numbers[:, 1 : 1 + d]
    return torch.cat([numbers[:, :1], sums, numbers[:, 1 + d :]], dim=1)


def lower_of(d: int, device: Any) -> Tensor:
    """Return where the lower triangle is in a flattened matrix."""
    return on_device(np.flatnonzero(np.tri(d)), device)


def one_hot(labels: Tensor, n_cells: int) -> Tensor:
    """Return the weights of hard cells: 1 in a record's own cell, nothing for the label -1."""
    return (labels[:, None] == torch.arange(n_cells, device=labels.device)).to(torch.float64)


def moments(weights: Tensor, z: Tensor, lower: Tensor) -> Tensor:
    """Return ``sum w (1, z, z_i z_j for j <= i)``, shape (K, 1 + D + D (D + 1) / 2), in int64."""
    columns = z.T.contiguous()
    rows = max(1, _PRODUCTS // len(columns))
    products = [(some[:, None] * columns).flatten(0, 1) @ weights for some in columns.split(rows)]
    second = torch.cat(products).index_select(0, lower)
    return torch.cat([weights.sum(dim=0)[None], columns @ weights, second]).T.to(torch.int64)


def moments_of_each(weights: Tensor, z: Tensor, lower: Tensor) -> Tensor:
    """Return what ``moments`` does where every cell has its own z, shape (n, K, D).

    With y = (1, z) all of it is in ``sum w y y^T``, a product of matrices for each cell. They are small, and
    long in the direction that is added up; blocks of rows give a GPU enough of them to work on.
    """
    y = torch.cat([torch.ones_like(z[..., :1]), z], dim=2)
    blocks = zip(_in_blocks(y), _in_blocks(weights[..., None]), strict=True)
    totals: Tensor = sum(((some * shares).transpose(2, 3) @ some).sum(dim=0) for some, shares in blocks)
    d = z.shape[2]
    second = totals[:, 1:, 1:].reshape(-1, d * d).index_select(1, lower)
    return torch.cat([totals[:, :, 0], second], dim=1).to(torch.int64)


def _in_blocks(rows: Tensor) -> list[Tensor]:
    """Cut (n, K, m) into blocks of rows and a last one of what is left, each (blocks, K, rows, m)."""
    whole = len(rows) - len(rows) % _BLOCK_ROWS
    parts = (rows[:whole].unflatten(0, (-1, _BLOCK_ROWS)), rows[whole:][None])
    return [part.transpose(1, 2) for part in parts if part.numel()]


def sums_of_labelled(labels: Tensor, q: Tensor, n_cells: int) -> Tensor:
    """Return counts and sums of labelled records, shape (n_cells, 1 + D), without those labelled -1."""
    with_count = torch.cat([torch.ones_like(q[:, :1]), q], dim=1)
    totals = torch.zeros((n_cells + 1, with_count.shape[1]), dtype=torch.float64, device=q.device)
    return totals.index_add_(0, labels + 1, with_count)[1:].to(torch.int64)


# -- labels, bins and codes ---------------------------------------------------------------------------


def cell_labels(cells: Any, q: Tensor) -> Tensor:
    """Return the cell of each quantised record, -1 for none; unknown rules are asked on the host."""
    if isinstance(cells, PrefixCells):
        return _prefix_labels(cells, q)
    if isinstance(cells, NearestCubes):
        return _cube_labels(cells, q)
    return on_device(cells.labels(q.cpu().numpy().astype(np.int64)), q.device)


def _prefix_labels(cells: PrefixCells, q: Tensor) -> Tensor:
    codes = binary_codes(cells.codes, q)
    starts, ends = on_device(cells.starts, q.device), on_device(cells.ends, q.device)
    cell = torch.searchsorted(starts, codes, right=True) - 1
    inside = (cell >= 0) & (codes < ends[cell.clamp(min=0)])
    return torch.where(inside, cell, -1)


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


def column_bins(q: Tensor) -> Tensor:
    """Return the bin of each coordinate of quantised records, as ``ColumnHistograms.bins``."""
    shift = GRID_BITS + 1 - BIN_BITS
    return ((q.to(torch.int64) + (1 << GRID_BITS)) >> shift).clamp_(max=N_BINS - 1)


def magnitude_bins(X: Tensor) -> Tensor:
    """Return the bin of each value, as ``MagnitudeHistograms.bins``; NaN falls into the middle."""
    values = X.to(torch.float64)
    steps = (torch.frexp(values).exponent - SMALLEST_EXPONENT).clamp(0, N_MAGNITUDES).to(torch.int64)
    signed = torch.where(values > 0, steps, torch.where(values < 0, -steps, 0))
    return signed + N_MAGNITUDES


def counts_of(bins: Tensor, n_bins: int) -> Tensor:
    """Count the bins of each column, shape (n_features, n_bins)."""
    n_features = bins.shape[1]
    first = n_bins * torch.arange(n_features, device=bins.device)
    return torch.bincount((bins + first).flatten(), minlength=n_features * n_bins).view(n_features, n_bins)


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
    return Density(
        on_device(means, device),
        on_device(whiteners, device),
        on_device(log_factors, device),
        on_device(domain.lower, device),
        on_device(domain.upper, device),
        on_device(domain.centre, device),
        on_device(domain.unit, device),
        float("inf") if domain.radius is None else domain.radius,
    )


def most_probable(X: Tensor, density: Density) -> Tensor:
    """Return the most probable component of each record, clipped to the domain; the first of equals."""
    points = _clip(X.to(torch.float64), density)
    log_densities = [
        log_factor - 0.5 * ((points - mean) @ whitener.T).square_().sum(dim=1)
        for mean, whitener, log_factor in zip(
            density.means, density.whiteners, density.log_factors, strict=True
        )
    ]
    return torch.stack(log_densities, dim=1).argmax(dim=1)


def _clip(points: Tensor, density: Density) -> Tensor:
    """Move points into the domain, as ``Domain.clip``."""
    inside = torch.minimum(torch.maximum(points, density.lower), density.upper)
    if density.radius == float("inf"):
        return inside
    scaled = (inside - density.centre) / density.unit
    norms = torch.linalg.norm(scaled, dim=1, keepdim=True)
    radius = torch.full_like(norms, density.radius)
    return density.centre + density.unit * (scaled * (radius / torch.maximum(norms, radius)))


def relabelled(components: Tensor, names: LabelArray) -> Tensor:
    """Return what each component is called."""
    return torch.as_tensor(names, device=components.device)[components]
