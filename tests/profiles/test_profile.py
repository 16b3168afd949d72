"""Released counts: the best estimates of sizes and entries, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from counted_profiles import counted, labelled, with_noise
from dpmorse import InvalidParameterError, InvalidTypeError


@pytest.fixture
def profile(rng):
    X, codes, holes, components = labelled(rng)
    return with_noise(counted(X, components, codes=codes, holes=holes), rng)


def test_sizes_and_entries_are_the_least_squares_estimates(profile):
    """All entries of a column, and the size, are measurements of one size."""
    for k in range(profile.n_components):
        used = np.flatnonzero(profile.used[k])
        # Unknown: the size, and all entries but one of each column.
        columns = [
            [e for e in range(c.part.start, c.part.stop) if profile.used[k, e]] for c in profile.columns
        ]
        free = [e for own in columns for e in own[1:]]
        matrix, rhs = [], []
        for own in columns:
            for e in own:
                row = np.zeros(1 + len(free))
                if e == own[0]:
                    row[0] = 1.0
                    row[[1 + free.index(other) for other in own[1:]]] = -1.0
                else:
                    row[1 + free.index(e)] = 1.0
                matrix.append(row / profile.entry_stddev)
                rhs.append(profile.entries[k, e] / profile.entry_stddev)
        matrix.append(np.eye(1 + len(free))[0] / profile.size_stddev)
        rhs.append(profile.sizes[k] / profile.size_stddev)
        solved, *_ = np.linalg.lstsq(np.array(matrix), np.array(rhs), rcond=None)
        assert profile.counts[k] == pytest.approx(solved[0], rel=1e-8)
        assert profile.unbiased[k, free] == pytest.approx(solved[1:], rel=1e-6, abs=1e-6)
        variance = np.linalg.inv(np.array(matrix).T @ np.array(matrix))[0, 0]
        assert profile.count_stddev[k] ** 2 == pytest.approx(variance, rel=1e-8)
        assert not profile.unbiased[k, np.setdiff1d(np.arange(profile.entries.shape[1]), used)].any()


def test_estimates_add_up_in_every_column(profile):
    for column in profile.columns:
        assert profile.unbiased[:, column.part].sum(axis=1) == pytest.approx(profile.counts, rel=1e-9)


def test_noise_of_counts_is_as_stated(rng):
    X, codes, holes, components = labelled(rng, n=2000)
    exact = counted(X, components, codes=codes, holes=holes)
    errors = np.array([with_noise(exact, rng).counts - exact.sizes for _ in range(400)])
    stated = with_noise(exact, rng).count_stddev
    assert errors.std(axis=0) == pytest.approx(stated, rel=0.15)
    assert np.all(np.abs(errors.mean(axis=0)) < 4 * stated / 20)


def test_bins_that_others_end_at_hold_nothing(rng):
    """Whole numbers of few values have fewer bins than there is room for."""
    X = rng.integers(0, 4, size=(3000, 1)).astype(float)
    profile = counted(X, np.arange(3000) % 2, bounds=(0.0, 3.0), whole=True)
    assert profile.edges[0, 0, :3].tolist() == [0.5, 1.5, 2.5]
    assert profile.n_used.tolist() == [[4], [4]]
    assert profile.unbiased[:, :4].sum(axis=0) == pytest.approx(np.bincount(X[:, 0].astype(int)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": np.zeros(2)}, "sizes must be finite and have the shape"),
        ({"entries": np.zeros((6, 3))}, "entries must be finite and have the shape"),
        ({"size_stddev": 0.0}, "profile.size_stddev must be a finite number > 0"),
        ({"entry_stddev": np.nan}, "profile.entry_stddev must be"),
        ({"outside_stddev": -1.0}, "profile.outside_stddev must be"),
        ({"whole": np.full(3, 0.5)}, "whole must be 0 or 1"),
        ({"lower": np.full(3, 60.0)}, "lower must be at most upper"),
        ({"upper": np.full(3, 0.0)}, "edges and curves must lie inside the bounds"),
        ({"may_miss": (4, 1)}, "must be finite and have the shape|ascending order"),
        ({"n_levels": (3, 0)}, "must be finite and have the shape|positive"),
        ({"n_records": 0.0}, "n_records must be positive"),
    ],
)
def test_parts_that_do_not_fit_are_refused(profile, changes, message):
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message):
        replace(profile, **changes)


@pytest.mark.parametrize("name", ["edges", "curves"])
def test_points_must_ascend(profile, name):
    with pytest.raises(InvalidParameterError, match="ascend"):
        replace(profile, **{name: getattr(profile, name)[:, :, ::-1]})


def test_parts_of_records_are_no_more_than_all(profile):
    with pytest.raises(InvalidParameterError, match="expected must be parts"):
        replace(profile, expected=profile.expected + 1.0)


def test_its_text_shows_no_count(profile):
    assert repr(profile).startswith("Profile(6 components, 5 columns, noise of a size ")
