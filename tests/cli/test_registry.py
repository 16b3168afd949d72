"""An entry for the registry of deployments: valid, complete but for what only a person knows, and true."""

from datetime import date

import numpy as np
import pytest
import yaml

from dpmorse import DPLloyd, DPMorse, Nominal, Numeric
from dpmorse.cli.registry import FILL_IN, registry_entry, yaml_number, yaml_text
from registry_fields import FIELDS, complaints

TODAY = date(2026, 1, 2)


def read(model):
    return yaml.safe_load(registry_entry(model, TODAY))


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).uniform(0, 100, size=(300, 2))


def table_model():
    rng = np.random.default_rng(0)
    columns = {
        "age": Numeric(0, 120, missing="ignore"),
        "a `ward`:\n\u2028- \\(x$ #": Nominal(["north", "south", "west"]),
    }
    table = {
        "age": rng.uniform(20, 90, 400),
        "a `ward`:\n\u2028- \\(x$ #": rng.choice(["north", "south"], 400),
    }
    pandas = pytest.importorskip("pandas")
    return DPMorse(2, epsilon=2.0, columns=columns).fit(pandas.DataFrame(table))


def test_the_entry_of_a_file_is_valid_and_marks_what_a_person_must_say(run, measured_file):
    result = run("registry", measured_file, "-o", "entry.yaml")
    text = (measured_file.parent / "entry.yaml").read_text(encoding="utf-8")
    entry = yaml.safe_load(text)
    assert not complaints(entry)
    assert text.startswith("url_slug: to-fill-in-to-fill-in-20"), "the registry's own tools look for it there"
    assert f"{text.count(FILL_IN)} places say TO FILL IN" in result.stderr
    assert "NOT SECURE" in result.stderr
    assert "NOT SECURE" in entry["deployment"]["implementation"]["mechanisms"]
    basic = entry["deployment"]["basic"]
    for field in ("name", "intended_use", "data_product_region"):
        assert basic[field] == FILL_IN
    assert basic["data_curators"] == [FILL_IN]
    assert "exists" in run("registry", measured_file, "-o", "entry.yaml", code=1).stderr
    assert yaml.safe_load(run("registry", measured_file).stdout) == entry


def test_all_published_fields_are_there_but_those_that_have_nothing_to_say(points):
    entry = read(DPMorse(2, epsilon=1.0, bounds=(0, 100)).fit(points))
    assert not complaints(entry)
    missing = {
        field
        for group, fields in FIELDS["deployment"].items()
        for field in set(fields) - set(entry["deployment"][group])
    }
    assert missing == {"data_product_sector", "data_source_type_details"}


def test_what_is_said_of_privacy_is_what_the_model_promises(points):
    model = DPMorse(2, epsilon=1.0, delta=1e-7, bounds=(0, 100)).fit(points)
    deployment = read(model)["deployment"]
    loss = deployment["privacy_loss"]
    report = model.privacy_
    assert loss["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-7, "rho": report.rho}
    assert report.epsilon <= 1.0
    assert loss["privacy_unit"] == "record (one row)"
    assert report.relation in loss["privacy_unit_details"].replace("\n", " ")
    assert report.relation in report.statement
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert "[0, 100]" in deployment["dp_variant"]["data_domain"]
    assert "discrete Gaussian noise" in deployment["implementation"]["mechanisms"]
    assert f"{len(report.events)} releases" in deployment["accounting"]["composition"]


def test_a_pure_promise_about_persons_by_another_base(points):
    base = DPLloyd(2, epsilon=1.0, delta=0, bounds=(0, 100), max_rows_per_group=3, neighboring="add-remove")
    entry = read(base.fit(points, groups=np.arange(300) // 2))
    assert not complaints(entry)
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {
        "epsilon": pytest.approx(1),
        "delta": 0,
    }
    assert "at most 3 are used" in entry["deployment"]["privacy_loss"]["privacy_unit_details"]


def test_bounds_that_were_found_privately_are_not_stated_as_public(points):
    entry = read(DPMorse(2, epsilon=5.0, bounds="private").fit(points))
    assert not complaints(entry)
    domain = entry["deployment"]["dp_variant"]["data_domain"]
    assert domain.count("found privately") == 2
    assert "[" not in domain


def test_a_table_with_hostile_names_is_valid():
    text = registry_entry(table_model(), TODAY)
    entry = yaml.safe_load(text)
    assert not complaints(entry)
    domain = entry["deployment"]["dp_variant"]["data_domain"]
    assert "may be missing" in domain
    assert "one of 3 listed values" in domain
    assert not [token for token in yaml.scan(text) if getattr(token, "style", None) == ">"]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "yes",
        "No",
        "null",
        "2026-01-01",
        "1e5",
        "-",
        "a: b",
        "# a",
        "é\u0085\u2028\ud800",
        "a\tb",
        "'\"\\",
        "- a",
        "|",
        "word-word",
        "x" * 300,
        " leading",
        "two\n\nparagraphs of text",
        "1.0",
        "@",
        "%a",
        "\U0001f600",
    ],
)
def test_any_text_is_read_back(value):
    text = yaml_text(value)
    read_back = yaml.safe_load(f"a:\n  b:\n    c: {text}\n")["a"]["b"]["c"]
    assert read_back == value if text.startswith('"') else read_back.split() == value.split()


@pytest.mark.parametrize("value", [1, 0, 1.0, 0.25, 1e-06, 1e-300, 2.5e-07, 1e22])
def test_numbers_are_read_back_as_numbers(value):
    read_back = yaml.safe_load(f"a: {yaml_number(value)}\n")["a"]
    assert read_back == value
    assert type(read_back) is type(value)


def test_the_description_of_the_fields_refuses_what_is_not_published(points):
    entry = read(DPMorse(2, epsilon=1.0, bounds=(0, 100)).fit(points))
    for change in (
        {"tier": 0},
        {"status": "Finished"},
        {"surprise": "x"},
        {"deployment": {**entry["deployment"], "basic": {}}},
        {"deployment": {**entry["deployment"], "administrative": {"registry_authors": []}}},
    ):
        assert complaints({**entry, **change})
