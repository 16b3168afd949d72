"""``dpmorse registry``: an entry for the public registry of deployments of differential privacy."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from dpmorse.cli.messages import note, reports_mistakes, say, warn
from dpmorse.cli.models import load_model
from dpmorse.cli.options import ForceOption
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.cli.plain_yaml import to_yaml
from dpmorse.cli.registry_entry import FILL_IN, registry_entry


@reports_mistakes
def registry(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model written by `dpmorse fit`.")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="YAML", help="The file to write; or it is printed."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write an entry for the registry of deployments, with what the model knows. Costs no budget.

    Fields that a person must fill in say TO FILL IN. The registry is
    github.com/opendp/deployments-registry-data; it takes entries as pull requests.
    """
    if output is not None:
        check_output(output, force=force, inputs=(model,))
    released = load_model(model)
    text = to_yaml(registry_entry(released, datetime.now(UTC).date()))
    if not released.privacy_.secure:
        warn("the model was made with a seed and is NOT SECURE; the entry says so.")
    if output is None:
        say(text.rstrip("\n"))
        return
    write_text(output, text)
    note(f"The entry is in {output!r}; {text.count(FILL_IN)} places say {FILL_IN}.")
