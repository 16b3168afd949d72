"""The law of the sampler: chi-square tests with many draws, and wrong scales that must be rejected."""

import numpy as np

from audits.attacks import sampler
from audits.section import Cell, Effort, Findings, Table
from dpmorse.typing import IntArray

NAME, TITLE = "sampler", "The law of the sampler"

SCALES = (1, 3, 10, 64)

_LEAST_P = 1e-6
"""A right sampler has a smaller p-value in one of a million runs."""

_WRONG_P = 1e-9
"""A scale that is wrong by 1 % must have a smaller p-value than this with ten million draws."""


def run(effort: Effort) -> Findings:
    """Draw Gaussian and Laplace noise at several scales."""
    n = effort.pick(quick=200_000, full=10_000_000)
    rows: list[list[Cell]] = []
    held = True
    for law in ("gaussian", "laplace"):
        for scale in SCALES:
            draw = getattr(sampler.seeded(scale), law)
            values: IntArray = draw(np.full(n, scale, dtype=np.int64))
            right = sampler.p_value(values, law, scale)
            wrong = max(sampler.p_value(values, law, scale * error) for error in (0.99, 1.01))
            noticed = wrong < _WRONG_P or effort.quick
            held &= right > _LEAST_P and noticed
            rows.append([law, scale, n, right, wrong])
            effort.say(f"{law}, scale {scale}: p = {right:.3g}")
    text = (
        "Draws of the library's sampler against the exact law of discrete Gaussian and discrete Laplace "
        "noise, and against the same law with a scale that is wrong by 1 %, which must be rejected."
    )
    header = ("noise", "scale", "draws", "p, right scale", "p, scale wrong by 1 %")
    return Findings(text, Table(header, rows), passed=held)
