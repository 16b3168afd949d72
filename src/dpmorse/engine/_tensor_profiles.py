"""Passes over a chunk of a torch tensor in plain torch: profile cells, and the lengths of their residuals.

Exactness is that of ``_tensor_passes``. On the fine grid records are integers up to 2^20 and the factors of a
rule are smaller by as much (``GaussianCells.from_mixture``), so that their products stay below 2^53 as well.
"""

from typing import Any, NamedTuple

import torch

from dpmorse.engine import _tensor_passes as passes
from dpmorse.engine._tensor_passes import PLAIN, Arithmetic, Grid, Rule, Tensor
from dpmorse.statistics import ProfileCells, RadiusHistograms


class Profile(NamedTuple):
    """A ``ProfileCells`` on a device."""

    ball: Grid
    partition: Rule
    box: Grid
    units: Rule


def profile_of(cells: ProfileCells, device: Any) -> Profile:
    """Return profile cells on a device."""
    return Profile(
        passes.grid_of(cells.ball, device),
        passes.rule_of(cells.partition, device),
        passes.grid_of(cells.box, device),
        passes.rule_of(cells.units, device),
    )


def moments(X: Tensor, profile: Profile, by: Arithmetic = PLAIN) -> Tensor:
    """Return counts, sums and lower second moments of the residuals of each cell, shape (K, ...)."""
    labels, v = own_coordinates(X, profile, by)
    residuals = passes.residuals(v, profile.units.residual_steps[labels])
    weights = passes.one_hot(labels, len(profile.units.constants))
    return passes.moments(weights, residuals, profile.units.lower)


def table_moments(X: Tensor, profile: Profile, measured: slice) -> Tensor:
    """Return what ``moments`` does for encoded records: numbers are measured, holes and levels added up."""
    labels, v = own_coordinates(X, profile)
    weights = passes.one_hot(labels, len(profile.units.constants))
    sums = (weights.T @ passes.quantise(X, profile.box)).to(torch.int64)
    d = measured.stop - measured.start
    if d == 0:
        return torch.cat([weights.sum(dim=0)[:, None].to(torch.int64), sums], dim=1)
    residuals = passes.residuals(v[:, measured], profile.units.residual_steps[labels])
    numbers = passes.moments(weights, residuals, passes.lower_of(d, X.device))
    sums[:, measured] = numbers[:, 1 : 1 + d]
    return torch.cat([numbers[:, :1], sums, numbers[:, 1 + d :]], dim=1)


def counts_of_radii(X: Tensor, profile: Profile, limits: Tensor, by: Arithmetic = PLAIN) -> Tensor:
    """Count the records of each cell by their length, shape (K, bins), as ``RadiusHistograms.bins``."""
    labels, v = own_coordinates(X, profile, by)
    places = torch.searchsorted(limits, (v * v).sum(dim=1), right=True)
    # One place more than there are bins: the first one is for those in none.
    n_cells, n_places = len(profile.units.constants), len(limits) + 1
    counts = torch.bincount(labels * n_places + places, minlength=n_cells * n_places)
    return counts.view(n_cells, n_places)[:, 1:]


def limits_of(statistic: RadiusHistograms, device: Any) -> Tensor:
    """Return where bins begin."""
    return passes.on_device(statistic.limits, device)


def own_coordinates(X: Tensor, profile: Profile, by: Arithmetic = PLAIN) -> tuple[Tensor, Tensor]:
    """Return the cell of each record, clipped to the ball, and ``v`` of the whole record in that cell."""
    labels = by.scores(passes.quantise(X, profile.ball), profile.partition).argmin(
        dim=1
    )  # the first of equals
    return labels, passes.own_coordinates(passes.quantise(X, profile.box), profile.units, labels)
