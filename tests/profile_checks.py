"""What every engine must do with profile cells, wherever the records are."""

from dataclasses import replace

import numpy as np
import pytest

from dpmorse.privacy.exact import opened
from dpmorse.statistics import FINE_GRID_BITS, GRID_BITS, WEIGHT_BITS, CellMoments, Domain
from plain import assert_same, profile_moments, profile_statistics, radius_counts


def records_of(rng, n_rows, n_features):
    """Records in and around the cells, far outside of the ball and of the box, and at its corners."""
    X = rng.normal(size=(n_rows, n_features)) * rng.choice([0.5, 3.0, 30.0], size=(n_rows, 1))
    huge = [1e30, -1e30, 3.4e38, -3.4e38, 1e-40, 9.0, -8.0, 0.0]
    X[: len(huge)] = np.array(huge)[:n_rows, None]
    return X


def check(engine, records, X, cells):
    moments, radii = profile_statistics(cells)
    assert_same(opened(engine.reduce(records, moments, cells)), profile_moments(X, cells))
    counts = opened(engine.count(records, radii))
    assert counts.dtype == np.int64
    assert np.array_equal(counts, radius_counts(X, radii))


def check_refusals(engine, records, cells):
    """An engine refuses statistics that profile cells do not have, and says why."""
    moments, radii = profile_statistics(cells)
    narrow = Domain(cells.box.lower, cells.box.upper / 2, None, FINE_GRID_BITS)
    coarse = replace(cells.box, grid_bits=GRID_BITS)
    for statistic, what in (
        (replace(moments, weight_bits=WEIGHT_BITS), "hard"),
        (CellMoments(coarse, cells.n_cells), "moments of residuals"),
        (replace(moments, domain=narrow), "domain of the statistic"),
        (replace(moments, domain=coarse), "domain of the statistic"),
        (replace(moments, domain=replace(cells.box, radius=1.0)), "domain of the statistic"),
        (replace(moments, n_cells=9), "as many as"),
    ):
        with pytest.raises(ValueError, match=what):
            engine.reduce(records, statistic, cells)
    for question in (
        lambda: engine.reduce(records[:, :1], moments, cells),
        lambda: engine.count(records[:, :1], radii),
    ):
        with pytest.raises(ValueError, match="columns of the statistic"):
            question()
