"""The house as a guest finds it: packages import from packages, and no chain of imports is long."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

import dpmorse
from dpmorse.schema import KINDS
from own_process import printed_by

ROOT = Path(dpmorse.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
FACADES = sorted(name for name, path in MODULES.items() if path.with_suffix(".pyi").exists())
LONGEST_CHAIN = 18
ROOMS = sorted(path.parent.name for path in (ROOT / "bases").glob("*/__init__.py"))
UNREACHABLE = (
    "dpmorse.records",
    "dpmorse.engine",
    "dpmorse.privacy.mechanism",
    "dpmorse.privacy.exact.opened",
)
MOST_AROUND = 18
SPARK = ("SparkEngine", "SparkParts")


def imported(name):
    """Return the modules that a module imports where it is loaded, not inside of functions."""
    pending, found = list(ast.parse(MODULES[name].read_text()).body), set()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & set(MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & set(MODULES) or {node.module} & set(MODULES)
        pending += ast.iter_child_nodes(node)
    return found - {name}


@cache
def chain(name):
    return (name, *max((chain(other) for other in imported(name)), key=len, default=()))


def test_no_chain_of_imports_is_long():
    longest = max(map(chain, MODULES), key=len)
    assert len(longest) <= LONGEST_CHAIN, " > ".join(longest)


def test_packages_import_from_packages():
    """But for what only the private tower may open, and for sources of random bytes: those have import rules."""
    around = [
        f"{name} -> {other}"
        for name in MODULES
        for other in imported(name)
        if other.count(".") > 1 and other.split(".")[1] != [*name.split("."), ""][1]
    ]
    assert len(around) <= MOST_AROUND, "\n".join(around)
    allowed = {
        "dpmorse.privacy.exact",
        "dpmorse.privacy.sampler",
        "dpmorse.privacy.random_bytes",
        "dpmorse.privacy.opendp_noise",
    }
    assert {line.split(" -> ")[1] for line in around} <= allowed


@pytest.mark.parametrize("name", FACADES)
def test_all_that_a_package_lists_is_there(name):
    package = __import__(name, fromlist=["__all__"])
    assert set(package.__all__) < set(dir(package))
    for listed in package.__all__:
        if listed not in {"DaskEngine", "DataFile", "DataFiles", *SPARK}:  # need an optional library
            assert getattr(package, listed) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018 - asked for


def test_a_package_loads_what_is_asked_for_and_nothing_else():
    said = printed_by(
        "import sys\n"
        "import dpmorse\n"
        "print('torch' in sys.modules, 'dask' in sys.modules, 'dpmorse.engine.dask_partitions' in sys.modules)"
    )
    assert said.split() == ["False"] * 3


def test_nothing_is_loaded_that_is_not_needed():
    """Neither by the name of the package nor by the command line before a command is called."""
    for script in (
        "import dpmorse",
        "from dpmorse.cli.application import app; app(['--help'], standalone_mode=False)",
    ):
        said = printed_by(
            f"import sys\n{script}\nprint('loaded', {{'numpy', 'sklearn', 'numba', 'pyarrow', 'rich'}} & set(sys.modules))"
        )
        assert said.endswith("loaded set()\n"), said


def test_packages_inside_are_there_when_they_are_asked_for():
    assert printed_by("import dpmorse; print(dpmorse.densities.__name__)").strip() == "dpmorse.densities"
    assert "densities" not in dpmorse.__all__


def listed_in(package):
    """Return where the names of a package come from."""
    body = ast.parse(MODULES[package].with_suffix(".pyi").read_text()).body
    statements = [statement for statement in body if isinstance(statement, ast.ImportFrom)]
    return {alias.asname: statement.module for statement in statements for alias in statement.names}


def behind_facades(module):
    """Yield where a module's imports from the lists of packages come from."""
    for statement in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(statement, ast.ImportFrom) and statement.module in FACADES:
            yield from (listed_in(statement.module).get(alias.name, "") for alias in statement.names)


def test_the_rooms_of_the_bases_reach_no_records_through_a_facade():
    """Import rules see the facade and not what is behind it; this looks behind it."""
    assert "staged" in ROOMS
    of_rooms = [
        name for name in MODULES if name.startswith(tuple(f"dpmorse.bases.{room}." for room in ROOMS))
    ]
    around = [(name, origin) for name in of_rooms for origin in behind_facades(name)]
    assert around
    assert not [(name, origin) for name, origin in around if origin.startswith(UNREACHABLE)]


def test_an_import_rule_holds_every_room():
    """The rules are written by hand; a room that is not in them would reach what it likes."""
    contracts = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    (rule,) = [contract for contract in contracts if "rooms of the bases" in contract["name"]]
    assert set(rule["source_modules"]) == {f"dpmorse.bases.{room}" for room in ROOMS}


def named(node):
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def test_no_column_is_asked_for_its_kind():
    """What is done with a kind of column is a method of it, so that a new kind is one file."""
    kinds = {kind.__name__ for kind in KINDS}
    asked = [
        f"{name}, line {node.lineno}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and named(node.func) & {"isinstance", "issubclass"}
        and named(node) & kinds
    ]
    assert asked == []
