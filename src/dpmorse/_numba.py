"""The one file that loads numba: how kernels are compiled, in little time, also where nothing can be cached.

A function whose name is private to its file is a *part*: compiled code alone calls it. numba would optimise
each part by itself, make machine code of it, and optimise it again in every function that calls it. Here
parts are handed on as they were written, and are optimised where they end up: in the kernels that Python
calls. Nor are they compiled anew for a 0 that is written where another caller has a variable.
"""

import gc
import pickle
from collections.abc import Callable
from typing import Any

import numba
from numba.core import codegen, compiler, event
from numba.core.types import unliteral  # type: ignore[attr-defined]


def dispatcher(function: Callable[..., Any], **options: Any) -> Any:
    """Return what compiles a function and calls it."""
    options |= {"nogil": True, "error_model": "numpy"}
    if function.__name__.startswith("_"):
        without = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        part = numba.njit(pipeline_class=_CompilerOfParts, **options, **without)(function)
        of_types = part.get_call_template
        part.get_call_template = lambda args, kws: of_types(tuple(map(unliteral, args)), kws)
        return part
    try:
        jitted = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: a read-only installation without a home
        return numba.njit(**options)(function)
    _outlive_updates(jitted)
    return jitted


class _Part(codegen.JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The code of a part: not optimised, never made machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What is asked to tell the machine code where its Python objects are."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing: there is no machine code."""


class _CompilerOfParts(compiler.Compiler):  # type: ignore[misc]
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, *more: Any) -> None:
        super().__init__(typingctx, targetctx, library, args, *more)
        self.state.library = _Part(targetctx.codegen(), "part")


def _outlive_updates(jitted: Any) -> None:
    """Compile anew where the cache is of an older version of the file.

    numba unpickles the types of arguments before it compares versions. An update of dpmorse in place may have
    renamed one of them, and the cache stays when files are replaced.
    """
    cache, load = jitted._cache, jitted._cache.load_overload  # noqa: SLF001 - numba has no public way

    def load_or_forget(*key: Any) -> Any:
        try:
            return load(*key)
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            cache.flush()
            return None

    cache.load_overload = load_or_forget


class _Compilations(event.Listener):  # type: ignore[misc]
    """Tells of every compilation, and puts off the collection of garbage, an eighth of its time."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell, self._depth, self._collected = tell, 0, False

    def on_start(self, event: Any) -> None:
        if not self._depth:
            self._tell()
            self._collected = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth and self._collected:
            if (
                not gc.get_freeze_count()
            ):  # else somebody has frozen what there was, before a fork for example
                gc.freeze()  # what a compiler makes is old at once: it is not looked at until all is
                gc.unfreeze()
            gc.enable()


def tell_through(tell: Callable[[], None]) -> None:
    """Call a function whenever something is compiled, and not taken from the cache."""
    if not _LISTENERS:
        _LISTENERS.append(_Compilations(tell))
        event.register("numba:compile", _LISTENERS[0])


_LISTENERS: list[_Compilations] = []
