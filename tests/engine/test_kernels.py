"""Kernels: the sums of the plain form, in every form that they are compiled in, and only where they agree."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine.tensors import TensorEngine  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.statistics import WEIGHT_BITS, CellMoments, GaussianCells  # noqa: E402
from own_process import printed_by  # noqa: E402
from plain import assert_same, exact_moments, random_cells, random_profile, unit_box  # noqa: E402
from profile_checks import check as check_profile  # noqa: E402
from profile_checks import records_of  # noqa: E402

TRIED = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
on_gpu = pytest.mark.skipif(not TRIED, reason="no GPU that the kernels are for")

IN_THE_INTERPRETER = """
    import sys, tempfile
    import numpy as np, torch
    from triton.runtime.errors import InterpreterError
    from dpmorse.engine import tensors
    from dpmorse.engine.tensors import TensorEngine
    from dpmorse.privacy.exact import opened
    from dpmorse.statistics import WEIGHT_BITS, CellMoments
    from dpmorse.bases.staged.products import cells_of
    from contracts.test_table_engines import LAYOUTS, random_products, table_of
    from plain import assert_same, exact_moments, projected_box, random_cells, random_profile, twins, unit_box
    from plain_tables import encoded_records, table_moments
    from audits.attacks.tables import TABLES
    from profile_checks import check as check_profile, records_of, records_of_table, table_profile

    kernels = tensors._kernels()
    if kernels is None:
        sys.exit(print("needs a newer Triton"))
    rng = np.random.default_rng(0)
    used = set()
    for name in dir(kernels):
        if name.endswith("_kernel"):
            def counted(kernel, name=name):
                class Counted:
                    def __getitem__(self, grid):
                        used.add(name.removesuffix("_kernel"))
                        return kernel[grid]
                return Counted()
            setattr(kernels, name, counted(getattr(kernels, name)))

    def sums(X, statistic, cells):
        assert kernels.covers(torch.from_numpy(X), cells)
        used.clear()  # of what the kernels were compared with plain torch by
        return opened(TensorEngine().reduce(torch.from_numpy(X), statistic, cells))

    def check(X, n_cells, of_residuals=True, weight_bits=WEIGHT_BITS, radii=2.0, domain=None, cells=None):
        domain = domain or unit_box(X.shape[1], 1.1)
        statistic = CellMoments(domain, n_cells, weight_bits, of_residuals=of_residuals)
        cells = cells or random_cells(rng, n_cells, domain.n_features, radii=radii)
        assert_same(sums(X, statistic, cells), exact_moments(X, statistic, cells))

    def records(n, d):
        return rng.normal(size=(n, d)) * 0.6

    try:
        check(records(70, 3), 3)
    except InterpreterError as error:
        if "0-dimensional" not in str(error):
            raise
        sys.exit(print("this NumPy is too new for this Triton's interpreter"))
    check(records(130, 3), 5)
    assert used == {"quantise", "members", "moments"}, used
    check(np.asfortranarray(records(70, 8).astype(np.float32)), 4, weight_bits=0)
    assert used == {"quantise", "labels", "moments"}, used
    check(records(65, 9), 2)
    assert used == {"quantise", "members", "wide_moments"}, used
    check(records(65, 17), 2, of_residuals=False)
    check(records(33, 64), 2, weight_bits=0)
    check(records(65, 1), 1)
    check(records(100, 2), 4, of_residuals=False, weight_bits=0, domain=unit_box(2))
    labels = torch.tensor([299, 5, 299, 0, 256, 5], dtype=torch.int32)  # of more than a byte
    rows, begins, ends, *_ = kernels._members_of_labels(labels, 300)
    assert [sorted(rows[begins[k] : ends[k]].tolist()) for k in (0, 5, 43, 256, 299)] == [
        [3], [1, 5], [], [4], [0, 2]
    ]
    check(records(200, 3), 4, cells=twins(rng, 3), of_residuals=False)
    for d in (3, 17):
        check(records(65, d), 4, radii=1e-5)  # steps so small that squared norms are beyond 2^53
    for n_columns, n_directions in ((9, 3), (70, 4)):
        check(rng.normal(size=(65, n_columns)), 4, domain=projected_box(rng, n_columns, n_directions))
    pages = np.memmap(tempfile.TemporaryFile(), np.float32, shape=(2**31 + 100,))  # hardly any are written
    columns = np.lib.stride_tricks.as_strided(pages, (100, 3), (4, 2**32))
    columns[:] = records(100, 3)
    check(columns, 4)
    for d in (3, 18):
        statistic, X = random_profile(rng, 4, d), records_of(rng, 65, d)
        assert kernels.covers(torch.from_numpy(X), statistic.rule)
        used.clear()
        check_profile(TensorEngine(), torch.from_numpy(X), X, statistic)
        assert used == {"quantise", "labels"}, used
    for name in ("numbers", "categories"):  # whose cells are found on the device
        statistic, E = table_profile(rng, TABLES[name], 4), records_of_table(rng, TABLES[name], 65)
        check_profile(TensorEngine(), torch.from_numpy(E), E, statistic)
    for name in ("all", "categories", "no holes"):
        layout = LAYOUTS[name]
        table, E = table_of(layout), encoded_records(layout, 100, rng)
        cells = cells_of(random_products(layout, 3, rng), table)
        for weight_bits in (0, WEIGHT_BITS):
            statistic = CellMoments(table.domain, 3, weight_bits, of_residuals=True, layout=layout)
            assert_same(sums(E, statistic, cells), table_moments(E, statistic, cells))
            assert used, name
    assert not kernels.covers(torch.zeros((5, 65)), random_cells(rng, 2, 65))
    assert not kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3, radii=1e-12))
    kernels._agrees.cache_clear()
    real = kernels.plain.moments
    kernels.plain.moments = lambda X, task: real(X, task) + 1
    assert not kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3)), "kernels that differ are not used"

    def no_memory(X, task):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    kernels._agrees.cache_clear()
    kernels.plain.moments = no_memory
    try:
        kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3))
        raise AssertionError("memory that is short is told")
    except MemoryError:
        kernels.plain.moments = real
    assert kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3)), "and not remembered"
    print("done")
"""

COMPILED = """
    import re
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from dpmorse.engine import _fused_passes as passes

    POINTERS = {
        "X": "*fp32", "rows": "*i32", "begins": "*i64", "ends": "*i64", "weights": "*i32", "labels": "*i32",
        "divisors": "*i32", "sizes": "*i32", "totals": "*i64",
    }
    NUMBERS = {name: "i32" for name in ("n_rows", "n_cells", "row_stride", "column_stride", "last")}
    OPTIONS = ("num_warps", "num_stages", "enable_fp_fusion")

    def compiled(kernel, **sizes):
        options = {name: sizes.pop(name) for name in OPTIONS}
        names = kernel.arg_names
        bits = 16 if sizes["D"] <= 8 else 32
        sizes = {name: size for name, size in {"BITS": bits, "ROUND": False, **sizes}.items() if name in names}
        wide = sizes.get("WIDTH", 0) or "BALL" in sizes
        types = {**POINTERS, **NUMBERS, "q": f"*i{bits}" if wide else "*i64"}
        signature = {name: "constexpr" if name in sizes else types.get(name, "*fp64") for name in names}
        constants = {(names.index(name),): value for name, value in sizes.items()}
        source = ASTSource(kernel, signature, constants)
        return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)

    for d in (3, 8, 16, 17, 64):
        sizes = passes.sizes_of(d)
        measured = {"SOFT": True, "RESIDUALS": True, "FIRST": 0, "LAST": d}
        moments = passes.moments_kernel if d <= 8 else passes.wide_moments_kernel
        for name, kernel in {
            "quantise": compiled(passes.quantise_kernel, BALL=True, **passes.quantising(d)),
            "members": compiled(passes.members_kernel, **sizes),
            "labels": compiled(passes.labels_kernel, **sizes),
            "moments": compiled(moments, **measured, **passes.adding_up(d, round_cells=False)),
        }.items():
            ptx, what = kernel.asm["ptx"], (name, d)
            assert kernel.metadata.shared < 227 * 1024, f"{what}: more memory than a multiprocessor has"
            if name == "quantise":
                assert "fma.rn.f64" not in ptx, f"{what}: nothing is fused that the plain form rounds"
            elif d > (8 if name == "moments" else 16):
                assert "mma.sync" in ptx, f"{what}: products of matrices are for tensor cores"
            else:
                assert "fma.rn.f64" in ptx, what
    print("done")
"""


def test_the_kernels_in_the_interpreter():
    """What a GPU would run, on the CPU."""
    outcome = printed_by(IN_THE_INTERPRETER, TRITON_INTERPRET="1").strip()
    if outcome != "done":
        pytest.skip(outcome)


def test_the_kernels_are_compiled_without_a_gpu():
    """For the architecture of an H100 and an H200."""
    assert printed_by(COMPILED).strip() == "done"


def check(X, statistic, cells):
    found = opened(TensorEngine().reduce(torch.from_numpy(X).cuda(), statistic, cells))
    assert_same(found, exact_moments(X, statistic, cells))


@on_gpu
@pytest.mark.parametrize("n_features", [1, 3, 8, 9, 16, 17, 31, 40, 64])
@pytest.mark.parametrize("n_cells", [1, 12, 128])
@pytest.mark.parametrize("weight_bits", [0, WEIGHT_BITS])
def test_sums_equal_the_plain_form_on_a_gpu(rng, n_features, n_cells, weight_bits):
    X = rng.normal(size=(3000, n_features)) * 0.6
    statistic = CellMoments(unit_box(n_features), n_cells, weight_bits, of_residuals=True)
    cells = random_cells(rng, n_cells, n_features, radii=2.0)
    assert tensors._kernels().covers(torch.from_numpy(X).cuda(), cells)
    check(X, statistic, cells)


@on_gpu
@pytest.mark.parametrize("n_features", [2, 8, 20])
def test_profiles_equal_the_plain_form_on_a_gpu(rng, n_features):
    X = records_of(rng, 3000, n_features)
    check_profile(TensorEngine(), torch.from_numpy(X).cuda(), X, random_profile(rng, 30, n_features))


@on_gpu
def test_sums_are_exact_where_one_program_adds_up_the_most(rng, monkeypatch):
    """As many of the largest products as a program ever adds up in float64."""
    kernels = tensors._kernels()
    monkeypatch.setattr(kernels, "processors", lambda device: 1)
    monkeypatch.setattr(kernels, "_PROGRAMS_PER_PROCESSOR", 1)
    X = rng.choice([-1.0, 1.0], size=(2**16, 1)) * np.ones(8)
    check(X.astype(np.float32), CellMoments(unit_box(8), 1, WEIGHT_BITS), random_cells(rng, 1, 8))


def skip_without(gigabytes):
    torch.cuda.empty_cache()
    if torch.cuda.mem_get_info()[0] < gigabytes * 2**30:
        pytest.skip(f"needs {gigabytes} GB on the GPU")


@on_gpu
@pytest.mark.parametrize("n_rows", [2**31 - 64, 2**31 + 65, 2**33 + 1])
def test_more_rows_than_32_bits_can_count(rng, n_rows):
    """One record, repeated without memory."""
    skip_without(gigabytes=4)
    one = np.array([[0.25, -0.5]])
    statistic, cells = CellMoments(unit_box(2), 3), random_cells(rng, 3, 2)
    found = opened(TensorEngine().reduce(torch.from_numpy(one).cuda().expand(n_rows, 2), statistic, cells))
    expected = exact_moments(one, statistic, cells)
    assert np.array_equal(found.counts, n_rows * expected.counts)
    assert np.array_equal(found.sums, n_rows * expected.sums)
    assert np.array_equal(found.second_moments, n_rows * np.tril(expected.second_moments))


@on_gpu
def test_records_beyond_the_reach_of_32_bits():
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
