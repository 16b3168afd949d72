"""Files in other places, such as s3://bucket/visits.parquet, through the file systems of pyarrow."""

import fnmatch
import glob
import re
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs

from dpmorse.exceptions import InvalidParameterError
from dpmorse.records.foreign_errors import wrong_with_store

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""How an address begins. A drive of Windows has one letter and no two slashes."""


class RemotePath(str):
    """A file in another place; its text is the address without user, password and options, for messages."""

    __slots__ = ("_path", "_store")

    _store: Any
    _path: str

    @classmethod
    def of(cls, name: str, store: Any, path: str) -> "RemotePath":
        """Return a file of a store, by its path there."""
        remote = cls(name)
        remote._store, remote._path = store, path
        return remote

    def opened(self) -> Any:
        """Open the file for reading."""
        return self._store.open_input_file(self._path)


def is_address(path: Any) -> bool:
    """Say whether a path is an address of another place."""
    return isinstance(path, str) and not isinstance(path, RemotePath) and bool(_ADDRESS.match(path))


def open_bytes(path: str) -> Any:
    """Open a file for reading, wherever it is."""
    return path.opened() if isinstance(path, RemotePath) else pa.OSFile(path)


def remote_file(address: str) -> RemotePath:
    """Return the file of an address; nothing is read."""
    store, path = _store_of(address)
    return RemotePath.of(shown_address(address), store, path)


def remote_files(address: str, endings: tuple[str, ...]) -> list[RemotePath]:
    """Return the files of an address: one, those of a pattern, or those of a folder with these endings."""
    name = shown_address(address)
    store, path = _store_of(address)
    is_pattern = glob.has_magic(path)
    try:
        if not is_pattern and store.get_file_info(path).type != pa.fs.FileType.Directory:
            return [RemotePath.of(name, store, path)]
        folder = path.rpartition("/")[0] if is_pattern else path
        inside = sorted(one.path for one in store.get_file_info(pa.fs.FileSelector(folder)) if one.is_file)
    except (pa.ArrowException, OSError) as error:
        raise _told(name, error) from None
    if is_pattern:
        found = [one for one in inside if fnmatch.fnmatchcase(one, path)]
    else:
        found = [one for one in inside if one.lower().endswith(endings)]
    base = name[: len(name) - len(path)] if name.endswith(path) else ""
    return [RemotePath.of(base + one, store, one) for one in found]


def shown_address(address: str) -> str:
    """Return an address without what may be a secret: user, password, options such as a signature."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _store_of(address: str) -> tuple[Any, str]:
    try:
        store, path = pa.fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _told(shown_address(address), error) from None
    return store, path


def _told(name: str, error: Exception) -> InvalidParameterError:
    wrong = wrong_with_store(error) or "cannot be read from where it is. Is the address right?"
    return InvalidParameterError(f"{name!r} {wrong}")
