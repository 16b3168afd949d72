"""Fit another library's private k-means; runs in an environment of its own and imports nothing of ours.

``python _peer_fit.py LIBRARY FOLDER``: the folder holds the records in the box [-1, 1] (``records.npy``) and
the settings (``settings.json``); the released centres are left there (``centres.npy``). Prints JSON.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Settings = dict[str, Any]
_FEW = 1_000


def _diffprivlib(X: Any, settings: Settings) -> Any:
    from diffprivlib.models import KMeans  # type: ignore[import-not-found,unused-ignore]

    # Bounds are given: without them it reads the range of the columns from the records.
    model = KMeans(
        settings["n_clusters"],
        epsilon=settings["epsilon"],
        bounds=(-1.0, 1.0),
        random_state=settings["seed"],
    )
    return model.fit(X).cluster_centers_


def _google(X: Any, settings: Settings) -> Any:
    from clustering import (  # type: ignore[import-not-found,unused-ignore]
        clustering_algorithm,
        clustering_params,
    )

    np.random.seed(settings["seed"])  # noqa: NPY002 - the only generator it draws from
    budget = clustering_params.DifferentialPrivacyParam(settings["epsilon"], settings["delta"])
    data = clustering_params.Data(X, radius=float(np.sqrt(X.shape[1])))  # the ball around the box
    return clustering_algorithm.private_lsh_clustering(settings["n_clusters"], data, budget).centers


FITS: dict[str, Callable[[Any, Settings], Any]] = {"diffprivlib": _diffprivlib, "google": _google}


def main() -> None:
    warnings.filterwarnings("ignore")
    fit, folder = FITS[sys.argv[1]], Path(sys.argv[2])
    X = np.load(folder / "records.npy")
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    fit(X[:_FEW], settings)  # loads what is loaded on first use, which is no part of a fit
    start = time.perf_counter()
    centres = fit(X, settings)
    seconds = time.perf_counter() - start
    np.save(folder / "centres.npy", centres)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
