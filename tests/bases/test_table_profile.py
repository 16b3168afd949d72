"""Numbers about clusters of tables with categories and missing values: right, paid for, and the same from a file."""

import json

import numpy as np
import pandas as pd
import pytest

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
from dpmorse.persistence.older_files import upgraded

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
    options = {"epsilon": 1.0, "columns": columns, "rehearsals": 0, "random_state": seed, **options}
    return DPMorse(n_clusters, **options).fit(frame)


def hits(model, frame):
    """Whether each interval holds the truth of the records that ``predict`` puts there, by kind of number."""
    labels, rows, found = model.predict(frame), model.summary(quantiles=[0.1]), {}
    for row in rows.to_dict("records"):
        own = frame[labels == row["cluster"]]
        values = own[row["column"]]
        truths = {"share": (labels == row["cluster"]).mean(), "missing": values.isna().mean()}
        column = COLUMNS[row["column"]]
        if isinstance(row["level"], str):
            codes = [column.code_of(None if pd.isna(value) else value) for value in values]
            truths["level_share"] = np.mean(np.equal(codes, column.levels.index(row["level"])))
        else:
            numbers = values.map({"low": 0, "mid": 1, "high": 2}) if row["column"] == "grade" else values
            names = {"q1": 0.25, "median": 0.5, "q3": 0.75, "p10": 0.1}
            truths |= {name: np.nanquantile(numbers.astype(float), p) for name, p in names.items()}
        for name, truth in truths.items():
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            if not np.isnan(low):  # it is known
                found.setdefault(name, []).append(low - 1e-9 <= truth <= high + 1e-9)
    return found


@pytest.mark.filterwarnings("ignore")
def test_intervals_cover():
    covered = {}
    for seed in range(20):
        frame = table(seed)
        model = fitted(frame, seed=seed)
        for name, held in hits(model, frame).items():
            covered.setdefault(name, []).extend(held)
    rates = {name: float(np.mean(held)) for name, held in covered.items()}
    assert set(rates) == {"share", "missing", "level_share", "p10", "q1", "median", "q3"}
    assert min(rates.values()) >= 0.9, rates


@pytest.mark.parametrize("names", [["ward", "smoker"], ["age"], ["age", "bp"], ["age", "ward"]])
def test_tables_of_any_kinds_have_a_summary(names, tmp_path):
    model = fitted(table(1)[names], n_clusters=2)
    summary = model.summary()
    n_rows = sum(len(getattr(COLUMNS[name], "levels", [None])) for name in names)
    assert len(summary) == 2 * n_rows
    assert model.table().median.value.shape == (2, sum(name in {"age", "bp"} for name in names))
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
    return PrivateGaussianMixture._from_document(upgraded(document, version=4))


def _less_noise(base):
    base["profile"]["entry_stddev"] /= 2


def _less_noise_of_sizes(base):
    base["profile"]["size_stddev"] /= 2


def _more_sizes(base):
    base["profile"]["sizes"].append(1.0)


def _other_bounds(base):
    base["profile"]["upper"][0] += 1


def _no_edges(base):
    base["profile"]["edges"] = []


def _other_levels(base):
    base["profile"]["n_levels"] = [3]


def _missing_where_it_cannot_be(base):
    base["profile"]["may_miss"] = [0]


def _fewer_entries(base):
    base["profile"]["entries"] = [row[1:] for row in base["profile"]["entries"]]


def _with_partition(base):
    base["partition"] = base["mixture"]


@pytest.mark.parametrize(
    "change",
    [_less_noise, _less_noise_of_sizes, _more_sizes, _other_bounds, _no_edges, _other_levels,
     _missing_where_it_cannot_be, _fewer_entries, _with_partition],
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
