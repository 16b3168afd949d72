"""From ``random_state`` to a start and to noise: secure unless a seed is given."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import NoiseSampler
from dpmorse.privacy.opendp_noise import OpenDPSampler
from dpmorse.privacy.random_bytes import SeededBytes, SystemBytes
from dpmorse.privacy.sampler import NativeSampler


@dataclass(frozen=True)
class Randomness:
    """Independent randomness for the data-free start and for the noise."""

    init: np.random.Generator
    sampler: NoiseSampler

    @classmethod
    def from_parameters(cls, random_state: Any, noise: object) -> "Randomness":
        """Read the parameters ``random_state`` and ``noise`` of an estimator."""
        backend = _validate.choice(noise=noise, among=("native", "opendp"))
        if random_state is None:
            sampler = OpenDPSampler() if backend == "opendp" else NativeSampler(SystemBytes())
            return cls(np.random.default_rng(), sampler)
        if backend == "opendp":
            raise InvalidParameterError(
                "random_state must be None with noise='opendp', which cannot be seeded, "
                f"got {_validate.describe(random_state)}."
            )
        init, bytes_seed = seed_of(random_state).spawn(2)
        return cls(np.random.default_rng(init), NativeSampler(SeededBytes(bytes_seed)))


def seed_of(random_state: Any) -> np.random.SeedSequence:
    """Accept what scikit-learn accepts, and NumPy's Generator."""
    if isinstance(random_state, int | np.integer) and type(random_state) is not bool and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(0, 2**32, size=4).tolist())
    raise InvalidTypeError(
        "random_state must be None, a non-negative integer, a RandomState or a Generator, "
        f"got {_validate.describe(random_state)}."
    )
