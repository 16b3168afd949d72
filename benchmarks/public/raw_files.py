"""From the files as their authors published them to records and labels.

Each function takes the paths of the raw files of a dataset, in order, and returns records of shape
(n_samples, n_features), unscaled and in the order of the files, and labels of shape (n_samples,).
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpmorse.typing import FloatArray, IntArray

_SLOAN_CLASSES = ("STAR", "GALAXY", "QSO")
_MAGIC_CLASSES = ("g", "h")


def read_shuttle(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read lines of nine integers and the class, 1 to 7, with commas between them."""
    table = np.loadtxt(paths[0], delimiter=",", ndmin=2)
    return table[:, :-1], table[:, -1].astype(np.int64)


def read_emg(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read one file per action, eight electrodes per line; the label is the number of the file."""
    parts = [np.loadtxt(path, ndmin=2) for path in paths]
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def read_magic(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read a header, then ten numbers and the class: g for gamma is 0, h for hadron is 1."""
    rows = _lines(paths[0])[1:]
    return _numbers([row[:-1] for row in rows]), _codes([row[-1] for row in rows], _MAGIC_CLASSES)


def read_sloan(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read every column but the class and ``rerun``, which is 301 throughout.

    ``objid`` and ``specobjid`` are near 1e18; the file has 15 digits of them, and float64 keeps those.
    """
    header, *rows = _lines(paths[0])
    kept = [i for i, name in enumerate(header) if name not in {"class", "rerun"}]
    label = header.index("class")
    return _numbers([[row[i] for i in kept] for row in rows]), _codes(
        [row[label] for row in rows], _SLOAN_CLASSES
    )


def read_pulsar(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read a header, then eight numbers and the class, 0 or 1; lines with a missing entry are left out."""
    table = _numbers([row for row in _lines(paths[0])[1:] if all(row)])
    return table[:, :-1], table[:, -1].astype(np.int64)


def read_usps_pixels(paths: Sequence[Path]) -> tuple[FloatArray, IntArray]:
    """Read lines of the digit and 256 grey values from -1 to 1, with blanks between them."""
    table = np.loadtxt(paths[0], ndmin=2)
    return table[:, 1:], table[:, 0].astype(np.int64)


def _lines(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file) if row]


def _numbers(rows: list[list[str]]) -> FloatArray:
    return np.array(rows, dtype=np.float64)


def _codes(names: list[str], classes: Sequence[str]) -> IntArray:
    return np.array([classes.index(name) for name in names], dtype=np.int64)
