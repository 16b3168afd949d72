"""Turn options into an estimator, with all checks that need no data."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpmorse.bases import Plan, PrivateFit, available_bases, has_products
from dpmorse.clustering import DPMorse, MorseClustering, fitted_n_components
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import Budget, FileLedger, Ledger
from dpmorse.schema import Column, Schema

DEFAULT = "DPMorse"
"""The name under which the default estimator is given as --base."""

NO_EPSILON = "--epsilon must be given. A privacy budget has no default: 1 is common, smaller is more private."
"""The error where --epsilon is missing."""


@dataclass(frozen=True)
class FitRequest:
    """The options of a fit; an option that was not given is None."""

    epsilon: float
    delta: float
    bounds: Any
    """One pair, or a pair of lists; None where columns are described."""

    clusters: int | str
    components: int | None
    base: str | None
    neighboring: str
    max_rows: int | None = None
    seed: int | None = None
    columns: Mapping[str, Column] | None = None
    """What the columns are, for tables with categories, dates or missing values."""

    def estimator(self, n_features: int, ledger: Ledger | None = None) -> DPMorse | MorseClustering:
        """Return the estimator, not yet fitted."""
        if self.base in {None, DEFAULT}:
            return DPMorse(self.clusters, self.components, **self._parameters(ledger))
        kind, parameters = _find(str(self.base)), self._parameters(ledger)
        unknown = set(parameters) - set(kind().get_params(deep=False))
        if unknown:
            raise InvalidParameterError(f"--base {self.base} has no {', '.join(sorted(unknown))}.")
        n_components = self.components or self.suggested_components(n_features)
        return MorseClustering(kind(n_components, **parameters), self.clusters)

    def suggested_components(self, n_features: int) -> int:
        """Return the number of components that is fitted where none is asked for."""
        wanted = None if isinstance(self.clusters, str) else self.clusters
        products = has_products(None if self.columns is None else Schema.of(self.columns))
        return fitted_n_components(None, wanted, n_features, products=products)

    def _parameters(self, ledger: Ledger | None) -> dict[str, Any]:
        given = {
            "max_rows_per_group": self.max_rows,
            "random_state": self.seed,
            "ledger": ledger,
            "columns": self.columns,
        }
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "bounds": self.bounds,
            "neighboring": self.neighboring,
            **{name: value for name, value in given.items() if value is not None},
        }

    def plan(self, n_features: int) -> tuple[PrivateFit, Plan[Any]]:
        """Check every parameter as ``fit`` will; return the base and its plan."""
        base = self.estimator(n_features)._base_for(n_features)
        if not isinstance(base, PrivateFit):
            raise InvalidTypeError(
                f"--base {self.base} has no plan: derive it from dpmorse.bases.PrivateFit."
            )
        return base, base.plan(n_features)


def parse_clusters(text: str) -> int | str:
    """Read --clusters: a number, or "auto"."""
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise InvalidParameterError(f"--clusters must be a number >= 1 or auto, got {text!r}.")
    return number


def open_budget(path: str, total: float | None, budget: Budget) -> FileLedger:
    """Open a budget file, or begin one with ``total`` and the delta, relation and unit of this fit.

    Parameters
    ----------
    path : str
        The file.
    total : float or None
        What --budget-epsilon says.
    budget : Budget
        That of the fit.
    """
    if not os.path.lexists(path):
        if total is None:
            raise InvalidParameterError(
                f"there is no budget file {path!r}. To begin one, say with --budget-epsilon how much may be "
                "spent in all; its delta, neighbouring relation, unit and rows will be those of this fit."
            )
        return FileLedger(path, replace(budget, epsilon=total))
    ledger = FileLedger(path)
    if total is not None and total != ledger.budget.epsilon:
        raise InvalidParameterError(
            f"--budget-epsilon must be {ledger.budget.epsilon:g}, the total of {path!r}, got {total:g}. "
            "A total cannot be changed; leave the option out."
        )
    return ledger


def _find(name: str) -> type[Any]:
    bases = available_bases()
    if name not in bases:
        raise InvalidParameterError(f"--base must be one of {', '.join([DEFAULT, *bases])}, got {name!r}.")
    return bases[name]
