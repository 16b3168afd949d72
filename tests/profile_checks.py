"""What every engine must do with profiles, wherever the records are."""

import numpy as np
import pytest

from audits.attacks.tables import far_encoded, invented_table
from audits.kernels import hostile
from audits.kernels.plain import counts
from dpmorse import Schema
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.privacy.exact import opened
from dpmorse.statistics import FINE_GRID_BITS, ProfileCounts


def records_of(rng, n_rows, n_features):
    """Records in and around the cells, far outside of the ball and of the box, and at its corners."""
    X = rng.normal(size=(n_rows, n_features)) * rng.choice([0.5, 3.0, 30.0], size=(n_rows, 1))
    at_bounds = [
        one for bound in (9.0, -8.0) for one in (bound, np.nextafter(bound, 99), np.nextafter(bound, -99))
    ]
    huge = [1e300, -1e300, 3.4e38, -3.4e38, 1e-40, *at_bounds, 0.0]
    X[: len(huge)] = np.array(huge)[:n_rows, None]
    return X


def records_at_edges(rng, n_rows, statistic):
    """The same with a third of the numbers at the ends of bins."""
    return hostile.at_edges(rng, records_of(rng, n_rows, statistic.n_columns), statistic)


def table_profile(rng, columns, n_cells):
    """Counts of a described table, all that it may lack included; its numbers nearly say one another."""
    schema = Schema.of(columns)
    layout = schema.layout
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    quarter = (upper - lower) / 4
    ball = encoded_domain(layout, lower + quarter, upper - quarter, FINE_GRID_BITS)
    rule = hostile.table_rule(rng, layout, n_cells, FINE_GRID_BITS)
    if layout.n_numbers:
        rule = hostile.whitening_rule(rng, layout, n_cells, ball)
    box = encoded_domain(layout, lower, upper, FINE_GRID_BITS)
    edges = hostile.bin_edges(rng, n_cells, layout.n_numbers)
    counted = tuple(range(len(schema.categories)))
    return ProfileCounts(rule, ball, box, layout, edges, counted, schema.with_gaps)


def records_of_table(rng, columns, n_rows):
    """Encoded records with missing values, at the edges of everything, or far outside of the bounds."""
    layout = Schema.of(columns).layout
    E = np.vstack([invented_table(columns, n_rows, int(rng.integers(99))), far_encoded(columns)])
    part = layout.number_part
    half = (np.array(layout.upper) - np.array(layout.lower)) / 2
    E[:, part] += half * rng.choice([0.0, 0.0, 3.0, -1e290], size=(len(E), layout.n_numbers))
    return E


def check(engine, records, X, statistic):
    found = opened(engine.count(records, statistic))
    assert found.dtype == np.int64
    assert np.array_equal(found, counts(X, statistic))


def check_refusals(engine, records, statistic):
    """An engine refuses records of another width: it would read beside them."""
    with pytest.raises(ValueError, match="columns of the statistic"):
        engine.count(records[:, :1], statistic)
