"""Options that several commands share, each described once."""

from typing import Annotated

import typer


def examples(*commands: str) -> str:
    """Return examples as the end of a command's help; the first character keeps their lines apart."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


FileArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV (also .gz, .bz2, .zst, .lz4), Parquet or Feather, here or at an address such as s3://.",
    ),
]
SqlOption = Annotated[
    str | None, typer.Option("--sql", metavar="QUERY", help="Instead of FILE: a query of --database.")
]
DatabaseOption = Annotated[
    str | None, typer.Option("--database", metavar="DB", help="A file of DuckDB or SQLite, for --sql.")
]
ModelOption = Annotated[
    str, typer.Option("--model", metavar="MODEL", help="A model written by `dpmorse fit`.")
]
OutputOption = Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="The file to write.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", help="No progress, no summary; warnings and errors only.")
]
DeltaOption = Annotated[
    float, typer.Option("--delta", help="Probability with which the promise may fail. Never from the data.")
]
ComponentsOption = Annotated[
    int | None,
    typer.Option("--components", metavar="K0", min=1, help="Components of the mixture. Default: a rule."),
]
BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help="What releases the mixture: DPMorse (default), PrivateGaussianMixture, DPMoG, DPMoGHard, "
        "DPLloyd, DPCube, DPTree, or one of another package.",
    ),
]
NeighboringOption = Annotated[
    str,
    typer.Option(
        "--neighboring",
        help="add-remove protects that a record is there; replace-one its values, and the number is public.",
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option("--separator", metavar="CHAR", help="Between the values of CSV, for instance ';' or 'tab'."),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", metavar="A,B,...", help="Columns to use; may be repeated. Default: all numbers."
    ),
]
