"""The replay audit: neighbours that are given the same answers ask the same questions and end in the same model.

What is left of a neighbour is then the exact answer to each question, and it may be moved by no more than is paid:
for every way to make a base, relation, unit and storage, where neighbours differ in one record or in a person with
many: extreme numbers, every kind of missing value, and levels that nobody else has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audits.attacks.tables import MIXED
from dpmorse import DPCube, DPLloyd, DPMoG, DPMoGHard, DPMorse, DPTree, MorseClustering
from every_base import OF_NUMBERS, WAYS, Way
from replay_checks import check_paid_for

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise, and Dask's own

MOST = 3
UNITS = [("row", "add-remove"), ("row", "replace-one"), ("person", "add-remove")]


# -- neighbours ----------------------------------------------------------------------------------------


def of_numbers(unit, relation, rng):
    """Numbers that differ in a record, or in all records of a person, far out and many of them equal."""
    X, ids = np.clip(rng.normal(size=(260, 3)) * 0.4, -1, 1), rng.integers(0, 60, size=260)
    if unit == "person":
        rows = np.vstack([np.ones((9, 3)), rng.choice([-1.0, 1.0], size=(8, 3))])
        return (X, ids), (np.vstack([X, rows]), np.append(ids, [1000] * 17))
    if relation == "replace-one":
        other = X.copy()
        other[17] = -np.sign(X[17])
        return (X, ids), (other, ids)
    return (X, ids), (np.vstack([X, np.ones(3)]), np.append(ids, 1000))


def in_the_plane(unit, relation, rng):
    return tuple((X[:, :2], ids) for X, ids in of_numbers(unit, relation, rng))


def in_many_columns(unit, relation, rng):
    """Of three columns a dozen copies, each with another scale."""
    scales = np.linspace(0.5, 1.0, 36)
    return tuple((np.tile(X, 12) * scales, ids) for X, ids in of_numbers(unit, relation, rng))


def framed(way, neighbours):
    """Return neighbours as frames of the table that numbers become for a base."""

    def found(unit, relation, rng):
        return tuple(frame_of(way.table(X)).assign(id=ids) for X, ids in neighbours(unit, relation, rng))

    return found


def frame_of(table):
    """Return a table as a frame, whose first columns are numbers and the last one may be text."""
    named = [f"x{j}" for j in range(table.shape[1])]
    if table.dtype == object:
        named[-1] = "side"
    return pd.DataFrame(table, columns=named).infer_objects()


def table_of(n, rng):
    """Records with missing values in every column that may have them."""
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


def of_mixed(unit, relation, rng):
    frame = table_of(260, rng)
    if unit == "person":
        return frame, pd.concat([frame, strange_rows(17, rng)], ignore_index=True)
    one = strange_rows(1, rng)
    if relation == "replace-one":
        without = frame.drop(index=frame["age"].first_valid_index())  # the other one has no age
        return frame, pd.concat([without, one], ignore_index=True)
    return frame, pd.concat([frame, one], ignore_index=True)


# -- where records are ---------------------------------------------------------------------------------


class Batches:
    """Frames in another order in every pass."""

    def __init__(self, frame):
        self.frame, self.rng = frame, np.random.default_rng(1)

    def __iter__(self):
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))]
        return (frame.iloc[start : start + 70] for start in range(0, len(frame), 70))


def in_parquet(frame, folder):
    frame.to_parquet(folder / "x.parquet", index=False)
    return str(folder / "x.parquet")


def in_csv(frame, folder):
    frame.to_csv(folder / "x.csv", index=False)
    return str(folder / "x.csv")


def in_dask(frame, folder):
    dd = pytest.importorskip("dask.dataframe")
    found = dd.from_pandas(frame, npartitions=3, sort=False)
    return found.shuffle("id") if "id" in frame else found


def in_tensor(frame, folder):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(frame.to_numpy())


STORAGES = {
    "frame": lambda frame, folder: frame,
    "parquet": in_parquet,
    "csv": in_csv,
    "batches": lambda frame, folder: Batches(frame),
    "Dask": in_dask,
}

WITHOUT_NAMES = {"array": lambda frame, folder: frame.to_numpy(), "tensor": in_tensor}
"""Where ids are held apart from records."""


def stored(frame, unit, storage, folder, rng):
    """Return the records, in another order, where they are kept, and their ids if persons are protected."""
    shuffled = frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)
    folder.mkdir()
    if storage in WITHOUT_NAMES:
        X = WITHOUT_NAMES[storage](shuffled.drop(columns="id"), folder)
        return X, type_of_ids(X, shuffled["id"].to_numpy()) if unit == "person" else None
    if unit == "person":
        return STORAGES[storage](shuffled, folder), "id"
    return STORAGES[storage](shuffled.drop(columns="id"), folder), None


def type_of_ids(X, ids):
    """Return ids in what holds the records."""
    if isinstance(X, np.ndarray):
        return ids
    import torch

    return torch.from_numpy(ids)


# -- what is fitted ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An estimator, and frames of neighbours that go with it."""

    make: Callable[..., Any]
    neighbours: Callable[..., Any]
    of_numbers: bool = True
    """Whether its table is one of numbers, which arrays and tensors hold."""


def of_way(way, neighbours=of_numbers, n_features=3, **options):
    few = {"n_iter": 3} if way.kind in {DPMoGHard, DPMoG} else {}
    numeric = way.table(np.zeros((1, 3))).dtype != object

    def make(**rest):
        return way.make(3, n_features=n_features, epsilon=2.0, random_state=0, **{**few, **options, **rest})

    return Case(make, framed(way, neighbours), numeric)


def on_top(**options):
    return MorseClustering(DPMoGHard(4, n_iter=2, epsilon=2.0, bounds=(-1, 1), random_state=0, **options), 2)


def of_columns(*names):
    """Return the case of some columns of a table of all kinds."""
    columns = {name: MIXED[name] for name in names}

    def make(**options):
        return DPMorse(2, epsilon=2.0, columns=columns, random_state=0, **options)

    def found(unit, relation, rng):
        return tuple(frame[[*names, "id"]] for frame in of_mixed(unit, relation, rng))

    return Case(make, found, of_numbers=False)


CASES = {
    **{name: of_way(way) for name, way in WAYS.items()},
    "DPMorse": of_way(Way(DPMorse)),
    "MorseClustering": Case(on_top, framed(Way(DPMorse), of_numbers)),
    "joint histogram": of_way(Way(DPMorse), in_the_plane, 2),
    "missing numbers in the plane": of_way(WAYS["missing numbers"], in_the_plane, 2),
    "one number": of_columns("age"),
    "directions": of_way(Way(DPMorse), in_many_columns, 36),
    "all kinds of columns": of_columns(*MIXED),
    "categories alone": of_columns("ward", "smoker"),
    "age and grade": of_columns("age", "grade"),
}

LIGHT = {("all kinds of columns", storage) for storage in STORAGES} | {
    (name, "frame") for name in CASES if name != "directions"
}
"""What is not marked long: every case in one storage, and every storage for one case."""

STORED = [
    pytest.param(
        case, storage, id=f"{name}-{storage}", marks=[] if (name, storage) in LIGHT else pytest.mark.long
    )
    for name, case in CASES.items()
    for storage in ({**STORAGES, **WITHOUT_NAMES} if case.of_numbers else STORAGES)
]


def check(monkeypatch, case, unit, relation, storage, folder, **options):
    """Compare two fits that are given the same answers; with the same records, sums are of the same bits."""
    rng, rows = np.random.default_rng(5), {"neighboring": relation}
    if unit == "person":
        rows = {"max_rows_per_group": MOST}
    one, other = (
        stored(frame, unit, storage, folder / str(i), rng)
        for i, frame in enumerate(case.neighbours(unit, relation, rng))
    )
    fits = [
        lambda X=X, groups=groups: case.make(**rows, **options).fit(X, groups=groups)
        for X, groups in (one, other)
    ]
    check_paid_for(monkeypatch, *fits)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize(("case", "storage"), STORED)
def test_every_estimator_in_every_storage(case, storage, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, case, unit, relation, storage, tmp_path)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree])
@pytest.mark.parametrize("storage", ["array", "batches"])
def test_pure_promises(storage, kind, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, CASES[kind.__name__], unit, relation, storage, tmp_path, delta=0)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("storage", ["array", "parquet"])
def test_private_bounds(storage, name, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, CASES[name], unit, relation, storage, tmp_path, bounds="private")


def test_a_cap_that_is_bypassed_is_noticed(monkeypatch, tmp_path):
    """The audit can fail: without the choice of rows, a person with many moves more than is paid for."""
    from dpmorse.records.persons.row_choice import Chosen

    monkeypatch.setattr(Chosen, "_used", lambda self, batch, hashes: np.ones(len(batch), dtype=bool))
    with pytest.raises(AssertionError, match=r"assert .* <= "):
        check(monkeypatch, CASES["DPMoGHard"], "person", "add-remove", "batches", tmp_path)
