"""Options that several commands share, each described once."""

from typing import Annotated

import typer


def examples(*commands: str) -> str:
    """Return examples as the end of a command's help; the first character keeps their lines apart."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


_TABLES = (
    "CSV (also .gz, .bz2, .zst, .lz4, .zip), Excel (.xlsx), Parquet or Feather, here or at an address "
    "such as s3://."
)
DataArgument = Annotated[str, typer.Argument(metavar="FILE", help=_TABLES)]
FileArgument = Annotated[str | None, typer.Argument(metavar="[FILE]", help=_TABLES)]
SqlOption = Annotated[
    str | None, typer.Option("--sql", metavar="QUERY", help="Instead of FILE: a query of --database.")
]
DatabaseOption = Annotated[
    str | None, typer.Option("--database", metavar="DB", help="A file of DuckDB or SQLite, for --sql.")
]
ModelArgument = Annotated[
    str | None, typer.Argument(metavar="MODEL", help="A model written by `dpmorse fit`.")
]
ModelOption = Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The same, as an option.")]
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
ClustersOption = Annotated[str, typer.Option("--clusters", metavar="K|auto", help="Number of clusters.")]
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
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="A,B,...",
        help="Columns to use; may be repeated. Default: all but ids and row numbers.",
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="A,B,...", help="Columns not to use; may be repeated."),
]


def the_model(argument: str | None, option: str | None) -> str:
    """Return the model file, which may be given in two ways."""
    if argument is not None and option is not None:
        raise typer.BadParameter("give the model once: as an argument, or with --model.")
    path = option if argument is None else argument
    if path is None:
        raise typer.BadParameter("a model is needed: the file that `dpmorse fit` has written.")
    return path
