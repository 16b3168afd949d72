"""How clear a cluster is: known cases, and the same value whatever has merged its components."""

import math
import re

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import words
from dpmorse.densities import GaussianMixture
from dpmorse.report.quality import (
    APART,
    LARGER,
    apartness,
    joint_memberships,
    merges_apart,
    separation,
    word_of,
)


def joint_of(weights, means, n=40_000):
    mixture = GaussianMixture(weights, np.array(means)[:, None], np.ones((len(means), 1, 1)))
    return joint_memberships(mixture.responsibilities(mixture.sample(n, 0)[0]))


def test_groups_that_cannot_be_told_apart():
    joint = joint_of([0.3, 0.2, 0.5], [0.0, 0.0, 50.0])
    a, b, c = np.eye(3)
    assert apartness(joint, a, b) == pytest.approx(0.0, abs=1e-9)
    assert apartness(joint, a + b, c) == pytest.approx(1.0, abs=1e-9)
    # A record of the first is one of the second in two cases of five.
    assert separation(joint, np.array([a, a + b, c])) == pytest.approx([0.6, 1.0, 1.0], abs=1e-9)


def test_two_gaussians_that_overlap():
    """The mean membership is an integral: E[r] over records of one of two equal Gaussians."""
    joint = joint_of([0.5, 0.5], [-1.0, 1.0])
    x = np.linspace(-12, 12, 20_001)
    membership = 1 / (1 + np.exp(-2 * x))
    expected = np.trapezoid(membership * norm.pdf(x - 1), x)
    assert separation(joint, np.eye(2)) == pytest.approx([expected] * 2, abs=0.01)
    assert apartness(joint, *np.eye(2)) == pytest.approx(1 - (1 - expected) / 0.5, abs=0.02)


def test_a_group_without_records():
    joint = joint_of([1.0], [0.0])
    assert apartness(joint, np.zeros(1), np.ones(1)) is None
    assert separation(joint, np.zeros((1, 1))) == [1.0]
    linkage = np.array([[0, 1, 0.5, 2]])
    assert merges_apart(joint, np.array([[1.0], [0.0]]), linkage) == [None]


def test_merges_are_compared_side_by_side():
    joint = joint_of([0.3, 0.2, 0.5], [0.0, 0.0, 50.0])
    linkage = np.array([[0, 1, 0.1, 2], [2, 3, 9.0, 3]])
    assert merges_apart(joint, np.eye(3), linkage) == pytest.approx([0.0, 1.0], abs=1e-9)


def test_words():
    apart = [APART[word_of(part, APART)].name for part in (1.0, 0.95, 0.85, 0.2)]
    assert apart == ["clearly apart", "mostly apart", "overlaps others", "hardly apart"]
    assert LARGER[word_of(100, LARGER)].name == "far larger than its noise"
    assert {LARGER[word_of(value, LARGER)].name for value in (2.9, -math.inf)} == {"may be noise"}


def test_a_word_promises_what_its_sentence_says():
    for word in (*APART, *LARGER):
        stated = re.findall(r"at most (\d+)|within (\d+)", word.promise)
        assert [float(a or b) / 100 for a, b in stated] == (
            [word.at_most] if np.isfinite(word.at_most) else []
        )
    assert all(word.at_most == pytest.approx(2 / word.least, abs=0.004) for word in LARGER[:-1])
    for scale in (APART, LARGER):
        assert [word.least for word in scale] == sorted((word.least for word in scale), reverse=True)
        assert [word.at_most for word in scale] == sorted(word.at_most for word in scale)


@pytest.mark.long
def test_clusters_that_are_called_clearly_apart_are():
    """A few fits of the benchmark: strangers, sizes and directions are what the words promise."""
    rows = [row for seed in range(1, 21) for row in words.fit(seed, told=True)]
    seen = [row for row in rows if row["over_noise"] >= 3]
    clear = [row for row in seen if row["separation"] >= APART[0].least]
    assert len(clear) >= 30
    assert np.mean([row["strangers"] <= APART[0].at_most for row in clear]) >= 0.9
    large = [row for row in rows if row["over_noise"] >= LARGER[0].least]
    assert np.mean([words._off(row) <= LARGER[0].at_most for row in large]) >= 0.95
    stated, right = np.sum([row["directions"] for row in rows], axis=0)
    assert right >= 0.97 * stated > 0


def test_strangers_are_records_of_groups_that_belong_elsewhere():
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 0])
    truth = words._truth(labels, groups, 4)
    assert [row["size"] for row in truth] == [3, 4, 1, 0]
    assert [row["strangers"] for row in truth] == [1 / 3, 0.0, 1.0, None]
