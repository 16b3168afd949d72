"""A ledger in a file: one budget for fits of many processes, on many days."""

import os
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import FileIO

from dpmorse import _atomic, _validate
from dpmorse.exceptions import BudgetExceededError, InvalidParameterError, InvalidTypeError
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.events import Composition, ReleaseEvent
from dpmorse.privacy.ledger import Ledger, Reservation
from dpmorse.privacy.ledger_lines import LARGEST_FILE, Account, first_line, next_line, read_account

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    # Locks of Windows keep others from reading what they cover, so the byte is far behind the last line.
    _LOCKED_BYTE = 1 << 40

    def _lock(file: FileIO) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

    def _unlock(file: FileIO) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class FileLedger(Ledger):
    """A ledger whose account is a file, shared by all who open it.

    Parameters
    ----------
    path : str or path-like
        The budget file.
    budget : Budget or None
        The total. The file is begun with it if there is none yet; if there is one, it must state the
        same budget. None opens a file that exists.

    Guarantees
    ----------
    * Written ahead: the cost of a whole fit is on disk before the fit touches data, and is replaced by what
      was really spent when the fit ends. A fit that is killed leaves its whole cost spent.
    * One at a time: the file is locked while a cost is checked and written, by a lock of the operating
      system that ends with its process.
    * Append-only, and checked as a whole each time: a damaged file is refused, not repaired. A last line
      that was cut off while it was written is left out; nobody had acted on it.
    * It holds costs and times, nothing that was released and nothing of the data.

    It cannot know of a file that was deleted, or put back from an old copy. Keep it on a local disk of one
    machine: network file systems (NFS, SMB) may not honour the lock, and fits could spend the same twice.

    Examples
    --------
    >>> import os, tempfile
    >>> from dpmorse import Budget, FileLedger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = FileLedger(os.path.join(folder, "team.budget"), Budget(epsilon=2.0))
    ...     ledger.spent.epsilon(1e-6)
    0.0
    """

    def __init__(self, path: str | os.PathLike[str], budget: Budget | None = None) -> None:
        self.path = os.path.abspath(os.fspath(path))
        if budget is not None:
            if not isinstance(budget, Budget):
                raise InvalidTypeError(f"budget must be a Budget or None, got {_validate.describe(budget)}.")
            if not os.path.lexists(self.path):
                with suppress(FileExistsError):  # somebody else has begun it meanwhile
                    _atomic.write_bytes(self.path, first_line(budget), overwrite=False)
        stated = self.account().budget
        if budget is not None and budget != stated:
            raise InvalidParameterError(
                f"budget must be that of the file {self._name!r}, {stated!r}, got {budget!r}. "
                "A total cannot be changed; leave it out to use the one that is stated."
            )
        super().__init__(stated)
        self._identities: dict[Reservation, str] = {}

    @property
    def events(self) -> tuple[ReleaseEvent, ...]:
        """All that counts as spent: releases that were made, and those of fits that never finished."""
        return self.account().events

    @property
    def spent(self) -> Composition:
        """Cost of all that counts as spent."""
        return self.account().spent

    def account(self) -> Account:
        """Read the file."""
        with FileIO(self.path) as file:
            return self._read(file)

    def check(self, planned: Iterable[ReleaseEvent], budget: Budget | None = None) -> None:
        """Raise what ``reserve`` would raise now, and reserve nothing."""
        self._check_room(self.account(), tuple(planned), budget)

    def reserve(self, planned: Iterable[ReleaseEvent], budget: Budget | None = None) -> Reservation:
        """Write the cost of these releases to the file, or raise ``BudgetExceededError``."""
        self._check_process()
        reservation, identity = Reservation(self, planned), uuid.uuid4().hex
        with self._lock, self._locked() as file:
            account = self._read(file)
            self._check_room(account, reservation.planned, budget)
            _append(file, account, "reserved", identity, reservation.planned)
            self._identities[reservation] = identity
        return reservation

    # ``_write`` of the base notes a release in memory: its cost has been on disk since it was reserved.

    def _give_back(self, reservation: Reservation) -> None:
        with self._lock:
            identity = self._identities.pop(reservation)
            try:
                with self._locked() as file:
                    _append(file, self._read(file), "finished", identity, reservation.written)
            except (OSError, InvalidParameterError) as error:
                # The fit is done and paid for: losing its model would not bring the budget back.
                message = f"The end of this fit could not be written to {self._name!r}: "
                message += f"what it had reserved stays spent. ({error})"
                warnings.warn(message, RuntimeWarning, stacklevel=1)

    def _check_room(self, account: Account, planned: tuple[ReleaseEvent, ...], budget: Budget | None) -> None:
        """Let a ledger in memory decide: there is one rule for what fits into a budget."""
        ledger = Ledger(account.budget)
        ledger._events.extend(account.events)  # noqa: SLF001 - another form of this object
        try:
            ledger.reserve(planned, budget)
        except BudgetExceededError as refusal:
            unfinished = len(account.unfinished)
            running = (
                f" ({unfinished} fit(s) run or were interrupted, and count as spent.)" if unfinished else ""
            )
            raise BudgetExceededError(f"{self._name!r}: {refusal}{running}") from None

    @contextmanager
    def _locked(self) -> Iterator[FileIO]:
        """Open the file for one reader and writer at a time."""
        with FileIO(self.path, "r+") as file:  # unbuffered: a write that failed must not be tried again
            _lock(file)
            try:
                yield file
            finally:
                _unlock(file)

    def _read(self, file: FileIO) -> Account:
        file.seek(0)
        data = _atomic.read_bytes(file, LARGEST_FILE)  # a part of it would be a smaller spend
        if len(data) > LARGEST_FILE:
            raise InvalidParameterError(
                f"{self._name!r} is larger than any budget file, {LARGEST_FILE} bytes."
            )
        return read_account(data, self._name)

    @property
    def _name(self) -> str:
        return os.path.basename(self.path)

    def __reduce__(self) -> tuple[Callable[..., "FileLedger"], tuple[str]]:  # type: ignore[override]
        return FileLedger, (self.path,)  # the account is the file, so another process may open it too

    def __repr__(self) -> str:
        return f"FileLedger({self.path!r}, {self.budget!r})"


def _append(file: FileIO, account: Account, kind: str, identity: str, events: Iterable[ReleaseEvent]) -> None:
    """Add a line and wait until it is on disk; on failure leave the file as it was."""
    line = next_line(account, kind, identity, events, datetime.now(UTC).isoformat(timespec="seconds"))
    try:
        file.truncate(account.length)  # what follows is a line that was cut off
        file.seek(account.length)
        _write_all(file, line)
        os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            file.truncate(account.length)
        raise


def _write_all(file: FileIO, data: bytes) -> None:
    """Write to an unbuffered file, which may take a part at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
