"""Synthetic records of a released model: columns by its account, what goes together by its mixture.

A record is drawn of a component by its size. Its numbers go together as in the Gaussian of that component:
their normal scores are drawn, and each becomes the value that the account has at the same part of the
component's values. Levels are drawn by the account. So columns have the distributions that the page shows.
"""

import numpy as np
from scipy.special import ndtr

from dpmorse.densities import GaussianMixture, ProductMixture, rows_of_each
from dpmorse.profiles.account import Account
from dpmorse.profiles.profile import Profile, hidden_together
from dpmorse.profiles.quantiles import Curves
from dpmorse.schema import Schema
from dpmorse.typing import BoolArray, FloatArray, IntArray


def draw_records(
    profile: Profile,
    partition: GaussianMixture | ProductMixture,
    schema: Schema,
    n: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, IntArray]:
    """Draw complete encoded records inside the bounds, and the component of each.

    Where it is a category whether a number is missing, its level is drawn; the number is there in any case.
    """
    account, layout = Account.of(profile), schema.layout
    components = rng.choice(profile.n_components, size=n, p=account.sizes / account.sizes.sum())
    rows, records = rows_of_each(components, profile.n_components), np.zeros((n, layout.width))
    scores = _scores(partition, rows, rng)
    for j in range(profile.n_numbers):
        records[:, layout.number_part.start + j] = _values(profile, account, j, rows, scores[:, j])
    everyone, levels = np.arange(n), records[:, layout.level_part]
    for column, own in zip(profile.columns[profile.n_numbers :], layout.levels, strict=False):
        parts = account.entries[:, column.present]
        steps = np.cumsum(parts, axis=1) / np.maximum(parts.sum(axis=1, keepdims=True), _LEAST)
        level = np.sum(rng.random(n)[:, None] >= steps[components][:, :-1], axis=1)
        levels[everyone, own.start + level] = 1.0
    for j, own in zip(schema.tracked, layout.levels[len(schema.categories) :], strict=True):
        levels[everyone, own.start + _is_missing(profile, account, j, components, rng)] = 1.0
    return records, components


def draw_missing(
    profile: Profile, schema: Schema, components: IntArray, rng: np.random.Generator
) -> BoolArray:
    """Draw which columns of records of these components are missing: numbers, then categories.

    Not those for which it is a category whether they are: a record has its level already.
    """
    account = Account.of(profile)
    missing = np.zeros((len(components), profile.n_columns), dtype=np.bool_)
    for j in profile.may_miss:
        if j not in schema.tracked:
            missing[:, j] = _is_missing(profile, account, j, components, rng)
    return missing


def _is_missing(
    profile: Profile, account: Account, column: int, components: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw 1 where a column is missing, else 0."""
    entry = profile.columns[column].part.stop - 1
    part = account.entries[:, entry] / np.maximum(account.sizes, _LEAST)
    return (rng.random(len(components)) < part[components]).astype(np.int64)


_LEAST = 1e-300


def _scores(
    partition: GaussianMixture | ProductMixture, rows: list[IntArray], rng: np.random.Generator
) -> FloatArray:
    """Draw which part of the values lies below a record's: uniform, and together as in its component."""
    d = partition.means.shape[1]
    scores = np.empty((sum(map(len, rows)), d))
    for k, own in enumerate(rows):
        deviations = np.sqrt(np.diagonal(partition.covariances[k]))
        if d and len(own):
            root = np.linalg.cholesky(partition.covariances[k] / np.outer(deviations, deviations))
            scores[own] = ndtr(rng.standard_normal((len(own), d)) @ root.T)
    return scores


def _values(
    profile: Profile, account: Account, column: int, rows: list[IntArray], scores: FloatArray
) -> FloatArray:
    """Return the values at these parts; where noise hides a component's values, those of all components."""
    curves, values = Curves.of(profile, account, column), np.empty(len(scores))
    totals, found = curves.totals(account.entries), curves.totals(profile.unbiased)
    hidden = hidden_together(found, curves.noise_of_totals(np.eye(profile.n_components)))
    common = curves.of_account[~hidden if not hidden.all() else hidden].sum(axis=0)
    for k, own in enumerate(rows):
        below = common if hidden[k] or not totals[k] else curves.of_account[k]
        values[own] = np.interp(scores[own] * below[-1], below, curves.grid)
    if not profile.whole[column]:
        return values
    # As quantiles are: a whole number is counted at the half above it.
    lower, upper = np.ceil(profile.lower[column]), np.floor(profile.upper[column])
    return np.clip(np.ceil(values - 0.5), lower, upper)
