"""Kernels are compiled when they are called, their parts once; it is told once, to those who can see it."""

import gc
import importlib.util
import subprocess
import sys

import numba
import numpy as np
import pytest

from dpmorse import PrivateGaussianMixture
from dpmorse._compile import compilation_told, compiled
from dpmorse.cli.progress import compiling_told


@compiled
def _part(values, place):
    return 3.0 * values[place]


@compiled
def kernel(values, place):
    return _part(values, 0) + _part(values, place)


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Let nothing be compiled, here or on the disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    for each in (_part, kernel):
        vars(each).pop("dispatcher", None)


def compile_something():
    kernel(np.ones(1), 0)
    return numba.njit(lambda x: x + 1)(1)


def test_a_part_is_compiled_once_for_numbers_and_variables(fresh):
    """And never made machine code: it is in that of the kernel that calls it."""
    assert kernel(np.array([2.0, 5.0]), 1) == 21.0
    (types,) = _part.dispatcher.signatures
    assert str(types[1]) == "int64"
    library = _part.dispatcher.overloads[types].library
    assert library.get_pointer_to_function(library.name) == 0
    assert kernel.dispatcher.nopython_signatures


@pytest.mark.parametrize("collected", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
def test_compiling_leaves_the_collector_of_garbage_as_it_was(fresh, collected, frozen):
    """Also what was frozen before, and where the function cannot be compiled."""
    before = gc.isenabled()
    try:
        if frozen:
            gc.freeze()
        n_frozen = gc.get_freeze_count()
        (gc.enable if collected else gc.disable)()
        kernel(np.ones(2), 1)
        assert gc.isenabled() == collected
        with pytest.raises(numba.TypingError):
            kernel("text", object)
        assert gc.isenabled() == collected
        assert (gc.get_freeze_count() > 0) == (n_frozen > 0) == frozen
    finally:
        gc.unfreeze()
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize(
    "what",
    [
        "from dpmorse import DPMorse, load",
        "import dpmorse; dpmorse.load(path)",
        "from dpmorse.cli.application import app; app(['show', path], standalone_mode=False)",
    ],
)
def test_released_values_are_read_without_a_compiler(what, tmp_path):
    """A base without a tree; trees and densities are computed by kernels."""
    path = tmp_path / "model.json"
    X = np.random.default_rng(0).normal(size=(300, 3))
    PrivateGaussianMixture(2, epsilon=1.0, bounds=(-4, 4), random_state=0).fit(X).save(path)
    script = f"import sys\npath = {str(path)!r}\n{what}\nprint('loaded', 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded False\n")


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
    assert sum(module.f.dispatcher.stats.cache_hits.values()) == 1


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
