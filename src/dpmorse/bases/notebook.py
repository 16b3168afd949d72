"""What a notebook shows of a fitted model: its clusters with intervals, and what is promised."""

import math
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from dpmorse.bases.outputs import FrameOutput
from dpmorse.profiles import NO_INTERVALS, about_intervals, clusters_as_html

_MOST_CAUTIONS = 3


class NotebookView(FrameOutput):
    """Mixin of estimators: fitted ones show what they have released, others scikit-learn's diagram."""

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
        first, *rest = _promise(self)
        parts = [
            f"<p><b>{escape(type(self).__name__)}</b>: {escape(first)}</p>",
            *_clusters(self),
            f"<details><summary>What is promised</summary>{_paragraphs(rest)}</details>",
        ]
        return "<div>" + "".join(parts) + "</div>"


def _promise(model: Any) -> list[str]:
    statement: str = getattr(getattr(model, "privacy_", None), "statement", "no promise is stated.")
    return statement.splitlines()


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _clusters(model: Any) -> list[str]:
    if getattr(getattr(model, "base_", model), "profile_", None) is None:
        return [clusters_as_html(_of_mixture(model), model._called), _paragraphs([NO_INTERVALS])]  # noqa: SLF001
    cautions = [caution.text for caution in model.cautions()]
    more = len(cautions) - _MOST_CAUTIONS
    told = [*cautions[:_MOST_CAUTIONS], *([f"{more} more: see cautions()."] if more > 0 else [])]
    return [
        clusters_as_html(model._summary_columns(model.table()), model._called),  # noqa: SLF001 - of a NotebookView
        _paragraphs([about_intervals()]),
        f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in told)}</ul>" if told else "",
    ]


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
