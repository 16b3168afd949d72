"""The command line: ``dpmorse plan | inspect | fit | predict | report | show | demo`` and more.

A layer above all others: it reads files, asks the estimators, and writes what they release.
docs/command-line.md is the guide.
"""

import shlex
import sys

_NO_PYARROW = """\
Error: files of data need pyarrow, which a plain dpmorse does without. Run the command with it:
  uvx --from 'dpmorse[{extra}]' dpmorse {arguments}
  pipx run --spec 'dpmorse[{extra}]' dpmorse {arguments}
Or, where dpmorse is installed, install it and run the command again:
  pip install 'dpmorse[{extra}]'"""


def main() -> None:
    """Run the command line, or say what must be installed for a command."""
    from dpmorse.cli.application import app  # noqa: PLC0415 - typer is not needed to import the package

    try:
        app(prog_name="dpmorse")  # loads the command that is called
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pyarrow":
            raise
        extra = "excel" if any(text.endswith(".xlsx") for text in sys.argv) else "arrow"
        sys.exit(_NO_PYARROW.format(extra=extra, arguments=shlex.join(sys.argv[1:])))
