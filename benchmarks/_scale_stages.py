"""The time outside of passes over records: loading the library, and the tree of a released mixture."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks._measure import seconds
from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree

_REPEATS = 10
SIZES = ((8, 25), (64, 50), (256, 13))
"""Columns and components of the mixtures whose trees are timed."""


def start_up() -> dict[str, float]:
    """Return the time to load the library, and the libraries below it, and the CPU time of a first fit."""
    found = {name: seconds(partial(_process, words), _REPEATS) for name, words in _PROCESSES.items()}
    return {
        **{f"{name}, s": value for name, value in found.items()},
        "dpmorse --version / import typer": found["dpmorse --version"] / found["import typer"],
        "import dpmorse / import sklearn.base, numba": found["import dpmorse"]
        / found["import sklearn.base, numba"],
        "from dpmorse import DPMorse / import sklearn.base, numba": found["from dpmorse import DPMorse"]
        / found["import sklearn.base, numba"],
        **_first_fits(),
    }


def _first_fits() -> dict[str, float]:
    """Return the CPU time of a process that fits and finds nothing compiled, and of the next process."""
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first fit, which compiles", "the same in the next process"):
            before = _cpu_of_children()
            _process(("-W", "ignore", "-c", _FIT), {"NUMBA_CACHE_DIR": cache})
            found[f"{name}, CPU s"] = _cpu_of_children() - before
    return found


def _cpu_of_children() -> float:
    """Return the CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_FIT = """
import numpy as np
from dpmorse import DPMorse
DPMorse(3, epsilon=1.0, bounds=(-4, 4)).fit(np.random.default_rng(0).normal(size=(5000, 5)))
"""

_PROCESSES = {
    "dpmorse --version": ("-m", "dpmorse.cli", "--version"),
    **{
        code: ("-c", code)
        for code in (
            "import typer",
            "import dpmorse",
            "from dpmorse import DPMorse",
            "import sklearn.base, numba",
        )
    },
}


def _process(words: tuple[str, ...], variables: Mapping[str, str] = MappingProxyType({})) -> None:
    environment = {**os.environ, **variables}
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True, env=environment)


def trees() -> dict[str, Any]:
    """Return the seconds of the Morse step, of the clock and of all cores, by the size of the mixture."""
    merge_tree(random_mixture(3, 4))
    merge_tree(random_mixture(40, 3))  # load and compile
    return {f"{d} columns, {k} components": _tree(random_mixture(d, k)) for d, k in SIZES}


def _tree(mixture: GaussianMixture) -> dict[str, float]:
    start, clock = time.process_time(), time.perf_counter()
    tree = merge_tree(mixture)
    return {
        "seconds": time.perf_counter() - clock,
        "CPU seconds": time.process_time() - start,
        "modes": tree.n_modes,
    }


def random_mixture(n_columns: int, n_components: int, seed: int = 0) -> GaussianMixture:
    """Return Gaussians whose covariances differ, with centres in a box."""
    rng = np.random.default_rng(seed)
    roots = 0.3 * rng.standard_normal((n_components, n_columns, n_columns)) / np.sqrt(n_columns)
    covariances = roots @ roots.swapaxes(1, 2) + 0.05 * np.eye(n_columns)
    centres = rng.uniform(-1, 1, (n_components, n_columns))
    return GaussianMixture(np.full(n_components, 1 / n_components), centres, covariances)
