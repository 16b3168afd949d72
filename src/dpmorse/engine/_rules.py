"""The rules of cells and grids as compiled passes take them: padded, also in single precision.

Single precision finds the cells that matter, and exact scores decide between them; the error bound that makes
this exact is proved here.
"""

import numpy as np

from dpmorse.engine._layout import FAR, Box, Counted, Gaps, Grid, Nearest, Numbers, Reals, Rule
from dpmorse.statistics import ROUNDING_BITS, ColumnHistograms, Domain, GaussianCells, ProfileCounts
from dpmorse.typing import BoolArray


def nearest_cell(domain: Domain, cells: GaussianCells) -> Nearest:
    """Return how a record finds its cell."""
    exact = padded_rule(cells)
    fast, bound = _single_precision(exact, cells)
    return Nearest(grid_of(domain), fast, exact, bound)


def grid_of(domain: Domain) -> Grid:
    """Return how a record becomes integers of a domain."""
    if domain.projection is None:
        return Grid(_box(domain), np.empty((0, 0)), _NO_BOX)
    return Grid(_box(domain), np.ascontiguousarray(domain.projection.matrix), _box(domain.projection.domain))


def numbers_of(statistic: ColumnHistograms) -> Numbers:
    """Return the numbers of a histogram."""
    box, first = statistic.box, statistic.layout.number_part.start
    return Numbers(first, statistic.holes, box.lower, box.upper, _box(box))


def counted_of(statistic: ProfileCounts) -> Counted:
    """Return what is counted for a profile."""
    layout, levels = statistic.layout, statistic.level_places
    holes = np.full(layout.n_numbers, -1)
    holes[list(layout.holes)] = np.arange(layout.n_holes)
    return Counted(
        grid_of(statistic.box),
        statistic.edges.astype(np.float64),
        layout.number_part.start,
        holes,
        np.array([(own[0], own[-1] + 1) for own in levels], dtype=np.int64).reshape(-1, 2),
        statistic.starts,
        statistic.missing_at,
        _gaps_of(statistic),
    )


def _gaps_of(statistic: ProfileCounts) -> Gaps:
    found, unit = statistic.gaps, 2.0**-statistic.rule.score_bits
    if found is None:
        none = np.empty((0, 0, 0))
        return Gaps(np.empty(0, np.int64), 0, 0, unit, none, none, np.empty((0, 0)))
    return Gaps(found.holes, *found.numbers, unit, found.whitening, found.products, found.logs)


def _box(domain: Domain) -> Box:
    squared_radius = 0.0 if domain.radius is None else float(domain.largest_squared_norm)
    return Box(domain.centre, domain.half_width, domain.steps_per_unit, squared_radius)


_NO_BOX = Box(np.empty(0), np.empty(0), np.empty(0), 0.0)


def padded(n_columns: int) -> int:
    """Round up to a multiple of four."""
    return n_columns + -n_columns % 4


def padded_rule(cells: GaussianCells) -> Rule:
    """Pad to whole groups of four columns with zeros, which change no score."""
    n_columns = cells.offsets.shape[1]
    missing = padded(n_columns) - n_columns
    factors = np.pad(cells.factors, ((0, 0), (0, missing), (0, missing)))
    fours = factors.shape[1] // 4
    filled: BoolArray = np.any(factors.reshape(cells.n_cells, fours, 4, fours, 4), axis=(2, 4))
    return Rule(factors, np.pad(cells.offsets, ((0, 0), (0, missing))), cells.constants, filled)


def _single_precision(exact: Rule, cells: GaussianCells) -> tuple[Rule, Reals]:
    r"""Return the rule in float32, in nats, and the bound on errors below which exact scores decide.

    With ``y`` the exact ``u`` in nats^(1/2) and D' = D + 4 roundings of relative size 2^-24 each:
    the float32 ``y_i`` is off by at most ``g A_i``, ``g = 2 D' 2^-24`` and ``A_i = |offset_i| +
    2^bits sum_j |factor_ij|``; rounding ``u`` to ``v`` moves it by half a unit. So ``|y| - |v|`` is at
    most ``d = g |A| + sqrt(D)/2 unit``, and a score ``s`` is off by at most
    ``2 d sqrt(s) + d^2 + g s <= (4 d + d^2) + (d/4 + g) s``. Both scores compared may be off, hence the
    doubling; a further factor 2 covers the float32 evaluation of the bound itself.
    """
    # Powers of two: the change of units rounds nothing by itself.
    score_bits, width = cells.score_bits, exact.offsets.shape[1]
    to_root_nats, to_nats = 2.0 ** -(score_bits + ROUNDING_BITS), 4.0**-score_bits
    rule = exact._replace(
        factors=exact.factors * to_root_nats,
        offsets=exact.offsets * to_root_nats,
        constants=exact.constants * to_nats,
    )
    reach = np.abs(rule.offsets) + 2.0**cells.grid_bits * np.abs(rule.factors).sum(axis=2)
    largest = np.linalg.norm(reach, axis=1).max()
    relative, rounding = 2 * (width + 4) * 2.0**-24, 0.5 * np.sqrt(width) * 2.0**-score_bits
    if _equally_round(cells):
        return _linear(rule, relative, 2.0**cells.grid_bits, 2 * largest * rounding + rounding**2)
    distance = relative * largest + rounding
    bound = np.array([4 * distance + distance**2, distance / 4 + relative])
    return _in_float32(rule), (4 * bound).astype(np.float32)


def _equally_round(cells: GaussianCells) -> bool:
    """Say whether all cells have the same multiple of the identity as their factor."""
    size = cells.factors[0, 0, 0]
    return bool(np.all(cells.factors == size * np.eye(cells.offsets.shape[1])))


def _linear(rule: Rule, relative: float, largest: float, rounded: float) -> tuple[Rule, Reals]:
    r"""Return scores of equally round cells without the part that all have in common, and their bound.

    With factor f, ``|o + f q|^2 = |o|^2 + 2 f o.q + f^2 |q|^2``, and the last term is that of every cell.
    With ``|q_j| <= largest`` the sum in float32 is off by at most ``g`` times ``|o|^2 + c + 2 f largest
    sum_j |o_j|``, and rounding ``u`` to ``v`` moves a score by at most ``rounded``. The factor 4 is that of
    the bound for other cells.
    """
    size = rule.factors[0, 0, 0]
    slopes, constants = 2 * size * rule.offsets, rule.constants + np.square(rule.offsets).sum(axis=1)
    off = relative * (constants + largest * np.abs(slopes).sum(axis=1)).max() + rounded
    missing = -len(slopes) % 4  # cells that nothing is near
    linear = Rule(
        factors=np.pad(slopes, ((0, missing), (0, 0)))[None],
        offsets=np.pad(constants, (0, missing), constant_values=FAR)[None],
        constants=np.empty(0),
        filled=np.ones((1, (len(slopes) + missing) // 4, slopes.shape[1] // 4), np.bool_),
    )
    return _in_float32(linear), np.array([4 * off, 0.0], np.float32)


def _in_float32(rule: Rule) -> Rule:
    factors, offsets, constants = (part.astype(np.float32) for part in rule[:3])
    return Rule(factors, offsets, constants, rule.filled)
