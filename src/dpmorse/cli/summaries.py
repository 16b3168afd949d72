"""A released model in words, as a table and as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.bases import PrivateMixtureEstimator
from dpmorse.cli.messages import printable
from dpmorse.clustering import MorseEstimator, load
from dpmorse.exceptions import InvalidTypeError, ModelFormatError
from dpmorse.privacy import Ledger, PrivacyReport
from dpmorse.typing import FloatArray, IntArray

Model = PrivateMixtureEstimator | MorseEstimator
"""What a model file may hold."""

_SHOWN_COLUMNS = 5
"""Columns of the data in a printed table: more would not fit in a terminal. --json has all."""

_WIDTH = 18
"""Characters of a cell of the table; longer names are cut."""


def load_model(path: str) -> Model:
    """Read a model file; errors name the file."""
    try:
        return load(path)
    except ModelFormatError as error:
        raise ModelFormatError(f"{path!r} cannot be used as a model: {error}") from None


def load_tree(path: str) -> MorseEstimator:
    """Read a model file that must hold a merge tree."""
    model = load_model(path)
    if not isinstance(model, MorseEstimator):
        raise InvalidTypeError(
            f"{path!r} holds a mixture without clusters: only `dpmorse fit` models can be cut."
        )
    return model


def column_names(model: Model) -> list[str]:
    """Return the names of the columns, or their positions if they have none."""
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    return [str(name) for name in names]


def label_name(names: list[str], model: Model) -> str:
    """Return a name for the column of labels that no other column has."""
    name = "cluster" if isinstance(model, MorseEstimator) else "component"
    while name in names:
        name = f"dpmorse_{name}"
    return name


@dataclass(frozen=True)
class Part:
    """A cluster, or a component of a model without clusters: its share, means and standard deviations."""

    share: float
    mean: FloatArray
    deviation: FloatArray


def parts(model: Model) -> list[Part]:
    """Describe the clusters of a model, heaviest first, from the released mixture alone."""
    labels = _labels(model)
    return list(_moments(model, labels))


def _labels(model: Model) -> IntArray:
    if isinstance(model, MorseEstimator):
        return model.component_labels_
    return np.arange(model.mixture_.n_components)


def _moments(model: Model, labels: IntArray) -> Iterator[Part]:
    mixture = model.mixture_
    for label in range(int(labels.max()) + 1):
        mine = labels == label
        share = float(mixture.weights[mine].sum())
        weights = mixture.weights[mine] / share if share > 0 else np.full(mine.sum(), 1 / max(mine.sum(), 1))
        # Law of total variance: the variance inside the components plus that between their means.
        mean = weights @ mixture.means[mine]
        inside = weights @ np.diagonal(mixture.covariances[mine], axis1=1, axis2=2)
        between = weights @ (mixture.means[mine] - mean) ** 2
        yield Part(share, mean, np.sqrt(inside + between))


def model_in_words(model: Model) -> str:
    """Return a table of the clusters and the promise."""
    return f"{cluster_table(model)}\n\n{model_privacy(model).statement}"


def model_privacy(model: Model) -> PrivacyReport:
    """Return what the fit promises."""
    report: PrivacyReport = model.privacy_
    return report


def cluster_table(model: Model) -> str:
    """Return one line a cluster: its share, and mean ± standard deviation of the first columns."""
    names, kind = column_names(model), label_name([], model)
    shown = names[:_SHOWN_COLUMNS]
    described = parts(model)
    header = f"{kind:>9}{'share':>9}" + "".join(f"  {_short(name):>{_WIDTH}}" for name in shown)
    rows = [
        f"{number:>9}{part.share:>9.1%}" + "".join(f"  {cell:>{_WIDTH}}" for cell in _cells(part, len(shown)))
        for number, part in enumerate(described)
    ]
    counted = f"{len(described)} {kind}s"
    if isinstance(model, MorseEstimator):
        counted += f" of {model.mixture_.n_components} components"
    more = f" ({_SHOWN_COLUMNS} shown; --json has all)" if len(names) > _SHOWN_COLUMNS else ""
    title = f"{counted} in {len(names)} columns{more}; share, mean ± standard deviation as released:"
    return "\n".join([title, "", header, *rows])


def model_to_dict(model: Model, path: str) -> dict[str, Any]:
    """Return what is known of a model as plain data for --json."""
    names, kind = column_names(model), label_name([], model)
    return {
        "model": path,
        "estimator": type(model).__name__,
        "columns": names,
        "components": model.mixture_.n_components,
        f"{kind}s": [
            {
                kind: number,
                "share": part.share,
                "mean": _by_name(names, part.mean),
                "standard_deviation": _by_name(names, part.deviation),
            }
            for number, part in enumerate(parts(model))
        ],
        "privacy": _privacy_to_dict(model_privacy(model)),
    }


def _privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    return {
        "epsilon": report.epsilon,
        "delta": report.delta,
        "neighboring": report.neighboring,
        "unit": report.budget.unit_name,
        "max_rows_per_group": report.budget.max_rows_per_group,
        "rho": report.rho,
        "used": {"epsilon": report.used.epsilon(report.delta), "rho": report.used.rho},
        "secure": report.secure,
        "statement": report.statement,
        "releases": report.to_dicts(),
    }


def budget_to_dict(ledger: Ledger) -> dict[str, Any]:
    """Return the budget of a ledger, what is spent of it, and what may be published about that."""
    budget = ledger.budget
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "neighboring": budget.neighboring.value,
        "unit": budget.unit_name,
        "max_rows_per_group": budget.max_rows_per_group,
        "spent": ledger.spent.epsilon(budget.delta),
        "publishable": ledger.odometer(),
    }


def budget_in_words(content: Mapping[str, Any]) -> str:
    """Say what is spent of a budget, and which of the two numbers may be published."""
    rows = content["max_rows_per_group"]
    unit = printable(content["unit"]) + ("" if rows is None else f", of which at most {rows} rows are used")
    spent = "(the account of its holder, not a promise)"
    return (
        f"epsilon {content['spent']:.6g} of {content['epsilon']:g} is spent {spent} at delta = "
        f"{content['delta']:g}, {content['neighboring']}; the unit is one {unit}.\n"
        f"May be published: epsilon {content['publishable']:.6g} so far, {content['epsilon']:g} in all."
    )


def _by_name(names: list[str], values: FloatArray) -> Mapping[str, float]:
    return dict(zip(names, values.tolist(), strict=True))


def _cells(part: Part, n_shown: int) -> list[str]:
    pairs = zip(part.mean[:n_shown], part.deviation[:n_shown], strict=True)
    return [f"{mean:.4g} ± {deviation:.2g}" for mean, deviation in pairs]


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 3]}..."
