"""Scripts in a process of their own: for what is decided when libraries are loaded."""

import os
import subprocess
import sys
import textwrap


def printed_by(script, *arguments, **environment):
    """Run a script; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
