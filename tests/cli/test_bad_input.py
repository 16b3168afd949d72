"""Mistakes: one sentence that says what is wrong, the right exit code, nothing spent, nothing written."""

import gzip
import json
import os

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from dpmorse import load
from dpmorse.cli.application import app

FAST = ["--epsilon", "9", "--bounds", "0,300", "--base", "DPMoGHard", "--components", "3"]


@pytest.fixture
def fails(run, here):
    """Run a command that must fail and leave nothing; return what it says."""

    def fails(*args, code=1):
        before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}
        result = run(*args, code=code)
        assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before
        assert result.stdout == ""
        assert "Error" in result.stderr
        return result.stderr

    return fails


# -- files --------------------------------------------------------------------------------------------

CONTENTS = {
    "empty": ("x.csv", b"", "must begin with the names"),
    "names only": ("x.csv", b"a,b\n", "no rows"),
    "short rows": ("x.csv", b"a,b\n1,2\n3\n", "more or fewer values"),
    "long rows": ("x.csv", b"a,b\n1,2\n3,4,5\n", "more or fewer values"),
    "another separator": ("x.csv", b"a:b\n1:2\n", "Is its separator another one? Give it"),
    "text": ("x.csv", b"a,b\n1,2\n3,Smith\n", "something else: 'b' (text)"),
    "text, quoted": ("x.csv", b'a,b\n"Smith",2\n', "something else: 'a' (text)"),
    "a missing value": ("x.csv", b"a,b\n1,2\n,3\n", "missing in the column 'a'"),
    "NaN": ("x.csv", b"a,b\n1,2\n3,nan\n", "missing in the column 'b'"),
    "infinity": ("x.csv", b"a,b\n1,2\n3,-inf\n", "infinity is in the column 'b'"),
    "too large": ("x.csv", b"a,b\n1e999,2\n", "infinity is in the column 'a'"),
    "twice the same name": ("x.csv", b"a,b,a\n1,2,3\n", "distinct column names; twice there: 'a'"),
    "a record as names": ("x.csv", b"34.5,120\n35,121\n", "looks like a record"),
    "a record with text as names": ("x.csv", b"Smith,34,120\nJones,35,121\n", "looks like a record"),
    "another encoding": ("x.csv", "größe\n1\n".encode("latin-1"), "in UTF-8"),
    "not gzip": ("x.csv.gz", b"a,b\n1,2\n", "cannot be read"),
    "half a gzip": ("x.csv.gz", b"\x1f\x8b\x08\x00\x00\x00", "cannot be read"),
    "not parquet": ("x.parquet", b"a,b\n1,2\n", "cannot be read"),
    "not feather": ("x.feather", b"a,b\n1,2\n", "cannot be read"),
    "an unknown kind": ("x.xls", b"", "must be a file .csv"),
    "not a workbook": ("x.xlsx", b"", "xlsx"),
    "not an archive": ("x.zip", b"a,b\n1,2\n", "cannot be read"),
    "no ending": ("x", b"a\n1\n", "must be a file .csv"),
    "a packed parquet file": ("x.parquet.gz", b"", "must be a file .csv"),
}


@pytest.mark.parametrize(("name", "content", "message"), CONTENTS.values(), ids=CONTENTS)
def test_files_that_cannot_be_fitted(name, content, message, here, fails):
    (here / name).write_bytes(content)
    said = fails("fit", name, *FAST, "-o", "model.json")
    assert message in said
    assert all(secret not in said for secret in ("Smith", "34", "120", "Jones"))


def test_a_name_that_is_a_position_or_a_year_is_a_name(here, run):
    for i, header in enumerate(["0,1", "1,2", "id,2019,2020,2021"]):
        rows = "\n".join(",".join("1" for _ in header.split(",")) for _ in range(50))
        (here / f"{i}.csv").write_text(f"{header}\n{rows}\n")
        run("fit", f"{i}.csv", *FAST, "-o", f"{i}.json")


def test_a_file_that_is_not_there_or_a_folder(here, fails):
    assert "no file 'none.csv'" in fails("fit", "none.csv", *FAST, "-o", "m.json")
    assert "no file 'none.parquet'" in fails("bounds", "none.parquet")
    (here / "folder.csv").mkdir()
    for command in (("fit", "folder.csv", *FAST, "-o", "m.json"), ("bounds", "folder.csv")):
        assert "no data file in 'folder.csv'" in fails(*command)
    assert "got the folder 'folder.csv'. Give the path of one of its files" in fails("inspect", "folder.csv")


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(csv_file, fails):
    csv_file.chmod(0)
    assert "may not be read" in fails("fit", csv_file, *FAST, "-o", "m.json")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_typed_files_with_other_things_than_numbers(kind, here, fails):
    columns = {
        "name": ["Smith"],
        "when": pa.array([0], pa.timestamp("s")),
        "list": [[1.0]],
        "a": [1.0],
        "none": pa.nulls(1),
    }
    write = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}[kind]
    write(pa.table(columns), here / f"x.{kind}")
    for name in ("name", "when", "list", "none"):
        said = fails("fit", f"x.{kind}", *FAST, "--columns", f"a,{name}", "-o", "m.json")
        assert f"these do not: '{name}'" in said
    write(pa.table({"name": ["Smith"]}), here / f"y.{kind}")
    assert "no column of numbers" in fails("fit", f"y.{kind}", *FAST, "-o", "m.json")


def test_doubled_names_in_typed_files(here, fails):
    pa.feather.write_feather(pa.table([[1.0], [2.0]], names=["a", "a"]), here / "x.feather")
    assert "twice there: 'a'" in fails("fit", "x.feather", *FAST, "-o", "m.json")


# -- options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 2, "--epsilon must be given. A privacy budget has no default"),
        (["--epsilon", "1"], 2, "give either --bounds"),
        (["--epsilon", "1", "--bounds", "0,1", "--private-bounds"], 2, "give either --bounds"),
        (["--epsilon", "one", "--bounds", "0,1"], 2, "--epsilon"),
        (["--epsilon", "-1", "--bounds", "0,1"], 1, "epsilon must be a finite number > 0"),
        (["--epsilon", "inf", "--bounds", "0,1"], 1, "epsilon must be a finite number > 0"),
        (["--epsilon", "1", "--delta", "2", "--bounds", "0,1"], 1, "delta must lie"),
        (["--epsilon", "1", "--bounds", "1,0"], 1, "bounds"),
        (["--epsilon", "1", "--bounds", "1,1"], 1, "bounds"),
        (["--epsilon", "1", "--bounds", "a,b"], 1, "two finite numbers"),
        (["--epsilon", "1", "--bounds", "0,inf"], 1, "two finite numbers"),
        (["--epsilon", "1", "--bounds", "1,2,3"], 1, "dpmorse bounds FILE"),
        (["--epsilon", "1", "--bounds", "none.toml"], 1, "dpmorse bounds FILE"),
        (["--epsilon", "1", "--bounds", "."], 1, "dpmorse bounds FILE"),
        ([*FAST, "--clusters", "0"], 1, "--clusters must be a number >= 1 or auto"),
        ([*FAST, "--clusters", "some"], 1, "--clusters must be a number >= 1 or auto"),
        ([*FAST, "--clusters", "4"], 1, "at most the number of components of the base, 3"),
        (
            ["--epsilon", "1", "--bounds", "0,1", "--components", "2", "--clusters", "4"],
            1,
            "at least n_clusters",
        ),
        ([*FAST, "--components", "0"], 2, "--components"),
        ([*FAST, "--base", "KMeans"], 1, "--base must be one of DPMorse, PrivateGaussianMixture"),
        ([*FAST, "--neighboring", "x"], 1, "neighboring must be one of"),
        ([*FAST, "--columns", "height"], 1, "no column 'height'. It has 'age', 'pressure'"),
        ([*FAST, "--columns", "age,age"], 1, "each column once"),
        ([*FAST, "--unit", "age"], 2, "--unit and --max-rows go together"),
        ([*FAST, "--max-rows", "2"], 2, "--unit and --max-rows go together"),
        ([*FAST, "--unit", "who", "--max-rows", "2"], 1, "no column 'who'"),
        ([*FAST, "--unit", "age", "--max-rows", "2", "--columns", "age"], 1, "neither that of the unit"),
        ([*FAST, "--unit", "age", "--max-rows", "2", "--neighboring", "replace-one"], 1, "replace-one"),
        ([*FAST, "--missing", "guess"], 2, "--missing must be refuse or drop"),
        ([*FAST, "--missing", "drop", "--neighboring", "replace-one"], 1, "who has missing values"),
        ([*FAST, "--separator", "ab"], 1, "separator must be one character"),
        ([*FAST, "--seed", "-1"], 2, "--seed"),
        ([*FAST, "--frobnicate"], 2, "--frobnicate"),
        ([*FAST, "--budget", "team.budget"], 1, "--budget-epsilon"),
        ([*FAST, "--budget", "team.budget", "--budget-epsilon", "0"], 1, "epsilon must be"),
        ([*FAST, "--budget", "."], 1, "Is a directory"),
        ([*FAST, "--budget", "patients.csv"], 1, "is not a budget file"),
    ],
)
def test_options_that_cannot_be_used(args, code, message, csv_file, fails):
    said = fails("fit", csv_file.name, *args, "-o", "model.json", code=code)
    assert message in " ".join(said.split())


# -- bounds files -------------------------------------------------------------------------------------

GOOD = "age = { lower = 0, upper = 110 }\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'[bounds]\n{GOOD}pressure = {{ lower = "?", upper = 3 }}', "not filled in"),
        (f"[bounds]\n{GOOD}height = {{ lower = 0, upper = 3 }}", "of the bounds file: 'height'"),
        ("[bounds]\nage = { lower = 0 }", "'b.toml', column 'age' lacks the key 'upper'"),
        ("[bounds]\nage = { lower = 0, upper = 1, middle = 2 }", "column 'age' has the key 'middle'"),
        ("[bounds]\nage = [0, 1]", "column 'age' must be a table such as { lower = 0, upper = 120 }"),
        ("[bounds]\nage = { lower = true, upper = 1 }", "finite numbers"),
        ("[bounds]\nage = { lower = 0, upper = inf }", "finite numbers"),
        ('[bounds]\nage = { lower = "0", upper = 1 }', "finite numbers"),
        (f"[bounds]\nage = {{ lower = 0, upper = {10**400} }}", "too large"),
        ("[bounds]\nage = { lower = 5, upper = 1 }", "bounds"),
        ("[bounds]", "must have a part [bounds]"),
        ("", "must have a part [bounds]"),
        (f"[other]\n{GOOD}", "must have a part [bounds]"),
        ("bounds = 3", "must have a part [bounds]"),
        ("[bounds\n", "is not a TOML file"),
        (f"[bounds]\n{GOOD}{GOOD}", "line 3 of 'b.toml' cannot be read"),
    ],
)
def test_bounds_files_that_cannot_be_used(content, message, here, csv_file, fails):
    (here / "b.toml").write_text(content)
    said = fails("fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "-o", "model.json")
    assert message in said


def test_a_bounds_file_without_a_column_that_is_asked_for(here, csv_file, fails):
    (here / "b.toml").write_text(f"[bounds]\n{GOOD}")
    said = fails(
        "fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "--columns", "age,pressure", "-o", "m.json"
    )
    assert "there are none for 'pressure'" in said


def test_a_bounds_file_that_is_not_text(here, csv_file, fails):
    (here / "b.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not a TOML file" in fails(
        "fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "-o", "m.json"
    )


# -- models -------------------------------------------------------------------------------------------

COMMANDS = {
    "show": ["show", "--model", "model.json"],
    "cut": ["cut", "--model", "model.json", "--clusters", "2", "-o", "out.json"],
    "sample": ["sample", "--model", "model.json", "--rows", "3", "-o", "out.csv"],
    "report": ["report", "--model", "model.json", "-o", "out.html"],
    "predict": ["predict", "patients.csv", "--model", "model.json", "-o", "out.csv"],
}
commands = pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)


@commands
def test_a_file_that_is_no_model(args, here, csv_file, fails):
    (here / "model.json").write_text("{}")
    assert "'model.json' cannot be used as a model: this is not a dpmorse model file" in fails(*args)


@commands
def test_a_model_of_a_newer_version(args, model_file, csv_file, fails):
    model_file.write_text(json.dumps({**json.loads(model_file.read_text()), "version": 999}))
    assert "Upgrade dpmorse" in fails(*args)


@commands
def test_a_model_that_was_edited(args, model_file, csv_file, fails):
    model_file.write_text(model_file.read_text().replace('"secure": true', '"secure": false'))
    assert "the file is damaged or was edited" in fails(*args)


@commands
def test_a_model_that_is_not_there(args, csv_file, fails):
    assert "model.json: No such file" in fails(*args)


def test_more_clusters_than_components(model_file, fails):
    assert "n_clusters must be at most" in fails(
        "cut", "--model", "model.json", "--clusters", 99, "-o", "o.json"
    )
    assert "--clusters" in fails("cut", "--model", "model.json", "--clusters", 0, "-o", "o.json", code=2)


def test_labels_for_a_table_with_other_columns(here, model_file, fails):
    (here / "x.csv").write_text("age,height\n1,2\n")
    args = ["predict", "x.csv", "--model", "model.json"]
    assert "no column 'pressure'. It has 'age', 'height'" in fails(*args, "-o", "o.csv")
    (here / "x.csv").write_text("age,pressure\n1,Smith\n")
    said = fails(*args, "-o", "o.csv")
    assert "something else: 'pressure' (text)" in said
    assert "Smith" not in said
    assert "must end in .csv or .parquet" in fails(*args, "-o", "o.xlsx")
    assert "this one finds its own" in fails(*args, "--columns", "age", "-o", "o.csv")
    assert "no column 'id'" in fails(*args, "--keep", "id", "-o", "o.csv")
    assert "--missing must be" in fails(*args, "--missing", "x", "-o", "o.csv", code=2)


def test_nested_columns_are_not_copied_to_csv(here, model_file, fails):
    table = pa.table({"age": [1.0], "pressure": [2.0], "list": [[1, 2]], "raw": [b"\xff"]})
    pa.parquet.write_table(table, here / "x.parquet")
    for name in ("list", "raw"):
        args = ["predict", "x.parquet", "--model", "model.json", "--keep", name]
        assert f"the column '{name}' cannot be written as CSV" in fails(*args, "-o", "o.csv")


@pytest.mark.parametrize("output", ["o.csv", "o.parquet"])
@pytest.mark.parametrize(
    "odd",
    [pa.array([{}], pa.struct([])), pa.array([0], pa.timestamp("s", "Nowhere/Else"))],
    ids=["nothing", "no such place"],
)
def test_columns_of_odd_types_are_copied_or_refused(odd, output, here, model_file, run):
    """Types that pyarrow has and cannot write, as a damaged file may state them."""
    table = pa.table({"age": [1.0], "pressure": [2.0], "odd": odd})
    pa.feather.write_feather(table, os.fspath(here / "x.feather"))
    args = ["predict", "x.feather", "--model", "model.json", "--keep", "odd", "-o", output]
    if output.endswith(".csv") or pa.types.is_struct(odd.type):
        assert "cannot be written" in run(*args, code=1).stderr
        assert not (here / output).exists()
    else:
        run(*args)


def test_show_wants_one_thing(model_file, fails):
    assert "either a model or --budget" in fails("show", code=2)
    assert "no budget file" in fails("show", "--budget", "none")


# -- outputs ------------------------------------------------------------------------------------------


def test_nothing_is_replaced_unasked(here, csv_file, model_file, fails, run):
    (here / "out.csv").write_text("mine")
    (here / "out.html").write_text("mine")
    (here / "out.json").write_text("mine")
    for args in (["fit", csv_file, *FAST, "-o", "out.json"], ["bounds", csv_file, "-o", "out.csv"]):
        assert "exists. Give another -o, or --force" in fails(*args)
    for args in list(COMMANDS.values())[1:]:
        assert "exists. Give another -o, or --force" in fails(*args)
        run(*args, "--force")
    assert all((here / name).read_text() != "mine" for name in ("out.csv", "out.html", "out.json"))


def test_what_is_read_is_never_replaced(csv_file, model_file, fails):
    for args in (
        ["fit", csv_file, *FAST],
        ["bounds", csv_file],
        ["predict", csv_file, "--model", model_file],
    ):
        assert "must not be the file that is read" in fails(*args, "-o", csv_file, "--force")
    args = ["sample", "--model", model_file, "--rows", 3]
    assert "must not be the file that is read" in fails(
        "report", "--model", model_file, "-o", model_file, "--force"
    )
    assert "must end in" in fails(*args, "-o", model_file, "--force")


def test_places_where_nothing_can_be_written(here, csv_file, fails):
    (here / "folder").mkdir()
    assert "got the folder 'folder'" in fails("fit", csv_file, *FAST, "-o", "folder", "--force")
    assert "'none' does not exist" in fails("fit", csv_file, *FAST, "-o", "none/m.json")


def test_a_cut_may_replace_its_own_model(model_file, run):
    run("cut", "--model", model_file, "--clusters", 1, "-o", model_file, "--force")
    assert load(model_file).n_clusters_ == 1


# -- hostile files ------------------------------------------------------------------------------------


def test_a_damaged_feather_file_cannot_crash_the_process(here, model_file, fails):
    """A column that states more values than it has bytes was read beyond its end."""
    table = pa.table({"age": [1.0] * 1000, "pressure": [2.0] * 1000})
    pa.feather.write_feather(table, os.fspath(here / "x.feather"), compression="uncompressed")
    data = (here / "x.feather").read_bytes()
    stated, real = (n.to_bytes(8, "little") for n in (8_000_000_000, 1000))
    assert data.count(real) > 1
    (here / "x.feather").write_bytes(data.replace(real, stated))
    said = fails("predict", "x.feather", "--model", "model.json", "-o", "o.csv")
    assert "cannot be read" in said


@pytest.mark.parametrize("content", [b"a" * (3 << 20), b'"' + b"a,\n" * (1 << 20)], ids=["long", "quoted"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_a_first_line_without_end_is_not_read_to_its_end(name, content, here, fails):
    packed = gzip.compress(content) if name.endswith(".gz") else content
    (here / name).write_bytes(packed)
    assert "too long for names" in fails("bounds", name) or "cannot be read" in fails("bounds", name)


def test_a_first_line_may_be_long(here, run):
    names = [f"{'x' * 50}{i}" for i in range(10_000)]
    (here / "x.csv").write_text(",".join(names) + "\n")
    assert run("bounds", "x.csv").stdout.count('" = {') == 10_000


def test_bounds_files_that_would_take_all_memory_or_time(here, csv_file, fails):
    """TOML's dotted keys cost the square of their length: 200 kB of them took all memory."""
    args = ["fit", csv_file, "--epsilon", 1, "--bounds", "b.toml", "-o", "model.json"]
    for content in (".".join(["a"] * 50_000) + " = 1\n", f"[bounds]\n{GOOD}#" + "x" * (1 << 20)):
        (here / "b.toml").write_text(content)
        assert "is larger than any bounds file, or is none" in fails(*args)


# -- hostile names ------------------------------------------------------------------------------------

HOSTILE = "\x1b]0;owned\x07\x1b[31m=cmd|'/c calc'!A0\u202e"


@pytest.mark.parametrize(
    "args",
    [
        ["bounds", "a.csv", HOSTILE],
        ["bounds", f"--{HOSTILE}"],
        [HOSTILE],
        [f"--{HOSTILE}"],
        ["fit", "a.csv", "-o", "m.json", "--epsilon", HOSTILE],
        ["fit", "a.csv", "-o", "m.json", "--epsilon", "1", "--missing", HOSTILE],
        ["show", "--model", "\udcff\x1b"],
    ],
)
def test_arguments_cannot_command_a_terminal(args, here):
    """A shell may have put names of files there; as on a terminal, nothing is stripped from the output."""
    result = CliRunner().invoke(app, args, prog_name="dpmorse", color=True)
    assert result.exit_code in {1, 2}
    assert result.output
    assert all(character.isprintable() or character == "\n" for character in result.output), result.output


def test_names_cannot_command_a_terminal_or_a_spreadsheet(here, run, run_json):
    table = pa.table(
        {HOSTILE: [float(i % 10) for i in range(500)], "=1+1": [float(i % 7) for i in range(500)]}
    )
    pa.parquet.write_table(table, here / "x.parquet")
    outputs = [
        run("fit", "x.parquet", *FAST, "-o", "m.json").output,
        run("show", "--model", "m.json").output,
        run("show", "--model", "m.json", "--json").output,
        run("bounds", "x.parquet").output,
        run("fit", "x.parquet", *FAST, "--columns", "none", "-o", "n.json", code=1).output,
        run("fit", "x.parquet", *FAST, "--columns", HOSTILE + "?", "-o", "n.json", code=1).output,
        run("fit", HOSTILE, *FAST, "-o", "n.json", code=1).output,
        run("sample", "--model", "m.json", "--rows", 3, "-o", "s.csv").output,
        run("predict", "x.parquet", "--model", "m.json", "-o", "l.csv", "--keep", HOSTILE).output,
    ]
    for output in outputs:
        assert all(character.isprintable() or character == "\n" for character in output), output
    assert "\\x1b" in outputs[0]
    header = (here / "s.csv").read_text().splitlines()[0]
    assert ",'=1+1," in header
    assert run_json("show", "--model", "m.json")["columns"][0] == HOSTILE
