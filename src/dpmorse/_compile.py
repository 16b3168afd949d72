"""Functions that numba compiles when they are first called, with its options in one place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from threading import RLock
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_LOADING = RLock()  # a kernel that is loaded may ask for another

_TOLD: list[Callable[[], None]] = []


def compiled(function: Function) -> Function:
    """Compile with IEEE arithmetic in the order written; release the interpreter lock."""
    return _later(function, fastmath=False)


def compiled_fused(function: Function) -> Function:
    """Compile, and allow a product and a sum to be rounded once; NaN and infinity are handled as usual."""
    return _later(function, fastmath={"contract"})


def compiled_reordered(function: Function) -> Function:
    """Compile, and allow sums to be reordered and fused; NaN and infinity are handled as usual."""
    return _later(function, fastmath={"reassoc", "contract"})


def compiled_any_order(function: Function) -> Function:
    """Compile, and allow sums to be reordered and fused: for results that do not depend on the order.

    These are sums of integers that are exact in every order, and scores whose error bound covers any order.
    Values must be finite.
    """
    return _later(function, fastmath={"reassoc", "contract", "nnan", "ninf", "nsz"})


def _later(function: Function, **options: Any) -> Function:
    kernel: Any = _Kernel(function, options)
    return kernel  # type: ignore[no-any-return]  # called as the function is


class _Kernel:
    """A function that loads numba when it is first called: what is released is read without a compiler."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    @cached_property
    def dispatcher(self) -> Any:
        """What numba made of it."""
        with _LOADING:
            if "dispatcher" in vars(self):  # by another thread meanwhile
                return vars(self)["dispatcher"]
            from dpmorse import _numba  # noqa: PLC0415 - what is released is read without it

            _numba.tell_through(_tell)
            found = vars(self)["dispatcher"] = _numba.dispatcher(self._function, **self._options)
            return found

    @property
    def _numba_type_(self) -> Any:  # by which compiled functions know those that they call
        return self.dispatcher._numba_type_

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)


@contextmanager
def compilation_told(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function once if anything is compiled while the block runs, and not taken from the cache."""
    _TOLD.append(tell)
    try:
        yield
    finally:
        if tell in _TOLD:
            _TOLD.remove(tell)


def _tell() -> None:
    while _TOLD:
        _TOLD.pop()()
