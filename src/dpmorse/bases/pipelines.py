"""Steps of a scikit-learn pipeline that have looked at the records before a fit.

Whether records were scaled by what was learnt from them cannot be seen without a question to the records. But
the pipeline is on the stack when it calls ``fit``, and has its steps. Nothing else is read off there.
"""

import inspect
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

from sklearn.utils import get_tags

from dpmorse.exceptions import PrivacyLeakWarning

_OF_SHAPES_ONLY = {"PolynomialFeatures", "GaussianRandomProjection", "SparseRandomProjection"}
"""Transformers whose ``fit`` looks at the number of columns and rows only."""

_PARTS = ("steps", "transformer_list", "transformers")
"""Parameters of scikit-learn's compositions that list ``(name, transformer, ...)``."""


def warn_of_pipelines() -> None:
    """Warn of steps before this fit that learnt from the records, which its promise does not cover."""
    frames = list(_frames_of_sklearn())
    for frame in frames:
        if frame.f_globals["__name__"] != "sklearn.pipeline":
            continue
        steps = getattr(frame.f_locals.get("self"), "steps", [])
        if learners := _learners(steps[:-1]):
            _warn_of(learners, stacklevel=_above(frames))


def _warn_of(learners: list[str], stacklevel: int) -> None:
    warnings.warn(
        f"{', '.join(learners)} in the pipeline was fitted on the records before: what it has learnt of "
        "them is not covered by the promise, and is part of the pipeline. No scaling is needed: "
        "leave it out, and give bounds in the units of the records; or use public constants, such as by "
        "a FunctionTransformer.",
        PrivacyLeakWarning,
        stacklevel=stacklevel + 1,
    )


def _frames_of_sklearn() -> Iterator[FrameType]:
    """Go through the calls of scikit-learn that lead here, the nearest first."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            yield frame
        frame = frame.f_back


def _learners(steps: Any) -> list[str]:
    """Return the transformers that learn from values of records, compositions part by part."""
    found: list[str] = []
    for _, step, *_ in steps:
        parts = next((getattr(step, name) for name in _PARTS if hasattr(step, name)), None)
        if parts is not None:
            found += _learners(parts)
        elif (
            hasattr(step, "fit")
            and type(step).__name__ not in _OF_SHAPES_ONLY
            and get_tags(step).requires_fit
        ):
            found.append(type(step).__name__)
    return found


def _above(frames: list[FrameType]) -> int:
    """Return the level of the stack, seen from a function that was called from here, that is the user's."""
    outermost, level = frames[-1].f_back, 0
    frame = inspect.currentframe()
    while frame is not None and frame is not outermost:
        frame, level = frame.f_back, level + 1
    return level
