"""What a pass over a torch tensor is told: grids, rules of cells and what is added up, on a device."""

from typing import Any, NamedTuple

import numpy as np
import torch

from dpmorse.statistics import EXP_TABLE, CellMoments, Domain, GaussianCells

Tensor = Any
"""A torch.Tensor: torch is optional, and has no types where it is not installed."""


class DeviceGrid(NamedTuple):
    """How a record becomes integers, on a device; ``squared_radius`` is 0 for the box.

    ``projection`` is None, or a grid and the matrix that records on it are multiplied by first. A ``fine``
    grid has integers of more than 16 bits.
    """

    centre: Tensor
    half_width: Tensor
    steps_per_unit: Tensor
    squared_radius: float
    projection: Any
    fine: bool


class DeviceRule(NamedTuple):
    """A ``GaussianCells`` on a device; factors of all cells are side by side, shape (D, K D).

    Cells are ``round`` where all factors are diagonal.
    """

    factors: Tensor
    offsets: Tensor
    constants: Tensor
    residual_steps: Tensor
    table: Tensor
    steps_per_score: Tensor
    round: bool = False

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.constants)

    @property
    def n_features(self) -> int:
        """Number of coordinates."""
        return len(self.factors)


class Task(NamedTuple):
    """How records find their cells, and what of them is added up there.

    The entries ``first`` to ``last`` are whitened and have second moments, all others are added up as they
    are; ``residuals`` is False where nothing is whitened.
    """

    grid: DeviceGrid
    rule: DeviceRule
    soft: bool
    residuals: bool
    first: int
    last: int

    @property
    def n_sums(self) -> int:
        """How many sums one cell has: a count, sums, lower second moments."""
        d = self.last - self.first
        return 1 + self.rule.n_features + d * (d + 1) // 2


def task_of(statistic: CellMoments, cells: GaussianCells, device: Any) -> Task:
    """Return what a pass is told about moments of cells."""
    measured = {"first": statistic.measured.start, "last": statistic.measured.stop}
    grid, rule = grid_of(statistic.domain, device), rule_of(cells, device)
    return Task(grid, rule, bool(statistic.weight_bits), residuals=statistic.of_residuals, **measured)


def grid_of(domain: Domain, device: Any) -> DeviceGrid:
    """Return the grid of a domain."""
    squared_radius = 0.0 if domain.radius is None else float(domain.largest_squared_norm)
    parts = (domain.centre, domain.half_width, domain.steps_per_unit)
    centre, half_width, steps_per_unit = (on_device(part, device) for part in parts)
    first = domain.projection
    projection = first and (grid_of(first.domain, device), on_device(first.matrix.T, device))
    fine = domain.grid_bits >= 15
    return DeviceGrid(centre, half_width, steps_per_unit, squared_radius, projection, fine)


def rule_of(cells: GaussianCells, device: Any) -> DeviceRule:
    """Return the rule of cells. The last entry of its table is 0 and stands for all larger steps."""
    parts = (
        cells.factors.reshape(-1, cells.offsets.shape[1]).T,
        cells.offsets.ravel(),
        cells.constants,
        cells.residual_steps,
        np.append(EXP_TABLE, 0.0),
        np.array([cells.steps_per_score]),
    )
    diagonal = cells.factors * np.eye(cells.offsets.shape[1])
    is_round = bool(np.array_equal(diagonal, cells.factors))
    return DeviceRule(*(on_device(part, device) for part in parts))._replace(round=is_round)


def on_device(array: Any, device: Any) -> Tensor:
    """Copy an array to a device."""
    return torch.from_numpy(np.array(array, order="C")).to(device)


def zeros(shape: tuple[int, ...], device: Any, dtype: str = "int64") -> Tensor:
    """Return zeros on a device."""
    return torch.zeros(shape, dtype=getattr(torch, dtype), device=device)


def lower_of(d: int, device: Any) -> Tensor:
    """Return where the lower triangle is in a flattened matrix."""
    return on_device(np.flatnonzero(np.tri(d)), device)
