"""The bulletin: the same sentences everywhere, in words that people use, and true to the numbers."""

import html
import math

import numpy as np
import pytest

from dpmorse import Date, Nominal, Numeric, Ordinal, PrivateGaussianMixture, Schema, load
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, ModelFormatError
from dpmorse.report import describe, render
from dpmorse.report.bulletin import headline, privacy_in_words
from table_models import table_model

JARGON = ("rho", "zCDP", "e-06", "merge rule", "mode", "saddle", "epsilon")


class Promise:
    epsilon, delta, neighboring, secure, unit = 1.0, 1e-6, "add-remove", True, "one row"


def promise(**parts):
    return type("Promise", (Promise,), parts)()


def test_a_model_is_described_by_its_groups_in_the_order_of_labels(default_model):
    said = default_model.describe()
    lines = str(said).split("\n")
    assert lines[0] == said.headline
    assert said.headline.startswith("Four groups among about 8,")
    assert [group.split(",")[0] for group in said.groups] == [f"Group {c}" for c in range(4)]
    for group, share in zip(said.groups, default_model.table().share.value, strict=True):
        assert f"{100 * share:.0f}\N{NO-BREAK SPACE}% of the records" in group
    assert len(default_model.describe(6).groups) == 6


def test_the_report_has_the_sentences_of_describe(hard_model, doubtful_model, default_model, embedded):
    for model in (hard_model, doubtful_model, default_model):
        said, page = describe(model), render(model)
        for line in (said.headline, *said.groups):
            assert html.escape(line) in page
        data = embedded(page)
        assert data["headlines"][len(said.groups) - 1] == said.headline
        rows = (data["numbers"]["rows"][node] for node in data["nodes"][len(said.groups) - 1])
        assert [row["said"] for row in rows] == [group.split(", ", 1)[1] for group in said.groups]


def test_words_of_the_bulletin_are_plain(hard_model):
    text = str(describe(table_model(hard_model.privacy_)))
    assert not any(word in text for word in JARGON)


def test_doubts_come_before_details(doubtful_model):
    said = describe(doubtful_model)
    assert said.headline.endswith("one of which may be noise")
    kinds = [caution.split()[0] for caution in said.cautions]
    assert kinds == ["2", "Group", "About", "In"], "how many stand out, which do not, bounds, what is hidden"
    assert "4 cautions. The first of them:" in str(said)
    assert str(said).count("\n- ") == 3


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((4,), "Four groups among the records"),
        ((1,), "One group: all of the records"),
        ((13,), "13 groups among the records"),
        ((3, 1), "Three groups among the records, one of which may be noise"),
        ((3, 3), "No group stands out from the noise among the records"),
    ],
)
def test_headlines(numbers, words):
    assert headline(*numbers) == words


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.0778, 4.0, 6.9])
def test_the_odds_are_never_understated(epsilon):
    said = privacy_in_words(promise(epsilon=epsilon))
    stated = float(said.split("factor of at most ")[1].split(",")[0])
    assert math.exp(epsilon) <= stated <= 1.1 * math.exp(epsilon)
    assert "one in 1,000,000" in said or "one in 999,999" in said
    assert "chance" not in privacy_in_words(promise(epsilon=epsilon, delta=0.0))


def test_a_promise_names_its_unit_and_is_not_made_where_there_is_none():
    assert "every single patient:" in privacy_in_words(promise(unit="one patient, up to 5 rows"))
    assert "every single record:" in privacy_in_words(promise())
    assert "hardly at all" in privacy_in_words(promise(epsilon=9.0))
    assert privacy_in_words(promise(secure=False)).startswith("Not secure")


def test_a_notebook_shows_sentences_with_names_escaped(rng):
    model = PrivateGaussianMixture(2, epsilon=4.0, columns={"<b>": Numeric(-1, 1), "c": Numeric(-1, 1)})
    X = {"<b>": rng.choice([-0.8, 0.8], 4000), "c": rng.uniform(-1, 1, 4000)}
    pd = pytest.importorskip("pandas")
    shown = model.fit(pd.DataFrame(X)).describe()._repr_html_()
    assert "<b>" not in shown


# -- labels and units --------------------------------------------------------------------------------

LABELLED = {
    "bp": Numeric(60, 220, label="blood pressure", unit="mmHg"),
    "w": Nominal(["a", "b"], label="ward"),
    "d": Date("2020-01-01", "2020-12-31", label="day"),
    "g": Ordinal(["low", "high"], label="grade"),
}


def test_labels_and_units_are_kept_in_files_and_older_ones_have_none():
    schema = Schema.of(LABELLED)
    assert Schema.from_plain(schema.to_plain()) == schema
    bare = schema.to_plain()
    for column in bare["columns"]:
        column.pop("label")
        column.pop("unit", None)
    assert all(not column.label for _, column in Schema.from_plain(bare).columns)
    assert Schema.of({"a": Numeric(0, 1)}).to_plain() == {
        "columns": [
            {
                "name": "a",
                "kind": "numeric",
                "lower": 0.0,
                "upper": 1.0,
                "integer": False,
                "missing": "refuse",
            }
        ]
    }
    bare["columns"][1]["unit"] = "kg"
    with pytest.raises(ModelFormatError):
        Schema.from_plain(bare)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"label": 3}, InvalidTypeError),
        ({"unit": None}, InvalidTypeError),
        ({"label": "x" * 61}, InvalidParameterError),
        ({"unit": "a\nb"}, InvalidParameterError),
    ],
)
def test_odd_labels_are_refused(parts, error):
    with pytest.raises(error, match=next(iter(parts))):
        Numeric(0, 1, **parts)


def test_labels_and_units_are_what_people_read_and_names_what_files_have(tmp_path, rng, embedded):
    pd = pytest.importorskip("pandas")
    n = 6000
    low = rng.random(n) < 0.5
    frame = pd.DataFrame({"bp": np.where(low, 100, 170) + rng.normal(0, 5, n), "w": np.where(low, "a", "b")})
    columns = {name: LABELLED[name] for name in ("bp", "w")}
    PrivateGaussianMixture(2, epsilon=5.0, columns=columns).fit(frame).save(tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    assert "blood pressure between" in str(describe(model, 2))
    assert "mmHg" in str(describe(model, 2))
    assert set(model.summary()["column"]) == {"bp", "w"}
    shown = {one["name"]: one.get("label") for one in embedded(render(model))["columns"]}
    assert shown == {"bp": "blood pressure"}
    assert "blood pressure (mmHg)" in model._repr_html_()
