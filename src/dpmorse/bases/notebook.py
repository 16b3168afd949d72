"""What a notebook shows of a fitted model: its clusters with intervals, and what is promised."""

import math
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from dpmorse.bases.outputs import FrameOutput
from dpmorse.profiles import NO_INTERVALS, about_intervals, clusters_as_html
from dpmorse.schema import Date

_MOST_CAUTIONS = 3


class NotebookView(FrameOutput):
    """Mixin of estimators: fitted ones show what they have released, others scikit-learn's diagram."""

    privacy_: Any

    @property
    def _repr_html_(self) -> Any:
        usual = super()._repr_html_  # type: ignore[misc]  # scikit-learn's; absent where text is wanted
        return self._as_html if hasattr(self, "mixture_") else usual

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle and hasattr(self, "mixture_"):
            bundle["text/html"] = self._as_html()
        return bundle

    def _as_html(self) -> str:
        """Return clusters, what must be said about them, and the promise; all that is shown is released."""
        promise = _promise(self)
        n_shown = 1 if getattr(self.privacy_, "secure", True) else 2  # that it is not secure comes first
        parts = [
            f"<p><b>{escape(type(self).__name__)}</b></p>{_paragraphs(promise[:n_shown])}",
            *_clusters(self),
            f"<details><summary>More about the promise</summary>{_paragraphs(promise[n_shown:])}</details>",
        ]
        return "<div>" + "".join(parts) + "</div>"


def _promise(model: Any) -> list[str]:
    statement: str = getattr(model.privacy_, "statement", "No promise is stated.")
    return statement.splitlines()


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _clusters(model: Any) -> list[str]:
    if getattr(getattr(model, "base_", model), "profile_", None) is None:
        return [_table(model, _of_mixture(model)), _paragraphs([NO_INTERVALS])]
    cautions = [caution.text for caution in model.cautions()]
    more = len(cautions) - _MOST_CAUTIONS
    told = [*cautions[:_MOST_CAUTIONS], *([f"{more} more: see cautions()."] if more > 0 else [])]
    return [
        _table(model, model._summary_columns(model.table())),  # noqa: SLF001 - of PublishedNumbers
        _paragraphs([about_intervals()]),
        f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in told)}</ul>" if told else "",
    ]


def _table(model: Any, columns: dict[str, list[Any]]) -> str:
    schema = model._schema()  # noqa: SLF001 - of PublishedNumbers
    stated = () if schema is None else schema.columns
    first_days = {name: column.first for name, column in stated if isinstance(column, Date)}
    return clusters_as_html(columns, model._called, first_days)  # noqa: SLF001


def _of_mixture(model: Any) -> dict[str, list[Any]]:
    """Return shares and centres of the mixture by cluster, where no profile was released: no intervals."""
    labels, mixture = model.labels_of_components(None), model.mixture_
    members = np.eye(int(labels.max()) + 1)[labels].T * mixture.weights
    shares = members.sum(axis=1)
    centres = members @ mixture.means / np.maximum(shares, np.finfo(np.float64).tiny)[:, None]
    names = model._names_of_numbers() or [None]  # noqa: SLF001 - tables without numbers have shares only
    clusters = range(len(shares))
    columns = {
        "cluster": [cluster for cluster in clusters for _ in names],
        "column": [*names] * len(shares),
        "share": np.repeat(shares, len(names)).tolist(),
        "centre": centres.ravel().tolist() or [math.nan] * len(shares),
    }
    unknown = [math.nan] * len(columns["cluster"])
    return columns | {name + end: unknown for name in ("share", "centre") for end in ("_low", "_high")}
