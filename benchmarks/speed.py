"""Seconds per iteration, memory and noise, against scikit-learn and diffprivlib in the same run.

    python -m benchmarks.speed [--rows N] [--out FILE]

Both of scikit-learn's estimators start from given parameters and run a fixed number of iterations.
"One more iteration" is the difference between a long and a short fit divided by the iterations between
them; "whole fit" is a fit of ten iterations divided by ten.
"""

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture as SklearnMixture

from benchmarks._measure import (
    in_own_environment,
    machine,
    peak_extra_megabytes,
    seconds,
    seconds_per_iteration,
)
from benchmarks._peer_libraries import DIFFPRIVLIB
from dpmorse import DPMoG, DPMoGHard
from dpmorse.privacy.random_bytes import SystemBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.typing import FloatArray

N_FEATURES, N_COMPONENTS = 8, 12


def overlapping_groups(n: int, n_groups: int, spread: float, part: int = 0) -> FloatArray:
    """Groups in the box that overlap enough for every method to keep iterating; all parts have the same."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-0.7, 0.7, size=(n_groups, N_FEATURES))
    rng = np.random.default_rng(part) if part else rng
    points: FloatArray = centres[rng.integers(0, n_groups, n)] + spread * rng.standard_normal((n, N_FEATURES))
    return np.clip(points, -1, 1)


def fitters(X: FloatArray) -> dict[str, Callable[[int], object]]:
    """Return, for each method, a fit of a given number of iterations."""
    rng = np.random.default_rng(1)
    start = rng.uniform(-0.7, 0.7, size=(N_COMPONENTS, N_FEATURES))

    def kmeans(n_iter: int) -> object:
        return KMeans(N_COMPONENTS, init=start, n_init=1, max_iter=n_iter, tol=0, algorithm="lloyd").fit(X)

    def mixture(n_iter: int) -> object:
        return SklearnMixture(
            N_COMPONENTS,
            weights_init=np.full(N_COMPONENTS, 1 / N_COMPONENTS),
            means_init=start,
            precisions_init=np.tile(10 * np.eye(N_FEATURES), (N_COMPONENTS, 1, 1)),
            init_params="random",
            max_iter=n_iter,
            tol=0,
        ).fit(X)

    def ours(kind: type[DPMoG | DPMoGHard]) -> Callable[[int], object]:
        return lambda n_iter: kind(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), n_iter=n_iter).fit(X)

    return {
        "DPMoGHard": ours(DPMoGHard),
        "DPMoG": ours(DPMoG),
        "KMeans (lloyd)": kmeans,
        "GaussianMixture (full)": mixture,
    }


def per_iteration(n_rows: int) -> dict[str, dict[str, float]]:
    """Measure every method on the same rows."""
    results = {}
    for name, fit in fitters(overlapping_groups(n_rows, N_COMPONENTS, 0.3)).items():
        fit(1)  # load and compile
        slow = name.startswith("Gaussian")
        few, many, repeats = (1, 3, 2) if slow else (2, 22, 5)
        results[name] = {
            "one more iteration, s": seconds_per_iteration(fit, few, many, repeats),
            "whole fit / iterations, s": seconds(lambda fit=fit: fit(10), 1 if slow else 3) / 10,  # type: ignore[misc]
        }
    return results


def memory(n_rows: int) -> float:
    """Peak extra memory of a fit, in MB."""

    def prepare() -> Callable[[], object]:
        X = overlapping_groups(n_rows, N_COMPONENTS, 0.3)
        fitters(X[:5000])["DPMoGHard"](2)
        return lambda: fitters(X)["DPMoGHard"](10)

    return peak_extra_megabytes(prepare)


def whole_fit_against_diffprivlib() -> dict[str, float]:
    """Time a whole private fit of 50,000 x 8 with 10 components beside diffprivlib's KMeans."""
    X = overlapping_groups(50_000, 10, 0.05)
    ours = DPMoGHard(10, epsilon=1.0, bounds=(-1, 1))
    ours.fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        script = Path(__file__).with_name("_diffprivlib_kmeans.py")
        theirs = in_own_environment("diffprivlib", DIFFPRIVLIB, script, str(path), "10", "5")
    return {"DPMoGHard, s": seconds(lambda: ours.fit(X), 5), "diffprivlib KMeans, s": theirs["seconds"]}


def sampler_rates() -> dict[str, float]:
    """Exact discrete Gaussian draws per second, from the operating system's bytes, on one core."""
    sampler = NativeSampler(SystemBytes())
    rates = {}
    for n in (1_000, 10_000, 100_000, 1_000_000):
        scales = np.full(n, 2**33 + 12345, dtype=np.int64)
        rates[f"n = {n}"] = n / seconds(lambda scales=scales: sampler.gaussian(scales), 5)  # type: ignore[misc]
    return rates


def targets(results: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return (what, found, limit); found should be at least the limit."""
    each = results["per iteration"]
    more, whole = "one more iteration, s", "whole fit / iterations, s"
    ours = each["DPMoGHard"]
    peers = results["50,000 x 8, 10 components"]
    return [
        (
            "x faster than GaussianMixture, one more iteration",
            each["GaussianMixture (full)"][more] / ours[more],
            20,
        ),
        ("x faster than GaussianMixture, whole fit", each["GaussianMixture (full)"][whole] / ours[whole], 20),
        ("x faster than KMeans, one more iteration", each["KMeans (lloyd)"][more] / ours[more], 1),
        ("x faster than KMeans, whole fit", each["KMeans (lloyd)"][whole] / ours[whole], 1),
        ("MB below the limit of 200 MB extra", 200 - results["peak extra memory, MB"], 0),
        (
            "x faster than diffprivlib's KMeans, whole fit",
            peers["diffprivlib KMeans, s"] / peers["DPMoGHard, s"],
            1,
        ),
        ("million exact noise draws a second at n = 10,000", results["sampler"]["n = 10000"] / 1e6, 1),
    ]


def table(results: dict[str, Any]) -> str:
    """Lay the results out for a person."""
    lines = [
        f"{results['rows']} x {N_FEATURES}, {N_COMPONENTS} components, {results['machine']['cores']} cores"
    ]
    for name, figures in results["per iteration"].items():
        lines.append(f"  {name:<24}" + "".join(f"{key}: {value:8.4f}   " for key, value in figures.items()))
    lines.append(f"  peak extra memory of a DPMoGHard fit: {results['peak extra memory, MB']:.1f} MB")
    peers = results["50,000 x 8, 10 components"]
    lines += [f"  50,000 x 8, 10 components, {key}: {value:.3f}" for key, value in peers.items()]
    rates = results["sampler"]
    lines += [f"  sampler, {key}: {value / 1e6:.2f} million draws a second" for key, value in rates.items()]
    lines.append("\nTargets")
    for row in results["targets"]:
        verdict = "met   " if row["met"] else "MISSED"
        lines.append(f"  {verdict} {row['found']:10.2f} {row['what']} (at least {row['at least']})")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows (default: 1,000,000)")
    parser.add_argument("--out", type=Path, default=Path(".bench/speed.json"), help="JSON file to write")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn says that a fixed number of iterations did not converge
    results: dict[str, Any] = {
        "machine": machine(),
        "rows": options.rows,
        "per iteration": per_iteration(options.rows),
        "peak extra memory, MB": memory(options.rows),
        "50,000 x 8, 10 components": whole_fit_against_diffprivlib(),
        "sampler": sampler_rates(),
    }
    results["targets"] = [
        {"what": what, "found": found, "at least": limit, "met": found >= limit}
        for what, found, limit in targets(results)
    ]
    print(table(results))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
