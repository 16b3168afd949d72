"""Files as a whole: written so that a path holds the old content or the new, and read to their end."""

import os
import tempfile
from contextlib import suppress
from io import BufferedIOBase, RawIOBase
from pathlib import Path

_PIECE = 1 << 20


def read_bytes(file: RawIOBase | BufferedIOBase, limit: int) -> bytes:
    """Read an open file to its end, or one byte beyond ``limit``.

    Memory grows with what is there, not with the limit. A read may give less than there is (a signal, a
    network): only a read that gives nothing has reached the end.
    """
    data = bytearray()
    while len(data) <= limit and (piece := file.read(min(_PIECE, limit + 1 - len(data)))):
        data += piece
    return bytes(data)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, overwrite: bool = True) -> None:
    """Write to a temporary file beside ``path``, flush it to disk, then give it the name ``path``.

    Without ``overwrite`` a file that is already there stays, and ``FileExistsError`` is raised, also if
    it appeared a moment ago.
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp made it private; what is released is meant to be shared
        _move(name, target, overwrite=overwrite)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _flush_folder(target.parent)


def _move(name: str, target: Path, *, overwrite: bool) -> None:
    if overwrite:
        os.replace(name, target)
        return
    try:
        os.link(name, target)  # refuses, in one step, to take a name that is taken
    except FileExistsError:
        raise
    except OSError:  # some file systems have no links
        if os.path.lexists(target):
            raise FileExistsError(f"{target} exists") from None
        os.replace(name, target)
    else:
        os.unlink(name)


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
