"""A page of a table: categories, dates, ranks and gaps are those of the released profile."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from dpmorse import Boolean, DPMorse, Nominal, Numeric, Schema, load
from dpmorse.bases import draw_records
from dpmorse.datasets import make_patient_table
from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles import cluster_table, to_frame
from dpmorse.records import open_records
from dpmorse.report import render
from dpmorse.report.released import released
from table_models import table_model


@pytest.fixture(scope="module")
def model(hard_model):
    return table_model(hard_model.privacy_)


@pytest.fixture(scope="module")
def data(model, embedded):
    return embedded(render(model))


def test_columns_stand_in_the_order_of_the_table(data):
    assert data["table"] == ["category", "number", "number", "category", "number"]
    assert [column["name"] for column in data["categories"]] == ["ward", "smoker"]
    kinds = {column["name"]: column["kind"] for column in data["columns"]}
    assert kinds == {"age": "number", "grade": "rank", "joined": "date"}
    assert data["categories"][0]["levels"] == ["surgery", "medicine", "other"]
    assert data["columns"][1]["levels"] == ["low", "mid", "high"]
    first_day = dt.date(1970, 1, 1) + dt.timedelta(days=data["columns"][2]["first"])
    assert first_day == dt.date(2000, 1, 1)


def hundredths(estimate, *place):
    """Return a share and the ends of its interval as pages have them."""
    return [round(1e4 * part) for part in estimate.at(*place)]


def test_levels_and_gaps_of_every_cut_are_those_of_the_table(model, data):
    tree = released(model).tree
    for k in (1, 2, 3):
        table = cluster_table(model.profile_, tree.cut(k)[:3])
        for c, node in enumerate(data["nodes"][k - 1]):
            row = data["numbers"]["rows"][node]
            for shown, estimate in zip(row["levels"], table.level_share, strict=True):
                assert shown == [hundredths(estimate, c, level) for level in range(len(shown))]
            # Numbers come first among the columns of the profile: age, grade, joined, ward, smoker.
            assert (
                row["missing"]
                == [hundredths(table.missing, c, 3), hundredths(table.missing, c, 0)] + [None] * 3
            )
            assert row["missing"][1][0] == pytest.approx(1000, abs=1)
            medians = [column[1][0] for column in row["numbers"]]
            assert medians == pytest.approx(table.median.value[c], abs=0.05)
            assert medians[1:] == table.median.value[c, 1:].tolist(), "ranks and days are whole numbers"


def test_levels_and_missing_values_of_a_page_add_up_to_all_records(data):
    for row in data["numbers"]["rows"]:
        for column, levels, missing in (("ward", 0, row["missing"][0]), ("smoker", 1, None)):
            parts = [level[0] for level in row["levels"][levels]] + ([missing[0]] if missing else [])
            assert sum(parts) == pytest.approx(10_000, abs=len(parts) / 2), column


def test_modes_of_the_shadow_stand_where_records_near_them_are(model):
    """A mode of well separated components is near one of their means, in every number."""
    parts = released(model)
    for point in parts.space.shown(parts.tree.modes):
        nearest = np.abs(point[:3] - model.mixture_.means).sum(axis=1).argmin()
        spread = np.sqrt(np.diagonal(model.mixture_.covariances[nearest]))
        assert np.all(np.abs(point[:3] - model.mixture_.means[nearest]) < spread)


def test_synthetic_records_are_those_of_sample_in_numbers_and_directions(model):
    """Numbers and levels are those of the profile; directions are made of them."""
    parts = released(model)
    points, components = parts.space.sampled(2000, np.random.default_rng(5))
    columns, same = draw_records(model, 2000, 5)
    assert np.array_equal(components, same)
    encoded = open_records(to_frame(columns, "pandas"), schema=model.schema_).read(None)
    layout, (matrix, origin) = model.mixture_.layout, model.mixture_.shadow_map
    assert points[:, :3] == pytest.approx(encoded[:, layout.number_part])
    mapped = np.hstack([encoded[:, layout.number_part], encoded[:, layout.level_part]]) - origin
    assert points[:, 3:] == pytest.approx(mapped @ matrix.T)


def test_whether_a_number_is_missing_is_drawn_where_it_is_a_level(hard_model):
    schema = Schema.of({"age": Numeric(0, 100, missing="level"), "sex": Nominal(["f", "m"])})
    table = table_model(hard_model.privacy_, schema=schema)
    source = released(table).space.source
    records, _ = source.drawn(4000, np.random.default_rng(0))
    levels = records[:, schema.layout.level_part]
    assert all(np.all(levels[:, part].sum(axis=1) == 1) for part in schema.layout.levels)
    assert levels[:, schema.layout.levels[-1]][:, 1].mean() == pytest.approx(0.1, abs=0.02)


def test_stated_columns_head_the_page(model):
    page = render(model, title="Title <1>", dataset="a & b", made_on=dt.date(2026, 1, 31))
    assert '<p class="eyebrow">Title &lt;1&gt;</p>' in page
    assert "<title>Title &lt;1&gt;</title>" in page
    assert "<dd>a &amp; b</dd>" in page
    assert "<dd>2026-01-31</dd>" in page
    for stated in (
        "one of surgery, medicine; may be missing",
        "numbers from 0 to 100; may be missing",
        "in order: low, mid, high",
        "dates from 2000-01-01 to 2020-01-01",
        "true or false",
    ):
        assert f"<td>{stated}</td>" in page


def test_without_a_profile_levels_are_those_of_the_mixture(hard_model, embedded):
    model = table_model(hard_model.privacy_, with_profile=False)
    data = embedded(render(model))
    assert not data["numbers"]["measured"]
    rows = [data["numbers"]["rows"][i] for i in data["nodes"][2]]
    labels = released(model).tree.cut(3)[:3]
    for c, row in enumerate(rows):
        (component,) = np.flatnonzero(labels == c)
        shown = [part for category in row["levels"] for part in category]
        expected = np.rint(1e4 * model.mixture_.probabilities[component])
        assert shown == [[part, None, None] for part in expected]
        assert row["missing"] == [None] * 5, "it was not measured"


@pytest.mark.parametrize("counts", [(900,), (600, 300), (500, 300, 200)])
@pytest.mark.parametrize(
    "columns",
    [
        {"a": Nominal(["x", "y"]), "b": Boolean(missing="level")},
        {"a": Numeric(0, 1, missing="level")},
        {"a": Numeric(0, 1), "b": Numeric(0, 1, missing="ignore")},
    ],
    ids=["categories alone", "one number", "numbers with gaps"],
)
def test_tables_of_one_kind(columns, counts, hard_model, embedded):
    data = embedded(render(table_model(hard_model.privacy_, schema=Schema.of(columns), counts=counts)))
    assert len(data["table"]) == len(columns)
    assert all(len(row["numbers"]) == len(data["columns"]) for row in data["numbers"]["rows"])


@pytest.mark.parametrize("n_columns", [2, 20, 40])
def test_pages_of_tables_are_small(n_columns, hard_model, embedded):
    half = n_columns // 2
    columns = {f"number {i}": Numeric(0, 1e4, missing="ignore") for i in range(half)}
    columns |= {f"category {i}": Nominal([f"value {v}" for v in range(20)]) for i in range(half)}
    model = table_model(
        hard_model.privacy_, schema=Schema.of(columns), counts=[1000 * i for i in range(4, 17)]
    )
    page = render(model)
    assert len(page.encode()) < 600_000
    assert len(embedded(page)["cuts"]) == 13


def test_hostile_values_stay_text(hard_model, embedded):
    hostile = "</script><script>alert(1)</script>"
    schema = Schema.of({"\u202ename": Nominal([hostile, "\x1b[31m"]), "$data": Numeric(0, 1)})
    page = render(table_model(hard_model.privacy_, schema=schema))
    assert page.count("<script") == page.count("</script>") == 2
    assert not set("\x1b\u202e") & set(page)
    assert embedded(page)["categories"][0]["levels"][0] == hostile


def test_other_names(model, embedded):
    data = embedded(render(model, columns=["Station", "Alter", "Note", "raucht", "seit"]))
    assert [column["name"] for column in data["categories"]] == ["Station", "raucht"]
    assert any("Station" in row["said"] or "Alter" in row["said"] for row in data["numbers"]["rows"])
    with pytest.raises(InvalidParameterError, match="columns must be different names"):
        render(model, columns=list("aabcd"))
    with pytest.raises(InvalidParameterError, match="one name for each of the 5 columns"):
        render(model, columns=["a"])


def test_a_page_of_a_fitted_table_is_a_function_of_its_file(tmp_path, embedded):
    frame = pd.DataFrame(make_patient_table(3000, random_state=0)[0])
    columns = {
        "age": Numeric(0, 110),
        "smoker": Boolean(missing="ignore"),
        "ward": Nominal(["surgery", "medicine", "cardiology"]),
    }
    model = DPMorse(3, epsilon=2.0, columns=columns, random_state=0).fit(frame[list(columns)])
    page = render(model)
    model.save(tmp_path / "model.json")
    assert render(load(tmp_path / "model.json")) == page
    assert embedded(page)["n_clusters"] == 3
