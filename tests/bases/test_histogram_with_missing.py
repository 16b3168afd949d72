"""One or two columns with missing values: each record is counted once, and what is known of it is used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from dpmorse import DPMorse, InMemoryEngine, Numeric, load
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.staged import binned_em
from dpmorse.bases.staged.histogram_with_missing import codes_with_missing, places_with_missing
from dpmorse.bases.staged.joint_histogram import Cells, Grid, Line, largest_n_cells
from dpmorse.datasets import make_moons
from dpmorse.privacy import Neighboring
from dpmorse.privacy.exact import opened
from dpmorse.schema import Layout
from dpmorse.statistics import Domain, GroupCounts, counts_starting_with
from plain_tables import encoded_records

pytestmark = pytest.mark.filterwarnings("ignore")  # of clusters that may be noise

LAYOUTS = {
    "two, both may be missing": Layout((0.0, -5.0), (4.0, 5.0), (0, 1)),
    "two, the second may be missing": Layout((0.0, -5.0), (4.0, 5.0), (1,)),
    "two, none may be missing": Layout((0.0, -5.0), (4.0, 5.0)),
    "one": Layout((-1.0,), (3.0,), (0,)),
}
EVERY = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
BITS = 3


def box_of(layout):
    """A box in which some records lie, and others beyond it or at its edges."""
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    return Domain(lower + (upper - lower) / 4, upper - (upper - lower) / 4)


def counts_of(E, layout):
    codes = codes_with_missing(layout, box_of(layout), BITS)
    prefixes = codes.at(places_with_missing(layout, BITS))
    tally = InMemoryEngine().tally(E, codes)
    return opened(counts_starting_with(tally, prefixes, codes.n_bits))


def plain_counts(E, layout):
    """Count records cell by cell, in plain Python: a value by its place in the box, missing ones beyond."""
    box, side = box_of(layout), 1 << BITS
    counts = np.zeros(tuple(side + (j in layout.holes) for j in range(layout.n_numbers)), dtype=np.int64)
    for record in E:
        place = []
        for j, x in enumerate(record[layout.number_part]):
            missing = j in layout.holes and record[layout.holes.index(j)] == 1
            part = (min(max(x, box.lower[j]), box.upper[j]) - box.lower[j]) / (box.upper[j] - box.lower[j])
            place.append(side if missing else min(int(part * side), side - 1))
        counts[tuple(place)] += 1
    return counts.ravel()


@EVERY
def test_each_record_is_in_the_cell_of_what_it_has(layout, rng):
    E = encoded_records(layout, 4000, rng)
    found, expected = counts_of(E, layout), plain_counts(E, layout)
    assert found.sum() == len(E)
    assert largest_n_cells(layout, BITS) == len(found) == len(expected)
    # cells are wider than those of the box by a 2^-11th, and records are rounded to a 2^-12th of it
    assert np.abs(found - expected).sum() <= 0.01 * len(E)
    assert (found > 0).any()


@EVERY
def test_values_at_the_bounds_are_in_the_last_cells_and_not_missing(layout):
    box, n_missing = box_of(layout), np.zeros(layout.n_holes)
    record = np.concatenate([n_missing, box.upper + 7.0])[None]
    place = np.full((1, layout.n_numbers), (1 << BITS) - 1)
    shape = tuple((1 << BITS) + (j in layout.holes) for j in range(layout.n_numbers))
    assert np.argmax(counts_of(record, layout)) == np.ravel_multi_index(place[0], shape)


@pytest.mark.parametrize("relation", list(Neighboring))
@EVERY
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_neighbours_never_differ_by_more_than_declared(layout, relation, seed):
    rng = np.random.default_rng(seed)
    E = encoded_records(layout, 20, rng)
    other = (
        E[1:] if relation is Neighboring.ADD_REMOVE else np.vstack([encoded_records(layout, 1, rng), E[1:]])
    )
    difference = counts_of(E, layout) - counts_of(other, layout)
    assert np.square(difference).sum() <= GroupCounts(1).moved(relation)
    assert np.abs(difference).sum() <= GroupCounts(1).moved(relation)


# What is made of the counts


def grid_of(X, reach=3.0, side=48, noise=0.0, rng=None):
    counts, _ = np.histogramdd(X, bins=side, range=[(-reach, reach)] * X.shape[1])
    return Grid.of(
        counts + noise * (0 if rng is None else rng.normal(size=counts.shape)), reach, max(noise, 1.0)
    )


def two_groups(n, rng):
    """Two narrow groups along a diagonal: either number tells much of the other."""
    y = rng.integers(0, 2, n)
    common = 0.4 * rng.normal(size=n)
    return np.column_stack([common, common]) + 0.05 * rng.normal(size=(n, 2)) + (2 * y - 1)[:, None], y


def start_of(cells):
    spread = np.tile(0.3 * np.eye(2), (2, 1, 1))
    return Estimates(np.full(2, 0.5), np.array([[-0.8, -0.8], [0.8, 0.8]]), spread, np.ones(2, dtype=bool))


def rounds(cells, lines, n=30):
    found = start_of(cells)
    for _ in range(n):
        shared = [binned_em._shared(line, found, cells) for line in lines]
        found = binned_em._maximise(found, cells, binned_em._memberships(found, cells), 1e-3, shared)
    return found


def test_lines_give_the_estimates_of_complete_records(rng):
    """A third of the records lack the second number wherever the first is large: lines correct for it."""
    X, _ = two_groups(60_000, rng)
    lacks = (X[:, 0] > 0.8) & (rng.random(len(X)) < 0.9)
    whole, all_of_it = grid_of(X[~lacks]), grid_of(X)
    line = Line(0, grid_of(X[lacks][:, :1]))
    wanted = rounds(all_of_it.cells(2), [])
    found, without = rounds(whole.cells(2), [line]), rounds(whole.cells(2), [])
    assert np.abs(found.weights - wanted.weights).max() < 0.01
    assert np.abs(found.means - wanted.means).max() < 0.03
    assert np.abs(found.covariances - wanted.covariances).max() < 0.03
    assert np.abs(without.means - wanted.means).max() > 0.1  # without them, the groups end where it is


def test_lines_without_records_change_little(rng):
    X, _ = two_groups(20_000, rng)
    cells = grid_of(X).cells(2)
    empty = Line(1, Grid.of(5.0 * rng.normal(size=48), 3.0, 5.0))
    with_line, without = rounds(cells, [empty]), rounds(cells, [])
    assert np.abs(with_line.means - without.means).max() < 0.02
    assert np.abs(with_line.weights - without.weights).max() < 0.01


def test_an_expected_place_is_that_of_the_regression(rng):
    """With the counts of a line at their expected places, the first two moments are those of the component."""
    spread = np.array([[[0.5, 0.3], [0.3, 0.4]]])
    component = Estimates(np.ones(1), np.array([[0.2, -0.1]]), spread, np.ones(1, dtype=bool))
    X = rng.multivariate_normal(component.means[0], spread[0], 200_000)
    line = Line(1, grid_of(X[:, 1:]))
    cells = Cells(np.zeros((1, 2)), np.zeros(1), np.ones(1), line.grid.width, 1.0)
    shared = binned_em._shared(line, component, cells)
    shared = binned_em._Shared(shared.memberships, line.grid.counts, shared.places, shared.unknown)
    n = line.grid.counts.sum()
    mean = shared.sums() / n
    assert np.allclose(mean, component.means, atol=0.01)
    sheppard = line.grid.width**2 / 12 * np.eye(2)
    assert np.allclose(shared.squares(mean)[0] / n - sheppard, spread[0], atol=0.02)


def test_groups_that_have_one_number_only_are_started():
    """A group none of whose records has the second number has a component, at the middle of that axis."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal([-1.5, 0.5], 0.2, (3000, 2)), rng.normal([1.5, 0.5], 0.2, (3000, 2))])
    whole, line = grid_of(X[:3000], noise=2.0, rng=rng), Line(0, grid_of(X[3000:, :1], noise=2.0, rng=rng))
    places, counts = binned_em._alone(line, whole.cells(4))
    assert counts.sum() == pytest.approx(3000, rel=0.1)
    assert np.average(places[:, 0], weights=counts) == pytest.approx(1.5, abs=0.1)
    beside = Line(0, grid_of(X[:3000, :1], noise=2.0, rng=rng))
    assert binned_em._alone(beside, whole.cells(4))[1].sum() < 30


# The whole fit


def punched(X, rate, rng):
    return np.where(rng.random(X.shape) < rate, np.nan, X)


PLANE = {"x": Numeric(-10, 10, missing="ignore"), "y": Numeric(-10, 10, missing="ignore")}


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(20_000, random_state=0)
    Z = punched(X, 0.05, np.random.default_rng(0))
    return DPMorse(2, epsilon=1.0, columns=PLANE, rehearsals=0, random_state=0).fit(Z), Z, y


def test_moons_with_missing_values_are_told_apart(moons):
    model, Z, y = moons
    labels, complete = model.predict(Z), ~np.isnan(Z).any(axis=1)
    assert adjusted_rand_score(y[complete], labels[complete]) > 0.95
    assert adjusted_rand_score(y, labels) > 0.85


def test_records_are_labelled_by_what_they_have(moons):
    model, *_ = moons
    shares = model.predict_proba(np.array([[-1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]]))
    assert shares[:2].max(axis=1).min() > 0.95
    assert shares[0].argmax() != shares[1].argmax()
    assert np.allclose(shares[2], model.predict_proba(np.full((1, 2), np.nan)))


def test_a_model_file_says_it_all(moons, tmp_path):
    model, Z, _ = moons
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(Z), model.predict(Z))
    assert loaded.summary(library="pandas").equals(model.summary(library="pandas"))


def test_sizes_and_missing_values_of_clusters_are_published(moons):
    model, *_ = moons
    frame = model.summary(library="pandas")
    assert frame.groupby("cluster")["share"].first().sum() == pytest.approx(1.0, abs=0.02)
    for _, rows in frame.groupby("column"):
        assert (rows["share"] * rows["missing"]).sum() == pytest.approx(0.05, abs=0.01)


def test_the_plan_has_the_stages_of_few_columns(moons):
    model, *_ = moons
    names = [stage.name for stage in model.base_.plan_.stages]
    assert names == [
        "levels and holes",
        "ranges of the columns",
        "moments of the columns",
        "outskirts",
        "joint histogram",
        "profile",
    ]
    assert {event.step.stage for event in model.privacy_.events} == set(names)


def test_one_column_with_missing_values():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 10_000)
    x = punched((4.0 * y + 0.4 * rng.standard_normal(10_000))[:, None], 0.1, rng)
    model = DPMorse(3, epsilon=1.0, columns={"x": Numeric(-20, 20, missing="ignore")}, random_state=0).fit(x)
    known = ~np.isnan(x[:, 0])
    assert adjusted_rand_score(y[known], model.predict(x)[known]) > 0.97
    assert np.unique(model.predict(x)[~known]).size == 1


def test_a_far_cluster_is_found_beside_missing_values():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20_000, 2))
    X[:600] += 40.0
    columns = {name: Numeric(-100, 100, missing="ignore") for name in "ab"}
    model = DPMorse(2, epsilon=1.0, columns=columns, random_state=0).fit(punched(X, 0.05, rng))
    assert adjusted_rand_score(np.arange(20_000) < 600, model.predict(X)) > 0.95


@pytest.mark.parametrize("n_columns", [2, 3])
def test_values_that_are_missing_by_group_mislead_no_complete_record(n_columns):
    """Half of the last column is missing, in one of two groups only, which differ in all columns."""
    scores = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = make_moons(20_000, random_state=seed)
        X = np.column_stack([X, y + 0.3 * rng.standard_normal(len(X))])[:, :n_columns]
        X[(y == 1) & (rng.random(len(X)) < 0.5), -1] = np.nan
        columns = {f"x{j}": Numeric(-10, 10, missing="ignore") for j in range(n_columns)}
        model = DPMorse(2, epsilon=1.0, columns=columns, random_state=seed).fit(X)
        complete = ~np.isnan(X).any(axis=1)
        scores.append(adjusted_rand_score(y[complete], model.predict(X)[complete]))
    assert np.mean(scores) > 0.9
