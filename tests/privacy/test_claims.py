"""What a claim states, point by point, follows from what was promised."""

import re

import numpy as np
import pytest

from dpmorse import DPMoGHard

POINTS = [
    "Unit of privacy", "Neighbours", "Parameters", "Composition", "Mechanism and proof", "Randomness",
    "Trust model", "Not protected",
]  # fmt: skip


def claims_of(*, groups=None, **options):
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "n_iter": 2, **options}
    return DPMoGHard(2, **settings).fit(X, groups=groups).privacy_


def test_every_point_is_stated():
    report = claims_of()
    assert list(report.claims) == POINTS
    assert all(text.endswith(".") for text in report.claims.values())
    assert f"delta = {report.delta:g}" in report.claims["Parameters"]
    stated = re.findall(r"(?:epsilon|rho) = ([\d.]+)", report.claims["Parameters"])
    assert all(float(a) >= b for a, b in zip(stated, (report.epsilon, report.rho), strict=True))
    assert f"The {len(report.events)} releases" in report.claims["Composition"]
    assert "Discrete Gaussian noise" in report.claims["Mechanism and proof"]
    assert "operating system" in report.claims["Randomness"]
    assert report.unit == "one row"


@pytest.mark.parametrize(
    ("options", "point", "words"),
    [
        ({"random_state": 0}, "Randomness", "NOT SECURE"),
        ({"neighboring": "replace-one"}, "Neighbours", "treated as public"),
        ({}, "Neighbours", "protected as well"),
    ],
)
def test_points_follow_the_promise(options, point, words):
    assert words in claims_of(**options).claims[point]


def test_persons():
    report = claims_of(max_rows_per_group=3, groups=np.repeat(np.arange(100), 3))
    assert "at most 3 are used" in report.claims["Unit of privacy"]
    assert report.unit == "one group, up to 3 rows"
