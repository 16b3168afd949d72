"""The replay audit: neighbours that are given the same answers ask the same questions and end in the same model.

What is left of a neighbour is then the exact answer to each question, and it may be moved by no more than is paid:
for every estimator, relation, unit and storage, where neighbours differ in one record or in a person with many.
"""

import numpy as np
import pytest

from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    MorseClustering,
    PrivateGaussianMixture,
)
from replay_checks import check_paid_for
from toy_base import GridKMeans

pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise, and Dask's own

BASES = (DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, PrivateGaussianMixture, GridKMeans)
NAMES = ["a", "b", "c"]
MOST = 3


def frame_of(X, ids):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=NAMES).assign(id=ids)


class Batches:
    """Frames in another order in every pass."""

    def __init__(self, frame, rng):
        self.frame, self.rng = frame, rng

    def __iter__(self):
        frame = self.frame.iloc[self.rng.permutation(len(self.frame))]
        return (frame.iloc[start : start + 70] for start in range(0, len(frame), 70))


def in_parquet(X, ids, folder, rng):
    frame_of(X, ids).to_parquet(folder / "x.parquet", index=False)
    return str(folder / "x.parquet"), "id"


def in_csv(X, ids, folder, rng):
    frame_of(X, ids).to_csv(folder / "x.csv", index=False)
    return str(folder / "x.csv"), "id"


def in_dask(X, ids, folder, rng):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame_of(X, ids), npartitions=3, sort=False).shuffle("id"), "id"


def in_tensor(X, ids, folder, rng):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(X), torch.from_numpy(ids)


STORAGES = {
    "array": lambda X, ids, folder, rng: (X, ids),
    "frame": lambda X, ids, folder, rng: (frame_of(X, ids), "id"),
    "parquet": in_parquet,
    "csv": in_csv,
    "batches": lambda X, ids, folder, rng: (Batches(frame_of(X, ids), rng), "id"),
    "Dask": in_dask,
    "tensor": in_tensor,
}


def stored(storage, X, ids, folder, rng):
    """The records, in another order, where they are kept; and their ids."""
    order = rng.permutation(len(X))
    folder.mkdir()
    return STORAGES[storage](X[order], ids[order], folder, rng)


def without_ids(X, groups):
    """What is fitted where nobody owns several rows."""
    if not isinstance(groups, str):
        return X
    if isinstance(X, str):
        from dpmorse import DataFiles

        return DataFiles(X, columns=NAMES)
    if isinstance(X, Batches):
        return Batches(X.frame[NAMES], X.rng)
    return X[NAMES]


def fit(model, unit, records):
    X, groups = records
    return model.fit(X, groups=groups) if unit == "person" else model.fit(without_ids(X, groups))


def neighbours(unit, relation, rng):
    """A dataset and one that differs in a record, or in all of a person's, far out and many of them equal."""
    X, ids = np.clip(rng.normal(size=(260, 3)) * 0.4, -1, 1), rng.integers(0, 60, size=260)
    if unit == "person":
        rows = np.vstack([np.ones((9, 3)), rng.choice([-1.0, 1.0], size=(8, 3))])
        return (X, ids), (np.vstack([X, rows]), np.append(ids, [1000] * 17))
    if relation == "replace-one":
        other = X.copy()
        other[17] = -np.sign(X[17])
        return (X, ids), (other, ids)
    return (X, ids), (np.vstack([X, np.ones(3)]), np.append(ids, 1000))


def check(monkeypatch, model, unit, relation, storage, folder):
    """Compare two fits that are given the same answers; with the same records, sums are of the same bits."""
    rng = np.random.default_rng(5)
    one, other = (
        stored(storage, X, ids, folder / str(i), rng)
        for i, (X, ids) in enumerate(neighbours(unit, relation, rng))
    )
    check_paid_for(monkeypatch, lambda: model().fit_on(one), lambda: model().fit_on(other))


class Fit:
    """An estimator, and how it is fitted on what is stored."""

    def __init__(self, kind, unit, relation, **options):
        rows = {"max_rows_per_group": MOST} if unit == "person" else {"neighboring": relation}
        few = {"n_iter": 3} if kind in {DPMoGHard, DPMoG} else {}
        parameters = {"epsilon": 2.0, "bounds": (-1, 1), "random_state": 0, **rows, **few, **options}
        self.unit = unit
        if kind is MorseClustering:
            self.estimator = MorseClustering(DPMoGHard(4, n_iter=2, **parameters), 2)
        else:
            self.estimator = kind(3, **parameters)

    def fit_on(self, records):
        return fit(self.estimator, self.unit, records)


UNITS = [("row", "add-remove"), ("row", "replace-one"), ("person", "add-remove")]


@pytest.mark.long
@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("kind", [*BASES, DPMorse, MorseClustering])
@pytest.mark.parametrize("storage", STORAGES)
def test_every_estimator_in_every_storage(storage, kind, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, lambda: Fit(kind, unit, relation), unit, relation, storage, tmp_path)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree])
@pytest.mark.parametrize("storage", ["array", "batches"])
def test_pure_promises(storage, kind, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, lambda: Fit(kind, unit, relation, delta=0), unit, relation, storage, tmp_path)


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("storage", ["array", "parquet"])
def test_private_bounds(storage, kind, unit, relation, monkeypatch, tmp_path):
    check(monkeypatch, lambda: Fit(kind, unit, relation, bounds="private"), unit, relation, storage, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("storage", STORAGES)
def test_the_joint_histogram_of_two_columns(storage, unit, relation, monkeypatch, tmp_path):
    monkeypatch.setattr(f"{__name__}.NAMES", NAMES[:2])
    original = neighbours

    def in_the_plane(*arguments):
        return tuple((X[:, :2], ids) for X, ids in original(*arguments))

    monkeypatch.setattr(f"{__name__}.neighbours", in_the_plane)
    check(monkeypatch, lambda: Fit(DPMorse, unit, relation), unit, relation, storage, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("storage", STORAGES)
def test_the_directions_of_many_columns(storage, unit, relation, monkeypatch, tmp_path):
    columns = 12 * NAMES  # of three columns a dozen copies, each with another scale
    scales = np.linspace(0.5, 1.0, len(columns))
    monkeypatch.setattr(f"{__name__}.NAMES", [f"{name}{i}" for i, name in enumerate(columns)])
    original = neighbours

    def in_many_columns(*arguments):
        return tuple((np.tile(X, 12) * scales, ids) for X, ids in original(*arguments))

    monkeypatch.setattr(f"{__name__}.neighbours", in_many_columns)
    check(monkeypatch, lambda: Fit(DPMorse, unit, relation), unit, relation, storage, tmp_path)


def test_a_cap_that_is_bypassed_is_noticed(monkeypatch, tmp_path):
    """The audit can fail: without the choice of rows, a person with many moves more than is paid for."""
    from dpmorse.records.persons.row_choice import Chosen

    monkeypatch.setattr(Chosen, "_used", lambda self, batch, hashes: np.ones(len(batch), dtype=bool))
    with pytest.raises(AssertionError, match=r"assert .* <= "):
        check(
            monkeypatch,
            lambda: Fit(DPMoGHard, "person", "add-remove"),
            "person",
            "add-remove",
            "batches",
            tmp_path,
        )
