"""Number of files that a reader opens to follow a fit or a report: ``python -m tools.walk``.

Functions are taken in the order in which they are called for the first time, on a second run, so that
nothing is loaded or compiled on the way; a change of file is one between two that follow each other.
"""

import os
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import numpy as np

import dpmorse
from dpmorse import DPMorse, PrivateGaussianMixture
from dpmorse.morse import merge_tree
from dpmorse.report import render

_ROOT = os.path.dirname(dpmorse.__file__)


def walk(call: Callable[[], Any]) -> tuple[int, int, int]:
    """Return the numbers of functions, files and changes of file of a call."""
    called: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_ROOT):
            called[code.co_filename, code.co_qualname] = None

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    files = [file for file, _ in called]
    return len(called), len(set(files)), sum(a != b for a, b in pairwise(files))


def main() -> None:
    """Print the walks of docs/architecture.md."""
    X = np.random.default_rng(0).normal(size=(2000, 2))
    parameters: dict[str, Any] = {"epsilon": 1.0, "bounds": (-10.0, 10.0), "random_state": 0}
    model = DPMorse(2, **parameters).fit(X)
    calls: dict[str, Callable[[], Any]] = {
        "PrivateGaussianMixture.fit": lambda: PrivateGaussianMixture(**parameters).fit(X),
        "a report": lambda: render(model),
        "predict": lambda: model.predict(X),
        "merge_tree": lambda: merge_tree(model.mixture_, rule="single"),
    }
    for name, call in calls.items():
        call()
        print(name, "functions {}, files {}, changes of file {}".format(*walk(call)), sep=": ")


if __name__ == "__main__":
    main()
