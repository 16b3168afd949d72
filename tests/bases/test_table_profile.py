"""Numbers about clusters of tables with categories and missing values: right, paid for, and the same from a file."""

import json

import numpy as np
import pandas as pd
import pytest

import dpmorse.bases.staged.product_profile as stage
from dpmorse import (
    Boolean,
    DPMorse,
    ModelFormatError,
    Nominal,
    Numeric,
    Ordinal,
    PrivateGaussianMixture,
    load,
)
from dpmorse.bases.base import read_numbers
from dpmorse.persistence.older_files import upgraded
from dpmorse.records import open_records
from dpmorse.schema import Schema
from dpmorse.statistics import FINE_GRID_BITS, Domain

COLUMNS = {
    "age": Numeric(0, 120),
    "ward": Nominal(["n", "s", "e"]),
    "bp": Numeric(50, 250, missing="ignore"),
    "smoker": Boolean(missing="ignore"),
    "grade": Ordinal(["low", "mid", "high"], missing="level"),
}


def table(seed, n=20_000):
    """Three groups of invented people; a fifth of one number is missing, and a tenth of one category."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    age = rng.normal(np.array([25, 50, 75])[y], 6)
    bp = rng.normal(np.array([110, 130, 150])[y] + 0.5 * (age - np.array([25, 50, 75])[y]), 8)
    bp[rng.random(n) < 0.2] = np.nan
    chances = np.array([[0.7, 0.2, 0.05, 0.05], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1]]).cumsum(axis=1)
    ward = np.array(["n", "s", "e", "x"], dtype=object)[(rng.random(n)[:, None] > chances[y, :3]).sum(axis=1)]
    smoker = (rng.random(n) < np.array([0.1, 0.5, 0.8])[y]).astype(object)
    smoker[rng.random(n) < 0.1] = None
    grade = np.array(["low", "mid", "high"], dtype=object)[np.clip(y + rng.integers(-1, 2, size=n), 0, 2)]
    grade[rng.random(n) < 0.05] = None
    return pd.DataFrame(
        {"age": np.clip(age, 0, 120), "ward": ward, "bp": bp, "smoker": smoker, "grade": grade}
    )


def fitted(frame, columns=None, seed=0, n_clusters=3, **options):
    columns = columns or {name: COLUMNS[name] for name in frame}
    return DPMorse(n_clusters, epsilon=1.0, columns=columns, random_state=seed, **options).fit(frame)


def encoded(model, frame):
    schema = Schema.of(model.columns)
    return np.asarray(read_numbers(model.base_, open_records(frame, None, schema)), dtype=np.float64)


@pytest.fixture
def rules(monkeypatch):
    """The rules by which records found their components, one for each fit."""
    found, cells_of = [], stage.cells_of

    def kept(*arguments):
        found.append(cells_of(*arguments))
        return found[-1]

    monkeypatch.setattr(stage, "cells_of", kept)
    return found


def truth(model, frame, rule):
    """The same numbers of the records themselves, with the label of each."""
    records, layout = encoded(model, frame), model.base_.schema_.layout
    box = Domain(model.base_.domain_.lower, model.base_.domain_.upper, grid_bits=FINE_GRID_BITS)
    labels = model.component_labels_[rule.labels(box.quantise(records))]
    numbers = records[:, layout.number_part].copy()
    for hole, j in enumerate(layout.holes):
        numbers[records[:, hole] > 0, j] = np.nan
    levels = records[:, layout.level_part]
    of_category = np.eye(layout.n_categories)[layout.category_of_level]
    for c in range(model.n_clusters_):
        own = labels == c
        there = levels[own] @ of_category
        yield {
            "share": own.mean(),
            "centre": np.nanmean(numbers[own], axis=0),
            "spread": np.nanstd(numbers[own], axis=0),
            "level": levels[own].sum(axis=0) / there.sum(axis=0)[layout.category_of_level],
            "missing": np.hstack([np.isnan(numbers[own]).mean(axis=0), 1 - there.mean(axis=0)]),
        }


def hits(model, frame, rule):
    """Whether each interval holds the truth, by the name of the number."""
    found = model.table()
    estimates = {
        "share": found.share, "centre": found.centre, "spread": found.spread,
        "level": found.levels.share, "missing": found.levels.missing,
    }  # fmt: skip
    rows = list(truth(model, frame, rule))
    wanted = {name: np.array([row[name] for row in rows]) for name in estimates}
    return {
        name: ((of.low <= wanted[name] + 1e-9) & (wanted[name] <= of.high + 1e-9)).ravel()
        for name, of in estimates.items()
    }


@pytest.mark.filterwarnings("ignore")
def test_intervals_cover(rules):
    covered = {}
    for seed in range(20):
        frame = table(seed)
        model = fitted(frame, seed=seed)
        for name, held in hits(model, frame, rules[-1]).items():
            covered.setdefault(name, []).append(held)
    rates = {name: float(np.concatenate(held).mean()) for name, held in covered.items()}
    assert min(rates.values()) >= 0.9, rates


@pytest.mark.parametrize("names", [["ward", "smoker"], ["age"], ["age", "bp"], ["age", "ward"]])
def test_tables_of_any_kinds_have_a_summary(names, tmp_path):
    model = fitted(table(1)[names], n_clusters=2)
    summary = model.summary()
    n_rows = sum(len(getattr(COLUMNS[name], "levels", [None])) for name in names)
    assert len(summary) == 2 * n_rows
    assert model.table().centre.value.shape == (2, sum(name in {"age", "bp"} for name in names))
    model.save(tmp_path / "model.json")
    pd.testing.assert_frame_equal(load(tmp_path / "model.json").summary(), summary)
    assert all(caution.kind != "other" for caution in model.cautions())


def test_a_loaded_model_says_the_same_in_every_library(tmp_path):
    model = fitted(table(2))
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.cautions() == model.cautions()
    for n_clusters in (None, 2):
        pd.testing.assert_frame_equal(loaded.summary(n_clusters), model.summary(n_clusters))
    assert model.summary(library="polars").shape == model.summary().shape
    assert not model.summary()["level"].isna().all()


def test_without_a_profile_the_stages_get_its_share():
    options = {"columns": COLUMNS, "epsilon": 1.0}
    plans = [PrivateGaussianMixture(3, profile=on, **options).plan(5) for on in (True, False)]
    costs = [{s.name: s.cost for s in plan.stages} for plan in plans]
    last = costs[0].pop("profile")
    assert last == pytest.approx(0.1 * sum(costs[1].values()), rel=1e-6)
    assert costs[0] == pytest.approx({name: 0.9 * cost for name, cost in costs[1].items()}, rel=1e-6)


def test_values_that_are_not_listed_are_spoken_of():
    frame = table(3)[["age", "ward"]]
    columns = {"age": COLUMNS["age"], "ward": Nominal(["n", "s"])}
    with pytest.warns(match="Many values of column 'ward' are not listed"):
        model = fitted(frame, columns, n_clusters=2)
    (caution,) = [caution for caution in model.cautions() if caution.kind == "other"]
    assert (caution.cluster, caution.column) == (None, 1)
    rows = model.summary()
    assert rows.loc[rows["column"] == "ward", "warning"].str.contains("not listed").all()


def test_a_column_that_is_written_in_another_way_is_spoken_of(tmp_path):
    """What cannot be read is missing, value by value: a whole column of it is a mistake of its owner."""
    frame = table(3)[["age", "bp"]].assign(age=lambda frame: frame["age"].map("{:.2f}".format))
    columns = {"age": Numeric(0, 120, missing="ignore"), "bp": COLUMNS["bp"]}
    frame.to_csv(tmp_path / "good.csv", index=False)
    assert not [note for note in fitted(tmp_path / "good.csv", columns).cautions() if note.kind == "missing"]
    frame.assign(age=frame["age"].str.replace(".", ",")).to_csv(tmp_path / "x.csv", index=False)
    with pytest.warns(match="Nearly all values of column 'age' are missing, or could not be read"):
        model = fitted(tmp_path / "x.csv", columns)
    (caution,) = [caution for caution in model.cautions() if caution.kind == "missing"]
    assert (caution.cluster, caution.column) == (None, 0)


def changed(model, change):
    """The base from its document, with a part of it changed."""
    document = json.loads(json.dumps(model.base_._to_document()))
    change(document)
    return PrivateGaussianMixture._from_document(upgraded(document, version=3))


def _less_noise(base):
    base["profile"]["levels"]["level_stddev"] /= 2


def _less_noise_of_counts(base):
    for part in base["profile"].values():
        part["count_stddev"] /= 2


def _other_counts(base):
    base["profile"]["levels"]["counts"][0] += 1


def _other_bounds(base):
    base["profile"]["numbers"]["upper"][0] += 1


def _no_numbers(base):
    base["profile"]["numbers"] = None


def _no_profile(base):
    base["profile"] = None


def _fewer_levels(base):
    base["profile"]["levels"]["levels"] = [row[1:] for row in base["profile"]["levels"]["levels"]]


def _with_partition(base):
    base["partition"] = base["mixture"]


@pytest.mark.parametrize(
    "change",
    [_less_noise, _less_noise_of_counts, _other_counts, _other_bounds, _no_numbers, _no_profile, _fewer_levels,
     _with_partition],
)  # fmt: skip
def test_files_that_contradict_themselves_are_refused(change):
    model = fitted(table(4, 5000)[["age", "ward"]], n_clusters=2)
    assert changed(model, lambda _: None).profile_.counts.tolist() == model.base_.profile_.counts.tolist()
    with pytest.raises(ModelFormatError, match=r"profile|partition"):
        changed(model, change)


def _other_names(base):
    base["feature_names"] = base["feature_names"][::-1]


def test_names_that_contradict_the_description_are_refused():
    """Such a file was read, and its model then refused every table."""
    model = fitted(table(4, 5000)[["age", "ward"]], n_clusters=2)
    with pytest.raises(ModelFormatError, match="feature_names must be those of the columns"):
        changed(model, _other_names)


def _of_a_first_version(base):
    """Tables had a base of their own, whose first files did not state that they had no profile."""
    base["estimator"] = "PrivateTableMixture"
    del base["parameters"]["profile"]


def test_files_that_do_not_know_of_profiles_still_load():
    model = fitted(table(4, 5000)[["age", "ward"]], n_clusters=2, profile=False)
    loaded = changed(model, _of_a_first_version)
    assert loaded.profile_ is None
    with pytest.raises(TypeError, match="profile=True"):
        loaded.summary()
