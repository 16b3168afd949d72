"""What a fit can know of who called it: a pipeline that has looked at the records, a search that fits often.

Whether records were scaled by what was learnt from them cannot be seen without a question to the records. But
scikit-learn's own code is on the stack when it calls ``fit``, and knows. Nothing is read off there but steps,
and how many fits there are.
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

_ONE_OF_MANY = {"_fit_and_score", "_fit_and_predict"}
"""Functions of scikit-learn that make one fit of a search or a cross-validation."""


def warn_of_callers(estimator: Any) -> None:
    """Warn of what scikit-learn does around this fit that its promise does not cover, before it is spent."""
    frames = list(_frames_of_sklearn())
    for frame in frames:
        if _is("pipeline", frame):
            steps = getattr(frame.f_locals.get("self"), "steps", [])
            _warn_of_learners(_learners(steps[:-1]), frames)
        elif _is("model_selection", frame) and frame.f_code.co_name in _ONE_OF_MANY:
            _warn_of_search(estimator, frames, frame)


def _frames_of_sklearn() -> Iterator[FrameType]:
    """Go through the calls of scikit-learn that lead here, the nearest first."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            yield frame
        frame = frame.f_back


def _is(package: str, frame: FrameType) -> bool:
    return str(frame.f_globals["__name__"]).startswith(f"sklearn.{package}")


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


def _warn_of_learners(learners: list[str], frames: list[FrameType]) -> None:
    if learners:
        warnings.warn(
            f"{', '.join(learners)} in the pipeline was fitted on the records before: what it has learnt of "
            "them is not covered by the promise, and is part of the pipeline. No scaling is needed: "
            "leave it out, and give bounds in the units of the records; or use public constants, such as by "
            "a FunctionTransformer.",
            PrivacyLeakWarning,
            stacklevel=_above(frames),
        )


def _warn_of_search(estimator: Any, frames: list[FrameType], fit_and_score: FrameType) -> None:
    """Warn once of a search without a ledger: at its first fit, before the others."""
    places = [fit_and_score.f_locals.get(name) for name in ("candidate_progress", "split_progress")]
    if estimator.ledger is not None or any(place is not None and place[0] > 0 for place in places):
        return
    n_fits = _n_fits(places, frames)
    each = f"epsilon = {estimator.epsilon:g}"
    in_all = f"{n_fits} fits spend up to {n_fits * estimator.epsilon:g}" if n_fits else "their costs add up"
    warnings.warn(
        f"a search or cross-validation fits again and again on the same records: each fit spends {each}, "
        f"{in_all} in all, and the scores that it compares are not private. Share a ledger, which refuses "
        "what is too much: ledger=Ledger(Budget(...)); or choose parameters on public or synthetic data.",
        PrivacyLeakWarning,
        stacklevel=_above(frames),
    )


def _n_fits(places: list[Any], frames: list[FrameType]) -> int | None:
    """Return how many fits there will be, where scikit-learn says so."""
    around = [frame.f_locals for frame in frames]
    if all(place is not None for place in places):
        (_, n_candidates), (_, n_splits) = places
        once_more = any(getattr(names.get("self"), "refit", False) for names in around)
        return int(n_candidates * n_splits + once_more)
    n_splits = (getattr(names.get("cv"), "n_splits", None) for names in around)
    return next((n for n in n_splits if isinstance(n, int)), None)


def _above(frames: list[FrameType]) -> int:
    """Return the level of the stack, seen from a function that was called from here, that is the user's."""
    outermost, level = frames[-1].f_back, 0
    frame = inspect.currentframe()
    while frame is not None and frame is not outermost:
        frame, level = frame.f_back, level + 1
    return level
