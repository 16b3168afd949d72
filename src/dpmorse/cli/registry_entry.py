"""What a model file knows of a deployment, in the fields of the public registry of deployments.

The fields and their allowed values are those of github.com/opendp/deployments-registry-data. What a model
cannot know is marked, for a person to fill in: nothing is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import dpmorse
from dpmorse.cli.models import Model, schema_of
from dpmorse.cli.plain_yaml import Noted
from dpmorse.clustering import MorseEstimator
from dpmorse.densities import ProductMixture
from dpmorse.privacy import PrivacyReport

FILL_IN = "TO FILL IN"
"""The mark of a field that a person must fill in."""

_SECTORS = "Technology, Healthcare, Education, Government, Energy, Finance"

_MECHANISMS = {
    "gaussian": "discrete Gaussian noise",
    "laplace": "discrete Laplace noise",
    "choice": "exponential mechanism",
}
"""The names of laws in model files, in words."""


def _asked(what: str) -> Noted:
    """Return a field that a person must fill in."""
    return Noted(FILL_IN, f"{FILL_IN}: {what}")


def registry_entry(model: Model, today: date) -> dict[str, Any]:
    """Return the entry of a model, with marks where a person must say something."""
    privacy: PrivacyReport = model.privacy_
    return {
        "url_slug": _slug(FILL_IN, [FILL_IN], today),
        "status": Noted(
            "Draft",
            f"The slug above is name, curators and year, joined: write it anew when you "
            f"have replaced every {FILL_IN} below.",
        ),
        "tier": 3,
        "deployment": {
            "basic": _basic(model, today),
            "dp_variant": _variant(model, privacy),
            "privacy_loss": _privacy_loss(privacy),
            "deployment_model": _deployment_model(),
            "accounting": _accounting(model, privacy),
            "implementation": _implementation(privacy),
            "administrative": _administrative(privacy),
        },
    }


def _slug(name: str, curators: list[str], published: date) -> str:
    """Return the slug as the registry makes it."""
    words = [name, "-".join(curators), str(published.year)]
    return "-".join(re.sub(r"\W+", "_", word.lower()) for word in words).replace("_", "-")


def _basic(model: Model, today: date) -> dict[str, Any]:
    return {
        "name": _asked("the name of the data product."),
        "data_curators": Noted([FILL_IN], f"{FILL_IN}: who publishes it."),
        "intended_use": _asked("what it is to be used for."),
        "data_product_type": "Machine learning model",
        "data_product_region": _asked("the region that the records are about, or whose laws apply."),
        "description": Noted(f"{_description(model)}\n{FILL_IN}", f"{FILL_IN}: say what the records are."),
        "publication_date": Noted(
            today.isoformat(),
            f"{FILL_IN}: the day of publication; this is the day on which the entry was made. If one fits, "
            f"add a line data_product_sector with one of: {_SECTORS}.",
        ),
    }


def _description(model: Model) -> str:
    names, n = schema_of(model).names, model.mixture_.n_components
    is_product = isinstance(model.mixture_, ProductMixture)
    kind = "products of Gaussians and categorical distributions" if is_product else "Gaussians"
    clusters = ""
    if isinstance(model, MorseEstimator):
        word = "cluster" if model.n_clusters_ == 1 else "clusters"
        clusters = f", merged into {model.n_clusters_} {word} by the Morse structure of its density"
    return f"A clustering of records by {_listed(names)}: a private mixture of {n} {kind}{clusters}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names)) + (" (1 column)" if len(names) == 1 else f" ({len(names)} columns)")


def _name(name: str) -> str:
    """Return a name that no reader of Markdown takes for anything else."""
    return "`" + name.replace("`", "'").replace("\\", "/") + "`"


def _variant(model: Model, privacy: PrivacyReport) -> dict[str, Any]:
    public_size = "" if privacy.neighboring == "add-remove" else " The number of records is public, too."
    return {
        "variant_name": "Pure DP" if privacy.budget.is_pure else "Approximate DP",
        "data_domain": f"All tables of any number of records with these columns.\n{_columns(model)}",
        "unprotected_quantities": (
            "Names of columns, bounds or lists of categories, the number of clusters and other parameters of "
            f"the fit: all were taken to be public.{public_size} Labels of the records are not part of "
            "the data product."
        ),
    }


def _columns(model: Model) -> str:
    columns = {name: column.domain_in_words for name, column in schema_of(model).columns}
    base: Any = getattr(model, "base_", model)
    if isinstance(base.bounds, str):
        columns = dict.fromkeys(columns, "a number; its bounds were found privately, as part of the budget")
    return "\n".join(f"- {_name(name)}: {words}" for name, words in columns.items())


def _privacy_loss(privacy: PrivacyReport) -> dict[str, Any]:
    rows = privacy.budget.max_rows_per_group
    unit = "record (one row)" if rows is None else f"{privacy.budget.unit_name} (all rows of it)"
    parameters: dict[str, Any] = {"epsilon": privacy.budget.epsilon, "delta": privacy.delta}
    if privacy.budget.is_pure:
        details = "The epsilons of all releases add up."
    else:
        parameters["rho"] = privacy.rho
        details = (
            "rho is the cost of all releases in zero-concentrated differential privacy; epsilon is what "
            "follows from it at delta. Both were reserved before the records were read."
        )
    return {
        "privacy_unit": unit,
        "privacy_unit_details": f"Adjacent are tables that differ by {privacy.relation}.",
        "privacy_parameters": parameters,
        "privacy_parameters_details": details,
    }


def _deployment_model() -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "The holder of the records runs the fit; noise is added once, to sums over all "
        "records, before anything leaves.",
        "actors": _asked(
            "who holds the records, who runs the fit, who sees the model, and why they are trusted with what."
        ),
        "release_type": Noted(
            "One release", f"{FILL_IN}: check; Many releases if the model is fitted again."
        ),
        "release_type_details": _asked(
            "whether the same records have been or will be used for other releases."
        ),
        "data_source_type": Noted("Static", f"{FILL_IN}: check; Dynamic if new records come in."),
        "access_type": "Non-interactive",
        "access_type_details": "A file that anybody may read; nobody asks the records anything.",
    }


def _accounting(model: Model, privacy: PrivacyReport) -> dict[str, Any]:
    n = len(privacy.events)
    by = "pure epsilons" if privacy.budget.is_pure else "zero-concentrated differential privacy"
    merged = "the tree of clusters and every cut of it, " if isinstance(model, MorseEstimator) else ""
    return {
        "post_processing": (
            f"Components from noisy sums, shrinkage by the known noise, {merged}synthetic records, tables "
            "and pictures: all of the released sums alone."
        ),
        "composition": Noted(
            f"Sequential and adaptive, by {by}: {n} release(s) from the same records, whose total cost was "
            f"fixed before.\n{FILL_IN}",
            f"{FILL_IN}: other releases from the same records, and what they cost together.",
        ),
    }


def _implementation(privacy: PrivacyReport) -> dict[str, Any]:
    laws = sorted({_MECHANISMS[event.noise.name] for event in privacy.events})
    source = "the operating system's secure source" if privacy.secure else "A SEED: THIS MODEL IS NOT SECURE"
    return {
        "preprocessing_and_hyperparameter_tuning": _asked(
            "what was done to the records before the fit, how bounds, epsilon and the number of clusters "
            "were chosen, whether by looking at the records, and whether that was accounted for."
        ),
        "mechanisms": Noted(
            f"The library dpmorse, version {dpmorse.__version__}. Mechanisms: {', '.join(laws)}. Values are "
            "rounded to a grid, sums over records are exact integers, and integer noise is added to them "
            f"once, drawn without floating-point numbers. Randomness comes from {source}. Running time is "
            f"not protected.\n{FILL_IN}",
            f"{FILL_IN}: check the version, which is the one that wrote this entry; say who has access to "
            "the records.",
        ),
        "justification": _asked("why these parameters, and who decided."),
    }


def _administrative(privacy: PrivacyReport) -> Mapping[str, Any]:
    seeded = "" if privacy.secure else " It was made with a seed and must not be used as a private release."
    return {
        "sources": _asked("where the model, its report and its documentation are."),
        "notes": f"Written from the model file by dpmorse registry.{seeded}",
        "registry_authors": Noted([FILL_IN], f"{FILL_IN}: who fills in this entry."),
    }
