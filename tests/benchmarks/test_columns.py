"""The benchmark of many columns: sets that are drawn in other columns than their family's, and its rows."""

import numpy as np
import pytest

from benchmarks.columns import FAMILIES, METHODS, row_of
from benchmarks.generated import make_family
from dpmorse.datasets import LabelledData


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_drawn_in_any_columns(family):
    data = make_family(family, 3, (40, 44))
    assert 40 <= data.X.shape[1] <= 44
    assert np.array_equal(data.X, make_family(family, 3, (40, 44)).X)
    assert np.isfinite(data.X).all()


def test_the_familys_own_columns_are_as_before():
    assert make_family("blobs", 3).X.shape[1] <= 16
    assert not np.array_equal(make_family("blobs", 3, (2, 16)).X, make_family("blobs", 3).X)


@pytest.mark.filterwarnings("ignore")
def test_a_row_has_the_score_of_every_method(rng):
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 34)) + 6 * y[:, None]
    row = row_of(LabelledData("two", X, y, (X.min(axis=0), X.max(axis=0))), n_seeds=1)
    assert [round(row[method], 2) for method in METHODS] == [1.0, 1.0, 1.0]
    assert row["seconds"] > 0
