"""Seconds on one machine, as ratios: an iteration and labels beside scikit-learn, whole fits beside peers."""

import warnings
from dataclasses import asdict
from functools import partial
from typing import Any

from sklearn.mixture import GaussianMixture as SklearnMixture

from benchmarks._limits import Limits, hard_pass_work, labels_work
from benchmarks._measure import NotInstalledError, ScriptError, seconds, seconds_per_iteration
from benchmarks._peer_libraries import PEERS, fit_peer
from benchmarks.speed import N_COMPONENTS, N_FEATURES, fitters, overlapping_groups
from dpmorse import DPMoGHard, DPMorse
from dpmorse.typing import FloatArray


def against_scikit_learn(n_rows: int = 1_000_000) -> dict[str, Any]:
    """Return seconds of an iteration and of labels, and the factors by which ours are faster."""
    X = overlapping_groups(n_rows, N_COMPONENTS, 0.3)
    fits = fitters(X)
    for name in ("DPMoGHard", "KMeans (lloyd)"):
        fits[name](2)  # load and compile
    ours = seconds_per_iteration(fits["DPMoGHard"], 2, 22, 9)
    kmeans = seconds_per_iteration(fits["KMeans (lloyd)"], 2, 22, 9)
    mixture = seconds_per_iteration(fits["GaussianMixture (full)"], 1, 3, 2)
    whole = {name: seconds(partial(fits[name], 10), 7) / 10 for name in ("DPMoGHard", "KMeans (lloyd)")}
    limits = Limits.measured()
    return {
        "rows": n_rows,
        "one more iteration, s": {"DPMoGHard": ours, "KMeans": kmeans, "GaussianMixture": mixture},
        "whole fit / 10, s": whole,
        "iteration: x faster than GaussianMixture": mixture / ours,
        "iteration: x faster than KMeans": kmeans / ours,
        "whole fit: x faster than KMeans": whole["KMeans (lloyd)"] / whole["DPMoGHard"],
        "limits of the machine": asdict(limits),
        "iteration: fraction of the limit": limits.fraction(
            hard_pass_work(N_COMPONENTS, N_FEATURES), ours / n_rows
        ),
        **_labels(X, limits),
    }


def _labels(X: FloatArray, limits: Limits) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three iterations are enough to have something to label with
        theirs = SklearnMixture(N_COMPONENTS, max_iter=3, init_params="random_from_data").fit(X[:100_000])
    ours = DPMoGHard(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1)).fit(X)
    ours.predict(X[:5000])
    found, peer = seconds(lambda: ours.predict(X), 7), seconds(lambda: theirs.predict(X), 3)
    return {
        "predict, s": {"DPMoGHard": found, "GaussianMixture": peer},
        "predict: x faster than GaussianMixture": peer / found,
        "predict: fraction of the limit": limits.fraction(
            labels_work(N_COMPONENTS, N_FEATURES), found / len(X)
        ),
    }


def against_peers(n_rows: int = 1_000_000) -> dict[str, Any]:
    """Time a whole fit of the default estimator beside the private libraries that can be installed."""
    X = overlapping_groups(n_rows, N_COMPONENTS, 0.3)
    ours = DPMorse(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1))
    ours.fit(X[:5000])
    result: dict[str, Any] = {"rows": n_rows, "DPMorse, s": seconds(lambda: ours.fit(X), 3)}
    for peer in PEERS:
        try:
            result[f"{peer.name}, s"] = fit_peer(peer, X, N_COMPONENTS, 1.0, 0)[1]
        except (NotInstalledError, ScriptError) as reason:
            result[f"{peer.name}, s"] = f"not run: {reason}"
    return result
