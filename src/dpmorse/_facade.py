"""Packages that show their names without loading their files.

The names of a package are listed in its stub, ``__init__.pyi``, which type checkers read as well. The file
that a name comes from is loaded when the name is first asked for (SPEC 1 of Scientific Python). So a module
loads what it uses and nothing else, and what needs an optional library can be listed beside the rest.
"""

import ast
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def names_of(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose ``__init__.py`` is ``file``."""
    data = pkgutil.get_data(package, f"{Path(file).stem}.pyi")  # in a folder or in a zip file
    if data is None:
        raise ImportError(f"{package} is not complete: its list of names, __init__.pyi, is missing")
    stub = ast.parse(data.decode())
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
        part_of_it = module == package  # a package inside
        value = _loaded(f"{package}.{name}") if part_of_it else getattr(_loaded(module), attribute)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    def listed() -> list[str]:
        return sorted({*origin, *vars(sys.modules[package])})

    return get, listed, sorted(name for name, (module, _) in origin.items() if module != package)


def _loaded(module: str) -> ModuleType:
    """Load a module; an error in it must not look as if a name were missing."""
    try:
        return import_module(module)
    except AttributeError as error:
        raise ImportError(f"{module} could not be loaded: {error}") from error
