"""Synthetic records with missing values: as often as was released, where the schema allows it, and consistent."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from counted_profiles import counted, with_noise
from dpmorse import Date, InvalidParameterError, InvalidTypeError, Nominal, Numeric, Schema
from dpmorse.bases import draw_records as drawn_columns
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.profiles import group_table, to_frame
from dpmorse.records import open_records

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


def profile():
    """That of 20,000 records that are like the mixture, with ward and age missing now and then."""
    rng, n = np.random.default_rng(0), 20_000
    numbers, components = gaussians().sample(n, rng)
    numbers = np.clip(numbers, SCHEMA.layout.lower, SCHEMA.layout.upper)
    codes = np.empty((n, 3), dtype=int)
    for j, own in enumerate(SCHEMA.layout.levels[:3]):
        steps = np.cumsum(PROBABILITIES[:, own], axis=1)[:, :-1]
        codes[:, j] = (rng.random(n)[:, None] > steps[components]).sum(axis=1)
    holes = np.zeros((n, 7), dtype=bool)
    for column, part in (
        (0, AGE_IS_MISSING),
        (1, PROBABILITIES[:, 11]),
        (2, [0.1, 0.1]),
        (4, 1 - WARD_IS_KNOWN),
    ):
        holes[:, column] = rng.random(n) < np.array(part)[components]
    made = counted(numbers, components, codes=codes, holes=holes, bounds=(0.0, 400.0))
    bounds = {"lower": np.array(SCHEMA.layout.lower), "upper": np.array(SCHEMA.layout.upper)}
    limits = {name: bound[:, None] for name, bound in bounds.items()}
    inside = {name: np.clip(getattr(made, name), *limits.values()) for name in ("edges", "curves")}
    return replace(with_noise(made, rng, 5.0, 5.0), **bounds, **inside, whole=SCHEMA.whole.astype(float))


def base(**changed):
    means, covariances = gaussians().means, gaussians().covariances
    mixture = ProductMixture([0.5, 0.5], means, covariances, PROBABILITIES, SCHEMA.layout)
    parts = {
        "mixture_": mixture,
        "partition_": mixture,
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


def test_columns_are_as_the_account_says():
    """Quantiles and levels of each component, whole numbers whole, nothing outside of what was stated."""
    frame, labels = draw_records(base(), 20_000, 2)
    made = profile()
    table = group_table(made, np.eye(2))
    numbers = frame.assign(seen=(frame["seen"] - pd.Timestamp("2020-01-01")).dt.days)
    for j, name in enumerate(["age", "income", "seen", "visits"]):
        for k in (0, 1):
            for p, found in table.quantiles.items():
                drawn = np.quantile(numbers[name][labels == k], p)
                assert drawn == pytest.approx(
                    found.value[k, j], abs=1.0 if name in {"seen", "visits"} else 0.3
                )
        lower, upper = SCHEMA.layout.lower[j], SCHEMA.layout.upper[j]
        assert numbers[name].between(lower, upper).all()
    assert frame["visits"].dtype.kind == "i"
    for k in (0, 1):
        parts = frame["ward"][labels == k].value_counts(normalize=True)
        expected = table.level_share[0].value[k] / table.level_share[0].value[k].sum()
        found = parts.reindex(["north", "south", "other"], fill_value=0)
        assert found.to_numpy() == pytest.approx(expected, abs=0.02)


def test_what_noise_hides_is_like_all_records():
    """A component of no records: its values are those of the other one."""
    made = profile()
    entries, sizes = made.entries.copy(), made.sizes.copy()
    entries[1], sizes[1] = 0.0, 8.0
    hidden = replace(made, sizes=sizes, entries=entries)
    frame, labels = draw_records(base(profile_=hidden), 200_000, 0, missing=True)
    assert 20 < (labels == 1).sum() < 1000
    assert frame["age"][labels == 1].median() == pytest.approx(frame["age"][labels == 0].median(), abs=2)
    north = [(frame["ward"][labels == k] == "north").mean() for k in (0, 1)]
    assert north[1] == pytest.approx(north[0], abs=0.2)


def test_numbers_go_together_as_in_their_component():
    covariances = np.tile(np.diag([4.0, 4.0, 100.0, 1.0]), (2, 1, 1))
    covariances[:, 0, 1] = covariances[:, 1, 0] = [3.0, -3.0]
    mixture = ProductMixture([0.5, 0.5], gaussians().means, covariances, PROBABILITIES, SCHEMA.layout)
    frame, labels = draw_records(base(partition_=mixture), 20_000, 4)
    for k, expected in enumerate((0.75, -0.75)):
        own = frame[labels == k]
        assert np.corrcoef(own["age"], own["income"])[0, 1] == pytest.approx(expected, abs=0.05)


def test_what_cannot_be_known_is_refused():
    with pytest.raises(InvalidParameterError, match="profile=True"):
        draw_records(base(profile_=None), 5, 0, missing=True)
    mixture, schema = GaussianMixture([1.0], [[0.0]], [[[1.0]]]), Schema.of_numbers(None, [-9.0], [9.0])
    plain = SimpleNamespace(mixture_=mixture, partition_=mixture, schema_=schema, profile_=None)
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
