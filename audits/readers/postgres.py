"""A PostgreSQL server of our own, in a temporary folder: gone at the end, also where its user was killed."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CLEAN_UP = 'read -r _; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"'
"""Waits for a line, or for the end of the process that would have written it: whichever comes first."""

_SETTINGS = {
    "fsync": "off",  # nothing is kept, so nothing must survive a crash
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "unix_socket_directories": "",  # their paths are limited to a hundred characters
}

_EMPTY = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
"""How a cluster is made: without passwords, since this machine alone can reach it."""


def why_no_postgres() -> str | None:
    """Return why no server can be started; None if one can."""
    return "there is no PostgreSQL: apt-get install postgresql" if _programs() is None else None


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start an empty server that this machine alone can reach; yield the address of a database.

    PostgreSQL refuses to be run by root: then the server belongs to another user.
    """
    programs, user = str(_programs()), _user()
    folder = tempfile.mkdtemp(prefix="dpmorse-postgres-")  # others than we may have to read it
    if user:
        shutil.chown(folder, user["user"])
    clean_up = subprocess.Popen(
        ["sh", "-c", _CLEAN_UP, "sh", programs, folder],  # noqa: S607 - the system's own shell
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # Ctrl-C is for our caller, who then ends this
        **user,
    )
    try:
        made = _run(programs, user, "initdb", folder, *_EMPTY)
        if made.returncode:
            raise RuntimeError(made.stdout + made.stderr)
        yield f"postgresql://postgres@127.0.0.1:{_started(programs, user, folder)}/postgres"
    finally:
        clean_up.communicate(b"\n")


def _programs() -> str | None:
    """Return the folder of initdb and pg_ctl: those of PATH, or the newest that Debian has installed."""
    found = shutil.which("initdb")
    if found:
        return str(Path(found).resolve().parent)
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: float(path.parts[-3]), default=None)
    return None if newest is None else str(newest.parent)


def _user() -> dict[str, Any]:
    """Return who runs the server, as options of a process: none where that is who runs this."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    import pwd  # not on Windows

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_name, "group": entry.pw_gid, "extra_groups": []}


def _run(
    programs: str, user: dict[str, Any], program: str, folder: str, *arguments: str
) -> "subprocess.CompletedProcess[str]":
    command = [f"{programs}/{program}", "-D", f"{folder}/data", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **user)


def _started(programs: str, user: dict[str, Any], folder: str) -> int:
    """Start the server; return its port."""
    settings = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
    for _ in range(5):  # somebody else may take a port between our look and the start
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        options = ("-w", "-l", f"{folder}/log", "-o", f"-p {port} {settings}", "start")
        if not _run(programs, user, "pg_ctl", folder, *options).returncode:
            return port
    raise RuntimeError(Path(folder, "log").read_text(encoding="utf-8"))
