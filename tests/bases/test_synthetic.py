"""Synthetic records with missing values: as often as was released, where the schema allows it, and consistent."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpmorse import Date, InvalidParameterError, InvalidTypeError, Nominal, Numeric, Schema
from dpmorse.bases import draw_records as drawn_columns
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.profiles import LevelCounts, to_frame
from dpmorse.records import open_records
from mixture_profiles import invented_profile

pd = pytest.importorskip("pandas")

N = 4000
SCHEMA = Schema.of(
    {
        "ward": Nominal(["north", "south"], missing="ignore"),
        "age": Numeric(0, 100, missing="ignore"),
        "income": Numeric(0, 100, missing="level"),
        "seen": Date("2020-01-01", "2020-12-31", missing="ignore"),
        "job": Nominal(["a", "b"], missing="level"),
        "sex": Nominal(["f", "m"]),
        "visits": Numeric(0, 50, integer=True),
    }
)
"""Encoded: whether age, income and seen are missing; four numbers; ward 3, job 4, sex 3 levels, and 2 of whether
income is missing."""

PROBABILITIES = np.array(
    [
        [0.5, 0.4, 0.1, 0.4, 0.3, 0.1, 0.2, 0.45, 0.45, 0.1, 0.7, 0.3],
        [0.2, 0.7, 0.1, 0.2, 0.2, 0.1, 0.5, 0.45, 0.45, 0.1, 0.9, 0.1],
    ]
)
WARD_IS_KNOWN = np.array([0.5, 1.0])
AGE_IS_MISSING = np.array([0.3, 0.0])


def draw_records(*arguments, **options):
    """Draw records as a frame of pandas."""
    columns, labels = drawn_columns(*arguments, **options)
    return to_frame(columns, "pandas"), labels


def gaussians():
    covariances = np.tile(np.diag([4.0, 4.0, 100.0, 1.0]), (2, 1, 1))
    means = np.array([[20.0, 30.0, 100.0, 5.0], [70.0, 60.0, 200.0, 9.0]])
    return GaussianMixture([0.5, 0.5], means, covariances)


def profile(counts=(1000.0, 1000.0)):
    counts = np.array(counts)
    levels = PROBABILITIES * counts[:, None]
    levels[:, :3] *= WARD_IS_KNOWN[:, None]
    levels[:, 7:10] *= 0.9  # noise in a column that is never missing
    holes = counts[:, None] * np.column_stack([AGE_IS_MISSING, [0.5, 0.5], [0.1, 0.1]])
    counted = LevelCounts(holes, levels, 1.0, SCHEMA.layout)
    return invented_profile(gaussians(), counts, levels=counted, count_stddev=1.0)


def base(**changed):
    means, covariances = gaussians().means, gaussians().covariances
    parts = {
        "mixture_": ProductMixture([0.5, 0.5], means, covariances, PROBABILITIES, SCHEMA.layout),
        "schema_": SCHEMA,
        "profile_": profile(),
        "n_features_in_": 7,
    }
    return SimpleNamespace(**parts | changed)


def missing_share(frame, labels, column):
    return np.array([frame[column][labels == k].isna().mean() for k in (0, 1)])


def test_holes_are_as_frequent_as_released():
    frame, labels = draw_records(base(), N, 0, missing=True)
    for column, expected in {
        "age": AGE_IS_MISSING,
        "ward": 1 - WARD_IS_KNOWN,
        "seen": (0.1, 0.1),
        "income": PROBABILITIES[:, 11],
        "job": PROBABILITIES[:, 6],
        "sex": (0, 0),
        "visits": (0, 0),
    }.items():
        assert missing_share(frame, labels, column) == pytest.approx(expected, abs=0.05), column


def test_a_complete_record_is_the_same_before_values_are_left_out():
    whole, labels = draw_records(base(), N, 3)
    holed, same = draw_records(base(), N, 3, missing=True)
    assert np.array_equal(labels, same)
    for name in SCHEMA.names:
        there = holed[name].notna()
        assert whole[name][there].equals(holed[name][there])
    gaps = whole.isna().any()
    assert set(gaps.index[gaps]) == {"job"}, "its gaps are a value of its own"


def test_a_hole_and_its_level_agree():
    frame, _ = draw_records(base(), N, 1, missing=True)
    encoded = open_records(frame, schema=SCHEMA).read(None)
    layout = SCHEMA.layout
    is_missing = encoded[:, layout.level_part][:, layout.levels[-1]][:, 1]
    assert 0.1 < is_missing.mean() < 0.3
    assert np.array_equal(encoded[:, 1], is_missing)
    assert np.array_equal(frame["income"].isna(), is_missing)


def test_a_component_that_noise_hides_has_the_shares_of_all():
    counted = LevelCounts([[300, 200, 0], [1, 1, 0]], np.full((2, 12), 100.0), 2.0, SCHEMA.layout)
    hidden = invented_profile(gaussians(), [1000.0, 1.0], levels=counted, count_stddev=2.0)
    frame, labels = draw_records(base(profile_=hidden), N, 0, missing=True)
    assert missing_share(frame, labels, "age") == pytest.approx((0.3, 0.3), abs=0.05)


def test_what_cannot_be_known_is_refused():
    with pytest.raises(InvalidParameterError, match="profile=True"):
        draw_records(base(profile_=None), 5, 0, missing=True)
    mixture, schema = GaussianMixture([1.0], [[0.0]], [[[1.0]]]), Schema.of_numbers(None, [-9.0], [9.0])
    plain = SimpleNamespace(mixture_=mixture, schema_=schema, profile_=None)
    with pytest.raises(InvalidParameterError, match="models of tables"):
        draw_records(plain, 5, 0, missing=True)
    with pytest.raises((InvalidTypeError, InvalidParameterError), match="missing"):
        draw_records(base(), 5, 0, missing="yes")


def test_without_columns_to_ignore_no_profile_is_needed():
    schema = Schema.of({"age": Numeric(0, 100, missing="level"), "sex": Nominal(["f", "m"])})
    levels = [[0.4, 0.4, 0.2, 0.75, 0.25]]
    mixture = ProductMixture([1.0], [[50.0]], [[[4.0]]], levels, schema.layout)
    table = base(mixture_=mixture, schema_=schema, profile_=None, n_features_in_=2)
    frame, _ = draw_records(table, N, 0, missing=True)
    assert frame["age"].isna().mean() == pytest.approx(0.25, abs=0.05)
    assert frame["sex"].notna().all()
    assert draw_records(table, N, 0)[0]["age"].notna().all()
