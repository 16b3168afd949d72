"""DPLloyd: Lloyd's algorithm on noisy counts and sums, from a start that does not depend on the data."""

import numpy as np

from dpmorse.bases.centres.base import CENTRES, CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.lloyd import N_ITER, affordable_n_iter, lloyd_rounds
from dpmorse.bases.estimates import packed_centres, project
from dpmorse.bases.queries import Queries
from dpmorse.typing import FloatArray


class DPLloyd(CentreBase):
    r"""Differentially private k-means by Lloyd's algorithm, with a Gaussian around each centre.

    The method of Su, Cao, Li, Bertino and Jin (2016): centres start far from one another and from the
    faces of the box; each round releases noisy counts and sums of the cells of the nearest centre. The number
    of rounds and the split between counts and sums are theirs, restated for Gaussian noise. A last release
    measures covariances.

    The start decides: where two clusters share a starting centre, no number of rounds parts them. ``DPTree``
    and ``DPCube`` look at the data first.

    Parameters
    ----------
    n_iter : int or None, default=None
        Rounds. None takes 2 to 7: as many as keep the error of one round small, given the released number
        of records.

    Notes
    -----
    **Privacy.** The unit is one row of X. Released are the number of records (under "add-remove"), counts
    and sums of cells, and counts and moments of residuals (Theorem 5 of docs/privacy.md); a record's cell is
    computed exactly, from that record and released values only. The total is Theorems 3 and 4, or the sum of
    pure epsilons. Labels of training records are not private.

    Examples
    --------
    >>> from dpmorse import DPLloyd, datasets
    >>> DPLloyd(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).cluster_centers_.shape
    (3, 2)
    """

    def most_draws(self, settings: CentreSettings) -> int:
        """Return the noise values of all rounds."""
        n_iter = settings.n_iter or N_ITER[1]
        return n_iter * settings.n_components * (1 + settings.n_features)

    def find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Move centres that are spread over the box by rounds of Lloyd's algorithm."""
        settings, cost = plan.settings, plan[CENTRES].cost
        k, d = settings.n_components, settings.n_features
        n_iter = settings.n_iter or affordable_n_iter(
            k, d, n_records, queries.cost_of_a_row(cost), queries.noise
        )
        start = project(packed_centres(k, d, rng), plan.domain)
        return lloyd_rounds(queries, plan, start, cost, n_iter)
