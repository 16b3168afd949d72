"""The tensor engine measures profile cells as the plain NumPy form does, bit for bit, on every device."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dpmorse import InMemoryEngine  # noqa: E402
from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine.tensors import TensorEngine  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.records import open_records  # noqa: E402
from dpmorse.records.persons.id_values import owners_of  # noqa: E402
from dpmorse.records.persons.owners import Batch  # noqa: E402
from dpmorse.records.persons.row_choice import used_rows  # noqa: E402
from dpmorse.statistics import FINE_GRID_BITS, WEIGHT_BITS, CellMoments, GaussianCells  # noqa: E402
from plain import (  # noqa: E402
    assert_same,
    profile_moments,
    profile_statistics,
    random_mixture,
    random_profile,
)
from profile_checks import check, check_refusals, records_of  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def on(device, X):
    return torch.from_numpy(X).to(device)


@pytest.mark.parametrize("n_features", range(1, 10))
@pytest.mark.parametrize("radii", [0.3, 3.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_and_counts_equal_the_plain_form(rng, device, n_features, radii, dtype):
    cells = random_profile(rng, 5, n_features, radii * np.linspace(0.5, 2, 5))
    X = records_of(rng, 2000, n_features).astype(dtype)
    check(TensorEngine(), on(device, X), X, cells)


@pytest.mark.parametrize("n_cells", [1, 64, 70])
def test_any_number_of_cells(rng, device, n_cells):
    X = records_of(rng, 2000, 3)
    check(TensorEngine(), on(device, X), X, random_profile(rng, n_cells, 3))


@pytest.mark.parametrize("constant", [0, 2, [0, 1, 2]])
def test_constant_columns(rng, device, constant):
    X = records_of(rng, 2000, 4)
    check(TensorEngine(), on(device, X), X, random_profile(rng, 4, 4, constant=constant))


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 30.0])
@pytest.mark.parametrize("wide", [1.0, 1e3, 1e9])
def test_needles_and_wide_boxes(rng, device, scale, wide):
    """Squares of residuals are far beyond 2^53: they are added in one order, and roots correctly rounded."""
    for n_features in (2, 9):
        cells = random_profile(rng, 3, n_features, wide=wide, scale=scale)
        X = np.vstack([records_of(rng, 700, n_features), rng.uniform(-wide, wide, size=(700, n_features))])
        check(TensorEngine(), on(device, X), X, cells)


def test_cells_far_outside_of_ball_and_box(rng, device):
    weights, means, covariances = random_mixture(rng, 4, 3)
    far = means + np.array([0.0, 5.0, -40.0, 300.0])[:, None]
    rule = GaussianCells.from_mixture(weights, far, covariances, 3.0, FINE_GRID_BITS)
    X = records_of(rng, 2000, 3)
    check(TensorEngine(), on(device, X), X, replace(random_profile(rng, 4, 3), partition=rule, units=rule))


def test_close_calls_and_ties_are_settled_exactly(rng, device):
    weights, means, covariances = random_mixture(rng, 4, 3)
    means[1], covariances[1], weights[1] = means[0] + 1e-7, covariances[0], weights[0]
    means[3], covariances[3], weights[3] = means[2], covariances[2], weights[2]
    rule = GaussianCells.from_mixture(weights / weights.sum(), means, covariances, 3.0, FINE_GRID_BITS)
    cells, X = replace(random_profile(rng, 4, 3), partition=rule), records_of(rng, 4000, 3)
    counts = profile_moments(X, cells).counts
    assert np.all(counts[:3] > 0)
    assert counts[3] == 0
    check(TensorEngine(), on(device, X), X, cells)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700])
@pytest.mark.parametrize("chunk_rows", [1, 64, None])
def test_every_number_of_rows_and_chunk(rng, device, n_rows, chunk_rows):
    if chunk_rows == 1 and n_rows > 65:
        pytest.skip("slow")
    X = records_of(rng, n_rows, 3)
    check(TensorEngine(chunk_rows), on(device, X), X, random_profile(rng, 4, 3))


def test_no_rows(rng, device):
    moments, radii = profile_statistics(cells := random_profile(rng, 4, 3))
    X = torch.empty((0, 3), device=device)
    assert not opened(TensorEngine().reduce(X, moments, cells)).counts.any()
    assert not opened(TensorEngine().count(X, radii)).any()


@pytest.mark.parametrize("layout", ["columns", "strided", "wider", "one row many times"])
def test_memory_layouts(rng, device, layout):
    X = {
        "columns": lambda a: a.T.contiguous().T,
        "strided": lambda a: a.repeat_interleave(2, 0).repeat_interleave(2, 1)[::2, ::2],
        "wider": lambda a: torch.cat([a, a], dim=1)[:, 1:4],
        "one row many times": lambda a: a[:1].expand(900, 3),
    }[layout](on(device, records_of(rng, 1500, 3)))
    copy = X.clone()
    check(TensorEngine(), X, X.cpu().numpy(), random_profile(rng, 4, 3))
    assert torch.equal(X, copy), "records are only read"


def test_nan_cannot_pass_the_clipping(rng, device):
    cells = random_profile(rng, 3, 2)
    X = torch.full((3, 2), torch.nan, device=device, dtype=torch.float64)
    check(TensorEngine(), X, np.tile(cells.box.upper, (3, 1)), cells)


def test_rows_of_persons_are_those_that_are_chosen(rng, device):
    cells, X, groups = random_profile(rng, 4, 3), records_of(rng, 2000, 3), rng.integers(0, 90, size=2000)
    records = open_records(on(device, X)).owned_by(groups)
    used = used_rows(Batch(X, owners_of(groups)), 5, "groups")
    check(TensorEngine(), records.read(None, 5), used, cells)
    check(records.engine(None), records.read(None, 5), used, cells)


@pytest.mark.parametrize("chunk_rows", [None, 10**12])
def test_chunks_are_never_larger_than_float64_adds_up(rng, device, monkeypatch, chunk_rows):
    cells, X, sizes = random_profile(rng, 3, 2), records_of(rng, 300, 2), []
    passes = TensorEngine()._passes(on(device, X), cells)
    original = passes.moments
    monkeypatch.setattr(passes, "moments", lambda chunk, *a: sizes.append(len(chunk)) or original(chunk, *a))
    monkeypatch.setattr(tensors._plain(), "HARD_ROWS", 128)
    check(TensorEngine(chunk_rows), on(device, X), X, cells)
    assert sizes == [128, 128, 44]


def test_more_records_than_64_bits_hold_are_added_in_spans(rng, device, monkeypatch):
    cells, X = random_profile(rng, 3, 2), records_of(rng, 600, 2)
    moments, _ = profile_statistics(cells)
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", moments.unit_bits + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", moments.unit_bits + 8)
    check(TensorEngine(), on(device, X), X, cells)


def test_what_profile_cells_do_not_have_is_refused(rng, device):
    check_refusals(TensorEngine(), on(device, records_of(rng, 10, 3)), random_profile(rng, 4, 3))


def test_residuals_on_the_fine_grid(rng, device):
    """Cells in one domain, on the fine grid: hard and soft."""
    cells, X = random_profile(rng, 4, 3), records_of(rng, 3000, 3)
    for weight_bits in (0, WEIGHT_BITS):
        statistic = CellMoments(cells.box, 4, weight_bits, of_residuals=True)
        found = opened(TensorEngine().reduce(on(device, X), statistic, cells.units))
        assert_same(found, opened(InMemoryEngine().reduce(X, statistic, cells.units)))
