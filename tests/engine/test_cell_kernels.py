"""Kernels of scores and of moments of residuals: the sums of plain torch, and only where they were compared."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from dpmorse.engine import tensors  # noqa: E402
from dpmorse.engine.tensors import TensorEngine  # noqa: E402
from dpmorse.privacy.exact import opened  # noqa: E402
from dpmorse.statistics import WEIGHT_BITS, CellMoments  # noqa: E402
from own_process import printed_by  # noqa: E402
from plain import assert_same, exact_moments, random_cells, unit_box  # noqa: E402

TRIED = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
on_gpu = pytest.mark.skipif(not TRIED, reason="no GPU that the kernels are for")

IN_THE_INTERPRETER = """
    import sys
    import numpy as np, torch
    from triton.runtime.errors import InterpreterError
    from dpmorse.engine import tensors
    from dpmorse.engine.tensors import TensorEngine
    from dpmorse.privacy.exact import opened
    from dpmorse.statistics import WEIGHT_BITS, CellMoments
    from plain import assert_same, exact_moments, random_cells, random_profile, unit_box
    from profile_checks import check as check_profile, records_of

    kernels = tensors._kernels("_fused_cells")
    if kernels is None:
        sys.exit(print("needs a newer Triton"))
    rng = np.random.default_rng(0)
    used = []
    for name in ("scores_kernel", "moments_kernel"):
        def counted(kernel, name=name):
            class Counted:
                def __getitem__(self, grid):
                    used.append(name)
                    return kernel[grid]
            return Counted()
        setattr(kernels, name, counted(getattr(kernels, name)))

    def check(n, d, n_cells, of_residuals=True, weight_bits=WEIGHT_BITS, radii=2.0):
        X = rng.normal(size=(n, d)) * 0.6
        statistic = CellMoments(unit_box(d, 1.1), n_cells, weight_bits, of_residuals=of_residuals)
        cells = random_cells(rng, n_cells, d, radii=radii)
        used.clear()
        found = opened(TensorEngine().reduce(torch.from_numpy(X), statistic, cells))
        assert_same(found, exact_moments(X, statistic, cells))

    try:
        check(70, 3, 3)
    except InterpreterError as error:
        if "0-dimensional" not in str(error):
            raise
        sys.exit(print("this NumPy is too new for this Triton's interpreter"))
    check(130, 3, 5)
    assert used[-2:] == ["scores_kernel", "moments_kernel"], used
    check(65, 1, 1)
    check(65, 16, 2)
    check(65, 3, 4, radii=1e-5)  # steps so small that squared norms are beyond 2^53
    check(100, 3, 4, of_residuals=False)
    assert used == ["scores_kernel"], used
    check(65, 3, 70, weight_bits=0)  # more cells than the kernel of hard cells takes
    assert used == ["scores_kernel"], used
    X = records_of(rng, 65, 3)
    used.clear()
    check_profile(TensorEngine(), torch.from_numpy(X), X, random_profile(rng, 4, 3))
    assert set(used) == {"scores_kernel"}, used
    used.clear()
    assert not kernels.covers(torch.zeros((5, 64)), random_cells(rng, 2, 64))
    assert not kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3, radii=1e-12))
    assert not used
    kernels._agrees.cache_clear()
    kernels.PLAIN = kernels.PLAIN._replace(scores=lambda q, rule: kernels.FUSED.scores(q, rule) + 1)
    assert not kernels.covers(torch.zeros((5, 3)), random_cells(rng, 2, 3)), "kernels that differ are not used"
    print("done")
"""

COMPILED = """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from dpmorse.engine import _fused_cells, _triton_cells

    def compiled(kernel, n_features, **types):
        options = _fused_cells._compilation(n_features)
        sizes = {name: options.pop(name) for name in ("D", "WIDTH", "BLOCK")}
        names = kernel.arg_names
        signature = {name: "constexpr" if name in sizes else types.get(name, "*fp64") for name in names}
        constants = {(names.index(name),): value for name, value in sizes.items()}
        source = ASTSource(kernel, signature, constants)
        return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)

    for n_features in (8, 63):
        counts = {"n_rows": "i32", "n_cells": "i32"}
        for kernel in (
            compiled(_triton_cells.scores_kernel, n_features, **counts),
            compiled(_triton_cells.moments_kernel, n_features, totals="*i64", **counts),
        ):
            assert kernel.metadata.shared < 227 * 1024, "more than a multiprocessor has"
            assert "mma.sync" in kernel.asm["ptx"], "products of matrices are for tensor cores"
            assert "fma.rn.f64" not in kernel.asm["ptx"], "nothing is fused that the plain form rounds"
    print("done")
"""


def test_the_kernels_in_the_interpreter():
    """What a GPU would run, on the CPU."""
    outcome = printed_by(IN_THE_INTERPRETER, TRITON_INTERPRET="1").strip()
    if outcome != "done":
        pytest.skip(outcome)


def test_the_kernels_are_compiled_without_a_gpu():
    """For the architecture of an H100 and an H200: tensor cores for products, no fused rounding."""
    assert printed_by(COMPILED).strip() == "done"


@on_gpu
@pytest.mark.parametrize("n_features", [1, 3, 8, 15, 16, 31, 40, 63])
@pytest.mark.parametrize("n_cells", [1, 12, 100])
def test_soft_sums_equal_the_plain_form_on_a_gpu(rng, n_features, n_cells):
    X = rng.normal(size=(3000, n_features)) * 0.6
    statistic = CellMoments(unit_box(n_features), n_cells, WEIGHT_BITS, of_residuals=True)
    cells, records = random_cells(rng, n_cells, n_features, radii=2.0), torch.from_numpy(X).cuda()
    assert tensors._kernels("_fused_cells").covers(records, cells)
    found = opened(TensorEngine().reduce(records, statistic, cells))
    assert_same(found, exact_moments(np.asarray(X), statistic, cells))
