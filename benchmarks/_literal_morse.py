"""Algorithm 3 of Byun, Choi and Lee as printed: pair by pair, with SciPy's integrator and root finder."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

from dpmorse.densities import GaussianMixture
from dpmorse.typing import FloatArray

_M, _ROUNDS, _ASIDE = 20, 5, 0.05
_LONG = 1e3


class LiteralMorse:
    """Modes below centres and saddles between pairs of centres; ``edges`` are (f, mode, mode)."""

    def __init__(self, mixture: GaussianMixture) -> None:
        self._mixture = mixture
        self._short = 0.5 * float(
            np.median(np.linalg.eigvalsh(mixture.covariances))
        )  # not given in the paper
        self.modes: list[FloatArray] = []
        self.edges: list[tuple[float, int, int]] = []

    def run(self, n_pairs: int | None = None) -> None:
        """Search all pairs, or the first ``n_pairs``."""
        for centre in self._mixture.means:
            self._mode(centre)
        first, second = np.triu_indices(self._mixture.n_components, 1)
        for a, b in self._mixture.means[np.stack([first, second], axis=1)[:n_pairs]]:
            self._pair(a, b)

    def _pair(self, a: FloatArray, b: FloatArray) -> None:
        s = np.linspace(0, 1, _M + 2)[1:-1, None]
        point = self._flow(self._highest(a + s * (b - a)), self._short)
        for _ in range(_ROUNDS):
            u, v = b - a, point - a
            point = self._flow(self._highest(a + s * u + (s - s * s) * (4 * v - 2 * u)), self._short)
        found = root(self._gradient, point)
        if not found.success:
            return
        values, vectors = np.linalg.eigh(self._mixture.hessian(found.x[None])[0])
        if (values < 0).sum() != 1:
            return
        aside = _ASIDE * vectors[:, 0]
        left, right = self._mode(found.x + aside), self._mode(found.x - aside)
        if left != right:
            self.edges.append((-float(self._mixture.log_density(found.x[None])[0]), left, right))

    def _highest(self, points: FloatArray) -> FloatArray:
        best: FloatArray = points[self._mixture.log_density(points).argmin()]
        return best

    def _gradient(self, x: FloatArray) -> FloatArray:
        gradient: FloatArray = self._mixture.gradient(x[None])[0]
        return gradient

    def _flow(self, x: FloatArray, time: float) -> FloatArray:
        end: FloatArray = solve_ivp(lambda _, y: -self._gradient(y), (0, time), x).y[:, -1]
        return end

    def _mode(self, x: FloatArray) -> int:
        end = self._flow(x, _LONG * self._short)
        for i, mode in enumerate(self.modes):
            if np.linalg.norm(mode - end) < 1e-2:
                return i
        self.modes.append(end)
        return len(self.modes) - 1
