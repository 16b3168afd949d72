"""OpenDP's vetted discrete Gaussian as an optional source of noise (``pip install dpmorse[opendp]``)."""

import numpy as np

from dpmorse.exceptions import DPMorseError
from dpmorse.typing import IntArray


class OpenDPSampler:
    """Draws noise with OpenDP. It cannot be seeded and is some forty times slower than ours."""

    secure = True

    def __init__(self) -> None:
        try:
            import opendp.prelude as opendp  # noqa: PLC0415 - optional, loaded on request only
        except ImportError as error:
            raise DPMorseError("noise='opendp' needs OpenDP: pip install 'dpmorse[opendp]'.") from error
        opendp.enable_features("contrib")
        self._opendp = opendp

    def __call__(self, scales: IntArray) -> IntArray:
        """Draw one N_Z(0, s^2) for each scale s: one OpenDP measurement per distinct scale."""
        noise = np.empty(scales.shape, dtype=np.int64)
        for scale in np.unique(scales):
            chosen = scales == scale
            noise[chosen] = self._draw(int(scale), int(chosen.sum()))
        return noise

    def _draw(self, scale: int, n: int) -> list[int]:
        dp = self._opendp
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        drawn: list[int] = dp.m.make_gaussian(*space, scale=float(scale))([0] * n)
        return drawn
