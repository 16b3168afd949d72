"""Functions of single records, which travel to wherever the records are: they hold released values only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.engine import labels_of_tensor
from dpmorse.records import Function, open_matching, without_sizes
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, LabelArray, label_dtype

_CHUNK_ROWS = 1 << 16


def each_record(model: Any, X: Any, function: Function) -> Any:
    """Return a function of every record; X must have the columns of the model's fit.

    The function travels to where the records are, and nothing else of the model does.
    """
    with without_sizes():
        return open_matching(X, model).each(model, function)


@dataclass(frozen=True)
class OfClipped:
    """A function of records that are first clipped as in ``fit``."""

    function: Callable[[FloatArray], Any]
    domain: Domain

    def __call__(self, records: FloatArray) -> Any:
        """Return the function of clipped records."""
        return self.function(self.domain.clip(records))


@dataclass(frozen=True)
class Label:
    """The most probable component of a record, or the label that ``of_component`` gives that component."""

    mixture: GaussianMixture | ProductMixture
    domain: Domain
    of_component: LabelArray | None = None

    def __call__(self, records: FloatArray) -> LabelArray:
        """Return the label of each record."""
        if self.domain.radius is None:
            components = self.mixture.labels(records, self.domain.lower, self.domain.upper)
        else:
            components = np.empty(len(records), dtype=label_dtype(self.mixture.n_components))
            for start in range(0, len(records), _CHUNK_ROWS):  # without a copy of all records at once
                rows = slice(start, start + _CHUNK_ROWS)
                components[rows] = self.mixture.labels(self.domain.clip(records[rows]))
        return components if self.of_component is None else self.of_component[components]

    def of_tensor(self, records: Any) -> Any:
        """Label a tensor on its device."""
        mixture = self.mixture
        if isinstance(mixture, ProductMixture):
            return records.new_tensor(self(records.cpu().numpy()))
        return labels_of_tensor(
            records,
            means=mixture.means,
            whiteners=mixture.whiteners,
            log_factors=mixture.log_factors,
            domain=self.domain,
            of_component=self.of_component,
        )
