"""Numbers about clusters that may be published: what users of a fitted model ask for."""

import warnings
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from dpmorse import _validate
from dpmorse.bases.outputs import FrameOutput
from dpmorse.exceptions import InvalidTypeError, NoisyModelWarning
from dpmorse.profiles import (
    ABOUT_AGAIN,
    LIBRARIES,
    NO_INTERVALS,
    Again,
    Caution,
    ClusterTable,
    ClusterView,
    Profile,
    about_intervals,
    cautions_of,
    cautions_of_budget,
    cluster_table,
    clusters_as_html,
    columns_of,
    in_one_text,
    to_frame,
)
from dpmorse.typing import IntArray

_WARNED_OF = {"budget", "size", "bounds", "missing", "other"}
"""Kinds of cautions that a fit warns of: those that its caller can do something about."""

_MOST_SENTENCES = 3
"""Sentences of a warning, and cautions in a notebook; more would not be read."""


class PublishedNumbers(FrameOutput):
    """Mixin of estimators whose base has released a profile.

    A subclass says which label each component has (``_labels_of_components``) and where its profile is. In a
    notebook, fitted ones show what they have released, others scikit-learn's diagram.
    """

    mixture_: Any
    privacy_: Any

    def table(
        self,
        n_clusters: int | None = None,
        *,
        level: float = 0.95,
        population: bool = False,
        quantiles: Sequence[float] = (),
    ) -> ClusterTable:
        """Return shares, quartiles, levels and missing values of each cluster with intervals. Costs nothing.

        Parameters
        ----------
        n_clusters : int or None, default=None
            Number of clusters; None takes that of ``predict``.
        level : float, default=0.95
            Probability with which an interval holds the truth.
        population : bool, default=False
            False: intervals are about the records at hand, and hold what noise, clipping and rounding may
            have changed. True: about the population that they were drawn from, at random; these are wider.
        quantiles : sequence of float, default=()
            Further quantiles of numbers, such as (0.05, 0.95): parts of the values that lie below.

        Notes
        -----
        A record counts for the cluster of its most probable component, which is its label unless the
        estimator has ``assign="basin"``. All numbers are those of one account: levels of a category and its
        missing values add up to 1, clusters to all records. What noise hides is NaN.
        """
        check_is_fitted(self, "mixture_")
        level = _validate.open_unit_interval(level=level)
        _validate.boolean(population=population)
        asked = _validate.open_unit_intervals(quantiles=quantiles)
        labels, profile = self._labels_of_components(n_clusters), self._profile()
        k = n_clusters or self._n_labels
        return cluster_table(
            profile, labels, n_clusters=k, level=level, population=population, quantiles=asked
        )

    def summary(
        self,
        n_clusters: int | None = None,
        *,
        level: float = 0.95,
        population: bool = False,
        quantiles: Sequence[float] = (),
        library: str | None = None,
    ) -> Any:
        """Return the same as a data frame: one row for each cluster and column.

        Its columns are ``cluster``, ``column``, then ``share``, ``q1``, ``median`` and ``q3`` (and ``p5`` for
        a quantile of 0.05 that was asked for), each followed by the ends of its interval (``_low`` and
        ``_high``), ``again`` and ``warning``: a sentence, or nothing. What noise hides is NaN.

        ``again`` says from 0 to 1 how nearly a cluster is found again (docs/choosing.md): the mean Jaccard
        index of its records with those of the most similar cluster, over rehearsals. The first to ask waits
        for them. NaN where they were turned off, for components, and of a cluster without records.

        Of a table with stated columns, categories have one row for each ``level``, with ``level_share``, the
        part of the cluster's records that has it. ``missing`` is the part that does not have the column. Both
        have intervals, and those of one category add up to 1; what does not apply is NaN, or None for
        ``level``. Quantiles of ordered values are ranks, from 0; those of dates are days since the earliest.

        Parameters
        ----------
        n_clusters, level, population, quantiles
            As in ``table``.
        library : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the frame; None takes that of ``set_output`` or of the fit, or the first installed.
        """
        if library is not None:
            _validate.choice(library=library, among=LIBRARIES)
        table = self.table(n_clusters, level=level, population=population, quantiles=quantiles)
        view = ClusterView.of(table, self._released.schema_, self._cautions(table), self._again(n_clusters))
        return to_frame(columns_of(view), library or self._frames_of)

    def describe(self, n_clusters: int | None = None) -> Any:
        """Return clusters, promise and cautions in sentences, those of the report: ``print`` them.

        Parameters
        ----------
        n_clusters : int or None, default=None
            Number of groups; None takes that of ``predict``.
        """
        from dpmorse.report import describe  # noqa: PLC0415 - no fit needs sentences

        check_is_fitted(self, "mixture_")
        return describe(self, n_clusters)

    def cautions(self, n_clusters: int | None = None) -> list[Caution]:
        """Return what a reader of the table must be told: sizes that may be noise, bounds that cut, ..."""
        return self._cautions(self.table(n_clusters))

    def _labels_of_components(self, n_clusters: int | None) -> IntArray:
        """Return the cluster of each component."""
        raise NotImplementedError

    def _again(self, n_clusters: int | None = None) -> Again | None:
        """Return how often the clusters were found again; nobody knows it of components."""
        return None

    @property
    def _n_labels(self) -> int:
        """Number of labels of ``predict``."""
        raise NotImplementedError

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
        promise = getattr(self.privacy_, "statement", "No promise is stated.").splitlines()
        n_shown = 1 if getattr(self.privacy_, "secure", True) else 2  # that it is not secure comes first
        schema = self._released.schema_
        if self._released.profile_ is None:
            view = ClusterView.of_mixture(self.mixture_, self._labels_of_components(None), schema)
        else:
            table = self.table()
            view = ClusterView.of(table, schema, self._cautions(table), self._again())
        cautions = [caution.text for caution in view.cautions]
        if len(cautions) > _MOST_SENTENCES:
            more = len(cautions) - _MOST_SENTENCES
            cautions = [*cautions[:_MOST_SENTENCES], f"{more} more: see cautions()."]
        items = "".join(f"<li>{escape(text)}</li>" for text in cautions)
        parts = [
            f"<p><b>{escape(type(self).__name__)}</b></p>{_paragraphs(promise[:n_shown])}",
            clusters_as_html(view, self._called),
            _paragraphs([NO_INTERVALS if view.table is None else about_intervals()]),
            _paragraphs([ABOUT_AGAIN] * (view.again is not None)),
            f"<ul>{items}</ul>" if items else "",
            f"<details><summary>More about the promise</summary>{_paragraphs(promise[n_shown:])}</details>",
        ]
        return "<div>" + "".join(parts) + "</div>"

    def _cautions(self, table: ClusterTable) -> list[Caution]:
        each = cautions_of(table, self._profile(), self._released.schema_, self._called)
        of_all = [note for note in each if note.cluster is None]
        return [*of_all, *cautions_of_budget(table, self._called), *each[len(of_all) :]]

    def _warn_of_numbers(self, stacklevel: int) -> None:
        """Warn of clusters that may be noise, of bounds that cut and of lists that are too short.

        What is not known is said in the summary.
        """
        if self._released.profile_ is None:
            return
        labels = self._labels_of_components(None)
        table = cluster_table(self._profile(), labels, n_clusters=self._n_labels, quantiles=None)
        found = [caution for caution in self._cautions(table) if caution.kind in _WARNED_OF]
        if found:
            warnings.warn(in_one_text(found, _MOST_SENTENCES), NoisyModelWarning, stacklevel=stacklevel + 1)

    def _profile(self) -> Profile:
        profile = self._released.profile_
        if profile is None:
            raise InvalidTypeError(
                f"{type(self).__name__} has no profile: it was fitted with profile=False or with a base that "
                "releases none, or comes from an older file. Fit DPMorse or PrivateGaussianMixture with "
                "profile=True for numbers with intervals."
            )
        return profile


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
