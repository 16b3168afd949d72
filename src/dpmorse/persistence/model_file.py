"""Model files: JSON that is checked before it is used, and written completely or not at all.

A file holds released values and public parameters only. It is data, never code: reading one can raise
``ModelFormatError`` and nothing else. The checksum finds damage; it is no signature.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from dpmorse import _atomic, _plain_data
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.older_files import upgraded

FORMAT = "dpmorse-model"
"""The value of the field ``format``, by which a model file is recognised."""

VERSION = 4
"""The version of the format that is written; older ones are read (``older_files.py``)."""

LARGEST_FILE = 64 << 20
"""Most bytes of a model file. A larger file is refused before it is read into memory."""

_LARGEST_STRUCTURE = 1 << 16
"""Most lists and objects in a model file. Each takes far more memory than its bracket in the text, so that
they are counted before parsing."""

_MOST_VALUES = 1 << 22
"""Most commas, and so roughly most values, in a model file, for the same reason."""


def write_document(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write a document so that the path holds either the complete old file or the complete new one."""
    document = {"format": FORMAT, "version": VERSION, **content}
    document["checksum"] = _checksum(document)
    lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in document.items()]
    data = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if len(data) > LARGEST_FILE:
        raise ModelFormatError(
            f"the model needs {len(data)} bytes; a model file holds at most {LARGEST_FILE}."
        )
    _atomic.write_bytes(path, data)


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a document and check everything that does not depend on the estimator."""
    with open(path, "rb") as file:
        data = _atomic.read_bytes(file, LARGEST_FILE)
    if len(data) > LARGEST_FILE:
        raise ModelFormatError(f"the file is larger than {LARGEST_FILE} bytes.")
    if data.count(b"[") + data.count(b"{") > _LARGEST_STRUCTURE:
        raise ModelFormatError("the file holds more lists than any model.")
    if data.count(b",") > _MOST_VALUES:
        raise ModelFormatError("the file holds more numbers than any model.")
    document = _parse(data)
    if document.get("format") != FORMAT:
        raise ModelFormatError("this is not a dpmorse model file.")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ModelFormatError("the file does not state a valid version.")
    if version > VERSION:
        raise ModelFormatError(
            f"the file has version {version}; this dpmorse reads up to version {VERSION}. Upgrade dpmorse."
        )
    if document.pop("checksum", None) != _checksum(document):
        raise ModelFormatError("the checksum does not match: the file is damaged or was edited.")
    del document["format"], document["version"]
    return upgraded(document, version)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = _plain_data.parse_json(data)
    except (ValueError, RecursionError, OverflowError) as error:
        raise ModelFormatError(f"the file is not valid JSON: {str(error)[:120]}") from None
    if not isinstance(document, dict):
        raise ModelFormatError("the file does not hold a JSON object.")
    return document


def _checksum(document: Mapping[str, Any]) -> str:
    try:
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        raise ModelFormatError("the file holds a number that is not finite.") from None
    return hashlib.sha256(canonical.encode()).hexdigest()
