"""Released models of tables that nobody has fitted: mixture, profile and promise, put together by hand."""

import numpy as np

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema
from dpmorse.densities import ProductMixture
from mixture_profiles import invented_profile

SCHEMA = Schema.of(
    {
        "ward": Nominal(["surgery", "medicine"], missing="ignore"),
        "age": Numeric(0, 100, missing="ignore"),
        "grade": Ordinal(["low", "mid", "high"]),
        "smoker": Boolean(),
        "joined": Date("2000-01-01", "2020-01-01"),
    }
)


class TableModel:
    """The least that a page needs of a table's base: columns, a mixture, what it looks like, a promise."""

    described_domain = domain_ = plan_ = _smallest_seen = None
    _released = property(lambda self: self)

    def __init__(self, mixture, schema, privacy, profile=None):
        self.mixture_, self.schema_, self.privacy_, self.profile_ = mixture, schema, privacy, profile
        self.partition_ = mixture

    @property
    def landscape_(self):
        return self.mixture_.landscape


def table_model(privacy, *, schema=SCHEMA, counts=(6000, 3000, 1000), with_profile=True, seed=0):
    """A model whose components differ in every column; numbers lie at three tenths, six tenths ... of the bounds."""
    rng, layout, k = np.random.default_rng(seed), schema.layout, len(counts)
    lower, upper = np.array(layout.lower), np.array(layout.upper)
    places = 0.2 + 0.6 * rng.permuted(np.tile(np.linspace(0, 1, k), (layout.n_numbers, 1)), axis=1).T
    means = lower + places * (upper - lower)
    covariances = np.tile(np.diag((0.05 * (upper - lower)) ** 2), (k, 1, 1))
    probabilities = np.hstack(
        [rng.dirichlet(np.full(n, 0.7), size=k) * 0.98 + 0.02 / n for n in layout.n_levels]
        or [np.empty((k, 0))]
    )
    weights = np.array(counts) / np.sum(counts)
    mixture = ProductMixture(weights, means, covariances, probabilities, layout)
    profile = invented_profile(mixture, counts, schema=schema) if with_profile else None
    return TableModel(mixture, schema, privacy, profile)
