"""Turn options into an estimator, with all checks that need no data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpmorse import _validate
from dpmorse.bases import Plan, PrivateFit, available_bases, has_products
from dpmorse.clustering import DPMorse, MorseClustering, fitted_n_components
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import Ledger
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
    rehearsals: int = 5
    columns: Mapping[str, Column] | None = None
    """What the columns are, for tables with categories, dates or missing values."""

    def estimator(self, n_features: int, ledger: Ledger | None = None) -> DPMorse | MorseClustering:
        """Return the estimator, not yet fitted."""
        given = {
            "max_rows_per_group": self.max_rows,
            "random_state": self.seed,
            "ledger": ledger,
            "columns": self.columns,
        }
        parameters: dict[str, Any] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "bounds": self.bounds,
            "neighboring": self.neighboring,
            **{name: value for name, value in given.items() if value is not None},
        }
        if self.base in {None, DEFAULT}:
            return DPMorse(self.clusters, self.components, rehearsals=self.rehearsals, **parameters)
        bases, base = available_bases(), str(self.base)
        if base not in bases:
            among = [DEFAULT, *bases]
            hint = _validate.did_you_mean(base, among)
            raise InvalidParameterError(f"--base must be one of {', '.join(among)}, got {base!r}.{hint}")
        kind = bases[base]
        unknown = set(parameters) - set(kind().get_params(deep=False))
        if unknown:
            raise InvalidParameterError(f"--base {base} has no {', '.join(sorted(unknown))}.")
        n_components = self.components or self.suggested_components(n_features)
        base_of_tree = kind(n_components, **parameters)
        return MorseClustering(base_of_tree, self.clusters, rehearsals=self.rehearsals)

    def suggested_components(self, n_features: int) -> int:
        """Return the number of components that is fitted where none is asked for."""
        wanted = None if isinstance(self.clusters, str) else self.clusters
        products = has_products(Schema.of_stated(self.columns))
        return fitted_n_components(None, wanted, n_features, products=products)

    def plan(self, n_features: int, names: Sequence[str] | None = None) -> tuple[PrivateFit, Plan[Any]]:
        """Check every parameter as ``fit`` will; return the base and its plan.

        Errors call columns by their names, if these are given.
        """
        base = self.estimator(n_features)._base_for(n_features)
        if not isinstance(base, PrivateFit):
            raise InvalidTypeError(
                f"--base {self.base} has no plan: derive it from dpmorse.bases.PrivateFit."
            )
        return base, base.plan(n_features, names)


def parse_clusters(text: str) -> int | str:
    """Read --clusters: a number, or "auto"."""
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise InvalidParameterError(
            f"--clusters must be a number >= 1 or auto, got {text!r}.{_validate.did_you_mean(text, ['auto'])}"
        )
    return number
