"""A PostgreSQL server for tests, in a temporary folder: gone at the end, also where the tests were killed."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from needed import skip_or_fail

_CLEAN_UP = 'read -r _; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"'
"""Waits for a line, or for the end of the process that would have written it: whichever comes first."""

_SETTINGS = {
    "fsync": "off",  # nothing is kept, so nothing must survive a crash
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "unix_socket_directories": "",  # their paths are limited to a hundred characters
}


@contextmanager
def postgres_server():
    """Start an empty server that this machine alone can reach, without passwords; yield the URI of a database.

    Programs are those of PATH, or the newest that Debian has installed. PostgreSQL refuses to be run by root:
    then the server belongs to another user.
    """
    programs, user = _programs(), _user()
    folder = tempfile.mkdtemp(prefix="dpmorse-postgres-")  # pytest's own can be read by us alone
    if user:
        shutil.chown(folder, user["user"])
    clean_up = subprocess.Popen(
        ["sh", "-c", _CLEAN_UP, "sh", programs, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the tests, which then end this
        **user,
    )
    try:
        _run(
            programs,
            user,
            "initdb",
            folder,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        )
        yield f"postgresql://postgres@127.0.0.1:{_started(programs, user, folder)}/postgres"
    finally:
        clean_up.communicate(b"\n")


def _programs():
    """Return the folder of initdb and pg_ctl; Debian keeps it off PATH."""
    found = shutil.which("initdb")
    if found:
        return str(Path(found).resolve().parent)
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: float(path.parts[-3]), default=None)
    return (
        str(newest.parent) if newest else skip_or_fail("There is no PostgreSQL: apt-get install postgresql")
    )


def _user():
    """Return who runs the server, as options of a process: none where that is who runs the tests."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    import pwd  # not on Windows

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_name, "group": entry.pw_gid, "extra_groups": []}


def _run(programs, user, program, folder, *arguments, check=True):
    command = [f"{programs}/{program}", "-D", f"{folder}/data", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **user)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.returncode == 0


def _started(programs, user, folder):
    """Start the server; return its port."""
    settings = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
    for _ in range(5):  # somebody else may take a port between our look and the start
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ("-w", "-l", f"{folder}/log", "-o", f"-p {port} {settings}", "start")
        if _run(programs, user, "pg_ctl", folder, *options, check=False):
            return port
    raise RuntimeError(Path(folder, "log").read_text(encoding="utf-8"))
