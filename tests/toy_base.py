"""A base as another package would write it: the one of docs/bases.md, which the contract suite runs as well."""

import numpy as np
from sklearn.cluster import KMeans

from dpmorse.bases import CENTRES, BinaryCodes, CentreBase


class GridKMeans(CentreBase):
    """k-means on the noisy counts of a uniform grid (EUGkM of Su et al. 2016), for up to twelve columns."""

    def most_draws(self, settings):
        return 2**12

    def find_centres(self, queries, plan, n_records, rng):
        domain, stage = plan.domain, plan[CENTRES]
        codes = BinaryCodes.rounded(domain, np.eye(domain.n_features), 1.0, max(1, 12 // domain.n_features))
        cells = np.arange(2**codes.n_bits)
        tallied = queries.tally(stage.step("grid"), codes)
        counts, _ = queries.group_counts(stage.step("grid"), tallied, cells, codes.n_bits, cost=stage.cost)
        centres = codes.centres(cells, codes.bits) / 2**codes.bits
        fill = rng.uniform(-1, 1, size=(plan.settings.n_components, domain.n_features))
        weights = np.concatenate([np.maximum(counts, 0.0), np.full(len(fill), 1e-3)])
        points = np.vstack([centres, fill])
        seed = int(rng.integers(2**31))
        return (
            KMeans(len(fill), n_init=3, random_state=seed).fit(points, sample_weight=weights).cluster_centers_
        )
