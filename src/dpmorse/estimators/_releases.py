"""The releases of one fit: exact sums from the engine, noise from the mechanism."""

from dataclasses import dataclass
from typing import Any

from dpmorse.engine import Engine
from dpmorse.privacy import GaussianMechanism, Neighboring
from dpmorse.statistics import CellMoments, ColumnHistograms, GaussianCells, MomentShares, NoisyMoments
from dpmorse.typing import FloatArray


@dataclass(frozen=True)
class Releases:
    """Turns a statistic and its share of the budget into released values."""

    records: Any
    engine: Engine
    mechanism: GaussianMechanism
    neighboring: Neighboring

    def counts(self, name: str, statistic: ColumnHistograms, rho: float) -> tuple[FloatArray, float]:
        """Release histograms; return them with the standard deviation of their noise."""
        planned = statistic.plan(name, rho, self.neighboring)
        exact = statistic.to_units(self.engine.count(self.records, statistic))
        released = statistic.from_units(self.mechanism.release(exact, planned))
        return released, planned.event.noise_stddev["count"]

    def moments(
        self, name: str, statistic: CellMoments, cells: GaussianCells, rho: float, shares: MomentShares
    ) -> NoisyMoments:
        """Release moments of cells."""
        scales = statistic.calibrate(rho, self.neighboring, shares)
        (planned,) = statistic.plan([name], scales, self.neighboring)
        exact = statistic.to_units(self.engine.reduce(self.records, statistic, cells))
        return statistic.from_units(self.mechanism.release(exact, planned), planned)
