"""A billion records on one GPU: seconds of private fits, against memory bandwidth and plain torch.

    python -m benchmarks._scale_gpu [--rows N] [--out FILE]

Prints JSON, and writes it to FILE. Needs CUDA. Records are made on the device; the same run checks, on
fewer of them, that models and sums are those of the engine for arrays, bit for bit. The peer of the default
estimator is expectation-maximisation without privacy in torch, in float64: as many rounds and components as
the soft rounds of the fit have. It is written twice: with ``torch.distributions``, as in a textbook, and with
one product of matrices for all whitened records, as an expert would write it.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks._measure import machine
from dpmorse import DPMoGHard, DPMorse, InMemoryEngine
from dpmorse.engine.tensors import TensorEngine
from dpmorse.privacy.exact import opened
from dpmorse.statistics import CellMoments, Domain, ExactMoments, GaussianCells
from dpmorse.statistics.cells import WEIGHT_BITS

N_FEATURES, N_COMPONENTS, N_ITER = 8, 12, 10
ROWS, PLAIN_ROWS, CHECKED_ROWS = 1_000_000_000, 200_000_000, 5_000_000
_EM_CHUNK, _EM_COMPONENTS, _EM_ROUNDS = 1_000_000, 25, 10
_SPREAD = 0.3
_AT_A_TIME = 10_000_000


def groups_on_device(n_rows: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    """Groups in the box that overlap enough for every iteration to have work, made where they are used."""
    generator = torch.Generator("cuda").manual_seed(seed)
    options = {"generator": generator, "device": "cuda", "dtype": dtype}
    centres = 1.4 * torch.rand((N_COMPONENTS, N_FEATURES), **options) - 0.7
    records = torch.empty((n_rows, N_FEATURES), dtype=dtype, device="cuda")
    for part in records.split(_AT_A_TIME):
        group = torch.randint(0, N_COMPONENTS, (len(part),), generator=generator, device="cuda")
        part.copy_(centres[group] + _SPREAD * torch.randn(part.shape, **options)).clamp_(-1, 1)
    return records


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several runs, each until the device is done."""
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        action()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def fit(records: Any, engine: Any) -> DPMoGHard:
    """Run the fit that is measured."""
    model = DPMoGHard(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), n_iter=N_ITER, engine=engine, random_state=0)
    return model.fit(records)


def measured_fits(n_rows: int) -> dict[str, float]:
    """Time whole fits, beside the time of their passes at memory bandwidth and beside plain torch."""
    records = groups_on_device(n_rows)
    fit(records[:100_000], TensorEngine())  # load and compile
    size = records.numel() * records.element_size()
    one_read = seconds(lambda: records.view(-1).sum(), 5)
    whole = seconds(lambda: fit(records, TensorEngine()))
    cells = _true_cells(N_COMPONENTS, N_FEATURES)
    statistic = CellMoments(_box(N_FEATURES), N_COMPONENTS)
    one_pass = seconds(lambda: TensorEngine().reduce(records, statistic, cells), 5)
    plain = records[: min(PLAIN_ROWS, n_rows)]
    fit(plain[:100_000], TensorEngine(fused=False))
    plain_seconds = seconds(lambda: fit(plain, TensorEngine(fused=False)), 1)
    return {
        "rows": n_rows,
        "bytes": size,
        "one read of the records, s": one_read,
        "bandwidth of that read, TB/s": size / one_read / 1e12,
        "whole fit, s": whole,
        "iterations": N_ITER,
        "bandwidth limit of the iterations, s": N_ITER * one_read,
        "fraction of the bandwidth limit": N_ITER * one_read / whole,
        "one pass over fixed cells, s": one_pass,
        "plain torch: rows": len(plain),
        "plain torch: whole fit, s": plain_seconds,
        "plain torch: slower per row by a factor of": plain_seconds / len(plain) / (whole / n_rows),
    }


class TimedEngine(TensorEngine):
    """Keeps the seconds of all passes, in a list: the engine itself cannot be changed."""

    seconds: list[float] = []  # noqa: RUF012 - one for all

    def reduce(self, *question: Any) -> Any:
        return self._timed(super().reduce, question)

    def count(self, *question: Any) -> Any:
        return self._timed(super().count, question)

    def _timed(self, ask: Callable[..., Any], question: tuple[Any, ...]) -> Any:
        start = time.perf_counter()
        answer = ask(*question)  # on the host, so that the device is done
        self.seconds.append(time.perf_counter() - start)
        return answer


def default_fit(records: Any) -> dict[str, float]:
    """Run the default estimator; return its seconds, those of its passes, and its memory on the device."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before, start = torch.cuda.memory_allocated(), time.perf_counter()
    TimedEngine.seconds.clear()
    DPMorse(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), engine=TimedEngine()).fit(records)
    whole = time.perf_counter() - start
    passes = sum(TimedEngine.seconds)
    return {
        "rows": len(records),
        "whole fit, s": whole,
        "passes, s": passes,
        "all else, s": whole - passes,
        "memory beside the records, GB": (torch.cuda.max_memory_allocated() - before) / 1e9,
    }


def _best_of_three(records: Any) -> dict[str, float]:
    return min((default_fit(records) for _ in range(3)), key=lambda fit: fit["whole fit, s"])


def measured_default(n_rows: int) -> dict[str, Any]:
    """Time the default estimator on a tenth of the rows and on all of them, and EM as one writes it."""
    records = groups_on_device(n_rows)
    default_fit(records[:200_000])  # load and compile
    fits = [_best_of_three(records[:n]) for n in (n_rows // 10, n_rows)]
    ours = [fit["whole fit, s"] / fit["rows"] for fit in fits]
    results: dict[str, Any] = {"fits": fits}
    for name, n, log_densities in (("textbook", 200_000, textbook), ("product", 20_000_000, one_product)):
        some = records[:n]
        expectation_maximisation(some[:_EM_CHUNK], 1, log_densities)  # load and compile
        em = seconds(lambda e=log_densities, r=some: expectation_maximisation(r, _EM_ROUNDS, e), 1) / n  # type: ignore[misc]
        results[f"EM, {name}: rows"] = n
        results[f"EM, {name}: ns a row and round"] = 1e9 * em / _EM_ROUNDS
        results[f"EM, {name}: times a whole fit"] = [em / seconds_of_row for seconds_of_row in ours]
    return results


def expectation_maximisation(records: Any, n_rounds: int, log_densities: Callable[..., Any]) -> Any:
    """Fit a mixture without privacy, in float64, a chunk at a time."""
    k, d = _EM_COMPONENTS, records.shape[1]
    options = {"dtype": torch.float64, "device": records.device}
    means = torch.rand((k, d), **options) - 0.5
    covariances, weights = torch.eye(d, **options).repeat(k, 1, 1), torch.full((k,), 1 / k, **options)
    for _ in range(n_rounds):
        counts, sums = torch.zeros(k, **options), torch.zeros((k, d), **options)
        second = torch.zeros((k, d, d), **options)
        for chunk in records.split(_EM_CHUNK):
            x = chunk.double()
            shares = (weights.log() + log_densities(x, means, covariances)).softmax(dim=1)
            counts += shares.sum(dim=0)
            sums += shares.T @ x
            second += torch.stack([(x * share[:, None]).T @ x for share in shares.unbind(1)])
        weights, means = counts / counts.sum(), sums / counts[:, None]
        covariances = second / counts[:, None, None] - means[:, :, None] * means[:, None]
        covariances += 1e-6 * torch.eye(d, **options)
    return weights, means, covariances


def textbook(x: Any, means: Any, covariances: Any) -> Any:
    """Return ln densities of records in all components."""
    normal = torch.distributions.MultivariateNormal(means, covariances, validate_args=False)
    return normal.log_prob(x[:, None])


def one_product(x: Any, means: Any, covariances: Any) -> Any:
    """Return ln densities of records in all components, up to a constant."""
    factors = torch.linalg.cholesky(covariances)
    y = torch.einsum("kij,nkj->nki", torch.linalg.inv(factors), x[:, None] - means)
    return -factors.diagonal(dim1=1, dim2=2).log().sum(dim=1) - 0.5 * y.square().sum(dim=2)


def compared_models(n_rows: int) -> dict[str, Any]:
    """Say whether a fit on the device releases the model of a fit on the host, bit for bit."""
    results: dict[str, Any] = {"rows": n_rows}
    results["DPMorse: same model"] = _same_default(groups_on_device(n_rows // 10, seed=2))
    for dtype in (torch.float32, torch.float64):
        records = groups_on_device(n_rows, dtype, seed=1)
        array = records.cpu().numpy()
        fit(array[:10_000], InMemoryEngine())  # load and compile
        start = time.perf_counter()
        on_host = fit(array, InMemoryEngine())
        host_seconds = time.perf_counter() - start
        name = str(dtype).removeprefix("torch.")
        for kind, engine in (("fused", TensorEngine()), ("plain", TensorEngine(fused=False))):
            fit(records[:100_000], engine)
            results[f"{name}, {kind}: same model"] = fit(records, engine).mixture_ == on_host.mixture_
            results[f"{name}, {kind}: fit, s"] = seconds(lambda e=engine, r=records: fit(r, e), 1)  # type: ignore[misc]
        results[f"{name}: fit on the host, s"] = host_seconds
    return results


def _same_default(records: Any) -> bool:
    on_device, on_host = (
        DPMorse(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
        for X in (records, records.cpu().numpy())
    )
    return bool(on_device.mixture_ == on_host.mixture_)  # all releases have a part in it


def compared_sums(n_rows: int = 100_000) -> dict[str, Any]:
    """Say for which cases sums on the device are those on the host, bit for bit."""
    differing, n_cases = [], 0
    for name, domain, cells, options in _cases():
        records = 1.2 * torch.randn((n_rows, domain.n_features), device="cuda")
        statistic = CellMoments(domain, cells.n_cells, **options)
        found = opened(TensorEngine().reduce(records, statistic, cells))
        expected = opened(InMemoryEngine().reduce(records.cpu().numpy(), statistic, cells))
        n_cases += 1
        if not _equal(found, expected):
            differing.append(name)
    return {"cases": n_cases, "rows of each": n_rows, "differing": differing}


def _cases() -> Iterator[tuple[str, Domain, GaussianCells, dict[str, Any]]]:
    """Yield shapes, balls, residuals, memberships, and cells that float32 cannot tell apart."""
    for d, k in ((2, 3), (8, 1), (8, 12), (8, 64), (16, 32), (20, 5)):  # kernels take seconds to compile
        yield f"{d} columns, {k} cells", _box(d), _true_cells(k, d), {}
    for d, k in ((8, 12), (20, 5)):
        for radius in (None, 1.1):
            for weight_bits in (0, WEIGHT_BITS):
                options = {"weight_bits": weight_bits, "of_residuals": True}
                yield (
                    f"residuals: {d}, {k}, {radius}, {weight_bits}",
                    _box(d, radius),
                    _true_cells(k, d),
                    options,
                )
            yield f"ball: {d}, {k}, {radius}", _box(d, radius), _true_cells(k, d), {}
            yield (
                f"soft: {d}, {k}, {radius}",
                _box(d, radius),
                _true_cells(k, d),
                {"weight_bits": WEIGHT_BITS},
            )
    needles = np.tile(np.diag([1e-6, 1e-2]), (2, 1, 1))
    yield "needles", _box(2), GaussianCells.from_mixture(np.full(2, 0.5), np.eye(2) - 0.5, needles, 3.0), {}
    twins = np.repeat(np.random.default_rng(0).uniform(-0.7, 0.7, (3, 8)), 2, axis=0)
    twins[1::2] += 1e-7
    yield "twins", _box(8), _cells(twins), {}


def _true_cells(n_cells: int, n_features: int) -> GaussianCells:
    return _cells(np.random.default_rng(n_cells).uniform(-0.7, 0.7, (n_cells, n_features)))


def _cells(means: Any) -> GaussianCells:
    k, d = means.shape
    covariances = np.tile(_SPREAD**2 * np.eye(d), (k, 1, 1))
    return GaussianCells.from_mixture(np.full(k, 1 / k), means, covariances, 2.0)


def _box(n_features: int, radius: float | None = None) -> Domain:
    return Domain.from_bounds((-1.0, 1.0), n_features, radius)


def _equal(found: ExactMoments, expected: ExactMoments) -> bool:
    same_second = np.array_equal(np.tril(found.second_moments), np.tril(expected.second_moments))
    same_sums = np.array_equal(found.sums, expected.sums)
    return same_second and same_sums and np.array_equal(found.counts, expected.counts)


def run(n_rows: int = ROWS) -> dict[str, Any]:
    """Measure everything."""
    return {
        "machine": {
            **machine(),
            "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__,
        },
        "sums": compared_sums(),
        "models": compared_models(min(CHECKED_ROWS, n_rows)),
        "fits": measured_fits(n_rows),
        "default": measured_default(n_rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("this needs CUDA")
    text = json.dumps(run(arguments.rows), indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
