"""What a notebook shows of a fitted model: its clusters with intervals, and what is promised."""

from collections.abc import Iterable
from html import escape
from typing import Any

from dpmorse.bases.outputs import FrameOutput
from dpmorse.profiles import NO_INTERVALS, about_intervals, clusters_as_html

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
    view = model._view()  # noqa: SLF001 - of PublishedNumbers
    table = clusters_as_html(view, model._called)  # noqa: SLF001 - likewise
    if view.table is None:
        return [table, _paragraphs([NO_INTERVALS])]
    cautions = [caution.text for caution in view.cautions]
    more = len(cautions) - _MOST_CAUTIONS
    told = [*cautions[:_MOST_CAUTIONS], *([f"{more} more: see cautions()."] if more > 0 else [])]
    items = "".join(f"<li>{escape(text)}</li>" for text in told)
    return [table, _paragraphs([about_intervals()]), f"<ul>{items}</ul>" if told else ""]
