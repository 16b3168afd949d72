"""Packages that show their names without loading their files.

The names of a package are listed in its stub, ``__init__.pyi``, which type checkers read as well. The file
that a name comes from is loaded when the name is first asked for (SPEC 1 of Scientific Python). So a module
loads what it uses and nothing else, and what needs an optional library can be listed beside the rest.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def names_of(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose ``__init__.py`` is ``file``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    origin = {
        alias.asname or alias.name: (statement.module, alias.name)
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        for alias in statement.names
    }

    def get(name: str) -> Any:
        if name not in origin:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = origin[name]
        value = getattr(import_module(module), attribute)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    return get, lambda: sorted(origin), sorted(origin)
