"""The tensor engine counts profiles as the plain NumPy form does, bit for bit, on every device."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from audits.attacks.tables import TABLES  # noqa: E402
from audits.kernels.plain import counts  # noqa: E402
from dpmorse import InMemoryEngine  # noqa: E402
from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine.tensors import TensorEngine  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.records import open_records  # noqa: E402
from dpmorse.records.persons.id_values import owners_of  # noqa: E402
from dpmorse.records.persons.owners import Batch  # noqa: E402
from dpmorse.records.persons.row_choice import used_rows  # noqa: E402
from dpmorse.statistics import FINE_GRID_BITS, WEIGHT_BITS, CellMoments, Domain  # noqa: E402
from plain import (  # noqa: E402
    assert_same,
    profile_of,
    projected_profile,
    random_mixture,
    random_profile,
)
from profile_checks import (  # noqa: E402
    check,
    check_refusals,
    records_at_edges,
    records_of,
    records_of_table,
    table_profile,
)

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def on(device, X):
    return torch.from_numpy(X).to(device)


@pytest.mark.parametrize("n_features", [*range(1, 10), 40])
@pytest.mark.parametrize("n_edges", [0, 1, 49])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_equal_the_plain_form(rng, device, n_features, n_edges, dtype):
    statistic = random_profile(rng, 5, n_features, n_edges=n_edges)
    with np.errstate(over="ignore"):
        X = records_at_edges(rng, 800, statistic).astype(dtype)
    check(TensorEngine(), on(device, X), X, statistic)


@pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("n_cells", [1, 7])
def test_tables(rng, device, columns, n_cells):
    """Where numbers are missing, the cells are found on the host."""
    statistic, E = table_profile(rng, columns, n_cells), records_of_table(rng, columns, 1000)
    for chunk_rows in (None, 77):
        check(TensorEngine(chunk_rows), on(device, E), E, statistic)


@pytest.mark.parametrize("n_cells", [1, 64, 130])
def test_any_number_of_cells(rng, device, n_cells):
    statistic = random_profile(rng, n_cells, 3)
    X = records_at_edges(rng, 1000, statistic)
    check(TensorEngine(), on(device, X), X, statistic)


@pytest.mark.parametrize(("n_columns", "n_directions"), [(3, 2), (40, 5), (70, 4)])
def test_cells_of_projected_records(rng, device, n_columns, n_directions):
    statistic = projected_profile(rng, 4, n_columns, n_directions)
    X = records_at_edges(rng, 1000, statistic)
    check(TensorEngine(), on(device, X), X, statistic)


@pytest.mark.parametrize("constant", [0, 2, [0, 1, 2]])
def test_constant_columns(rng, device, constant):
    X = records_of(rng, 1000, 4)
    check(TensorEngine(), on(device, X), X, random_profile(rng, 4, 4, constant=constant))


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 30.0])
@pytest.mark.parametrize("wide", [1.0, 1e3, 1e9])
def test_needles_and_wide_boxes(rng, device, scale, wide):
    for n_features in (2, 9):
        statistic = random_profile(rng, 3, n_features, wide=wide, scale=scale)
        X = np.vstack([records_of(rng, 400, n_features), rng.uniform(-wide, wide, size=(400, n_features))])
        check(TensorEngine(), on(device, X), X, statistic)


def test_cells_far_outside_of_the_ball(rng, device):
    weights, means, covariances = random_mixture(rng, 4, 3)
    far = means + np.array([0.0, 5.0, -40.0, 300.0])[:, None]
    usual, X = random_profile(rng, 4, 3), records_of(rng, 1000, 3)
    check(
        TensorEngine(), on(device, X), X, profile_of(rng, (weights, far, covariances), usual.ball, usual.box)
    )


def test_close_calls_and_ties_are_settled_exactly(rng, device):
    weights, means, covariances = random_mixture(rng, 4, 3)
    means[1], covariances[1], weights[1] = means[0] + 1e-7, covariances[0], weights[0]
    means[3], covariances[3], weights[3] = means[2], covariances[2], weights[2]
    usual, X = random_profile(rng, 4, 3), records_of(rng, 4000, 3)
    mixture = weights / weights.sum(), means, covariances
    statistic = profile_of(rng, mixture, usual.ball, usual.box)
    sizes = counts(X, statistic)[:, 0]
    assert np.all(sizes[:3] > 0)
    assert sizes[3] == 0
    check(TensorEngine(), on(device, X), X, statistic)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700])
@pytest.mark.parametrize("chunk_rows", [1, 64, None])
def test_every_number_of_rows_and_chunk(rng, device, n_rows, chunk_rows):
    if chunk_rows == 1 and n_rows > 65:
        pytest.skip("slow")
    X = records_of(rng, n_rows, 3)
    check(TensorEngine(chunk_rows), on(device, X), X, random_profile(rng, 4, 3))


@pytest.mark.parametrize("of_table", [False, True], ids=["numbers", "table"])
def test_no_rows(rng, device, of_table):
    statistic = random_profile(rng, 4, 3)
    if of_table:
        statistic = table_profile(rng, TABLES["numbers, categories, missing values"], 4)
    X = torch.empty((0, statistic.n_columns), device=device)
    found = opened(TensorEngine().count(X, statistic))
    assert found.shape == (4, statistic.n_bins)
    assert not found.any()


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
    statistic = random_profile(rng, 3, 2)
    X = torch.full((3, 2), torch.nan, device=device, dtype=torch.float64)
    check(TensorEngine(), X, np.tile(statistic.box.upper, (3, 1)), statistic)


def test_rows_of_persons_are_those_that_are_chosen(rng, device):
    statistic, X, groups = random_profile(rng, 4, 3), records_of(rng, 2000, 3), rng.integers(0, 90, size=2000)
    records = open_records(on(device, X)).owned_by(groups)
    used = used_rows(Batch(X, owners_of(groups)), 5, "groups")
    check(TensorEngine(), records.read(None, 5), used, statistic)
    check(records.engine(None), records.read(None, 5), used, statistic)


@pytest.mark.parametrize("chunk_rows", [None, 10**12])
def test_chunks_are_never_larger_than_what_is_set_aside(rng, device, monkeypatch, chunk_rows):
    statistic, X, sizes = random_profile(rng, 3, 2), records_of(rng, 300, 2), []
    passes = TensorEngine()._passes(on(device, X), statistic.rule)
    original = passes.labels
    monkeypatch.setattr(passes, "labels", lambda chunk, *a: sizes.append(len(chunk)) or original(chunk, *a))
    monkeypatch.setattr(tensors._plain(), "HARD_ROWS", 128)
    check(TensorEngine(chunk_rows), on(device, X), X, statistic)
    assert sizes == [128, 128, 44]


def test_records_of_another_width_are_refused(rng, device):
    check_refusals(TensorEngine(), on(device, records_of(rng, 10, 3)), random_profile(rng, 4, 3))


def test_residuals_on_the_fine_grid(rng, device):
    """Cells in one domain, on the fine grid: hard and soft."""
    domain, X = Domain(-5 * np.ones(3), 6 * np.ones(3), None, FINE_GRID_BITS), records_of(rng, 3000, 3)
    rule = profile_of(rng, random_mixture(rng, 4, 3), domain, domain).rule
    for weight_bits in (0, WEIGHT_BITS):
        statistic = CellMoments(domain, 4, weight_bits, of_residuals=True)
        found = opened(TensorEngine().reduce(on(device, X), statistic, rule))
        assert_same(found, opened(InMemoryEngine().reduce(X, statistic, rule)))
