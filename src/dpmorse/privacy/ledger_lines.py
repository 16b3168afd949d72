"""The lines of a budget file: JSON with a chain of checksums, believed only as a whole.

The first line states the budget, and with it whose budget it is. A line "reserved" holds the releases that
a fit plans; a line "finished" replaces them by those it made. Each checksum covers its line and the
checksum before, so that a line that was changed, moved or removed in the middle is found. The checksum finds
damage; it is no signature, and lines that are missing at the end leave no trace.

Version 1 did not state the unit: its budgets are those of rows, or of groups without a name, which pay for no
fit after the first.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, TypeVar

from dpmorse._plain_data import parse_json
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.events import Composition, ReleaseEvent, event_from_dict, event_to_dict

FORMAT = "dpmorse-budget"
"""The first line states this, so that no other file is taken for a budget."""

VERSION = 2
"""The version that is written; all versions up to this one are read."""

LARGEST_FILE = 64 << 20
"""Most bytes that are read: some ten thousand fits, and few enough for any machine."""

_FIELDS = {part.name for part in dataclass_fields(Budget)}

_Value = TypeVar("_Value")


class Unbelievable(Exception):  # noqa: N818 - never leaves this module: it says what is wrong with a line
    """A line that this module cannot have written."""


@dataclass
class Account:
    """The sum of the whole lines of a budget file.

    Attributes
    ----------
    budget : Budget
        The most that may be spent.
    fits : dict
        Releases of each fit by its identity: those it made, or those it planned if it has not finished.
    unfinished : set
        Identities of fits that are running or were interrupted: what they planned counts as spent.
    checksum : str
        That of the last whole line.
    length : int
        Bytes up to the end of the last whole line.
    """

    budget: Budget
    checksum: str
    length: int
    fits: dict[str, tuple[ReleaseEvent, ...]] = field(default_factory=dict)
    unfinished: set[str] = field(default_factory=set)

    @property
    def events(self) -> tuple[ReleaseEvent, ...]:
        """Everything that counts as spent."""
        return tuple(event for events in self.fits.values() for event in events)

    @property
    def spent(self) -> Composition:
        """Its cost."""
        return Composition.of(self.events)


def first_line(budget: Budget) -> bytes:
    """Return the line with which a budget file begins."""
    return _line({"format": FORMAT, "version": VERSION, "budget": asdict(budget)}, "")


def next_line(account: Account, kind: str, identity: str, events: Iterable[ReleaseEvent], at: str) -> bytes:
    """Return the line that says what a fit plans ("reserved") or has made ("finished")."""
    listed = [event_to_dict(event) for event in events]
    return _line({"kind": kind, "fit": identity, "at": at, "events": listed}, account.checksum)


def read_account(data: bytes, name: str) -> Account:
    """Add up a budget file.

    A last line without its end was interrupted while it was written. Nobody has acted on it, since a fit
    waits until its line is on disk, so it is left out.
    """
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    if not lines:
        raise InvalidParameterError(f"{name!r} is not a budget file: its first line is missing. {_HINT}")
    for number, line in enumerate(lines, start=1):
        try:
            if number == 1:
                account = _begin(line, len(whole))
            else:
                _add(account, line)
        except (Unbelievable, DPMorseError) as problem:
            raise InvalidParameterError(
                f"{name!r} is not a budget file, or is damaged, in line {number}: {problem}. {_HINT}"
            ) from None
    return account


_HINT = "Nothing was released. Restore the file from a copy, or find out what was spent; do not start anew."


def _begin(line: bytes, length: int) -> Account:
    content, checksum = _checked(line, "")
    if content.get("format") != FORMAT:
        raise Unbelievable("it does not state its format")
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise Unbelievable(f"this dpmorse reads versions 1 to {VERSION}, not {str(version)[:20]}")
    stated = content.get("budget")
    if not isinstance(stated, dict) or set(stated) != _FIELDS - ({"unit"} if version == 1 else set()):
        raise Unbelievable("it does not state a budget")
    return Account(_built(lambda: Budget(**stated)), checksum, length)


def _add(account: Account, line: bytes) -> None:
    content, account.checksum = _checked(line, account.checksum)
    events = _built(lambda: tuple(event_from_dict(event) for event in content["events"]))
    kind, identity = content.get("kind"), content.get("fit")
    if not isinstance(identity, str) or any(
        event.neighboring != account.budget.neighboring for event in events
    ):
        raise Unbelievable("it does not belong to this budget")
    if kind == "reserved" and identity not in account.fits:
        account.unfinished.add(identity)
    elif kind == "finished" and identity in account.unfinished:
        if not Composition.of(account.fits[identity]).covers(Composition.of(events)):
            raise Unbelievable("it spends more than was reserved")
        account.unfinished.remove(identity)
    else:
        raise Unbelievable("it does not follow from the lines before")
    account.fits[identity] = events


def _line(content: Mapping[str, Any], previous: str) -> bytes:
    text = json.dumps({**content, "checksum": _checksum(content, previous)}, allow_nan=False)
    return text.encode() + b"\n"


def _checksum(content: Mapping[str, Any], previous: str) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256((previous + canonical).encode()).hexdigest()


def _checked(line: bytes, previous: str) -> tuple[dict[str, Any], str]:
    """Return the content of a line and its checksum."""
    try:
        content = parse_json(line)
        checksum = content.pop("checksum")
        expected = _checksum(content, previous)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Unbelievable("it cannot be read") from None
    if checksum != expected:
        raise Unbelievable("its checksum does not match")
    return content, expected


def _built(build: Callable[[], _Value]) -> _Value:
    try:
        return build()
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        raise Unbelievable("it states what cannot be") from None
