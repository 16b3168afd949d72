"""The replay audit of tables with categories, dates and holes: what a neighbour moves is what is paid for.

Neighbours differ in one record, or in a person with many: extreme numbers, every kind of hole, and levels that
nobody else has.
"""

import numpy as np
import pytest

from audits.attacks.tables import MIXED
from dpmorse import DPMorse
from replay_checks import check_paid_for

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise, and Dask's own

CATEGORIES = {name: MIXED[name] for name in ("ward", "smoker")}
NUMBERS = {name: MIXED[name] for name in ("age", "grade")}
MOST = 3


def table_of(n, rng):
    """Records with holes in every column that may have them."""
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 15, n),
            "ward": rng.choice(["north", "south", "east", "attic"], n),
            "smoker": rng.choice([True, False], n).astype(object),
            "income": rng.lognormal(9, 1, n),
            "grade": rng.choice(["low", "mid", "high"], n),
            "joined": pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D"),
        }
    )
    for name in ("age", "ward", "smoker", "income", "joined"):
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame.assign(id=rng.integers(0, 60, n))


def strange_rows(n, rng):
    """Records at the edges of everything, all of one person."""
    frame = pd.DataFrame(
        {
            "age": rng.choice([0.0, 120.0, 1e9], n),
            "ward": rng.choice(["north", "cellar"], n),
            "smoker": rng.choice([True, False], n).astype(object),
            "income": rng.choice([0.0, 1e5], n),
            "grade": rng.choice(["low", "high"], n),
            "joined": pd.to_datetime(rng.choice(["2000-01-01", "2030-01-01"], n)),
        }
    )
    frame.loc[::2, ["age", "income"]] = np.nan
    frame.loc[1::3, ["ward", "smoker"]] = None
    return frame.assign(id=1000)


def neighbours(unit, relation, rng):
    frame = table_of(260, rng)
    if unit == "person":
        return frame, pd.concat([frame, strange_rows(17, rng)], ignore_index=True)
    one = strange_rows(1, rng)
    if relation == "replace-one":
        without = frame.drop(index=frame["age"].first_valid_index())  # the other one has no age
        return frame, pd.concat([without, one], ignore_index=True)
    return frame, pd.concat([frame, one], ignore_index=True)


def in_csv(frame, folder):
    frame.to_csv(folder / "x.csv", index=False)
    return str(folder / "x.csv")


def in_parquet(frame, folder):
    frame.to_parquet(folder / "x.parquet", index=False)
    return str(folder / "x.parquet")


def in_dask(frame, folder):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=3, sort=False)


class Batches:
    """Frames in another order in every pass."""

    def __init__(self, frame):
        self.frame, self.rng = frame, np.random.default_rng(1)

    def __iter__(self):
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))]
        return (frame.iloc[start : start + 70] for start in range(0, len(frame), 70))


STORAGES = {
    "frame": lambda frame, folder: frame,
    "csv": in_csv,
    "parquet": in_parquet,
    "batches": lambda frame, folder: Batches(frame),
    "Dask": in_dask,
}


def fitted_on(frame, columns, unit, relation, storage, folder, rng):
    names = [*columns, *(["id"] if unit == "person" else [])]
    shuffled = frame[names].iloc[rng.permutation(len(frame))].reset_index(drop=True)
    folder.mkdir()
    rows = {"max_rows_per_group": MOST} if unit == "person" else {"neighboring": relation}
    model = DPMorse(2, epsilon=2.0, columns=columns, random_state=0, **rows)
    groups = {"groups": "id"} if unit == "person" else {}
    return model.fit(STORAGES[storage](shuffled, folder), **groups)


def check(monkeypatch, columns, unit, relation, storage, folder):
    rng = np.random.default_rng(5)
    one, other = neighbours(unit, relation, rng)
    arguments = (columns, unit, relation, storage)
    check_paid_for(
        monkeypatch,
        lambda: fitted_on(one, *arguments, folder / "one", rng),
        lambda: fitted_on(other, *arguments, folder / "other", rng),
    )


UNITS = [("row", "add-remove"), ("row", "replace-one"), ("person", "add-remove")]


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("storage", STORAGES)
def test_all_kinds_of_columns(storage, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, MIXED, unit, relation, storage, tmp_path)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS], ids=["categories", "numbers"])
def test_one_kind_alone(columns, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, columns, unit, relation, "frame", tmp_path)
