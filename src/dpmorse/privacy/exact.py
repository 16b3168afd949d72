"""Exact values have a type of their own, so that the results of engines cannot be looked at.

An engine seals its sums. A sealed value can be passed on, and turned into another sealed one by
the statistic it belongs to; the only way out is ``Mechanism.release`` or ``Mechanism.choose``, which draw
noise and write the cost down. ``sealed`` and ``opened`` are for the private tower: an import rule in
pyproject.toml keeps them from bases and from everything above. Python cannot keep a determined author out;
the types keep an honest one from a mistake, and a reviewer has to read only what that rule lets through.
"""

from typing import Any, Generic, NoReturn, TypeVar

Value = TypeVar("Value")

_MESSAGE = (
    "an exact value cannot be looked at, copied or computed with: ask for it to be released, with noise"
)


class Exact(Generic[Value]):
    """A value that was computed from records without noise. It can only be released.

    It has no arithmetic, no items, no length and no truth value; it cannot be compared, copied, pickled or
    turned into an array, and its text is always the same.
    """

    __slots__ = ("__value",)

    __array_ufunc__ = None  # NumPy's operators leave the operation to this class, which has none

    def __init__(self, value: Value) -> None:
        self.__value = value

    def __repr__(self) -> str:
        return "<exact value>"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(_MESSAGE)

    __eq__ = __ne__ = __bool__ = __array__ = _refuse
    __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _refuse

    __hash__ = None  # type: ignore[assignment]  # equal values would have equal hashes


def sealed(value: Value) -> Exact[Value]:
    """Seal a value that was computed from records."""
    return Exact(value)


def opened(exact: Exact[Value]) -> Value:
    """Return a sealed value: for the mechanism, and for statistics that seal the result again."""
    if not isinstance(exact, Exact):
        raise TypeError(f"exact values must be sealed, got a {type(exact).__name__}")
    value: Any = exact._Exact__value  # type: ignore[attr-defined]  # noqa: SLF001 - the one way in
    return value  # type: ignore[no-any-return]
