"""Steps of a scikit-learn pipeline that have looked at the records before a fit.

Whether records were scaled by what was learnt from them cannot be seen without a question to the records. But
the pipeline is on the stack when it calls ``fit``, and has its steps. Nothing else is read off there.
"""

import inspect
import warnings
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
    of_sklearn: list[FrameType] = []  # the calls that lead here, the nearest first
    frame, level, of_user = inspect.currentframe(), 1, 1
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            of_sklearn.append(frame)
            of_user = level + 1
        frame, level = frame.f_back, level + 1
    for call in of_sklearn:
        if call.f_globals["__name__"] != "sklearn.pipeline":
            continue
        steps = getattr(call.f_locals.get("self"), "steps", [])
        if learners := _learners(steps[:-1]):
            warnings.warn(
                f"{', '.join(learners)} in the pipeline was fitted on the records before: what it has learnt "
                "of them is not covered by the promise, and is part of the pipeline. No scaling is needed: "
                "leave it out, and give bounds in the units of the records; or use public constants, such as "
                "by a FunctionTransformer.",
                PrivacyLeakWarning,
                stacklevel=of_user,
            )


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
