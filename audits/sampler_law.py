"""The law of the sampler: chi-square tests with many draws, and wrong scales that must be rejected."""

import math

import numpy as np
from scipy import stats

from audits.from_tests import worst_pairs
from audits.section import Cell, Effort, Findings, Table
from dpmorse.typing import FloatArray, IntArray

NAME, TITLE = "sampler", "The law of the sampler"

SCALES = (1, 3, 10, 64)
_LEAST_P = 1e-6
_WRONG_P = 1e-9
_PER_BIN = 50
_REACH = 8


def run(effort: Effort) -> Findings:
    """Draw Gaussian and Laplace noise at several scales."""
    n = effort.pick(quick=200_000, full=10_000_000)
    rows: list[list[Cell]] = []
    held = True
    for law in ("gaussian", "laplace"):
        for scale in SCALES:
            draw = getattr(worst_pairs.seeded(scale), law)
            values: IntArray = draw(np.full(n, scale, dtype=np.int64))
            right = _p_value(values, law, scale)
            wrong = max(_p_value(values, law, scale * error) for error in (0.99, 1.01))
            noticed = wrong < _WRONG_P or effort.quick
            held &= right > _LEAST_P and noticed
            rows.append([law, scale, n, right, wrong])
            effort.say(f"{law}, scale {scale}: p = {right:.3g}")
    text = (
        "Draws of the library's sampler against the exact law of discrete Gaussian and discrete Laplace "
        "noise, and against "
        "the same law with a scale that is wrong by 1 %, which must be rejected."
    )
    header = ("noise", "scale", "draws", "p, right scale", "p, scale wrong by 1 %")
    return Findings(text, Table(header, rows), passed=held)


def _p_value(values: IntArray, law: str, scale: float) -> float:
    """Return the p-value of the hypothesis that values follow a law, in bins with enough of them."""
    reach = math.ceil(_REACH * max(scale, 2) * (3 if law == "laplace" else 1))
    support = np.arange(-reach, reach + 1)
    exponents = np.abs(support) / scale if law == "laplace" else np.square(support / scale) / 2
    expected: FloatArray = np.exp(-exponents)
    expected *= values.size / expected.sum()
    observed = np.bincount(np.clip(values, -reach, reach) + reach, minlength=support.size)
    bins = np.unique(np.cumsum(expected) // _PER_BIN, return_inverse=True)[1]
    counted, wanted = np.bincount(bins, observed), np.bincount(bins, expected)
    return float(stats.chisquare(counted, wanted * counted.sum() / wanted.sum()).pvalue)
