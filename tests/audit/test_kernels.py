"""Compiled sums are those of the plain form on hostile records: the audit of docs/audit.md, with fewer cases."""

import numpy as np
import pytest

from audits.kernels import plain
from audits.kernels.comparing import compare
from audits.kernels.hostile import KINDS, rule
from audits.kernels.paths import PATHS
from audits.sections.kernels import LARGEST_MOVE
from dpmorse.engine import _rules
from dpmorse.statistics import Domain


@pytest.mark.parametrize("path", PATHS)
def test_sums_are_those_of_the_plain_form_and_records_move_what_is_paid_for(path):
    found = compare(path, len(KINDS), seed=3)
    assert found.differences == []
    assert 0.5 < found.moved <= LARGEST_MOVE
    assert found.records > 1000
    assert {"one pass", "chunks and threads", "streamed"} <= found.engines


def test_doubt_that_is_not_looked_into_is_noticed(monkeypatch):
    """Were float32 scores trusted where they are too close to call, cells that look alike would differ."""
    original = _rules._single_precision
    monkeypatch.setattr(
        _rules, "_single_precision", lambda *a: (original(*a)[0], np.full(2, -1.0, np.float32))
    )
    assert compare("hard cells", len(KINDS), seed=3).differences


def test_records_that_are_not_clipped_are_noticed(monkeypatch):
    original = _rules._box
    monkeypatch.setattr(
        _rules, "_box", lambda domain: original(domain)._replace(half_width=2 * domain.half_width)
    )
    found = compare("soft cells", len(KINDS), seed=3)
    assert found.differences
    assert found.moved > LARGEST_MOVE


def test_scores_that_are_not_exact_are_noticed(rng):
    cells = rule(rng, 3, 2, "plain")
    q = Domain.from_bounds((-1, 1), 2).quantise(rng.uniform(-1, 1, size=(50, 2)))
    assert plain.scores_are_exact(q, cells)
    assert not plain.scores_are_exact(q, _off_by_one(cells))


def _off_by_one(cells):
    """Cells whose plain scores have one unit too many."""

    class Wrong(type(cells)):
        def scores(self, q):
            return super().scores(q) + 1

    return Wrong(**vars(cells))
