"""Lock files: the exact version and the hashes of everything that is installed."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

ROOT = Path(__file__).parents[1]
LOCKS = ("dev", "docs", "engines", "oldest")

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)")


@dataclass(frozen=True)
class Locked:
    """A package as it is locked.

    Attributes
    ----------
    name, version : str
        The package and its version.
    marker : str
        Environments that it is for; empty for all.
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
    pinned, hashes = _pinned(line.split("--hash", 1)[0]), tuple(_HASH.findall(line))
    if pinned is None or not hashes or len(hashes) != line.count("--"):
        raise ValueError(f"{file}: {line[:80]!r} does not pin a version by hashes.")
    (version,) = pinned.specifier
    return Locked(pinned.name, version.version, str(pinned.marker or ""), hashes)


def _pinned(text: str) -> Requirement | None:
    """Return the requirement of a line if it names exactly one version."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    exact = [one for one in requirement.specifier if one.operator == "==" and "*" not in one.version]
    return requirement if len(exact) == len(requirement.specifier) == 1 else None
