"""The fused kernel: that it is used, that its bounds hold, that it reaches all rows and columns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine._fused_tables import fast_rule  # noqa: E402
from dpmorse.engine.tensors import TensorEngine  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.statistics import CellMoments, GaussianCells  # noqa: E402
from own_process import printed_by  # noqa: E402
from plain import assert_same, exact_moments, random_cells, twins, unit_box  # noqa: E402

TRIED = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
on_gpu = pytest.mark.skipif(not TRIED, reason="no GPU that the kernel is for")


def check(X, statistic, cells):
    found = opened(TensorEngine().reduce(torch.from_numpy(X).cuda(), statistic, cells))
    assert_same(found, exact_moments(X, statistic, cells))


@on_gpu
def test_the_kernel_is_what_runs_on_a_gpu(rng):
    kernels = tensors._kernels()
    records = torch.zeros((10, 8), device="cuda")
    assert kernels.covers(records, random_cells(rng, 12, 8))
    assert not kernels.covers(records.cpu(), random_cells(rng, 12, 8))
    assert not kernels.covers(torch.zeros((10, 17), device="cuda"), random_cells(rng, 2, 17))


@on_gpu
def test_the_kernel_scores_all_exactly_if_many_are_in_doubt(rng, monkeypatch):
    kernels = tensors._kernels()
    X = rng.uniform(-1, 1, size=(6000, 3))
    for rows_per_doubtful in (1, 64):
        monkeypatch.setattr(kernels, "_ROWS_PER_DOUBTFUL", rows_per_doubtful)
        check(X, CellMoments(unit_box(3), 4), twins(rng, 3))


@on_gpu
@pytest.mark.parametrize("corner", [4094, 1000])
def test_sums_are_exact_until_they_are_flushed(rng, monkeypatch, corner):
    """One program adds up as many of the largest digits as it ever does, in float32."""
    kernels = tensors._kernels()
    monkeypatch.setattr(kernels, "processors", lambda device: 1)
    monkeypatch.setattr(kernels, "_PROGRAMS_PER_PROCESSOR", 1)
    q = rng.integers(corner, 4097, size=(3 * kernels.ROWS_BEFORE_FLUSH + 100, 8))
    q *= rng.choice([-1, 1], size=len(q))[:, None]
    check((q / 4096).astype(np.float32), CellMoments(unit_box(8), 1), random_cells(rng, 1, 8))


def skip_without(gigabytes):
    torch.cuda.empty_cache()
    if torch.cuda.mem_get_info()[0] < gigabytes * 2**30:
        pytest.skip(f"needs {gigabytes} GB on the GPU")


@on_gpu
@pytest.mark.parametrize("n_rows", [2**31 - 64, 2**31 - 1, 2**31 + 65, 2**33 + 1])
def test_more_rows_than_32_bits_can_count(rng, n_rows):
    """One record, repeated without memory."""
    skip_without(gigabytes=2)
    one = np.array([[0.25, -0.5]])
    statistic, cells = CellMoments(unit_box(2), 3), random_cells(rng, 3, 2)
    found = opened(TensorEngine().reduce(torch.from_numpy(one).cuda().expand(n_rows, 2), statistic, cells))
    expected = exact_moments(one, statistic, cells)
    assert np.array_equal(found.counts, n_rows * expected.counts)
    assert np.array_equal(found.sums, n_rows * expected.sums)
    assert np.array_equal(found.second_moments, n_rows * np.tril(expected.second_moments))


@on_gpu
def test_records_in_doubt_beyond_the_reach_of_32_bits():
    """Listed by the kernel and read again by torch, where indices of rows need more bits."""
    skip_without(gigabytes=12)
    n_rows, n_ties = 2**31 + 100, 50
    X = torch.full((n_rows, 1), 0.25, device="cuda")
    X[-n_ties:] = 0
    means = np.array([[-0.5], [0.5]])
    cells = GaussianCells.from_mixture(np.full(2, 0.5), means, np.full((2, 1, 1), 0.04))
    found = opened(TensorEngine().reduce(X, CellMoments(unit_box(1), 2), cells))
    assert found.counts.tolist() == [n_ties, n_rows - n_ties]
    assert found.sums.ravel().tolist() == [0, 1024 * (n_rows - n_ties)]


@on_gpu
@pytest.mark.parametrize("fused", [True, False])
def test_columns_further_apart_than_32_bits_can_say(rng, fused):
    """As in a tensor of a billion rows whose columns lie one after the other."""
    skip_without(gigabytes=10)
    X = torch.empty(2**31 + 1000, device="cuda").as_strided((1000, 3), (1, 2**30))
    X.copy_(torch.from_numpy(rng.normal(size=(1000, 3)) * 0.6))
    statistic, cells = CellMoments(unit_box(3), 4), random_cells(rng, 4, 3)
    found = opened(TensorEngine(fused=fused).reduce(X, statistic, cells))
    assert_same(found, exact_moments(X.cpu().numpy(), statistic, cells))


@pytest.mark.parametrize("scale", [0.002, 0.05, 0.5])
@pytest.mark.parametrize("n_features", [8, 11])
def test_float16_error_bound_holds(rng, scale, n_features):
    """The bound covers what is lost by coefficients in float16, for records all over the box."""
    cells = random_cells(rng, 6, n_features, scale=scale)
    width = 8 if n_features <= 8 else 16
    rule = fast_rule(cells, width)
    in_fours = rule.coefficients[: 32 * width**2].reshape(4 * width, 2, width // 2, 4, 2)  # the first eight
    q = np.zeros((2000, width))
    q[:, :n_features] = rng.integers(-4096, 4097, size=(2000, n_features))
    a = np.rint(q / 4)
    record = np.stack([a, a, q - 4 * a, np.full_like(q, 1024)], axis=2).reshape(2000, -1).astype(np.float32)
    y = np.einsum("nk,kgtce->ngcte", record, in_fours.astype(np.float32), dtype=np.float32)
    squares = np.square(y).sum(axis=(3, 4), dtype=np.float32).reshape(2000, 8)
    absolute, kept, unit = rule.bound
    found = (rule.constants + unit * squares)[:, : cells.n_cells]
    true = cells.scores(q[:, :n_features].astype(np.int64)) * 4.0**-cells.score_bits
    # half of the bound is for one score, the other half for the one it is compared with
    assert np.all(np.abs(found - true) <= (absolute + (1 - kept) * true) / 2)
    assert absolute < 1, "and is of use"


KERNEL_ON_THE_CPU = """
    import sys, tempfile
    import numpy as np, torch
    from triton.runtime.errors import InterpreterError
    from dpmorse.engine import tensors
    from dpmorse.privacy.exact import opened
    from dpmorse.statistics import CellMoments
    from plain import assert_same, exact_moments, random_cells, twins, unit_box

    kernels = tensors._kernels()
    if kernels is None:
        sys.exit(print("needs a newer Triton"))
    rng = np.random.default_rng(0)
    launches = []
    launch = kernels._launch
    kernels._launch = lambda *a, exact: launches.append(exact) or launch(*a, exact=exact)

    def check(X, n_cells, cells=None, radius=None, **options):
        d = X.shape[1]
        statistic = CellMoments(unit_box(d, radius), n_cells, **options)
        cells = cells or random_cells(rng, n_cells, d, radii=2.0)
        found = opened(tensors.TensorEngine().reduce(torch.from_numpy(X), statistic, cells))
        assert_same(found, exact_moments(X, statistic, cells))

    def records(n, d, dtype=np.float64):
        return (rng.normal(size=(n, d)) * 0.6).astype(dtype)

    try:
        check(records(200, 8, np.float32), 12)
    except InterpreterError as error:
        if "0-dimensional" not in str(error):
            raise
        sys.exit(print("this NumPy is too new for this Triton's interpreter"))
    check(np.asfortranarray(records(130, 3)), 5)
    pages = np.memmap(tempfile.TemporaryFile(), np.float32, shape=(2**31 + 100,))  # hardly any are written
    columns = np.lib.stride_tricks.as_strided(pages, (100, 3), (4, 2**32))
    columns[:] = records(100, 3)
    check(columns, 4)
    check(records(70, 3, np.float32), 2, of_residuals=True)
    check(records(100, 9), 3, radius=1.1, of_residuals=True)
    close = twins(rng, 3)
    launches.clear()
    check(records(200, 3), 4, close)  # more in doubt than there is room for
    assert launches == [False, True], launches
    kernels._ROWS_PER_DOUBTFUL = 1
    check(records(200, 3), 4, close)
    assert launches == [False, True, False], launches
    print("done")
"""


def test_the_kernel_in_the_interpreter():
    """What a GPU would run, on the CPU: all but how two digits are packed into a register."""
    pytest.importorskip("triton")
    outcome = printed_by(KERNEL_ON_THE_CPU, TRITON_INTERPRET="1").strip()
    if outcome != "done":
        pytest.skip(outcome)
