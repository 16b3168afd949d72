"""Build wheel and source distribution twice, from two copies of the sources: they must be the same.

    python -m tools.build dist

Nothing is fetched: the build backend is the one in the lock file.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.lock import ROOT

_EPOCH = "1580601600"
"""Time stamp of all files, in seconds since 1970. Any time will do, as long as it is always the same."""

_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site", "demo-output", "*.egg-info")


def build_twice(output: Path) -> dict[str, str]:
    """Write both distributions to a folder; return their names and hashes, or raise if two builds differ."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [
            _copy(Path(folder) / name, mask) for name, mask in (("one", 0o022), ("another/place", 0o077))
        ]
        first, second = (_build(copy) for copy in copies)
        if _hashes(first) != _hashes(second):
            raise SystemExit(f"two builds differ: {_hashes(first)} and {_hashes(second)}")
        output.mkdir(parents=True, exist_ok=True)
        for path in first.iterdir():
            shutil.copyfile(path, output / path.name)
        return _hashes(first)


def _copy(target: Path, mask: int) -> Path:
    """Copy the sources, with other permissions and times than the copy before."""
    before = os.umask(mask)
    try:
        shutil.copytree(ROOT, target, ignore=_LEFT_OUT, copy_function=shutil.copyfile)
        shutil.copyfile(ROOT / ".gitignore", target / ".gitignore")  # part of every source distribution
    finally:
        os.umask(before)
    return target


def _build(copy: Path) -> Path:
    output = copy / "dist"
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(output)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _EPOCH}
    subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True)
    return output


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


if __name__ == "__main__":
    for name, digest in build_twice(Path(sys.argv[1])).items():
        print(f"{digest}  {name}")
