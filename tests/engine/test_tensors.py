"""The tensor engine gives the plain NumPy sums bit for bit, in plain torch and by its fused kernel."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from audits.kernels.plain import counts  # noqa: E402
from dpmorse import GaussianMixture, InMemoryEngine, InvalidParameterError, InvalidTypeError  # noqa: E402
from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine.tensors import TensorEngine, labels_of_tensor  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.schema import Layout  # noqa: E402
from dpmorse.statistics import (  # noqa: E402
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    MagnitudeHistograms,
)
from dpmorse.statistics.cells import WEIGHT_BITS  # noqa: E402
from dpmorse.statistics.codes import NearestCubes, PrefixCells  # noqa: E402
from dpmorse.statistics.sensitivity import SecondMoments  # noqa: E402
from own_process import printed_by  # noqa: E402
from plain import (  # noqa: E402
    assert_same,
    exact_moments,
    projected_box,
    random_cells,
    random_mixture,
    twins,
    unit_box,
)
from plain_tables import OF_HISTOGRAMS, records_of_histograms  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
PLACES = [("cpu", False), *([("cuda", True), ("cuda", False)] if torch.cuda.is_available() else [])]
BOTH = pytest.mark.parametrize("weight_bits", [0, WEIGHT_BITS], ids=["hard", "soft"])


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(params=PLACES, ids=["cpu", "cuda, fused", "cuda, plain"][: len(PLACES)])
def place(request):
    """An engine, and the device it is for."""
    device, fused = request.param
    return TensorEngine(fused=fused), device


def check(place, X, statistic, cells):
    engine, device = place
    found = opened(engine.reduce(torch.from_numpy(X).to(device), statistic, cells))
    assert_same(found, exact_moments(X, statistic, cells))


@BOTH
@pytest.mark.parametrize("n_features", [1, 3, 8, 11, 16])
@pytest.mark.parametrize("radius", [None, 1.1])
def test_sums_equal_the_plain_form(rng, place, weight_bits, n_features, radius):
    statistic = CellMoments(unit_box(n_features, radius), 5, weight_bits)
    X = rng.normal(size=(3000, n_features)) * 0.6
    check(place, X, statistic, random_cells(rng, 5, n_features))


@BOTH
@pytest.mark.parametrize("n_features", [1, 4, 9])
@pytest.mark.parametrize("residual_radius", [0.3, 7.5])
def test_sums_of_residuals_equal_the_plain_form(rng, place, weight_bits, n_features, residual_radius):
    """Near and far records: shrinking one column is exact only if square roots are correctly rounded."""
    statistic = CellMoments(unit_box(n_features, 1.1), 5, weight_bits, of_residuals=True)
    cells = random_cells(rng, 5, n_features, radii=residual_radius * np.linspace(0.5, 2, 5))
    check(place, rng.normal(size=(5000, n_features)) * 0.6, statistic, cells)


@BOTH
@pytest.mark.parametrize("of_residuals", [False, True])
@pytest.mark.parametrize(("n_columns", "n_directions"), [(9, 3), (40, 12)])
def test_sums_of_projected_records_equal_the_plain_form(
    rng, place, weight_bits, of_residuals, n_columns, n_directions
):
    domain = projected_box(rng, n_columns, n_directions)
    statistic = CellMoments(domain, 4, weight_bits, of_residuals=of_residuals)
    cells = random_cells(rng, 4, n_directions, radii=2.0)
    check(place, rng.normal(size=(5000, n_columns)), statistic, cells)


@pytest.mark.parametrize(
    ("n_cells", "n_features"), [(1, 2), (4, 8), (12, 8), (33, 3), (64, 5), (70, 2), (3, 20)]
)
def test_any_number_of_cells_and_columns(rng, place, n_cells, n_features):
    """Those the kernel takes and those it does not."""
    statistic = CellMoments(unit_box(n_features), n_cells)
    X = (rng.normal(size=(1000, n_features)) * 0.6).astype(np.float32)
    check(place, X, statistic, random_cells(rng, n_cells, n_features))


@BOTH
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700])
@pytest.mark.parametrize("chunk_rows", [1, 64, None])
def test_every_number_of_rows_and_chunk(rng, device, weight_bits, n_rows, chunk_rows):
    if chunk_rows == 1 and n_rows > 65:
        pytest.skip("slow")
    statistic = CellMoments(unit_box(3), 4, weight_bits)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    check((TensorEngine(chunk_rows), device), X, statistic, random_cells(rng, 4, 3))


def test_no_rows(rng, device):
    X, statistic = torch.empty((0, 3), device=device), CellMoments(unit_box(3), 4)
    exact = opened(TensorEngine().reduce(X, statistic, random_cells(rng, 4, 3)))
    assert exact.counts.tolist() == [0] * 4
    assert not opened(TensorEngine().count(X, ColumnHistograms(Layout((-1.0,) * 3, (1.0,) * 3)))).any()
    assert not opened(
        TensorEngine().tally(X, BinaryCodes.rounded(unit_box(3), np.eye(3), 1.0, 4))
    ).counts.size


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "wider", "one row many times"])
def test_memory_layouts_and_types(rng, place, weight_bits, dtype, layout):
    engine, device = place
    base = torch.from_numpy((rng.normal(size=(1500, 3)) * 0.5).astype(dtype)).to(device)
    X = {
        "rows": lambda a: a,
        "columns": lambda a: a.T.contiguous().T,
        "strided": lambda a: a.repeat_interleave(2, 0).repeat_interleave(2, 1)[::2, ::2],
        "wider": lambda a: torch.cat([a, a], dim=1)[:, 1:4],
        "one row many times": lambda a: a[:1].expand(900, 3),
    }[layout](base)
    statistic, cells = CellMoments(unit_box(3), 4, weight_bits), random_cells(rng, 4, 3)
    copy = X.clone()
    assert_same(opened(engine.reduce(X, statistic, cells)), exact_moments(X.cpu().numpy(), statistic, cells))
    assert torch.equal(X, copy), "records are only read"


def test_users_units(rng, place):
    lower, upper = np.array([0.0, -1e6, 1e18, 3.0]), np.array([1e-3, 1e6, 1e18 + 5e12, 3.0])
    X = lower + rng.uniform(-0.1, 1.1, size=(4000, 4)) * np.maximum(upper - lower, 1.0)
    statistic = CellMoments(Domain.from_bounds((lower, upper), 4), 3)
    check(place, X, statistic, random_cells(rng, 3, 4))


@pytest.mark.parametrize("half_width", [2.0**-60, 0.25, 1.0, 2.0**70])
def test_boxes_that_single_precision_is_enough_for(rng, place, half_width):
    """Values on the edges between grid points, where rounding is decided, and far outside."""
    q = np.concatenate([rng.integers(-4097, 4098, size=(2000, 3)) + 0.5, rng.normal(size=(500, 3)) * 1e6])
    X = (q * (half_width / 4096)).astype(np.float32)
    domain = Domain.from_bounds((-half_width, half_width), 3)
    check(place, X, CellMoments(domain, 4), random_cells(rng, 4, 3))


def test_needles(rng, place):
    """A cell a thousand times thinner than the box: hardly any float16 score can be trusted."""
    covariances = np.tile(np.diag([1e-6, 1e-2]), (2, 1, 1))
    cells = GaussianCells.from_mixture(np.full(2, 0.5), np.array([[-0.5, 0.0], [0.5, 0.0]]), covariances, 3.0)
    X = rng.uniform(-1, 1, size=(5000, 2)).astype(np.float32)
    for of_residuals in (False, True):
        check(place, X, CellMoments(unit_box(2), 2, of_residuals=of_residuals), cells)


def test_close_calls_are_settled_exactly(rng, place):
    X, cells = rng.uniform(-1, 1, size=(6000, 3)), twins(rng, 3)
    assert np.all(exact_moments(X, CellMoments(unit_box(3), 4), cells).counts[:2] > 0)
    check(place, X, CellMoments(unit_box(3), 4), cells)


@BOTH
def test_records_on_an_exact_tie_go_to_the_lower_cell(place, weight_bits):
    means = np.array([[-0.5], [0.5], [0.5]])
    cells = GaussianCells.from_mixture(np.full(3, 1 / 3), means, np.full((3, 1, 1), 0.04))
    X = np.concatenate([np.zeros((500, 1)), np.full((300, 1), 0.5)])
    statistic = CellMoments(unit_box(1), 3, weight_bits)
    check(place, X, statistic, cells)
    if not weight_bits:
        engine, device = place
        counts = opened(engine.reduce(torch.from_numpy(X).to(device), statistic, cells)).counts
        assert counts.tolist() == [500, 300, 0]


@BOTH
def test_nan_cannot_pass_the_clipping(place, weight_bits):
    """Estimators refuse NaN; should one reach the engine all the same, it stays inside the domain."""
    engine, device = place
    cells = random_cells(np.random.default_rng(0), 2, 2)
    for dtype in (torch.float32, torch.float64):
        X = torch.full((3, 2), torch.nan, device=device, dtype=dtype)
        one = 1 << weight_bits
        exact = opened(engine.reduce(X, CellMoments(unit_box(2), 2, weight_bits), cells))
        assert 2.9 * one < exact.counts.sum() <= 3 * one
        assert np.abs(exact.sums).max() <= 3 * 4096 * one
        counts = opened(TensorEngine().count(X, MagnitudeHistograms(2)))
        assert counts.sum() == 6


@BOTH
def test_more_records_than_64_bits_hold_are_added_in_spans(rng, device, monkeypatch, weight_bits):
    X, statistic = rng.normal(size=(600, 2)), CellMoments(unit_box(2), 3, weight_bits)
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", statistic.unit_bits + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", statistic.unit_bits + 8)
    check((TensorEngine(), device), X, statistic, random_cells(rng, 3, 2))


@BOTH
@pytest.mark.parametrize("chunk_rows", [None, 10**12])
def test_chunks_are_never_larger_than_float64_adds_up(rng, device, monkeypatch, weight_bits, chunk_rows):
    X, statistic = rng.normal(size=(300, 2)), CellMoments(unit_box(2), 3, weight_bits)
    passes, sizes = tensors._plain(), []
    most = "SOFT_ROWS" if weight_bits else "HARD_ROWS"
    assert getattr(passes, most) * 2 ** (24 + weight_bits) <= 2**53
    original = passes.moments
    monkeypatch.setattr(passes, "moments", lambda chunk, *a: sizes.append(len(chunk)) or original(chunk, *a))
    monkeypatch.setattr(passes, most, 128)
    check((TensorEngine(chunk_rows, fused=False), device), X, statistic, random_cells(rng, 3, 2))
    assert sizes == [128, 128, 44]


class HostRule:
    """Cells that know nothing of tensors."""

    n_cells = 3

    def labels(self, q):
        assert isinstance(q, np.ndarray)
        return np.where(q[:, 0] > 2000, -1, np.abs(q[:, 0]) % 3)


@pytest.mark.parametrize("rule", ["prefixes", "cubes", "host"])
def test_cells_that_are_only_labels(rng, device, rule):
    domain, k = unit_box(3, 1.2), 3
    codes = BinaryCodes.rounded(domain, rng.normal(size=(2, 3)), 1.5, 5)
    starts = np.array([3, 200, 700])
    cells = {
        "prefixes": PrefixCells(codes, starts, starts + 150),
        "cubes": NearestCubes(codes, 3, rng.integers(-32, 33, size=(k, 2))),
        "host": HostRule(),
    }[rule]
    statistic = CellMoments(domain, k, second_moments=SecondMoments.NONE, exhaustive=False)
    X = rng.normal(size=(3000, 3)) * 0.6
    found = opened(TensorEngine(chunk_rows=700).reduce(torch.from_numpy(X).to(device), statistic, cells))
    assert_same(found, opened(InMemoryEngine().reduce(X, statistic, cells)))
    assert found.counts.sum() > 0
    with pytest.raises(ValueError, match="only labels"):
        opened(TensorEngine().reduce(torch.from_numpy(X).to(device), CellMoments(domain, k), cells))


@pytest.mark.parametrize("layout", OF_HISTOGRAMS.values(), ids=OF_HISTOGRAMS)
def test_histograms_equal_the_plain_form(rng, device, layout):
    E = records_of_histograms(layout, rng)
    for statistic in (ColumnHistograms(layout), MagnitudeHistograms(layout.width)):
        found = opened(TensorEngine(chunk_rows=700).count(torch.from_numpy(E).to(device), statistic))
        assert np.array_equal(found, counts(E, statistic))


def test_tallies_equal_the_plain_form(rng, device):
    codes = BinaryCodes.rounded(unit_box(4), rng.normal(size=(3, 4)), 1.5, 6)
    X = rng.normal(size=(5000, 4)) * 0.5
    found = opened(TensorEngine(chunk_rows=700).tally(torch.from_numpy(X).to(device), codes))
    expected = opened(InMemoryEngine().tally(X, codes))
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.counts, expected.counts)
    assert found.n_bits == expected.n_bits


@pytest.mark.parametrize("radius", [None, 0.7])
@pytest.mark.parametrize(("n_components", "dtype"), [(5, torch.int8), (128, torch.int8), (129, torch.int16)])
def test_labels_are_the_most_probable_components(rng, device, radius, n_components, dtype):
    mixture = GaussianMixture(*random_mixture(rng, n_components, 3))
    domain = unit_box(3, radius)
    X = rng.normal(size=(2000, 3))
    found = labels_of_tensor(
        torch.from_numpy(X).to(device),
        means=mixture.means,
        whiteners=mixture.whiteners,
        log_factors=mixture.log_factors,
        domain=domain,
        chunk_rows=700,
    )
    assert found.device.type == device
    assert found.dtype == dtype
    assert np.array_equal(found.cpu().numpy(), mixture.labels(domain.clip(X)))


def test_equal_components_are_called_by_the_first(device):
    mixture = GaussianMixture([0.0, 0.5, 0.5], np.zeros((3, 1)), np.ones((3, 1, 1)))
    arrays = {name: getattr(mixture, name) for name in ("means", "whiteners", "log_factors")}
    found = labels_of_tensor(torch.zeros((4, 1), device=device), domain=unit_box(1), **arrays)
    assert found.tolist() == [1] * 4, "a component of weight 0 is never the most probable"


@pytest.mark.parametrize(
    "records", [np.zeros((3, 2)), torch.zeros(3), torch.zeros((3, 2), dtype=torch.int64)]
)
def test_other_records_are_refused(rng, records):
    with pytest.raises(InvalidTypeError, match=r"TensorEngine takes a torch\.Tensor"):
        opened(TensorEngine().reduce(records, CellMoments(unit_box(2), 2), random_cells(rng, 2, 2)))


def test_options_are_checked():
    with pytest.raises(InvalidParameterError, match="chunk_rows must be >= 1, got 0"):
        TensorEngine(chunk_rows=0)
    with pytest.raises(InvalidTypeError, match="fused must be True or False"):
        TensorEngine(fused=1)


def test_torch_is_not_loaded_until_it_is_needed():
    loaded = printed_by("import sys, dpmorse, dpmorse.engine.tensors; print('torch' in sys.modules)")
    assert loaded.strip() == "False"
