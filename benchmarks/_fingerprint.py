"""Fingerprints of code and records: a stored result is used again only if nothing below it has changed."""

import ast
import hashlib
import platform
from collections.abc import Iterable
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn

import dpmorse

_DIGITS = 12
_HERE = Path(__file__).parent
_DRAWING = "plots"


def fingerprints(folder: Path | None, datasets: Iterable[str]) -> dict[str, str]:
    """Return the fingerprint of code and records of each of the sets in a folder; "" has that of the code."""
    code = _of_code()
    found = {"": code}
    for name in datasets:
        records = hashlib.sha256((folder or Path()).joinpath(f"{name}.parquet").read_bytes())
        found[name] = f"{code}-{records.hexdigest()[:_DIGITS]}"
    return found


def _of_code() -> str:
    """Return a digest of the library, of how runs are made here, and of the versions underneath."""
    package = Path(dpmorse.__file__).parent
    files = [path for path in sorted(package.rglob("*.py")) if _DRAWING not in path.parts]
    digest = hashlib.sha256(_versions().encode())
    records = (path for folder in ("generated", "public") for path in sorted((_HERE / folder).glob("*.py")))
    for path in (*files, *records, _HERE / "_clusterings.py", _HERE / "_experiments.py"):
        digest.update(f"{path.name}\n{meaning(path.read_text(encoding='utf-8'))}\n".encode())
    return digest.hexdigest()[:_DIGITS]


def _versions() -> str:
    libraries = (np, scipy, sklearn, numba)
    return " ".join([platform.python_version(), *(library.__version__ for library in libraries)])


def meaning(source: str) -> str:
    """Return source code without comments, docstrings and layout, which change no result."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
