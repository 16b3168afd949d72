"""``dpmorse registry``: an entry for the public registry of deployments of differential privacy.

The fields and their allowed values are those of github.com/opendp/deployments-registry-data. What a model
file knows is filled into ``registry_entry.yaml``; what it cannot know is marked there, for a person.
"""

import json
import textwrap
from datetime import UTC, date, datetime
from importlib import resources
from string import Template
from typing import Annotated, Any

import typer

import dpmorse
from dpmorse.cli.messages import note, reports_mistakes, say, warn
from dpmorse.cli.models import Model, load_model, schema_of
from dpmorse.cli.options import ForceOption
from dpmorse.cli.outputs import check_output, write_text
from dpmorse.clustering import MorseEstimator
from dpmorse.densities import ProductMixture
from dpmorse.privacy import PrivacyReport

FILL_IN = "TO FILL IN"
"""The mark of a field that a person must fill in."""

_INDENT = " " * 6
"""Before each line of a text in the entry."""

_WIDTH = 110

_MECHANISMS = {
    "gaussian": "discrete Gaussian noise",
    "laplace": "discrete Laplace noise",
    "choice": "exponential mechanism",
}
"""The names of laws in model files, in words."""


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
    text = registry_entry(released, datetime.now(UTC).date())
    if not released.privacy_.secure:
        warn("the model was made with a seed and is NOT SECURE; the entry says so.")
    if output is None:
        say(text.rstrip("\n"))
        return
    write_text(output, text)
    note(f"The entry is in {output!r}; {text.count(FILL_IN)} places say {FILL_IN}.")


def registry_entry(model: Model, today: date) -> str:
    """Return the entry of a model as YAML, with marks where a person must say something."""
    template = resources.files("dpmorse.cli").joinpath("registry_entry.yaml").read_text(encoding="utf-8")
    privacy = model.privacy_
    texts = {**_of_model(model), **_of_privacy(privacy)}
    stated = {"epsilon": privacy.budget.epsilon, "delta": privacy.delta}
    if not privacy.budget.is_pure:
        stated["rho"] = privacy.rho
    return Template(template).substitute(
        {name: yaml_text(text) for name, text in texts.items()},
        year=today.year,
        publication_date=yaml_text(today.isoformat()),
        privacy_parameters="".join(
            f"\n{_INDENT}{name}: {yaml_number(value)}" for name, value in stated.items()
        ),
    )


def _of_model(model: Model) -> dict[str, str]:
    names, n = schema_of(model).names, model.mixture_.n_components
    listed = ", ".join(map(_name, names)) + (" (1 column)" if len(names) == 1 else f" ({len(names)} columns)")
    is_product = isinstance(model.mixture_, ProductMixture)
    kind = "products of Gaussians and categorical distributions" if is_product else "Gaussians"
    clusters = tree = ""
    if isinstance(model, MorseEstimator):
        word = "cluster" if model.n_clusters_ == 1 else "clusters"
        clusters = f", merged into {model.n_clusters_} {word} by the Morse structure of its density"
        tree = "the tree of clusters and every cut of it, "
    return {
        "description": (
            f"A clustering of records by {listed}: a private mixture of {n} {kind}{clusters}.\n{FILL_IN}"
        ),
        "data_domain": f"All tables of any number of records with these columns.\n{_columns(model)}",
        "post_processing": (
            f"Components from noisy sums, shrinkage by the known noise, {tree}synthetic records, tables "
            "and pictures: all of the released sums alone."
        ),
    }


def _of_privacy(privacy: PrivacyReport) -> dict[str, str]:
    pure, unit = privacy.budget.is_pure, privacy.budget.protects
    public_size = "" if privacy.neighboring == "add-remove" else " The number of records is public, too."
    by = "pure epsilons" if pure else "zero-concentrated differential privacy"
    laws = sorted({_MECHANISMS[event.noise.name] for event in privacy.events})
    source = "the operating system's secure source" if privacy.secure else "A SEED: THIS MODEL IS NOT SECURE"
    seeded = "" if privacy.secure else " It was made with a seed and must not be used as a private release."
    return {
        "variant_name": "Pure DP" if pure else "Approximate DP",
        "unprotected_quantities": (
            "Names of columns, bounds or lists of categories, the number of clusters and other parameters of "
            f"the fit: all were taken to be public.{public_size} Labels of the records are not part of "
            "the data product."
        ),
        "privacy_unit": (f"{unit.word} (all rows of it)" if unit.is_group else "record (one row)"),
        "privacy_unit_details": f"Adjacent are tables that differ by {privacy.relation}.",
        "privacy_parameters_details": (
            "The epsilons of all releases add up."
            if pure
            else "rho is the cost of all releases in zero-concentrated differential privacy; epsilon is what "
            "follows from it at delta. Both were reserved before the records were read."
        ),
        "composition": (
            f"Sequential and adaptive, by {by}: {len(privacy.events)} "
            f"release{'' if len(privacy.events) == 1 else 's'} from the same records, "
            f"whose total cost was fixed before.\n{FILL_IN}"
        ),
        "mechanisms": (
            f"The library dpmorse, version {dpmorse.__version__}. Mechanisms: {', '.join(laws)}. Values are "
            "rounded to a grid, sums over records are exact integers, and integer noise is added to them "
            f"once, drawn without floating-point numbers. Randomness comes from {source}. Running time is "
            f"not protected.\n{FILL_IN}"
        ),
        "notes": f"Written from the model file by dpmorse registry.{seeded}",
    }


def _columns(model: Model) -> str:
    columns = {name: column.domain_in_words for name, column in schema_of(model).columns}
    base: Any = model._released
    if isinstance(base.bounds, str):
        columns = dict.fromkeys(columns, "a number; its bounds were found privately, as part of the budget")
    return "\n".join(f"- {_name(name)}: {words}" for name, words in columns.items())


def _name(name: str) -> str:
    """Return a name that no reader of Markdown takes for anything else."""
    return "`" + name.replace("`", "'").replace("\\", "/") + "`"


def yaml_text(text: str) -> str:
    """Return a text as YAML: a block where it is long, else in double quotes; nothing is folded.

    A block cannot hold characters that are not printed. In quotes they are escaped as YAML does, which JSON
    mostly shares.
    """
    printed = all(character.isprintable() or character == "\n" for character in text)
    if printed and text[:1].isalnum() and ("\n" in text or len(text) > _WIDTH // 2):
        width = _WIDTH - len(_INDENT)
        wrapped = (
            textwrap.wrap(line, width, break_on_hyphens=False, break_long_words=False) or [""]
            for line in text.split("\n")
        )
        return "\n".join(["|-", *(f"{_INDENT}{line}".rstrip() for lines in wrapped for line in lines)])
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def yaml_number(number: float) -> str:
    """Return a number as YAML 1.1 reads it: one with an exponent needs a point, too."""
    text = repr(number)
    return text if "e" not in text or "." in text else text.replace("e", ".0e")
