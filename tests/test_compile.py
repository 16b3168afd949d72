"""What is compiled is told once, to those who can see it."""

import sys

import numba
import pytest

from dpmorse._compile import compilation_told
from dpmorse.cli.progress import compiling_told


def compile_something():
    return numba.njit(lambda x: x + 1)(1)


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
