"""Records that are kept as integers between rounds of soft cells: the same sums, and nothing else is asked."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from dpmorse.engine import Source, in_memory
from dpmorse.engine._chunk_passes import OnGrid
from dpmorse.privacy import Step
from dpmorse.privacy.exact import opened
from dpmorse.statistics import (
    FINE_GRID_BITS,
    WEIGHT_BITS,
    CellMoments,
    Domain,
    GaussianCells,
)
from plain import assert_same, exact_moments, projected_box, random_cells, random_mixture, unit_box

ENGINES = [InMemoryEngine(), InMemoryEngine(chunk_rows=700, n_threads=3)]


def soft(domain, n_cells=5):
    return CellMoments(domain, n_cells, WEIGHT_BITS, of_residuals=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("radius", [None, 1.1])
@pytest.mark.parametrize("n_features", [1, 4, 9])
def test_sums_are_those_of_the_records(rng, engine, radius, n_features):
    X = rng.normal(size=(9001, n_features)) * 0.6
    statistic, cells = soft(unit_box(n_features, radius)), random_cells(rng, 5, n_features, radii=2.0)
    kept = engine.on_grid(X, statistic.domain)
    assert kept.integers.dtype == np.int16
    assert np.array_equal(kept.integers.T, statistic.domain.quantise(X))
    assert_same(opened(engine.reduce(kept, statistic, cells)), exact_moments(X, statistic, cells))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: X[::-1]])
def test_records_of_every_type_and_layout(rng, kind, layout):
    X = layout((rng.normal(size=(5000, 3)) * 0.6).astype(kind))
    domain = Domain.from_bounds(([-2.0, 0.5, -1.0], [1.0, 0.5, 3.0]), 3)
    assert np.array_equal(InMemoryEngine().on_grid(X, domain).integers.T, domain.quantise(X))


@pytest.mark.parametrize("n_cells", [1, 3, 4, 6])
def test_round_cells(rng, n_cells):
    """Their scores in single precision are linear, four cells at a time."""
    X = rng.uniform(-1, 1, size=(5000, 3))
    mixture = (
        np.full(n_cells, 1 / n_cells),
        rng.uniform(-1, 1, (n_cells, 3)),
        np.tile(np.eye(3), (n_cells, 1, 1)),
    )
    statistic, cells = soft(unit_box(3), n_cells), GaussianCells.from_mixture(*mixture)
    kept = InMemoryEngine().on_grid(X, statistic.domain)
    assert_same(opened(InMemoryEngine().reduce(kept, statistic, cells)), exact_moments(X, statistic, cells))


def test_nan_and_infinity_become_bounds():
    """Estimators refuse them; should one come here all the same, it counts as a record at the bounds."""
    X = np.array([[np.nan, np.inf], [-np.inf, 0.5]])
    assert InMemoryEngine().on_grid(X, unit_box(2)).integers.T.tolist() == [[4096, 4096], [-4096, 2048]]


def test_no_records_at_all(rng):
    statistic, cells = soft(unit_box(2)), random_cells(rng, 5, 2)
    kept = InMemoryEngine().on_grid(np.empty((0, 2)), statistic.domain)
    assert len(kept) == 0
    assert not opened(InMemoryEngine().reduce(kept, statistic, cells)).counts.any()


def test_their_text_shows_no_record(rng):
    kept = InMemoryEngine().on_grid(np.full((3, 2), 1234 / 4096), unit_box(2))
    assert kept.integers.tolist() == [[1234] * 3] * 2
    assert "1234" not in repr(kept)


def test_projected_records(rng):
    X = rng.normal(size=(5000, 40)) * 0.3
    statistic, cells = soft(projected_box(rng, 40, 6)), random_cells(rng, 5, 6, radii=2.0)
    kept = InMemoryEngine().on_grid(X, statistic.domain)
    assert kept.integers.shape == (6, 5000)
    assert_same(opened(InMemoryEngine().reduce(kept, statistic, cells)), exact_moments(X, statistic, cells))


@pytest.mark.parametrize("at_once", [True, False])
def test_a_fine_grid_takes_longer_integers(rng, at_once):
    domain = Domain(-np.ones(3), np.ones(3), None, FINE_GRID_BITS)
    cells = GaussianCells.from_mixture(*random_mixture(rng, 5, 3), 2.0, FINE_GRID_BITS)
    X, statistic, engine = rng.normal(size=(3000, 3)) * 0.6, soft(domain), InMemoryEngine()
    kept = engine.on_grid(X, domain)
    assert np.abs(kept.integers).max() == 1 << FINE_GRID_BITS > np.iinfo(np.int16).max
    found = opened(engine.reduce(kept if at_once else X, statistic, cells))
    assert_same(found, exact_moments(X, statistic, cells))


def test_records_in_several_spans(rng, monkeypatch):
    """More records than 64-bit sums hold are added up in spans."""
    X, statistic = rng.normal(size=(1000, 2)) * 0.6, soft(unit_box(2))
    cells = random_cells(rng, 5, 2, radii=2.0)
    monkeypatch.setattr(in_memory, "spans", lambda n, _: [slice(0, 300), slice(300, 999), slice(999, n)])
    kept = InMemoryEngine().on_grid(X, statistic.domain)
    assert_same(opened(InMemoryEngine().reduce(kept, statistic, cells)), exact_moments(X, statistic, cells))


def test_too_many_records_stay_as_they_are(rng, monkeypatch):
    X = rng.normal(size=(1000, 2))
    monkeypatch.setattr(in_memory, "KEPT_BYTES", 4000)
    assert isinstance(InMemoryEngine().on_grid(X, unit_box(2)), OnGrid)
    monkeypatch.setattr(in_memory, "KEPT_BYTES", 3999)
    assert InMemoryEngine().on_grid(X, unit_box(2)) is X


@pytest.mark.parametrize(
    "statistic",
    [
        CellMoments(unit_box(2), 5, of_residuals=True),
        soft(unit_box(2, 0.9)),
        soft(Domain.from_bounds((-1.5, 1.0), 2)),
    ],
    ids=["hard", "another ball", "another box"],
)
def test_other_questions_are_refused(rng, statistic):
    kept = InMemoryEngine().on_grid(rng.normal(size=(100, 2)), unit_box(2))
    with pytest.raises(ValueError, match="soft cells of the same domain"):
        InMemoryEngine().reduce(kept, statistic, random_cells(rng, 5, 2))


def test_other_columns_are_refused(rng):
    with pytest.raises(ValueError, match="columns"):
        InMemoryEngine().on_grid(rng.normal(size=(100, 3)), unit_box(2))


class Watching(InMemoryEngine):
    """Notes what is asked of which records."""

    def on_grid(self, records, domain):
        self.log.append("made")
        return super().on_grid(records, domain)

    def reduce(self, records, statistic, cells):
        self.log.append(type(records).__name__)
        return super().reduce(records, statistic, cells)


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(Watching, "log", [], raising=False)
    return Watching()


def test_integers_are_made_once_for_rounds_and_forgotten_after_the_last(rng, watched):
    """A question about hard cells between rounds is asked of the records."""
    X = rng.normal(size=(500, 2)) * 0.5
    source = Source(X, watched)
    domain, cells = unit_box(2), random_cells(rng, 5, 2, radii=2.0)
    hard = CellMoments(domain, 5, of_residuals=True)
    for _ in range(2):
        with source.keeping():
            for statistic in (soft(domain), soft(domain), hard, soft(domain)):
                found = opened(source.moments(Step("round"), statistic, cells))
                assert_same(found, exact_moments(X, statistic, cells))
    assert watched.log == ["made", "OnGrid", "OnGrid", "ndarray", "OnGrid"] * 2


def test_integers_of_one_domain_answer_for_no_other(rng, watched):
    X, cells = rng.normal(size=(500, 2)) * 0.5, random_cells(rng, 5, 2, radii=2.0)
    source, domains = Source(X, watched), [unit_box(2), unit_box(2, 0.8), unit_box(2)]
    with source.keeping():
        found = [source.moments(Step("round"), soft(domain), cells) for domain in domains[:2]]
    found.append(source.moments(Step("round"), soft(domains[2]), cells))
    for domain, moments in zip(domains, found, strict=True):
        assert_same(opened(moments), exact_moments(X, soft(domain), cells))
    assert watched.log == ["made", "OnGrid", "made", "OnGrid", "ndarray"]


def test_a_domain_may_be_stated_anew(rng, watched):
    """It is what a domain says that counts, also of a projection, and after it has travelled."""
    X, domain = rng.normal(size=(500, 7)) * 0.3, projected_box(rng, 7, 2)
    source, cells = Source(X, watched), random_cells(rng, 5, 2, radii=2.0)
    with source.keeping():
        for _ in range(2):
            again = pickle.loads(pickle.dumps(domain))
            source.moments(Step("round"), soft(again), cells)
    assert watched.log == ["made", "OnGrid", "OnGrid"]
    other = projected_box(rng, 7, 2)
    assert not domain.is_same_as(other)
    assert not domain.is_same_as(replace(domain, projection=None))


def test_one_round_makes_none(rng, watched):
    X, cells = rng.normal(size=(500, 2)) * 0.5, random_cells(rng, 5, 2, radii=2.0)
    Source(X, watched).moments(Step("round"), soft(unit_box(2)), cells)
    assert watched.log == ["ndarray"]
