"""OpenDP's vetted samplers as an optional source of noise (``pip install dpmorse[opendp]``)."""

from fractions import Fraction
from typing import Any, NoReturn

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

    def gaussian(self, scales: IntArray) -> IntArray:
        """Draw one N_Z(0, s^2) for each scale s."""
        dp = self._opendp
        return self._draw(scales, dp.m.make_gaussian, dp.l2_distance(T="f64"))

    def laplace(self, scales: IntArray) -> IntArray:
        """Draw one discrete Laplace number for each scale s."""
        dp = self._opendp
        return self._draw(scales, dp.m.make_laplace, dp.l1_distance(T="i64"))

    def choose(self, penalties: IntArray, rate: Fraction) -> NoReturn:
        """Refuse: OpenDP's choices are not exactly those the accounting here is proved for."""
        raise DPMorseError("noise='opendp' cannot draw random choices. Use noise='native'.")

    def _draw(self, scales: IntArray, make: Any, metric: Any) -> IntArray:
        """Use one OpenDP measurement for each distinct scale."""
        if scales.size and scales.min() < 1:
            raise ValueError(f"scales must be at least 1, got {scales.min()}.")
        integers = self._opendp.vector_domain(self._opendp.atom_domain(T="i64"))
        noise = np.empty(scales.shape, dtype=np.int64)
        for scale in np.unique(scales):
            chosen = scales == scale
            noise[chosen] = make(integers, metric, scale=float(scale))([0] * int(chosen.sum()))
        return noise
