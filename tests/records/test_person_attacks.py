"""Ordinary ways in which a cap on rows was bypassed once: each is refused now, or the cap holds.

The promise is made at epsilon = 10, so that noise does not hide what gets through: 2,000 persons have one row at
-1, and one has 20,000 rows at +1 of which one may be used. If it is one, the released mean stays at -1, and the exact
count of the records behind it, which a test may look at, is 2,001.
"""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.base import BaseEstimator

from dpmorse import (
    Budget,
    DPMoGHard,
    DPMorse,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    MorseClustering,
)
from dpmorse.privacy import Neighboring

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N_OTHERS, N_HERS = 2000, 20_000
HERS = 40_000_000_001  # an id with 11 digits


@pytest.fixture
def visits(rng):
    """One row of each person at -1, and many of one at +1, in a random order."""
    ids = np.append(np.arange(1, N_OTHERS + 1) + 50_000_000_000, [HERS] * N_HERS)
    frame = pd.DataFrame({"x": np.append(-np.ones(N_OTHERS), np.ones(N_HERS)), "g": ids})
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


def fitted(X, groups, most=1, **options):
    model = DPMoGHard(1, epsilon=10.0, bounds=(-1, 1), n_iter=2, max_rows_per_group=most, **options)
    return model.fit(X, groups=groups)


@pytest.fixture
def assert_cap_holds(counts):
    """The mean of 2,000 rows at -1 and one at +1 is -.999; noise moves it by some thousandths."""

    def check(X, groups):
        mean = fitted(X, groups).mixture_.means[0, 0]
        assert mean < -0.97, "many rows of a person were used"
        assert counts == [N_OTHERS + 1] * 2, "more than one row of a person was used"
        counts.clear()

    return check


class Reordering:
    """Batches in another order in every pass."""

    def __init__(self, frame, columns):
        self.frame, self.columns = frame, columns
        self.rng = np.random.default_rng(3)

    def __iter__(self):
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))][self.columns]
        return (frame.iloc[start : start + 3000] for start in range(0, len(frame), 3000))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("groups", ["column", "series"])
def test_dask_shuffles_into_another_order_each_time(visits, groups, assert_cap_holds):
    shuffled = dd.from_pandas(visits, npartitions=5).shuffle("g")
    if groups == "column":
        assert_cap_holds(shuffled, "g")
    else:
        assert_cap_holds(shuffled[["x"]], shuffled["g"])


@pytest.mark.filterwarnings("ignore")
def test_ids_that_were_computed_before_do_not_fit_a_lazy_collection(visits):
    shuffled = dd.from_pandas(visits, npartitions=5).shuffle("g")
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 1))
    with pytest.raises(InvalidTypeError, match="whose record a row is must come with it"):
        fitted(shuffled[["x"]], shuffled["g"].compute().to_numpy(), ledger=ledger)
    with pytest.raises(InvalidParameterError, match="X changed between two passes"):
        fitted(another_order_each_time(visits[["x"]].to_numpy()), visits["g"].to_numpy(), ledger=ledger)
    assert ledger.events == ()


def another_order_each_time(rows):
    """An array of Dask whose rows come in another order in every pass, as those of a shuffle may."""
    passes = itertools.count()

    def shuffle():
        return rows[np.random.default_rng(next(passes)).permutation(len(rows))]

    return da.from_delayed(dask.delayed(shuffle)(), rows.shape, rows.dtype)


def test_a_re_iterable_in_another_order_each_time(visits, assert_cap_holds):
    assert_cap_holds(Reordering(visits, ["x", "g"]), "g")
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 1))
    with pytest.raises(InvalidParameterError, match="X changed between two passes"):
        fitted(Reordering(visits, ["x"]), visits["g"].to_numpy(), ledger=ledger)
    assert ledger.events == ()


def test_one_id_as_a_number_and_as_text(visits, assert_cap_holds):
    """What pandas.read_csv makes of a column in which some chunk has a letter."""
    half = np.arange(len(visits)) % 2 == 0
    mixed = visits["g"].astype(object).where(half, visits["g"].astype(str))
    assert_cap_holds(visits[["x"]], mixed)
    assert_cap_holds(visits[["x"]].to_numpy(), mixed.to_numpy())


@pytest.mark.parametrize("other", [pa.float64(), pa.string(), pa.decimal128(20, 0), pa.uint64()], ids=str)
def test_one_id_in_columns_of_two_types(visits, other, tmp_path, assert_cap_holds):
    """pandas makes doubles of a file in which one id is missing; 4e+10 is no other person than 40000000000."""
    table = pa.Table.from_pandas(visits, preserve_index=False)
    half = len(table) // 2
    pa.parquet.write_table(table.slice(0, half), tmp_path / "a.parquet")
    second = table.slice(half)
    second = second.set_column(1, "g", second["g"].cast(other))
    pa.parquet.write_table(second, tmp_path / "b.parquet")
    assert_cap_holds(str(tmp_path), "g")


def test_leading_zeros_in_one_of_two_files(tmp_path):
    """7 and "007" may be one person: nothing is released, and the message names the column and both types."""
    pa.parquet.write_table(pa.table({"x": [0.1, 0.2], "g": [7, 8]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"x": [0.3], "g": ["007"]}), tmp_path / "b.parquet")
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 1, "g"))
    with pytest.raises(
        InvalidParameterError, match=r"the column 'g' writes one number in two ways \(int64 and text;"
    ):
        fitted(str(tmp_path), "g", ledger=ledger)
    assert ledger.events == ()
    (tmp_path / "c.csv").write_text("x,g\n.1,7\n.2,7.0\n")
    with pytest.raises(InvalidParameterError, match="writes one number in two ways"):
        fitted(str(tmp_path / "c.csv"), "g")


def test_rows_and_ids_with_other_indices(visits, assert_cap_holds):
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 1))
    with pytest.raises(InvalidParameterError, match="X and groups must have the same index"):
        fitted(visits[["x"]].sort_values("x"), visits["g"], ledger=ledger)
    assert ledger.events == ()
    ordered = visits.sort_values("x")
    assert_cap_holds(ordered[["x"]], ordered["g"])


def test_huge_unsigned_and_negative_ids_are_not_merged(counts):
    """As doubles, the first two would be one person, whose rows depend on one another."""
    fitted([[0.1], [0.2], [0.3]], [2**64 - 1, 2**64 - 2, -5])
    assert counts == [3, 3]


@pytest.mark.parametrize("change", ["values", "owners", "number"])
def test_records_that_change_between_passes_are_refused(change):
    """Nothing is released from a pass over other records than those of the first."""

    class Changing:
        passes = 0

        def __iter__(self):
            self.passes += 1
            x, g = np.linspace(-1, 1, 300), np.arange(300) // 3
            if self.passes > 3 and change == "values":
                x[7] += 1e-9
            if self.passes > 3 and change == "owners":
                g[[0, 299]] = g[[299, 0]]
            n = 299 if self.passes > 3 and change == "number" else 300
            yield pd.DataFrame({"x": x[:n], "g": g[:n]})

    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 2, "g"))
    with pytest.raises(InvalidParameterError, match="X changed between two passes"):
        fitted(Changing(), "g", most=2, ledger=ledger)
    assert len(ledger.events) == 1, "the round before; none for the pass that differs"


def test_a_frame_is_labelled_without_its_column_of_ids(visits):
    model = DPMorse(2, epsilon=10.0, bounds=(-1, 1), max_rows_per_group=1, random_state=0)
    labels = model.fit_predict(visits, groups="g")
    assert model.feature_names_in_.tolist() == ["x"]
    assert np.array_equal(labels, model.predict(visits[["x"]]))
    with pytest.raises(InvalidParameterError, match="groups must name a column of X, got 'h'"):
        model.fit(visits, groups="h")


def test_the_unit_is_named_after_the_column(visits):
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 5, "g"))
    for groups in ("g", visits["g"]):
        X = visits if isinstance(groups, str) else visits[["x"]]
        assert fitted(X, groups, ledger=ledger).privacy_.budget.unit == "g"
    with pytest.raises(InvalidParameterError, match="unit"):
        fitted(visits[["x"]], visits["g"].to_numpy(), ledger=ledger)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [1, 3, 5])
@pytest.mark.parametrize("persons", [False, True])
def test_partitions_that_are_not_what_they_say(width, persons, rng):
    """Compiled passes rely on the number of columns: what is beside a record in memory is nobody's to read."""
    da, delayed = pytest.importorskip("dask.array"), pytest.importorskip("dask").delayed
    blocks = [delayed(rng.uniform(-1, 1, size=(50, w))) for w in (2, width)]
    X = da.concatenate([da.from_delayed(block, (50, 2), dtype=float) for block in blocks])
    ledger = Ledger(Budget(99.0, 1e-6, *((Neighboring.ADD_REMOVE_GROUP, 1) if persons else ())))
    limit = {"max_rows_per_group": 1} if persons else {}
    model = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), ledger=ledger, **limit)
    with pytest.raises(InvalidParameterError, match="X has partitions with other columns than it says"):
        model.fit(X, groups=list(range(100)) if persons else None)
    assert ledger.events == ()


@pytest.mark.filterwarnings("ignore")
def test_a_column_may_have_any_name(visits, assert_cap_holds):
    frame = dd.from_pandas(visits.rename(columns={"x": "owner"}), npartitions=3)
    assert_cap_holds(frame[["owner"]], frame["g"])


def test_batches_and_ids_with_other_indices(visits):
    batches = Reordering(visits, ["x"])
    with pytest.raises(InvalidParameterError, match="X and groups must have the same index"):
        fitted(batches, visits["g"])


def test_groups_without_a_name_are_refused_on_a_shared_ledger(visits):
    """Persons, and then groups of ten of them: one ledger cannot know, and paid for both once."""
    ledger = Ledger(Budget(99.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 1))
    ids = visits["g"].to_numpy()
    fitted(visits[["x"]], ids, ledger=ledger)
    paid = ledger.events
    with pytest.raises(InvalidParameterError, match="groups must have a name on a ledger that several fits"):
        fitted(visits[["x"]], ids // 10, ledger=ledger)
    assert ledger.events == paid


@pytest.mark.parametrize("assign", ["component", "basin"])
def test_a_base_of_another_library_labels_a_frame_without_its_column_of_ids(visits, assign):
    class Foreign(BaseEstimator):
        def fit(self, X, y=None, groups=None):
            inner = fitted(X, groups, random_state=0)
            self.mixture_, self.privacy_ = inner.mixture_, inner.privacy_
            self.n_features_in_, self.feature_names_in_ = 1, inner.feature_names_in_
            return self

        def predict(self, X):
            assert list(X.columns) == ["x"]
            return np.zeros(len(X), dtype=int)

    labels = MorseClustering(Foreign(), 1, assign=assign).fit_predict(visits, groups="g")
    assert labels.shape == (len(visits),)
