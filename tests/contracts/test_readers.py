"""What every way into the library must do: read each record by itself. All of them are in one list."""

import ast
import importlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from audits.attacks.by_itself import UNITS, dependent, moved, neighbours, tables_for
from audits.readers import READERS, shelf
from audits.readers.hostile import Code
from dpmorse import DPMorse, InvalidParameterError, Numeric, records
from dpmorse.records import open_records
from dpmorse.records.databases import arrow_tables
from dpmorse.records.files import data_file, packed
from needed import skip_or_fail

pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise, of Spark, of Dask, of Ibis

IN_ENGINES = {"Spark", "tensor"}
"""Readers that have an environment of their own, see the Makefile."""

HERE = [reader for reader in READERS if (reader.name in IN_ENGINES) == (find_spec("pyspark") is not None)]

SOURCE = Path(records.__file__).parent

NO_READERS = {"Values", "Records", "GivenRecords", "StreamedRecords", "BatchedTable", "TextFile"}
"""Protocols, bases, and what a DataFile reads through."""


@pytest.fixture(scope="module")
def place():
    with shelf() as place:
        yield place


@pytest.fixture(params=HERE, ids=lambda reader: reader.name)
def reader(request):
    missing = request.param.missing()
    if missing and find_spec("duckdb") is None and find_spec("pyspark") is None:
        pytest.skip(missing)  # the oldest dependencies, without databases
    if missing:
        skip_or_fail(missing)
    return request.param


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_a_record_is_read_by_itself(reader, seed, place):
    for table in tables_for(reader, np.random.default_rng(seed), 12 if reader.name == "file .xlsx" else 24):
        odd = dependent(reader, table, place)
        assert not odd, [table.rows[i] for i in odd]


@pytest.mark.parametrize(("unit", "relation"), UNITS)
def test_a_hostile_neighbour_moves_what_is_paid_for(reader, unit, relation, place):
    for numbers in (False, True) if reader.number_kinds else (False,):
        pair = neighbours(reader, np.random.default_rng(7), unit, relation, numbers=numbers)
        questions = list(moved(reader, pair, place))
        assert questions
        assert max(far for _, far in questions) <= 1 + 1e-9, questions


def _classes():
    """Return the classes of the library that hold values, hold tables, or hand out records."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            methods = {part.name for part in getattr(node, "body", ()) if isinstance(part, ast.FunctionDef)}
            if isinstance(node, ast.ClassDef) and methods & {
                "floats",
                "parts",
                "described_by",
                "read",
                "reads",
            }:
                yield ".".join(path.relative_to(SOURCE).with_suffix("").parts), node.name


def test_every_reader_is_on_the_list():
    """A new class of values or tables, kind of file or library must be tried like all others."""
    covered = {part for reader in READERS for part in reader.covers}
    classes = {name for _, name in _classes()} - NO_READERS
    endings = {*data_file._KINDS, *(f".csv{packing}" for packing in packed.COMPRESSIONS), ".zip"}
    wanted = classes | endings | set(arrow_tables._OPENERS) | {"ADBC", "stream", "RemotePath"}
    assert not wanted - covered, "add a reader to audits/readers, so that the contract is tried on it"
    assert not covered - wanted, "a reader covers what is not there any more"


def test_readers_go_through_what_they_cover(reader, place, monkeypatch):
    """The list would be worth nothing if a reader named classes that it does not use."""
    modules = {name: module for module, name in _classes()}
    used = set()

    def watched(kind, method):
        original = getattr(kind, method)

        def noting(self, *arguments, **options):
            used.add(kind.__name__)
            return original(self, *arguments, **options)

        monkeypatch.setattr(kind, method, noting)

    for name in set(reader.covers) & set(modules):
        kind = getattr(importlib.import_module(f"dpmorse.records.{modules[name]}"), name)
        for method in {"floats", "objects", "parts", "described_by", "each", "reads"} & set(vars(kind)):
            watched(kind, method)
    table = tables_for(reader, np.random.default_rng(0), 6)[0]
    reader.encoded(table, place)
    assert used == set(reader.covers) & set(modules)


def test_lists_for_which_numpy_has_no_type():
    """NumPy's own error quotes a value, and one record must not change how the others are read."""
    X = [[2**53 + 1, 0.1], [Code.TWO, np.longdouble(1)]]
    with pytest.raises(RuntimeError, match="TWO"):
        np.asarray(X)
    assert open_records(X).each(None, np.asarray).tolist() == [[2.0**53, 0.1], [2.0, 1.0]]


def test_what_cannot_be_read_is_refused_where_the_schema_says_so_and_not_shown():
    for odd in ("Zebulon", b"Zebulon", float("inf"), 10**400, object()):
        with pytest.raises(InvalidParameterError, match="finite numbers in the columns 'age'") as raised:
            DPMorse(2, epsilon=1.0, columns={"age": Numeric(0, 1)}).fit([[odd], [0.5]])
        assert "Zebulon" not in str(raised.value)
