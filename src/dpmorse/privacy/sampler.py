r"""Exact sampling on the integers: discrete Gaussian and Laplace noise, and random choices.

Law (Theorem 1 of docs/privacy.md). For N_Z(0, s^2), s an integer, draw ``U`` uniform on {0..s-1} and ``V``
with P(V >= k) = e^-k, put ``y = V + U/s`` and accept with probability ``exp(-g)``,
``g = U/s + (y - 1)^2 / 2``. An accepted ``Y = U + s V`` has mass proportional to
exp(-V) exp(-g) = e^{-1/2} exp(-Y^2 / 2 s^2). A random sign, with "-0" rejected, makes it N_Z(0, s^2). About
48 % of proposals are accepted. With ``g = U/s`` the accepted mass is exp(-Y/s) instead: the discrete
Laplace. A choice with weights exp(-r p_i) proposes an option uniformly and accepts it with probability
exp(-r p_i).

No float ever decides. ``V`` compares 64 random bits with integer thresholds. The acceptance compares 64
random bits with a float64 value of ``exp(-g)`` only where the two differ by more than ``2^-40``, far more
than the float can be wrong (below 2^-47); the rest, about one draw in 2^39, is settled in exact rational
arithmetic with as many further random bits as it takes.
"""

import functools
import itertools
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpmorse.privacy.noise import LARGEST_SCALE
from dpmorse.privacy.random_bytes import ByteSource, LazyUniform
from dpmorse.typing import BoolArray, FloatArray, IntArray

TOLERANCE = 2.0**-40
"""Half-width of the band in which a float comparison is not trusted."""

_BATCH = 1 << 16
"""Numbers drawn at a time: bounds the working memory and keeps it in the cache."""

_SMALL = 1 << 12
"""Proposals that cost hardly more than one: where fewer numbers are drawn, each gets several tries."""

_Words = npt.NDArray[np.uint64]
_Accept = Callable[[IntArray, IntArray, IntArray], BoolArray]


class NativeSampler:
    """The library's sampler, on an injectable source of random bytes.

    Parameters
    ----------
    source : ByteSource
        Uniform random bytes.
    tolerance : float
        Width of the band decided exactly; tests widen it to exercise that path.
    """

    def __init__(self, source: ByteSource, *, tolerance: float = TOLERANCE) -> None:
        self.secure = source.secure
        self._source = source
        self._tolerance = tolerance

    def gaussian(self, scales: IntArray) -> IntArray:
        """Draw one N_Z(0, s^2) for each scale s in 1..2^56."""
        return self._draw(scales, self._accept_gaussian)

    def laplace(self, scales: IntArray) -> IntArray:
        """Draw one discrete Laplace number for each scale s in 1..2^56."""
        return self._draw(scales, self._accept_laplace)

    def choose(self, penalties: IntArray, rate: Fraction) -> int:
        """Draw one index by the exponential mechanism; the smallest penalty must be 0."""
        penalties = np.asarray(penalties, dtype=np.int64)
        if not penalties.size or penalties.min() != 0 or rate <= 0:
            raise ValueError("penalties must be given, the smallest of them 0, and a rate > 0.")
        while True:  # every proposal succeeds with probability at least 1 / size
            indices = self._uniform_below(np.full(_SMALL, penalties.size, dtype=np.int64))[0]
            tried = penalties[indices]
            exponents: FloatArray = float(rate) * tried.astype(np.float64)
            accepted = self._bernoulli_exp(exponents, functools.partial(_times, rate, tried))
            if accepted.any():
                return int(indices[accepted.argmax()])

    def _draw(self, scales: IntArray, accept: _Accept) -> IntArray:
        scales = np.asarray(scales, dtype=np.int64)
        if scales.size and not (scales.min() >= 1 and scales.max() <= LARGEST_SCALE):
            raise ValueError(f"scales must lie in 1..2^56, got {scales.min()}..{scales.max()}.")
        noise = np.empty(scales.shape, dtype=np.int64)
        for start in range(0, scales.size, _BATCH):
            self._fill(noise[start : start + _BATCH], scales[start : start + _BATCH], accept)
        return noise

    def _fill(self, noise: IntArray, scales: IntArray, accept: _Accept) -> None:
        """Propose until every entry of ``noise`` is accepted; few entries get several tries at once."""
        waiting = np.arange(scales.size)
        while waiting.size:
            tries = int(np.clip(_SMALL // waiting.size, 1, 8))
            proposals, accepted = self._propose(np.tile(scales[waiting], tries), accept)
            accepted = accepted.reshape(tries, waiting.size)
            first = accepted.argmax(axis=0), np.arange(waiting.size)
            done = accepted[first]
            noise[waiting[done]] = proposals.reshape(tries, waiting.size)[first][done]
            waiting = waiting[~done]

    def _propose(self, scales: IntArray, accept: _Accept) -> tuple[IntArray, BoolArray]:
        """Propose one signed value for each scale and say which are accepted."""
        remainders, negative = self._uniform_below(scales)
        quotients = self._geometric(scales.size)
        accepted = accept(remainders, quotients, scales)
        values = remainders + scales * quotients
        accepted &= ~(negative & (values == 0))  # "-0" would count zero twice
        return np.where(negative, -values, values), accepted

    def _uniform_below(self, bounds: IntArray) -> tuple[IntArray, BoolArray]:
        """Draw uniform integers in 0..bound-1 by rejection on the fewest bits that suffice.

        Also return the top bit of the words drawn: no bound reaches it, so it is an independent coin.
        """
        masks = (bounds - 1).astype(np.uint64)
        for shift in (1, 2, 4, 8, 16, 32):  # to the smallest 2^b - 1 that is >= bound - 1
            masks |= masks >> np.uint64(shift)
        words = self._words(bounds.size)
        missed = np.flatnonzero((words & masks) >= bounds.astype(np.uint64))
        while missed.size:
            words[missed] = self._words(missed.size)
            missed = missed[(words[missed] & masks[missed]) >= bounds[missed].astype(np.uint64)]
        return (words & masks).astype(np.int64), words >= _TOP_BIT

    def _geometric(self, n: int) -> IntArray:
        """Draw V with P(V >= k) = e^-k: the number of thresholds e^-k above a uniform real."""
        words = self._words(n)
        not_above = np.searchsorted(_THRESHOLDS, words, side="right")
        counts = len(_THRESHOLDS) - not_above
        # 64 bits settle "uniform < e^-k" unless they are those of e^-k
        for i in np.flatnonzero(_THRESHOLDS[not_above - 1] == words):
            uniform = LazyUniform(int(words[i]), self._source)
            settled = (k for k in itertools.count() if not uniform.is_below_exp_minus(Fraction(k + 1)))
            counts[i] = next(settled)
        return counts

    def _accept_gaussian(self, remainders: IntArray, quotients: IntArray, scales: IntArray) -> BoolArray:
        fraction = remainders / scales
        exponents = fraction + 0.5 * np.square(quotients + fraction - 1)

        def exact(i: int) -> Fraction:
            part = Fraction(int(remainders[i]), int(scales[i]))
            return part + (int(quotients[i]) + part - 1) ** 2 / 2

        return self._bernoulli_exp(exponents, exact)

    def _accept_laplace(self, remainders: IntArray, quotients: IntArray, scales: IntArray) -> BoolArray:
        return self._bernoulli_exp(
            remainders / scales, lambda i: Fraction(int(remainders[i]), int(scales[i]))
        )

    def _bernoulli_exp(self, exponents: FloatArray, exact: Callable[[int], Fraction]) -> BoolArray:
        """Draw Bernoulli(exp(-g)) for each exponent g; ``exact(i)`` is g where the float may not decide."""
        words = self._words(exponents.size)
        gap: FloatArray = np.exp(-exponents) - words * 2.0**-64
        accepted: BoolArray = gap > 0
        for i in np.flatnonzero(np.abs(gap) <= self._tolerance):
            accepted[i] = LazyUniform(int(words[i]), self._source).is_below_exp_minus(exact(int(i)))
        return accepted

    def _words(self, n: int) -> _Words:
        return np.frombuffer(self._source(8 * n), dtype="<u8").astype(np.uint64)


def _times(rate: Fraction, penalties: IntArray, i: int) -> Fraction:
    return rate * int(penalties[i])


def _thresholds() -> _Words:
    """Return floor(2^64 e^-k) for k = 44..1 in ascending order, led by 0 for all k >= 45."""
    with localcontext() as context:
        context.prec = 60
        scaled = [Decimal(2) ** 64 * Decimal(-k).exp() for k in range(44, 0, -1)]
    return np.array([0, *map(int, scaled)], dtype=np.uint64)


_THRESHOLDS = _thresholds()
_TOP_BIT = np.uint64(1 << 63)
