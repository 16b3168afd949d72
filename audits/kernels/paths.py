"""Every statistic with every rule of cells: makers of questions of each kind, over random domains."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.kernels import hostile
from audits.kernels.hostile import Rng
from audits.kernels.questions import Bins, Groups, Question, Sums, Swaps
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.schema import Layout
from dpmorse.statistics import (
    WEIGHT_BITS,
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    MagnitudeHistograms,
    NearestCubes,
    PrefixCells,
    SecondMoments,
)
from dpmorse.typing import FloatArray


def hard(rng: Rng, kind: str) -> Question:
    """Sums of records, in a box or a ball."""
    return _cells(rng, kind, ball=bool(rng.integers(2)))


def hard_residuals(rng: Rng, kind: str) -> Question:
    """Sums of residuals of hard cells."""
    return _cells(rng, kind, ball=bool(rng.integers(2)), of_residuals=True)


def soft(rng: Rng, kind: str) -> Question:
    """Sums of records, weighted by memberships."""
    return _cells(rng, kind, ball=bool(rng.integers(2)), weight_bits=WEIGHT_BITS)


def soft_residuals(rng: Rng, kind: str) -> Question:
    """Sums of residuals, weighted by memberships."""
    return _cells(rng, kind, ball=True, weight_bits=WEIGHT_BITS, of_residuals=True)


def projected(rng: Rng, kind: str) -> Question:
    """Sums over records that are projected on released directions."""
    domain = hostile.projected(rng, int(rng.integers(3, 40)), int(rng.integers(1, 4)))
    weight_bits = int(rng.choice([0, WEIGHT_BITS]))
    return _cells(rng, kind, domain=domain, weight_bits=weight_bits, of_residuals=True)


def profile(rng: Rng, kind: str) -> Question:
    """Counts of numbers in profile cells."""
    d = int(rng.integers(2, 9))
    n_directions = int(rng.integers(1, d)) if kind == "far" else None
    statistic = hostile.profile(rng, int(rng.integers(1, 7)), d, kind, n_directions)
    return Bins(
        statistic,
        lambda rng, n: hostile.at_edges(rng, hostile.records(rng, n, statistic.box), statistic),
    )


def table(rng: Rng, kind: str) -> Question:
    """Sums over tables, hard or soft."""
    del kind
    layout, k = hostile.layout(rng), int(rng.integers(1, 6))
    domain = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper))
    statistic = CellMoments(domain, k, int(rng.choice([0, WEIGHT_BITS])), of_residuals=True, layout=layout)
    return Sums(statistic, hostile.table_rule(rng, layout, k), _encoded(layout))


def table_profile(rng: Rng, kind: str) -> Question:
    """Counts of tables in profile cells: numbers, categories, what is missing."""
    del kind
    layout = hostile.layout(rng)
    statistic = hostile.table_profile(rng, layout, int(rng.integers(1, 6)))
    return Bins(statistic, lambda rng, n: hostile.at_edges(rng, hostile.encoded(rng, layout, n), statistic))


def columns(rng: Rng, kind: str) -> Question:
    """Histograms of the numbers of tables."""
    del kind
    layout = _with_numbers(rng)
    return Bins(ColumnHistograms(layout), _encoded(layout))


def magnitudes(rng: Rng, kind: str) -> Question:
    """Histograms by sign and power of two."""
    del kind
    domain = hostile.box(rng, 2)

    def draw(rng: Rng, n: int) -> FloatArray:
        powers = 10.0 ** rng.integers(-12, 12, size=(n, 1))
        X = np.clip(hostile.records(rng, n, domain), -1e20, 1e20)  # infinity has no power of two
        return np.asarray(X * powers)

    return Bins(MagnitudeHistograms(2), draw)


def codes(rng: Rng, kind: str) -> Question:
    """Counts of codes, which are joint histograms and nodes of trees."""
    found = _codes(rng, kind)
    return Groups(found, lambda rng, n: hostile.records(rng, n, found.domain))


def leaves(rng: Rng, kind: str) -> Question:
    """Counts and sums of leaves: some records have none."""
    found = _codes(rng, kind)
    ends = np.sort(rng.choice((1 << found.n_bits) + 1, size=4, replace=False))
    return _labelled(PrefixCells(found, ends[::2], ends[1::2]), found, exhaustive=False)


def cubes(rng: Rng, kind: str) -> Question:
    """Counts and sums of cells of cubes."""
    found = _codes(rng, kind)
    side = 1 << found.bits
    return _labelled(NearestCubes(found, found.bits, rng.integers(-side, side, (3, found.n_axes))), found)


def swaps(rng: Rng, kind: str) -> Question:
    """Costs of exchanged centres."""
    found = _codes(rng, kind)
    side = 1 << found.bits
    candidates = rng.integers(-side, side + 1, size=(7, found.n_axes))
    limit = max(1, found.n_axes * side**2 // 4)
    return Swaps(found, candidates, np.arange(3), limit, lambda rng, n: hostile.records(rng, n, found.domain))


PATHS: dict[str, Callable[[Rng, str], Question]] = {
    "hard cells": hard,
    "residuals of hard cells": hard_residuals,
    "soft cells": soft,
    "residuals of soft cells": soft_residuals,
    "projected records": projected,
    "profiles": profile,
    "tables": table,
    "profiles of tables": table_profile,
    "histograms of columns": columns,
    "histograms of magnitudes": magnitudes,
    "codes": codes,
    "leaves": leaves,
    "cubes": cubes,
    "exchanged centres": swaps,
}
"""Makers of questions of each kind, for one of the kinds of cells."""


def _cells(
    rng: Rng,
    kind: str,
    *,
    ball: bool = False,
    domain: Domain | None = None,
    weight_bits: int = 0,
    of_residuals: bool = False,
) -> Question:
    domain = domain or hostile.box(rng, int(rng.integers(1, 10)), ball=ball)
    k = int(rng.integers(1, 7))
    rule = hostile.rule(rng, k, domain.n_features, kind)
    statistic = CellMoments(domain, k, weight_bits, _any_kind(rng), of_residuals=of_residuals)
    return Sums(statistic, rule, lambda rng, n: hostile.records(rng, n, domain, _means(rule, domain)))


def _means(rule: GaussianCells, domain: Domain) -> FloatArray | None:
    """Return the means of cells in scaled units, where records are not projected."""
    if domain.projection is not None:
        return None
    return np.array(
        [
            np.linalg.solve(factor, -offset) * 2.0**-domain.grid_bits
            for factor, offset in zip(rule.factors, rule.offsets, strict=True)
        ]
    )


def _any_kind(rng: Rng) -> SecondMoments:
    return list(SecondMoments)[int(rng.choice([0, 0, 0, 1, 2, 3]))]


def _with_numbers(rng: Rng) -> Layout:
    while not (layout := hostile.layout(rng)).n_numbers:
        pass
    return layout


def _encoded(layout: Layout) -> Callable[[Rng, int], FloatArray]:
    return lambda rng, n: hostile.encoded(rng, layout, n)


def _codes(rng: Rng, kind: str) -> BinaryCodes:
    n_axes, bits = [(1, 6), (2, 3), (3, 2)][int(rng.integers(3))]
    domain = hostile.box(rng, n_axes + 2 * (kind == "far"), ball=bool(rng.integers(2)))
    matrix = rng.normal(size=(n_axes, domain.n_features)) if kind == "far" else np.eye(n_axes)
    return BinaryCodes.rounded(domain, matrix, float(rng.uniform(0.5, 1.5)), bits)


def _labelled(cells: Any, codes: BinaryCodes, *, exhaustive: bool = True) -> Question:
    domain, kind = codes.domain, SecondMoments.NONE
    statistic = CellMoments(domain, cells.n_cells, second_moments=kind, exhaustive=exhaustive)
    return Sums(statistic, cells, lambda rng, n: hostile.records(rng, n, domain))
