"""Exact comparisons of a uniform real with exp(-x): as many random bits as it takes, rational arithmetic."""

from fractions import Fraction

from dpmorse.privacy.random_bytes import ByteSource


class LazyUniform:
    """A uniform real in [0, 1) known by its first 64 bits, extended when a comparison needs more."""

    def __init__(self, first_word: int, source: ByteSource) -> None:
        self._source = source
        self._numerator, self._bits = first_word, 64

    def is_below_exp_minus(self, exponent: Fraction) -> bool:
        """Decide ``uniform < exp(-exponent)`` exactly."""
        while True:
            if exponent > self._bits and self._numerator:
                return False  # exp(-exponent) < 2^-bits <= uniform; the enclosure would be slow to compute
            low, high = exp_minus_bounds(exponent, self._bits + 16)
            if Fraction(self._numerator + 1, 1 << self._bits) <= low:
                return True
            if Fraction(self._numerator, 1 << self._bits) >= high:
                return False
            self._numerator = (self._numerator << 64) | int.from_bytes(self._source(8), "little")
            self._bits += 64


def exp_minus_bounds(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
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
