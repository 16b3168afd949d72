"""What is compiled is told once, to those who can see it."""

import importlib.util
import sys

import numba
import pytest

from dpmorse._compile import compilation_told
from dpmorse.cli.progress import compiling_told


def compile_something():
    return numba.njit(lambda x: x + 1)(1)


OF_A_VERSION = """
from typing import NamedTuple
from dpmorse._compile import compiled

class {name}(NamedTuple):
    a: int

@compiled
def f(one):
    return one.a + {more}

def found():
    return f({name}(1))
"""


def test_an_update_that_renames_a_type_is_compiled_anew(tmp_path, monkeypatch):
    """The cache of the older version stays where it was, under the same name."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kernels_of_a_version.py"
    for name, more in (("Room", 1), ("Rooms", 20), ("Rooms", 20)):
        path.write_text(OF_A_VERSION.format(name=name, more=more))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        assert module.found() == 1 + more
    assert sum(module.f.stats.cache_hits.values()) == 1


def test_compilation_is_told_once_and_only_where_it_happens():
    told = []
    compile_something()
    with compilation_told(lambda: told.append(1)):
        pass
    assert not told
    with compilation_told(lambda: told.append(1)):
        compile_something()
        compile_something()
    compile_something()
    assert told == [1]


@pytest.mark.parametrize(("shown", "terminal", "said"), [(True, True, 1), (False, True, 0), (True, False, 0)])
def test_a_person_at_a_terminal_learns_why_the_first_fit_takes_long(
    shown, terminal, said, monkeypatch, capsys
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with compiling_told(shown=shown):
        compile_something()
    assert capsys.readouterr().err.count("Compiling, once for this installation") == said
