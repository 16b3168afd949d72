"""Mistakes as small changes of the source, made in a copy of it or in this process.

A mutant names what it changes, the text that is replaced, and tests of which at least one must fail then.
The text must be there exactly once: a mutant that can no longer be applied is an error, not a success.
Those with a ``check`` (a name in ``audits/mutants/checks.py``) are also made in the process of the short
tests.
"""

import importlib
import inspect
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any


@dataclass(frozen=True)
class Change:
    """Replace a text in the source of a function or class: ``module:name`` or ``module:Class.name``."""

    target: str
    old: str
    new: str

    @property
    def path(self) -> Path:
        """The file, relative to the folder of sources."""
        return Path(*self.target.partition(":")[0].split(".")).with_suffix(".py")

    def in_text(self, text: str) -> str:
        """Return the text of the file with the change, or raise if it cannot be made exactly once."""
        body = self.original
        if text.count(body) != 1 or body.count(self.old) != 1:
            raise ValueError(f"{self.target}: the text that is to be changed is not there exactly once.")
        return text.replace(body, body.replace(self.old, self.new))

    @property
    def original(self) -> str:
        """The source of the target, as it is in its file."""
        return inspect.getsource(_function_of(self._owner.__dict__[self._name]))

    @property
    def _name(self) -> str:
        return self.target.partition(":")[2].rpartition(".")[2]

    @property
    def _module(self) -> ModuleType:
        return importlib.import_module(self.target.partition(":")[0])

    @property
    def _owner(self) -> Any:
        owner = self.target.partition(":")[2].rpartition(".")[0]
        return getattr(self._module, owner) if owner else self._module

    def in_process(self, monkeypatch: Any) -> None:
        """Make the change in this process, until ``monkeypatch`` takes it back."""
        body = self.original
        if body.count(self.old) != 1:
            raise ValueError(f"{self.target}: the text that is to be changed is not there exactly once.")
        made: dict[str, Any] = {}
        text = textwrap.dedent(body.replace(self.old, self.new))
        code = compile(text, f"<mutant of {self.target}>", "exec")
        exec(code, self._module.__dict__, made)  # noqa: S102 - our own source
        if hasattr(made[self._name], "__set_name__"):  # a cached property, which a class would tell its name
            made[self._name].__set_name__(self._owner, self._name)
        original = self._owner.__dict__[self._name]
        for owner in [self._owner, *_modules_with(self._name, original)]:
            monkeypatch.setattr(owner, self._name, made[self._name])


@dataclass(frozen=True)
class Mutant:
    """A mistake, and the tests that must notice it."""

    name: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]
    check: str | None = None


def _modules_with(name: str, value: Any) -> list[ModuleType]:
    """Return the modules of the library that have imported something by its name."""
    modules = [module for path, module in sys.modules.items() if path.startswith("dpmorse")]
    return [module for module in modules if module.__dict__.get(name) is value]


def _function_of(value: Any) -> Any:
    """Return the function inside a property, a static or class method, or a compiled function."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    value = getattr(value, "func", value)  # of a cached property
    return value if isinstance(value, FunctionType) else getattr(value, "py_func", value)
