"""Which rows of a person are used: decided by that person's rows alone, in any order, chunks, and partitions."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmorse import InvalidParameterError
from dpmorse.records.persons import row_choice
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch
from dpmorse.records.persons.row_choice import choose_among, used_rows

ROWS = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, "a", "b", 2**64 - 1]), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=40,
)


def batch(rows):
    array = np.array([row[1:] for row in rows], dtype=float).reshape(-1, 2)
    return Batch(array, owners_of([row[0] for row in rows]))


def used_of(rows, most):
    """The rows that are used, each with its owner, found one person at a time."""
    used = Counter()
    for owner in {row[0] for row in rows}:
        of_owner = [row for row in rows if row[0] == owner]
        used.update((owner, *values) for values in map(tuple, used_rows(batch(of_owner), most, "groups")))
    return used


def values_of(used):
    values = Counter()
    for (_, *row), copies in used.items():
        values[tuple(row)] += copies
    return values


@given(ROWS, st.integers(1, 6))
def test_as_many_rows_of_each_person_are_used_as_the_cap_allows(rows, most):
    there, used = Counter(rows), used_of(rows, most)
    assert not used - there
    for owner, n in Counter(row[0] for row in rows).items():
        assert sum(copies for row, copies in used.items() if row[0] == owner) == min(n, most)


@given(ROWS, st.integers(1, 6))
def test_no_person_changes_which_rows_of_another_are_used(rows, most):
    """All persons together use what each would use alone."""
    together = Counter(map(tuple, used_rows(batch(rows), most, "groups")))
    assert together == values_of(used_of(rows, most))


@given(ROWS, st.integers(1, 6), st.randoms(use_true_random=False))
def test_order_and_chunks_do_not_matter(rows, most, random):
    expected = Counter(map(tuple, used_rows(batch(rows), most, "groups")))
    shuffled = random.sample(rows, len(rows))
    cuts = sorted(random.choices(range(len(rows) + 1), k=3))
    parts = [batch(shuffled[a:b]) for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True) if a < b]
    chosen = choose_among(lambda: parts, most, "groups")
    found = [*(chosen.rows_of(part).value for part in random.sample(parts, len(parts))), *chosen.others()]
    assert Counter(map(tuple, np.concatenate(found))) == expected
    assert chosen.n_used == sum(expected.values())


@given(ROWS, st.integers(1, 6))
def test_copies_of_one_row_are_handed_out_few_at_a_time(rows, most):
    with pytest.MonkeyPatch.context() as patch:
        expected = used_rows(batch(rows), most, "groups")
        patch.setattr(row_choice, "_COPIES_AT_A_TIME", 2)
        found = used_rows(batch(rows), most, "groups")
    assert np.array_equal(found, expected)


def test_rows_are_chosen_without_regard_to_their_values(rng):
    """Which of a person's rows are used is a draw by lot: on average those used look like all."""
    X, groups = rng.normal(size=(60_000, 1)), rng.integers(0, 3000, size=60_000)
    used = used_rows(Batch(X, owners_of(groups)), 5, "groups")
    assert len(used) == 15_000
    assert abs(used.mean()) < 4 / np.sqrt(15_000)
    assert abs(used.std() - 1) < 4 / np.sqrt(30_000)
    few = rng.integers(0, 4, size=(60_000, 1)).astype(
        float
    )  # many equal rows: no value is preferred in all persons
    shares = [np.mean(used_rows(Batch(few, owners_of(groups)), 5, "groups") == v) for v in range(4)]
    assert shares == pytest.approx([0.25] * 4, abs=0.02)


def test_zeros_of_both_signs_and_both_precisions_are_one_number():
    owners = owners_of([1, 1])
    hashes = [Batch(np.array(rows, dtype=kind), owners).hashes() for rows, kind in [([[0.0, 1.5]] * 2, "f8"), ([[-0.0, 1.5]] * 2, "f8"), ([[0.0, 1.5]] * 2, "f4")]]  # fmt: skip
    assert len(set(np.concatenate(hashes).tolist())) == 1


@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2]]
)
def test_hashes_do_not_depend_on_the_layout(layout, rng):
    X = rng.normal(size=(70_000, 3))
    assert np.array_equal(Batch(layout(X)).hashes(), Batch(X.copy()).hashes())


def test_hashes_tell_rows_apart(rng):
    """All rows of a fine grid, and those of small integers, in three columns."""
    grid = np.stack(np.meshgrid(*[np.arange(-25.0, 25.0)] * 3), axis=-1).reshape(-1, 3)
    for rows in (grid, grid / 64, grid * 2.0**40, rng.normal(size=(100_000, 3))):
        assert len(np.unique(Batch(rows).hashes())) == len(np.unique(rows, axis=0))


def test_more_owners_than_rows_are_refused():
    with pytest.raises(InvalidParameterError, match="the lengths differ"):
        Batch(np.zeros((2, 1)), owners_of([1, 2, 3]))


def test_two_ids_with_one_hash_are_refused(monkeypatch):
    owners = owners_of(["a", "b"])
    owners.ids.__dict__["hashes"] = np.zeros(2, dtype=np.uint64)
    with pytest.raises(InvalidParameterError, match="the same 64-bit hash"):
        used_rows(Batch(np.zeros((2, 1)), owners), 1, "groups")
