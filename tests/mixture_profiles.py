"""Profiles that nobody has released, for pages and tables of mixtures that nobody has fitted."""

import numpy as np
from scipy.stats import norm

from dpmorse.bases.staged.profile import edges_of
from dpmorse.profiles import Profile
from dpmorse.schema import Schema

N_BINS = 12
"""Bins between quantiles, for each number; with those far outside of them there are two more."""

STEPS = np.linspace(0, 1, 49)
"""Parts of the values at which curves are known."""


def invented_profile(mixture, counts, *, schema=None, missing=0.1, lower=-50.0, upper=50.0, **changes):
    """A profile in which the records of every component are those of the mixture, and a little noise is stated.

    ``missing`` is the part of the values that is missing where any may be, or an array with a row for each component
    and a column for each of the table, numbers first.
    """
    counts, d = np.array(counts, dtype=float), mixture.means.shape[1]
    schema = schema or Schema.of_numbers(None, np.full(d, lower), np.full(d, upper))
    lower, upper = (np.array(ends) for ends in (schema.layout.lower, schema.layout.upper))
    gaps = np.broadcast_to(missing, (len(counts), d + len(schema.categories)))
    deviations = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    scores = norm.ppf(np.clip(STEPS, 0.001, 0.999))
    curves = mixture.means[:, :, None] + deviations[:, :, None] * scores
    curves = np.clip(curves, lower[:, None], upper[:, None])
    edges = edges_of(curves, np.full(len(counts), N_BINS), lower, upper, schema.whole)
    below = norm.cdf((edges - mixture.means[:, :, None]) / deviations[:, :, None])
    below = np.where(edges < upper[:, None], below, 1.0)
    parts = [np.diff(below[:, j], prepend=0.0, append=1.0) for j in range(d)]
    levels = schema.layout.levels[: len(schema.categories)]
    parts += [mixture.probabilities[:, part] for part in levels]
    entries = []
    for j, part in enumerate(parts):
        hole = gaps[:, [j]] if j in schema.with_gaps else np.zeros((len(counts), 1))
        entries.append(np.hstack([part * (1 - hole), *[hole] * (j in schema.with_gaps)]))
    expected = np.hstack(entries)
    stated = {
        "sizes": counts,
        "entries": counts[:, None] * expected,
        "size_stddev": 10.0,
        "entry_stddev": 5.0,
        "edges": edges,
        "curves": curves,
        "expected": expected,
        "lower": lower,
        "upper": upper,
        "whole": schema.whole.astype(float),
        "outside": np.zeros((d, 2)),
        "outside_stddev": 5.0,
        "n_levels": schema.layout.n_levels[: len(schema.categories)],
        "may_miss": schema.with_gaps,
    }
    return Profile(**{**stated, **changes})


class OwnBase:
    """A model that is its own base, with a mixture and a profile."""

    described_domain = domain_ = plan_ = _smallest_seen = None
    _released = property(lambda self: self)
    partition_ = property(lambda self: self.mixture_)

    @property
    def schema_(self):
        return Schema.of_numbers(None, self.profile_.lower, self.profile_.upper)
