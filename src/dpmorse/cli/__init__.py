"""The command line: ``dpmorse plan | bounds | fit | predict | cut | sample | report | show | demo``.

A layer above all others: it reads files, asks the estimators, and writes what they release.
docs/command-line.md is the guide.
"""

import sys

_LIBRARIES = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command line, or say what must be installed for it."""
    try:
        from dpmorse.cli.application import app  # noqa: PLC0415 - typer and pyarrow come with an extra

        app(prog_name="dpmorse")  # loads the command that is called
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _LIBRARIES:
            raise
        sys.exit(f"The command line needs {error.name}: pip install 'dpmorse[cli]'")
