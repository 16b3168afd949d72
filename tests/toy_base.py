"""A base as another package would write it: the one of docs/bases.md, which the contract suite runs as well."""

import numpy as np
from sklearn.cluster import KMeans

from dpmorse.bases import BinaryCodes, CentreBase


class GridKMeans(CentreBase):
    """k-means on the noisy counts of a uniform grid (EUGkM of Su et al. 2016), for up to twelve columns."""

    def _largest_n_draws(self, settings):
        return 2**12

    def _find_centres(self, releases, plan, n_records, rng):
        domain = plan.settings.domain
        codes = BinaryCodes.rounded(domain, np.eye(domain.n_features), 1.0, max(1, 12 // domain.n_features))
        cells = np.arange(2**codes.n_bits)
        exact = releases.engine.tally(releases.records, codes).starting_with(cells, codes.n_bits)
        counts, _ = releases.disjoint("centres, grid", exact, plan.cost_of("centres"))
        centres = codes.centres(cells, codes.bits) / 2**codes.bits
        fill = rng.uniform(-1, 1, size=(plan.settings.n_components, domain.n_features))
        weights = np.concatenate([np.maximum(counts, 0.0), np.full(len(fill), 1e-3)])
        points = np.vstack([centres, fill])
        seed = int(rng.integers(2**31))
        return (
            KMeans(len(fill), n_init=3, random_state=seed).fit(points, sample_weight=weights).cluster_centers_
        )
