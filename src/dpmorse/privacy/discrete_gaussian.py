r"""Exact sampling of the discrete Gaussian N_Z(0, s^2) for integer scales, many draws at once.

Law (Theorem 1 of docs/privacy.md). Draw ``U`` uniform on {0..s-1} and ``V`` with P(V >= k) = e^-k, put
``y = V + U/s`` and accept with probability ``exp(-g)``, ``g = U/s + (y - 1)^2 / 2``. An accepted
``Y = U + s V`` has mass proportional to exp(-V) exp(-g) = e^{-1/2} exp(-Y^2 / 2 s^2). A random sign, with
"-0" rejected, makes it N_Z(0, s^2). About 48 % of proposals are accepted.

No float ever decides. ``V`` compares 64 random bits with integer thresholds. The acceptance compares 64
random bits with a float64 value of ``exp(-g)`` only where the two differ by more than ``2^-40``, far more
than the float can be wrong (below 2^-47); the rest, about one draw in 2^39, is settled in exact rational
arithmetic with as many further random bits as it takes.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpmorse.privacy.random_bytes import ByteSource
from dpmorse.typing import FloatArray, IntArray

LARGEST_SCALE = 2**56
"""Keeps U + s V inside int64 for V < 127; a larger V has probability e^-127 and is never accepted."""

TOLERANCE = 2.0**-40
"""Half-width of the band in which a float comparison is not trusted."""

_BATCH = 1 << 16  # draws at a time: bounds the working memory, keeps it in cache
_SMALL = 1 << 12  # proposals at a time below which their number costs next to nothing

_Words = npt.NDArray[np.uint64]


class NoiseSampler(Protocol):
    """Independent integer noise: one draw of N_Z(0, s^2) for each scale s."""

    secure: bool

    def __call__(self, scales: IntArray) -> IntArray:
        """Draw the noise of one release, in one batch."""
        ...


class DiscreteGaussianSampler:
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

    def __call__(self, scales: IntArray) -> IntArray:
        """Draw one N_Z(0, s^2) for each scale s in 1..2^56."""
        scales = np.asarray(scales, dtype=np.int64)
        if scales.size and not (scales.min() >= 1 and scales.max() <= LARGEST_SCALE):
            raise ValueError(f"scales must lie in 1..2^56, got {scales.min()}..{scales.max()}.")
        noise = np.empty(scales.shape, dtype=np.int64)
        for start in range(0, scales.size, _BATCH):
            self._fill(noise[start : start + _BATCH], scales[start : start + _BATCH])
        return noise

    def _fill(self, noise: IntArray, scales: IntArray) -> None:
        """Propose until every entry of ``noise`` is accepted; few entries get several tries at once."""
        waiting = np.arange(scales.size)
        while waiting.size:
            tries = int(np.clip(_SMALL // waiting.size, 1, 8))
            proposals, accepted = self._propose(np.tile(scales[waiting], tries))
            accepted = accepted.reshape(tries, waiting.size)
            first = accepted.argmax(axis=0), np.arange(waiting.size)
            done = accepted[first]
            noise[waiting[done]] = proposals.reshape(tries, waiting.size)[first][done]
            waiting = waiting[~done]

    def _propose(self, scales: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Propose one signed value for each scale and say which are accepted."""
        remainders, negative = self._uniform_below(scales)
        quotients = self._geometric(scales.size)
        accepted = self._accept(remainders, quotients, scales)
        values = remainders + scales * quotients
        accepted &= ~(negative & (values == 0))  # "-0" would count zero twice
        return np.where(negative, -values, values), accepted

    def _uniform_below(self, bounds: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Draw uniform integers in 0..bound-1 by rejection on the fewest bits that suffice.

        Also return the top bit of the words drawn: no bound reaches it, so it is an independent coin.
        """
        masks = _all_ones_below(bounds)
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
            counts[i] = self._geometric_exactly(int(words[i]))
        return counts

    def _geometric_exactly(self, word: int) -> int:
        uniform = _LazyUniform(word, self._source)
        count = 0
        while uniform.is_below_exp_minus(Fraction(count + 1)):
            count += 1
        return count

    def _accept(self, remainders: IntArray, quotients: IntArray, scales: IntArray) -> npt.NDArray[np.bool_]:
        """Draw Bernoulli(exp(-g)) for each proposal; see the module's docstring."""
        fraction = remainders / scales
        exponent = fraction + 0.5 * np.square(quotients + fraction - 1)
        words = self._words(scales.size)
        gap: FloatArray = np.exp(-exponent) - words * 2.0**-64
        accepted = gap > 0
        for i in np.flatnonzero(np.abs(gap) <= self._tolerance):
            exact = _exponent_exactly(int(remainders[i]), int(quotients[i]), int(scales[i]))
            accepted[i] = _LazyUniform(int(words[i]), self._source).is_below_exp_minus(exact)
        return accepted

    def _words(self, n: int) -> _Words:
        return np.frombuffer(self._source(8 * n), dtype="<u8").astype(np.uint64)


class _LazyUniform:
    """A uniform real in [0, 1) known by its first 64 bits, extended when a comparison needs more."""

    def __init__(self, first_word: int, source: ByteSource) -> None:
        self._source = source
        self._numerator, self._bits = first_word, 64

    def is_below_exp_minus(self, exponent: Fraction) -> bool:
        """Decide ``uniform < exp(-exponent)`` exactly."""
        while True:
            low, high = _exp_minus_bounds(exponent, self._bits + 16)
            if Fraction(self._numerator + 1, 1 << self._bits) <= low:
                return True
            if Fraction(self._numerator, 1 << self._bits) >= high:
                return False
            self._numerator = (self._numerator << 64) | int.from_bytes(self._source(8), "little")
            self._bits += 64


def _exponent_exactly(remainder: int, quotient: int, scale: int) -> Fraction:
    fraction = Fraction(remainder, scale)
    return fraction + (quotient + fraction - 1) ** 2 / 2


def _exp_minus_bounds(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose exp(-exponent), exponent >= 0, in an interval of width about 2^-bits.

    ``exp(-x) = exp(-x/m)^m`` with m > x; the alternating series of exp(-x/m) encloses its limit between
    two partial sums.
    """
    parts = int(exponent) + 1
    step = exponent / parts
    term, partial, k = Fraction(1), Fraction(1), 0
    precision = Fraction(1, parts << bits)
    while term > precision or k % 2:  # an even number of terms: the partial sum is above its limit
        k += 1
        term = _coarsen(term * step / k, 2 * bits)
        partial += term if k % 2 == 0 else -term
    # coarsening moved each term by less than 2^-2bits, all together by far less than `precision`
    low, high = max(Fraction(0), partial - term - precision), partial + precision
    return low**parts, high**parts


def _coarsen(value: Fraction, bits: int) -> Fraction:
    """Round down to a multiple of 2^-bits, to keep numerators short."""
    return Fraction((value.numerator << bits) // value.denominator, 1 << bits)


def _all_ones_below(bounds: IntArray) -> _Words:
    """Return, for each bound, the smallest 2^b - 1 that is >= bound - 1."""
    mask = (bounds - 1).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    return mask


def _thresholds() -> _Words:
    """Return floor(2^64 e^-k) for k = 44..1 in ascending order, led by 0 for all k >= 45."""
    with localcontext() as context:
        context.prec = 60
        scaled = [Decimal(2) ** 64 * Decimal(-k).exp() for k in range(44, 0, -1)]
    return np.array([0, *map(int, scaled)], dtype=np.uint64)


_THRESHOLDS = _thresholds()
_TOP_BIT = np.uint64(1 << 63)
