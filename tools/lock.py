"""Lock files: the exact version and the hashes of everything that is installed."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = ("dev", "docs", "oldest", "torch")

_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?:\s*;\s*(?P<marker>[^\\]*?))?\s*(?:\\|$)"
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)")


@dataclass(frozen=True)
class Locked:
    """A package as it is locked.

    Attributes
    ----------
    name, version : str
        Which.
    marker : str
        Where: empty for everywhere.
    hashes : tuple of str
        SHA-256 of the files that may be installed.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def read_lock(path: Path) -> list[Locked]:
    """Read a lock file; refuse a line that does not pin a version by hashes, or that names another index."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    return [_locked(path.name, line) for line in lines if line and not line.startswith("#")]


def _locked(file: str, line: str) -> Locked:
    head = line.split("--hash", 1)[0].strip()
    pinned, hashes = _LINE.fullmatch(head), tuple(_HASH.findall(line))
    if pinned is None or not hashes or len(hashes) != line.count("--"):
        raise ValueError(f"{file}: {line[:80]!r} does not pin a version by hashes.")
    return Locked(pinned["name"], pinned["version"], pinned["marker"] or "", hashes)
