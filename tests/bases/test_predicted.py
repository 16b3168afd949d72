"""What a mixture lets one expect of the records that it labels: against laws that are known."""

import numpy as np
import pytest
from scipy import stats

from dpmorse import Nominal, Numeric
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.predicted import N_STEPS, predict_records
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.schema import Schema
from dpmorse.statistics import FINE_GRID_BITS, Domain

STEPS = np.linspace(0, 1, N_STEPS + 1)[1:-1]


def of_table(columns, mixture_parts, missing):
    schema = Schema.of(columns)
    layout = schema.layout
    mixture = ProductMixture(*mixture_parts, layout)
    box = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), FINE_GRID_BITS)
    return predict_records(mixture, box, schema, np.array(missing), np.random.default_rng(0))


def test_two_normals_apart_are_what_they_are():
    mixture = GaussianMixture([0.3, 0.7], [[-20.0], [20.0]], [[[1.0]], [[4.0]]])
    box = Domain(np.array([-50.0]), np.array([50.0]))
    schema = Schema.of_numbers(None, box.lower, box.upper)
    found = predict_records(mixture, box, schema, np.zeros(1), np.random.default_rng(0))
    assert found.shares == pytest.approx([0.3, 0.7], abs=0.02)
    assert not found.missing.any()
    for curve, (mean, spread) in zip(found.curves[:, 0], [(-20, 1), (20, 2)], strict=True):
        assert curve[1:-1] == pytest.approx(stats.norm(mean, spread).ppf(STEPS), abs=0.25 * spread)


def test_overlapping_normals_share_at_the_middle():
    mixture = GaussianMixture([0.5, 0.5], [[-0.5], [0.5]], [[[1.0]], [[1.0]]])
    box = Domain(np.array([-9.0]), np.array([9.0]))
    schema = Schema.of_numbers(None, box.lower, box.upper)
    found = predict_records(mixture, box, schema, np.zeros(1), np.random.default_rng(0))
    assert found.shares == pytest.approx([0.5, 0.5], abs=0.03)
    assert found.curves[0, 0].max() <= 0 <= found.curves[1, 0].min()


@pytest.mark.parametrize("missing", [0.25, 0.5])
def test_records_without_the_only_number_belong_to_the_largest_component(missing):
    columns = {"x": Numeric(-50, 50, missing="ignore")}
    parts = [0.3, 0.7], [[-20.0], [20.0]], [[[1.0]], [[1.0]]], np.zeros((2, 0))
    found = of_table(columns, parts, [missing])
    largest = 0.7 + 0.3 * missing
    assert found.shares == pytest.approx([1 - largest, largest], abs=0.03)
    assert found.missing[:, 0] == pytest.approx([0, missing / largest], abs=0.05)
    assert found.curves[1, 0, N_STEPS // 2] == pytest.approx(20, abs=0.15)


def test_a_level_tells_where_the_number_is_missing():
    columns = {"x": Numeric(-50, 50, missing="ignore"), "c": Nominal(["a", "b"], missing="ignore")}
    parts = (
        [0.3, 0.7],
        [[-20.0], [20.0]],
        [[[1.0]], [[1.0]]],
        np.array([[0.998, 0.001, 0.001], [0.001, 0.998, 0.001]]),
    )
    # A record belongs to the larger component by mistake where both are missing.
    found = of_table(columns, parts, [0.5, 0.25])
    assert found.missing[0, 0] < found.missing[1, 0]
    assert found.levels[0, 0] == pytest.approx(1 - found.missing[0, 1], abs=0.01)
    assert found.levels[1].sum() + found.missing[1, 1] == pytest.approx(1)


def test_a_number_whose_missing_values_are_a_level_is_missing_as_the_level_says():
    columns = {"x": Numeric(-50, 50, missing="level"), "c": Nominal(["a", "b"])}
    of_c = [[0.98, 0.01, 0.01], [0.01, 0.98, 0.01]]  # the last is "other"
    levels = np.hstack([of_c, [[0.9, 0.1], [0.2, 0.8]]])  # then present and missing
    parts = [0.5, 0.5], [[-20.0], [20.0]], [[[1.0]], [[1.0]]], levels
    found = of_table(columns, parts, [0.0, 0.0])
    assert found.missing[:, 0] == pytest.approx([0.1, 0.8], abs=0.05)
    assert found.levels[:, 4] == pytest.approx(found.missing[:, 0])
