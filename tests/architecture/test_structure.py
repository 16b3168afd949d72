"""The import graph, the optional libraries and the public names are what the documents say."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dpmorse

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_the_import_rules_hold():
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_optional_libraries_are_not_loaded_by_a_fit():
    code = """
import sys
import numpy as np
import dpmorse
import dpmorse.plots
base = dpmorse.DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1)
dpmorse.MorseClustering(base).fit(np.zeros((9, 2)))
loaded = {"opendp", "matplotlib", "networkx", "polars", "dp_accounting", "dask", "pyspark", "torch"} & set(sys.modules)
sys.exit(f"loaded: {loaded}" if loaded else 0)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_opendp_missing_is_explained(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    from dpmorse.privacy.opendp_noise import OpenDPSampler

    with pytest.raises(dpmorse.DPMorseError, match=r"pip install 'dpmorse\[opendp\]'"):
        OpenDPSampler()


def test_works_where_nothing_can_be_cached(monkeypatch):
    """A read-only installation without a home: numba refuses to cache, and we compile all the same."""
    import numba

    from dpmorse import _compile, _numba

    original = numba.njit

    def no_cache(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return original(*args, **options)

    monkeypatch.setattr(_numba.numba, "njit", no_cache)
    assert _compile.compiled(lambda x: x + 1)(1) == 2


def test_public_names_are_exported_one_by_one():
    """``__init__`` re-exports by name, and every public class and function has a docstring."""
    public = [name for name in dir(dpmorse) if not name.startswith("_") and name[0].isupper()] + ["load"]
    assert {"DPMoG", "DPMoGHard", "GaussianMixture", "Budget", "Ledger", "PrivacyReport"} <= set(public)
    assert all(getattr(dpmorse, name).__doc__ for name in public)


FORBIDDEN_ATTRIBUTES = {"normal", "laplace", "getLogger"}
DRAWN_FROM = {"noise.py": {"laplace"}}
"""The sampler's, which the noise is drawn from."""


def outputs_and_noise(path):
    """Yield what of a module prints, logs or draws noise of NumPy."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES - DRAWN_FROM.get(
            path.name, set()
        ):
            yield node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield "print"


def test_no_module_uses_numpys_noise_or_prints():
    """Noise comes from one sampler; a print or a log is an output that could carry data."""
    assert len(SOURCES) > 100
    found = [f"{path.relative_to(ROOT)}: {name}" for path in SOURCES for name in outputs_and_noise(path)]
    assert not found, found


def test_version_is_stated_once():
    assert f'version = "{dpmorse.__version__}"' in (ROOT / "pyproject.toml").read_text()
