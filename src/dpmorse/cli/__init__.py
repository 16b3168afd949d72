"""The command line: ``dpmorse plan | bounds | fit | predict | cut | sample | report | show | demo`` and more.

A layer above all others: it reads files, asks the estimators, and writes what they release.
docs/command-line.md is the guide.
"""

import sys

_LIBRARIES = ("typer", "rich", "pyarrow")

_MISSING = """\
The command line needs {name}, which a plain dpmorse, the library, does without. Install it, or run it once:
  pip install 'dpmorse[cli]'
  uvx --from 'dpmorse[cli]' dpmorse
  pipx run --spec 'dpmorse[cli]' dpmorse"""


def main() -> None:
    """Run the command line, or say what must be installed for it."""
    try:
        from dpmorse.cli.application import app  # noqa: PLC0415 - typer and pyarrow come with an extra

        app(prog_name="dpmorse")  # loads the command that is called
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _LIBRARIES:
            raise
        sys.exit(_MISSING.format(name=error.name))
