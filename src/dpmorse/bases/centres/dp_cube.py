"""DPCube: candidates from cubes in a random projection, and a private local search among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmorse.bases.centres.base import CENTRES, CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.cubes import (
    DEPTHS,
    MOST_AXES,
    MOST_CUBES,
    cube_codes,
    find_candidates,
    release_cubes,
    search,
)
from dpmorse.bases.centres.lloyd import lloyd_rounds, means_of_cells, shares_of_a_round
from dpmorse.bases.estimates import packed_centres, project
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import NOISE_BACKENDS, Settings, one_of, parameter
from dpmorse.exceptions import InvalidParameterError
from dpmorse.statistics import CellMoments, NearestCubes, SecondMoments
from dpmorse.typing import FloatArray

_N_ITER = 2
"""Default number of rounds in all columns: the recovery of the centres and one round of Lloyd's algorithm."""

_SHARE_OF_CUBES, _SHARE_OF_SEARCH = 0.41, 0.20
"""Shares of the cost of centres for counting cubes and for the search; the rest recovers the centres in all
columns. Cubes get the most, because they have many levels, each of which is paid for."""


def _native(name: str, value: Any, given: Mapping[str, Any]) -> str:
    """Check the sampler: OpenDP's cannot draw random choices."""
    if one_of(NOISE_BACKENDS)(name, value, given) != "native":
        raise InvalidParameterError(
            f"noise must be 'native' for DPCube, got '{value}', which cannot draw choices."
        )
    return "native"


@dataclass(frozen=True, kw_only=True)
class CubeSettings(CentreSettings):
    """Checked parameters of a ``DPCube``."""

    noise: str = parameter(_native, refused=("opendp", "loud", None))


class DPCube(CentreBase):
    r"""Differentially private k-means in a random projection, with a Gaussian around each centre.

    The method of Balcan, Dick, Liang, Mou and Zhang (2017): records are projected to few axes, cubes are
    halved where noisy counts allow, their centres are candidates, and a local search exchanges centres by
    the exponential mechanism; the centres are recovered in all columns by noisy means. Unlike in the
    published program, every child of a cube is counted, empty or not, distances are cut off so that one
    record matters little to the search, and all that is released is paid for. A last release measures
    covariances. Columns may be in the hundreds.

    Parameters
    ----------
    n_iter : int or None, default=None
        Rounds in all columns: the recovery and rounds of Lloyd's algorithm; None is 2.

    Notes
    -----
    **Privacy.** The unit is one row of X. Released are the number of records (under "add-remove"), counts
    of disjoint cubes, level by level, random choices (Theorem 7 of docs/privacy.md), and counts and sums of
    cells (Theorems 5 and 6). A record's cube is a function of that record and of a data-free projection,
    evaluated exactly. The total is Theorems 3 and 4, or the sum of pure epsilons. Labels of training
    records are not private.

    Examples
    --------
    >>> from dpmorse import DPCube, datasets
    >>> DPCube(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).cluster_centers_.shape
    (3, 2)
    """

    settings_type: ClassVar[type[Settings]] = CubeSettings

    def most_draws(self, settings: CentreSettings) -> int:
        """Return the most noise values of cubes and rounds."""
        k, d = settings.n_components, settings.n_features
        n_rounds = settings.n_iter or _N_ITER
        n_cubes = DEPTHS[1] * MOST_CUBES << MOST_AXES
        return n_cubes + n_rounds * k * (1 + d)

    def find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        """Search among cubes of a projection that hold records, and find the centres in all columns."""
        k, stage = plan.settings.n_components, plan[CENTRES]
        tallied = queries.tally(stage.step("cubes"), cube_codes(plan.domain, n_records, rng))
        codes, cost = tallied.codes, stage.cost
        of_level = _SHARE_OF_CUBES * cost / codes.bits
        kept = release_cubes(queries, stage, tallied, n_records, of_level)
        candidates = find_candidates(codes, kept, k, rng)
        chosen = search(queries, stage, tallied, candidates, k, cost=_SHARE_OF_SEARCH * cost)
        # The cost of levels that were not needed is spent on the recovery.
        left = cost - len(kept) * of_level - _SHARE_OF_SEARCH * cost
        n_rounds = plan.settings.n_iter or _N_ITER
        centres = self._recover(queries, plan, NearestCubes(codes, codes.bits, chosen), left / n_rounds, rng)
        return lloyd_rounds(queries, plan, centres, left - left / n_rounds, n_rounds - 1)

    def _recover(
        self,
        queries: Queries,
        plan: CentrePlan,
        cells: NearestCubes,
        cost: float,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the noisy mean of each projected cell in all columns; a data-free point for none."""
        domain = plan.domain
        statistic = CellMoments(domain, cells.n_cells, second_moments=SecondMoments.NONE)
        scales = queries.calibrate(statistic, cost, shares_of_a_round(domain.n_features, queries.noise))
        noisy = queries.moments(plan[CENTRES].step("recovery"), statistic, cells, scales)
        means, supported = means_of_cells(noisy)
        spread = packed_centres(cells.n_cells, domain.n_features, rng)
        return project(np.where(supported[:, None], means, spread), domain)
