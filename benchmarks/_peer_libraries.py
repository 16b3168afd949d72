"""Other libraries of private clustering: their installation, their fits, and the epsilon they spend.

Every library has an environment of its own, made by the configured pip when it is first needed. One that
cannot be installed is reported with the reason; nothing is left out silently.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from benchmarks._clusterings import DELTA
from benchmarks._measure import NotInstalledError, alone, environment, printed_by
from dpmorse.typing import FloatArray

DIFFPRIVLIB = ["diffprivlib==0.6.6", "scikit-learn==1.6.1", "numpy<2.3"]  # scikit-learn 1.9 breaks its import
_FIT = Path(__file__).with_name("_peer_fit.py")
_VERSION = "import json, sys, importlib.metadata as m; print(json.dumps({'version': m.version(sys.argv[1])}))"


def spent_by_diffprivlib(n_features: int) -> float:
    """Return the sum of the epsilons that diffprivlib's KMeans hands to its mechanisms, for a claim of 1.

    An iteration releases, for every cluster, a count and a sum of each of D columns. ``_split_epsilon`` means
    to give a count e shares and a sum one, with e = (4 D .225^2)^(1/3), which makes D + e shares. It returns
    them as (1, e) / (D + e), and its caller takes the first for the count: the count gets what was meant for
    a sum, and every sum what was meant for the count. So 1 + D e shares are spent where there are D + e.
    """
    e = float(np.cbrt(4 * n_features * 0.225**2))
    return (1 + n_features * e) / (n_features + e)


def _as_claimed(_n_features: int) -> float:
    return 1.0


@dataclass(frozen=True)
class Peer:
    """A library of private clustering that can be installed, here or elsewhere.

    Parameters
    ----------
    name : str
        Name in tables.
    key : str
        Name of its environment, and of its fit in ``_peer_fit.py``.
    distribution : str
        Name for pip.
    requirements : tuple of str
        Packages that pip takes from its index.
    local : tuple of str
        Packages that pip takes from local folders only, see ``environment``.
    spent : callable
        Epsilon spent per epsilon claimed, as a function of the number of columns.
    """

    name: str
    key: str
    distribution: str
    requirements: tuple[str, ...]
    local: tuple[str, ...] = ()
    spent: Callable[[int], float] = _as_claimed

    def python(self) -> Path:
        """Return the Python that has the library; raise ``NotInstalledError`` if there is none."""
        return environment(self.key, self.requirements, self.local)


PEERS = (
    Peer("diffprivlib KMeans", "diffprivlib", "diffprivlib", tuple(DIFFPRIVLIB), spent=spent_by_diffprivlib),
    Peer(
        "Google LSH clustering",
        "google",
        "dp-learning",  # the name in its set-up file; found at no index
        ("dp-accounting>=0.6", "scikit-learn>=1.6", "absl-py"),
        local=("dp-learning",),
    ),
)
UNPACKAGED: Mapping[str, str] = MappingProxyType(
    {
        "DPM (dp-mondrian-clustering)": "research code, no package",
        "FastLloyd": "research code, no package",
        "DP-GRAMS": "research code, no package",
        "PrivKmeans (EUGkM)": "research code for Python 2, no package",
        "Balcan et al. 2017 (dp-clustering-icml17)": "research code for MATLAB",
        "DP-EM (dpem_code)": "research code for MATLAB",
        "FedDP-KMeans": "research code for a federated simulation, no package",
        "DP-GMM": "research code for one column, no package",
    }
)


def state(peer: Peer) -> dict[str, str | None]:
    """Return the version of a library, or why it does not take part, for the results file."""
    try:
        found = printed_by(peer.python(), "-c", _VERSION, peer.distribution)
    except NotInstalledError as reason:
        return {"name": peer.name, "version": None, "state": f"not installed: {reason}"}
    return {"name": peer.name, "version": found["version"], "state": "installed"}


def states() -> list[dict[str, str | None]]:
    """Return the state of every library that is known."""
    without = [
        {"name": name, "version": None, "state": f"not installed: {reason}"}
        for name, reason in UNPACKAGED.items()
    ]
    return [*map(state, PEERS), *without]


def fit_peer(
    peer: Peer, X: FloatArray, n_clusters: int, epsilon: float, seed: int
) -> tuple[FloatArray, float]:
    """Return the centres that a library releases for records in the box [-1, 1], and the seconds it took."""
    asked = {"n_clusters": n_clusters, "epsilon": epsilon, "delta": DELTA, "seed": seed}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "records.npy", X)
        (folder / "settings.json").write_text(json.dumps(asked), encoding="utf-8")
        found = printed_by(peer.python(), *alone(_FIT), peer.key, name)
        return np.load(folder / "centres.npy"), float(found["seconds"])
