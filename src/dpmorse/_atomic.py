"""Complete files: a write leaves the old content or the new one, and a read reaches the end."""

import os
import tempfile
import time
from contextlib import suppress
from io import BufferedIOBase, RawIOBase
from pathlib import Path

STRAY = ".part"
"""The part of a temporary file's name that marks it as such, after the name of its target."""

_STRAY_SECONDS = 3600.0
"""Age in seconds after which a temporary file is removed: its writer was killed, since no write takes an
hour."""

_PIECE = 1 << 20
"""Bytes that are read at a time, so that memory grows with the file and not with the limit."""


def read_bytes(file: RawIOBase | BufferedIOBase, limit: int) -> bytes:
    """Read an open file to its end, or one byte beyond ``limit``.

    Memory grows with the file, not with the limit. A read may return less than the file has (a signal, a
    network): only a read that returns nothing has reached the end.
    """
    data = bytearray()
    while len(data) <= limit and (piece := file.read(min(_PIECE, limit + 1 - len(data)))):
        data += piece
    return bytes(data)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, overwrite: bool = True) -> None:
    """Write to a temporary file beside ``path``, flush it to disk, then give it the name ``path``.

    Without ``overwrite`` a file that is already there stays, and ``FileExistsError`` is raised, also if
    it appeared a moment ago. A process that is killed leaves its temporary file; see ``remove_strays``.
    """
    target = Path(path)
    remove_strays(target)
    handle, name = tempfile.mkstemp(prefix=temporary_prefix(target), suffix=STRAY, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # mkstemp made it private; what is released is meant to be shared
        _move(name, target, overwrite=overwrite)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    with suppress(OSError):  # make the rename itself durable, where the system can
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def temporary_prefix(target: Path) -> str:
    """Return the prefix of temporary files for ``target``: short, because file systems limit names."""
    return f".{target.name[:40]}."


def remove_strays(target: Path) -> None:
    """Remove temporary files for ``target`` that are an hour old, so that they cannot pile up.

    Their writers were killed. Another process may still be writing a younger one.
    """
    prefix, oldest = temporary_prefix(target), time.time() - _STRAY_SECONDS
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and STRAY in entry.name[len(prefix) :]:
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.path)


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
