"""Dask collections as people prepare them: Parquet, then dropna, filters, casts, shuffles. Dask may join partitions."""

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dpmorse import DPMoGHard, Nominal, Numeric, PrivateGaussianMixture  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, which differ by version

N = 400
NUMBERS = ["x", "y"]


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Eight files of Parquet with more columns than are used, as Dask writes them."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "y": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
            "ward": rng.choice(["a", "b", "c"], N),
            "day": rng.integers(0, 5, N),
            "person": rng.integers(0, 90, N),
            "note": "text that makes the other columns a small part of a file",
        }
    )
    folder = tmp_path_factory.mktemp("visits")
    dd.from_pandas(frame, npartitions=8).to_parquet(folder)
    return folder


PREPARED = {
    "dropna": lambda frame: frame.dropna(),
    "filter": lambda frame: frame[frame["day"] > 1].fillna(0.0),
    "astype": lambda frame: frame.fillna(0.0).astype({"x": "float32", "y": "float32"}),
    "fewer": lambda frame: frame.dropna().repartition(npartitions=3),
    "more": lambda frame: frame.dropna().repartition(npartitions=13),
    "persist": lambda frame: frame.dropna().persist(),
}


def model(**options):
    return DPMoGHard(3, epsilon=1.0, bounds=(-2, 2), n_iter=1, random_state=0, **options)


@pytest.fixture(params=PREPARED)
def prepared(request, visits):
    return PREPARED[request.param](dd.read_parquet(visits))


def test_frames_and_arrays(prepared):
    lazy = prepared[NUMBERS]
    rows = lazy.compute()
    expected = model().fit(rows)
    fitted = model().fit(lazy)
    assert fitted.mixture_ == expected.mixture_
    assert np.array_equal(fitted.predict(lazy).compute(), expected.predict(rows))
    assert fitted.predict_proba(lazy).compute() == pytest.approx(expected.predict_proba(rows))
    array = lazy.to_dask_array()
    fitted = model().fit(array)
    assert fitted.mixture_ == expected.mixture_
    assert np.array_equal(fitted.predict(array).compute(), expected.predict(rows))


def test_persons_in_a_column_and_beside(prepared):
    lazy, limit = prepared[[*NUMBERS, "person"]], {"max_rows_per_group": 2}
    rows = lazy.compute()
    expected = model(**limit).fit(rows, groups="person")
    assert model(**limit).fit(lazy, groups="person").mixture_ == expected.mixture_
    beside = model(**limit).fit(lazy[NUMBERS], groups=lazy["person"])
    assert beside.mixture_ == expected.mixture_
    assert np.array_equal(beside.predict(lazy[NUMBERS]).compute(), expected.predict(rows[NUMBERS]))


@pytest.mark.parametrize("name", ["filter", "fewer"])
def test_tables(visits, name):
    lazy = PREPARED[name](dd.read_parquet(visits))[["x", "ward", "y"]]
    rows = lazy.compute()
    columns = {
        "x": Numeric(-2, 2),
        "ward": Nominal(["a", "b", "c"]),
        "y": Numeric(-2, 2, missing="ignore"),
    }
    of_memory, of_dask = (
        PrivateGaussianMixture(2, epsilon=1.0, columns=columns, random_state=0).fit(X) for X in (rows, lazy)
    )
    assert of_dask.mixture_ == of_memory.mixture_
    assert np.array_equal(of_dask.predict(lazy).compute(), of_memory.predict(rows))


@pytest.mark.parametrize(
    "moved",
    [lambda frame: frame.shuffle("day"), lambda frame: frame.set_index("person")],
    ids=["shuffle", "sort"],
)
def test_rows_after_a_shuffle_may_come_in_another_order(visits, moved):
    """The model is the same; labels go with rows that stay as they are."""
    lazy = moved(dd.read_parquet(visits).dropna())[NUMBERS]
    rows = lazy.compute()
    fitted = model().fit(lazy)
    assert fitted.mixture_ == model().fit(rows).mixture_
    assert np.array_equal(np.sort(fitted.predict(lazy).compute()), np.sort(fitted.predict(rows)))
    kept = lazy.persist()
    beside = kept.assign(label=fitted.predict(kept)).compute()
    assert np.array_equal(beside["label"], fitted.predict(beside[NUMBERS]))


def test_an_array_that_lost_rows(visits):
    array = dd.read_parquet(visits)[NUMBERS].dropna().to_dask_array()
    array = array[array[:, 0] > 0]
    rows = array.compute()
    fitted = model().fit(array)
    assert fitted.mixture_ == model().fit(rows).mixture_
    assert np.array_equal(fitted.predict(array).compute(), fitted.predict(rows))
