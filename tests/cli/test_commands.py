"""What each command does when all is well."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from dpmorse import DPMoGHard, DPMorse, MorseClustering, PrivateGaussianMixture, load
from dpmorse.bases import BASES
from dpmorse.bases.staged.staged_settings import default_n_components
from dpmorse.cli.bounds_file import read_bounds
from dpmorse.cli.bounds_template import empty_entry, line_of, template
from dpmorse.records import Reading
from every_base import OF_NUMBERS

FAST = ["--epsilon", "9", "--bounds", "0,300", "--base", "DPMoGHard", "--components", "3"]
SEEDED = [*FAST, "--seed", "3"]


def fitted(table):
    """Return what SEEDED fits."""
    return MorseClustering(DPMoGHard(3, epsilon=9.0, bounds=(0, 300), random_state=3)).fit(table)


def write(table, path):
    """Write a table in the format that the name of the file says."""
    name = path.name
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, path, row_group_size=500)
    elif name.endswith(".feather"):
        pa.feather.write_feather(table, path, chunksize=500)
    else:
        compression = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}.get(path.suffix)
        separator = "\t" if ".tsv" in name else ","
        with pa.output_stream(str(path), compression=compression) as stream:
            pa.csv.write_csv(table, stream, pa.csv.WriteOptions(delimiter=separator))


# -- fit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["x.csv", "x.tsv", "x.csv.gz", "x.csv.bz2", "x.csv.zst", "x.csv.lz4", "x.parquet", "x.feather"],
)
def test_every_kind_of_file_gives_the_model_of_the_table(name, here, run, patients):
    path = here / name
    write(patients, path)
    run("fit", path, *SEEDED, "-o", "model.json")
    model = load("model.json")
    assert model.mixture_ == fitted(patients).mixture_
    assert model.feature_names_in_.tolist() == ["age", "pressure"]


def test_columns_are_chosen_by_name_and_in_order(here, run, patients, csv_file):
    run("fit", csv_file, *SEEDED, "--columns", "pressure,age", "-o", "a.json")
    run("fit", csv_file, *SEEDED, "--columns", "pressure", "--columns", "age", "-o", "b.json")
    expected = fitted(patients.select(["pressure", "age"]))
    assert load("a.json").mixture_ == load("b.json").mixture_ == expected.mixture_


def test_text_columns_of_typed_files_are_left_out(here, run, patients):
    named = patients.append_column("name", pa.array(["x"] * len(patients)))
    write(named, here / "x.parquet")
    run("fit", "x.parquet", *FAST, "-o", "model.json")
    assert load("model.json").feature_names_in_.tolist() == ["age", "pressure"]


def test_numbers_of_every_type_are_used(here, run):
    table = pa.table(
        {
            "small": pa.array(range(200), pa.int16()),
            "yes": pa.array([True, False] * 100),
            "price": pa.array(range(200), pa.decimal128(10, 2)),
            "half": pa.array(np.arange(200, dtype=np.float32)),
        }
    )
    write(table, here / "x.parquet")
    run("fit", "x.parquet", *FAST, "-o", "model.json")
    assert load("model.json").n_features_in_ == 4


def test_a_bounds_file_chooses_columns_and_bounds(here, run, csv_file):
    (here / "b.toml").write_text("[bounds]\npressure = { lower = 60, upper = 220.5 }\n")
    run("fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "-o", "model.json")
    model = load("model.json")
    assert model.feature_names_in_.tolist() == ["pressure"]
    assert [np.ravel(side).tolist() for side in model.bounds] == [[60.0], [220.5]]


@pytest.mark.parametrize("base", sorted(set(OF_NUMBERS) & set(BASES)))
def test_every_base_by_name(base, run, csv_file):
    args = ["--epsilon", 1, "--bounds", "0,300", "--components", 3, "--clusters", 2]
    run("fit", csv_file, *args, "--base", base, "-o", "model.json")
    model = load("model.json")
    assert isinstance(model, MorseClustering)
    assert type(model.base_).__name__ == base
    assert model.base_.n_components == 3


def test_components_of_a_base_follow_the_number_of_clusters(run, csv_file):
    args = ["--epsilon", 1, "--bounds", "0,300", "--base", "DPLloyd", "--clusters", 9]
    run("fit", csv_file, *args, "-o", "m.json")
    assert load("m.json").base_.n_components == default_n_components(2, 9) == 24


def test_json_is_one_object_with_everything(run_json, csv_file):
    content = run_json("fit", csv_file, *FAST, "--clusters", 2, "-o", "model.json")
    assert content["columns"] == ["age", "pressure"]
    assert len(content["clusters"]) == 2
    assert sum(part["share"] for part in content["clusters"]) == pytest.approx(1)
    assert content["privacy"]["epsilon"] <= 9
    assert content["privacy"]["secure"] is True
    assert content["warnings"] == []
    assert content["missing"] == "refuse"


def test_the_summary_and_the_statement_are_printed(run, csv_file):
    result = run("fit", csv_file, *FAST, "--clusters", 2, "-o", "model.json")
    assert "2 clusters of" in result.stdout
    assert "differentially private" in result.stdout
    assert result.stderr == ""
    assert run("fit", csv_file, *FAST, "-o", "quiet.json", "--quiet").stdout == ""


def test_how_sure_the_number_of_clusters_is_stands_below_a_table_where_it_was_not_given(
    run, run_json, csv_file
):
    told = run("fit", csv_file, *FAST, "--clusters", 2, "-o", "told.json")
    untold = run("fit", csv_file, *FAST, "-o", "untold.json")
    words = load("untold.json").merge_tree_.suggestion.in_words
    for result in (untold, run("show", "--model", "untold.json")):
        assert f"No number of clusters was given: {words}." in " ".join(result.stdout.split())
    assert "No number" not in told.stdout
    content = run_json("show", "--model", "untold.json")
    assert len(content["clusters"]) in content["nearly_as_good"]
    assert run_json("show", "--model", "told.json")["nearly_as_good"] is None


def test_a_seed_is_warned_of_and_marks_the_model(run, run_json, csv_file):
    result = run("fit", csv_file, *FAST, "--seed", 7, "-o", "a.json")
    assert "NOT SECURE" in result.stderr
    assert "NOT SECURE" in result.stdout
    assert load("a.json").privacy_.secure is False
    content = run_json("fit", csv_file, *FAST, "--seed", 7, "-o", "b.json")
    assert "NOT SECURE" in content["warnings"][0]
    assert content["privacy"]["secure"] is False


def test_warnings_of_the_estimators_reach_stderr(run, run_json, here):
    (here / "tiny.csv").write_text("x\n1\n2\n")
    result = run("fit", "tiny.csv", "--epsilon", 20, "--bounds", "0,9", "-o", "m.json")
    assert "Warning: epsilon=20 is above 10" in result.stderr
    content = run_json("fit", "tiny.csv", "--epsilon", 0.1, "--bounds", "0,9", "-o", "n.json")
    assert any("noise supports no component" in text for text in content["warnings"])


def test_rows_with_missing_values_are_dropped_one_by_one(here, run, run_json, patients):
    rows = ["age,pressure,note"]
    for i, (age, pressure) in enumerate(
        zip(*(column.to_pylist() for column in patients.columns), strict=True)
    ):
        rows += [f"{age!r},{pressure!r},", *([f",{pressure!r},x", "NaN,5,y", "NA,NA,"] if i % 7 == 0 else [])]
    (here / "holes.csv").write_text("\n".join(rows))
    args = ["fit", "holes.csv", *SEEDED, "--columns", "age,pressure"]
    assert "left out, row by row" in run(*args, "--missing", "drop", "-o", "model.json").stdout
    assert load("model.json").mixture_ == fitted(patients).mixture_
    assert run_json(*args, "--missing", "drop", "-o", "again.json")["missing"] == "drop"


def test_private_bounds(run, csv_file):
    run("fit", csv_file, "--epsilon", 5, "--private-bounds", "-o", "model.json")
    assert load("model.json").privacy_.epsilon <= 5


def test_all_rows_of_a_person_are_protected(here, run, patients):
    people = pa.array([f"person {i // 4}" for i in range(len(patients))])
    write(patients.add_column(0, "who", people), here / "visits.csv")
    run("fit", "visits.csv", *FAST, "--unit", "who", "--max-rows", 2, "-o", "model.json")
    model = load("model.json")
    assert model.feature_names_in_.tolist() == ["age", "pressure"]
    assert "at most 2 are used" in model.privacy_.statement
    assert "person" not in (here / "model.json").read_text()


def test_rows_of_nobody_are_refused_or_dropped(here, run):
    (here / "x.csv").write_text("who,a\nme,1\n,2\nyou,3\n")
    args = ["fit", "x.csv", *FAST, "--unit", "who", "--max-rows", 1, "-o", "model.json"]
    assert "missing in the column 'who'" in run(*args, code=1).stderr
    run(*args, "--missing", "drop")


# -- the budget file ----------------------------------------------------------------------------------


def test_a_budget_over_many_fits(here, run, run_json, csv_file):
    args = [
        "fit",
        csv_file,
        "--bounds",
        "0,300",
        "--base",
        "DPMoGHard",
        "--components",
        3,
        "--budget",
        "team.budget",
    ]
    assert "--budget-epsilon" in run(*args, "--epsilon", 1, "-o", "a.json", code=1).stderr
    run(*args, "--epsilon", 1, "-o", "a.json", "--budget-epsilon", 1.5)
    assert run_json("show", "--budget", "team.budget")["spent"] == pytest.approx(1, rel=1e-3)
    result = run(*args, "--epsilon", 1.4, "-o", "b.json", code=3)
    assert "over the budget of 1.5" in result.stderr
    assert not (here / "b.json").exists()
    content = run_json(*args, "--epsilon", 0.5, "-o", "b.json", "--budget-epsilon", 1.5)
    assert content["budget"]["spent"] <= 1.5
    shown = run("show", "--budget", "team.budget").stdout
    assert "by 2 fits" in shown
    assert "the unit is one row." in shown
    assert "May be published: epsilon 1.3125 so far, 1.5 in all." in shown
    assert content["budget"]["publishable"] == 1.3125 == 1.5 * 7 / 8
    assert run_json("show", "--budget", "team.budget")["unit"] == "row"
    assert (
        "cannot be changed"
        in run(*args, "--epsilon", 0.1, "-o", "c.json", "--budget-epsilon", 9, code=1).stderr
    )


def test_a_budget_knows_whose_it_is(here, run, run_json, patients):
    who, visit = ([f"{name} {i // 4}" for i in range(len(patients))] for name in ("a", "b"))
    table = patients.add_column(0, "who", pa.array(who)).add_column(0, "visit", pa.array(visit))
    write(table, here / "visits.csv")
    args = ["fit", "visits.csv", *FAST, "--columns", "age", "--budget", "team.budget", "--force"]
    begun = run(*args, "--unit", "who", "--max-rows", 2, "--budget-epsilon", 20, "-o", "model.json")
    assert "the unit is one who, of which at most 2 rows are used." in begun.stdout
    assert (
        "removing all records of one who, of which at most 2 are used"
        in load("model.json").privacy_.statement
    )
    shown = run_json("show", "--budget", "team.budget")
    assert (shown["unit"], shown["max_rows_per_group"]) == ("who", 2)
    assert run_json("show", "--model", "model.json")["privacy"]["unit"] == "who"
    other = run(*args, "--unit", "visit", "--max-rows", 2, "-o", "b.json", code=1).stderr
    assert "of the unit 'who' as in the ledger, got 'visit'" in other
    more = run(*args, "--unit", "who", "--max-rows", 3, "-o", "b.json", code=1).stderr
    assert "max_rows_per_group must be at most 2" in more
    assert "neighboring must be" in run(*args, "-o", "b.json", code=1).stderr
    assert run_json("show", "--budget", "team.budget")["spent"] == shown["spent"]
    run(*args, "--unit", "who", "--max-rows", 1, "-o", "b.json")


def test_private_bounds_are_part_of_what_a_budget_is_asked_for(here, run, csv_file, monkeypatch):
    monkeypatch.setattr("dpmorse.cli.fit._fitted", lambda *_: pytest.fail("the fit began"))
    args = ["fit", csv_file, "--private-bounds", "--epsilon", 1, "-o", "a.json"]
    result = run(*args, "--budget", "team.budget", "--budget-epsilon", 0.99, code=3)
    assert "over the budget of 0.99" in result.stderr


def test_a_refused_fit_reads_nothing_and_spends_nothing(here, run, csv_file, monkeypatch):
    args = ["fit", csv_file, *FAST[2:], "--budget", "team.budget", "--budget-epsilon", 0.5]
    monkeypatch.setattr(
        "dpmorse.records.files.data_file.DataFile.parts", lambda *_: pytest.fail("data was read")
    )
    run(*args, "--epsilon", 1, "-o", "a.json", code=3)
    assert len((here / "team.budget").read_text().splitlines()) == 1


def test_a_mistake_in_the_data_spends_nothing(here, run, run_json):
    (here / "x.csv").write_text("a\n1\ntext\n")
    args = ["fit", "x.csv", *FAST, "--budget", "team.budget", "--budget-epsilon", 9, "-o", "a.json"]
    run(*args, code=1)
    assert run_json("show", "--budget", "team.budget")["spent"] == 0


# -- bounds -------------------------------------------------------------------------------------------


def test_the_template_has_names_and_nothing_else(here, run):
    (here / "x.csv").write_bytes(b"age,pressure\n\xff\xfe garbage that nobody reads,123\n")
    run("bounds", "x.csv", "-o", "b.toml")
    text = (here / "b.toml").read_text()
    assert '"age" = { lower = "?", upper = "?" }' in text
    assert "123" not in text
    assert run("bounds", "x.csv").stdout == text
    result = run("fit", "x.csv", "--epsilon", 1, "--bounds", "b.toml", "-o", "m.json", code=1)
    assert "not filled in" in result.stderr


def test_the_template_has_the_kinds_of_columns_that_typed_files_state(here, run):
    table = pa.table(
        {
            "a": [1.0],
            "name": ["Zaphod"],
            "n": [7],
            "when": pa.array([0], pa.date32()),
            "at": pa.array([0], pa.timestamp("s")),
            "yes": [True],
            "list": [[1.0]],
            "kind": pa.array(["Zaphod"]).dictionary_encode(),
        }
    )
    for name in ("x.parquet", "x.feather"):
        write(table, here / name)
        text = run("bounds", name).stdout
        assert "Zaphod" not in text
        assert text.partition("[bounds]\n")[2].splitlines() == [
            '"a" = { lower = "?", upper = "?" }',
            '"name" = { values = "?" }',
            '"n" = { lower = "?", upper = "?" }',
            '"when" = { earliest = "?", latest = "?" }',
            '"at" = { earliest = "?", latest = "?" }',
            '"yes" = { boolean = true }',
            '"kind" = { values = "?" }',
        ]


@pytest.mark.parametrize(
    "name", ['a"b', "a\\b", "tab\tnew\nline", "\x1b[31mred", "über \u202ertl", "", "\x7f", "[x] = 1 #", "😀"]
)
def test_any_name_survives_the_template(here, name):
    text = template("x.csv", [line_of(name, empty_entry("number"))], Reading())
    assert all(character.isprintable() or character == "\n" for character in text)
    (here / "b.toml").write_text(text.replace('"?"', "1"))
    assert read_bounds("b.toml").by_column == {name: (1.0, 1.0)}


def test_bounds_as_a_pair():
    assert read_bounds("-1.5, 2e3").of(["a", "b"]) == (-1.5, 2000.0)


# -- the model ----------------------------------------------------------------------------------------


def test_labels_are_those_of_the_estimator_in_batches(here, run, model_file, patients, monkeypatch):
    monkeypatch.setattr("dpmorse.records.files.text.text_file._BLOCK_BYTES", 4096)
    expected = load(model_file).predict(patients).tolist()
    for name in ("x.csv", "x.parquet", "x.feather"):
        shuffled = patients.select(["pressure", "age"]).add_column(
            0, "name", pa.array(["=x"] * len(patients))
        )
        write(shuffled, here / name)
        result = run("predict", name, "--model", model_file, "-o", "labels.parquet", "--force")
        assert "not private" in result.stderr
        assert result.stdout == ""
        assert pa.parquet.read_table("labels.parquet")["cluster"].to_pylist() == expected
    run("predict", "x.csv", "--model", model_file, "-o", "labels.csv", "--quiet")
    assert (here / "labels.csv").read_text().split() == ['"cluster"', *map(str, expected)]


def test_kept_columns_and_blank_labels(here, run, model_file):
    (here / "x.csv").write_text("id,age,pressure\n007,30,110\n=2+3,,120\n-1,40,130\n")
    args = ["predict", "x.csv", "--model", model_file, "--keep", "id", "--keep", "age"]
    assert "missing in the column 'age'" in run(*args, "-o", "a.csv", code=1).stderr
    assert not (here / "a.csv").exists()
    run(*args, "-o", "a.csv", "--missing", "blank")
    lines = (here / "a.csv").read_text().splitlines()
    assert lines[0] == '"id","age","cluster"'
    assert lines[1].startswith('"007",30,')
    assert lines[2] == '"\'=2+3",,'
    assert lines[3].startswith('"\'-1",40,')
    run(*args, "-o", "a.parquet", "--missing", "blank")
    assert pa.parquet.read_table("a.parquet")["id"].to_pylist() == ["007", "=2+3", "-1"]


def test_a_model_without_names_takes_columns_by_position(here, run, patients, csv_file):
    X = np.column_stack(patients.columns)
    model = DPMorse(2, 4, epsilon=5.0, bounds=(0, 300)).fit(X)
    model.save(here / "bare.json")
    run("predict", csv_file, "--model", "bare.json", "-o", "a.csv")
    assert (here / "a.csv").read_text().split()[1:] == list(map(str, model.predict(X)))
    result = run("predict", csv_file, "--model", "bare.json", "--columns", "age", "-o", "b.csv", code=1)
    assert "2 columns without names" in result.stderr
    run("sample", "--model", "bare.json", "--rows", 3, "-o", "s.csv")
    run("predict", "s.csv", "--model", "bare.json", "--columns", "0,1", "-o", "c.csv")


def test_a_cut_is_the_same_fit(run, run_json, model_file):
    content = run_json("cut", "--model", model_file, "--clusters", 2, "-o", "two.json")
    assert len(content["clusters"]) == 2
    assert load("two.json").mixture_ == load(model_file).mixture_
    assert load("two.json").n_clusters_ == 2
    assert "2 clusters of" in run("cut", "--model", "two.json", "--clusters", 2, "-o", "again.json").stdout


def test_samples_have_names_and_clusters(here, run, model_file):
    run("sample", "--model", model_file, "--rows", 50, "-o", "a.csv", "--seed", 4)
    run("sample", "--model", model_file, "--rows", 50, "-o", "b.parquet", "--seed", 4)
    table, other = pa.csv.read_csv("a.csv"), pa.parquet.read_table("b.parquet")
    assert table.column_names == other.column_names == ["age", "pressure", "cluster"]
    assert table["age"].to_pylist() == other["age"].to_pylist()
    assert set(table["cluster"].to_pylist()) <= {0, 1, 2}


def test_samples_of_a_model_that_is_not_secure_say_so(run, csv_file):
    run("fit", csv_file, *SEEDED, "-o", "m.json")
    assert "NOT SECURE" in run("sample", "--model", "m.json", "--rows", 3, "-o", "a.csv").stderr


def test_show_and_report(here, run, run_json, model_file):
    text = run("show", "--model", model_file, "--ledger").stdout
    assert "3 clusters of" in text
    assert "noise count" in text
    content = run_json("show", "--model", model_file)
    assert len(content["privacy"]["releases"]) == len(load(model_file).privacy_.events)
    run("report", "--model", model_file, "-o", "report.html")
    assert "<html" in (here / "report.html").read_text().lower()


def test_a_mixture_without_clusters_can_be_shown_and_sampled(here, run, patients):
    PrivateGaussianMixture(3, epsilon=5.0, bounds=(0, 300)).fit(patients).save(here / "m.json")
    assert "components in 2 columns" in run("show", "--model", "m.json").stdout
    run("sample", "--model", "m.json", "--rows", 3, "-o", "a.csv")
    assert "component" in (here / "a.csv").read_text()
    assert (
        "without clusters" in run("cut", "--model", "m.json", "--clusters", 2, "-o", "n.json", code=1).stderr
    )


def test_a_column_called_cluster_keeps_its_name(here, run):
    (here / "x.csv").write_text("cluster\n" + "\n".join(str(i % 50) for i in range(500)))
    run("fit", "x.csv", *FAST, "-o", "m.json")
    run("sample", "--model", "m.json", "--rows", 3, "-o", "a.csv")
    assert (here / "a.csv").read_text().splitlines()[0] == "cluster,dpmorse_cluster"


def test_many_columns_are_cut_short_on_screen_only(here, run, run_json, rng):
    write(
        pa.table(list(rng.uniform(0, 9, size=(14, 300))), names=[f"column {i}" for i in range(14)]),
        here / "x.parquet",
    )
    shown = run("fit", "x.parquet", *FAST, "-o", "m.json").stdout
    table = shown.split("Not shown: 6 more columns; --json has all.")[0].split("\n  column   ")[1]
    assert "column 7" in table
    assert "column 8" not in table
    assert len(run_json("show", "--model", "m.json")["clusters"][0]["median"]) == 14


# -- demo ---------------------------------------------------------------------------------------------


def test_the_demonstration_writes_files_that_work(here, run):
    result = run("demo", "-o", "demo")
    made = {path.name for path in (here / "demo").iterdir()}
    assert {
        "patients.csv",
        "bounds.toml",
        "model.json",
        "labels.csv",
        "synthetic.csv",
        "clusters.png",
        "report.html",
        "table.csv",
        "table.toml",
        "table-model.json",
        "table-report.html",
    } == made
    assert all(name in result.stdout for name in made)
    run("fit", "demo/patients.csv", "--epsilon", 1, "--bounds", "demo/bounds.toml", "-o", "m.json")
    run("fit", "demo/table.csv", "--epsilon", 1, "--bounds", "demo/table.toml", "-o", "t.json")
    assert "not empty" in run("demo", "-o", "demo", code=1).stderr
    assert "must name a folder" in run("demo", "-o", "m.json", code=1).stderr


def test_the_demonstration_does_without_matplotlib(here, run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "-o", "demo", "--quiet")
    assert "dpmorse[plot]" in result.stderr
    assert not (here / "demo/clusters.png").exists()


def test_gzip_of_other_tools_is_read(here, run):
    with gzip.open(here / "x.csv.gz", "wt") as file:
        file.write("\ufeffa;b\n" + "\n".join(f"{i % 7};{i % 5}" for i in range(300)))
    content = json.loads(run("fit", "x.csv.gz", *FAST, "--separator", ";", "-o", "m.json", "--json").stdout)
    assert content["columns"] == ["a", "b"]
