"""Quality of private clusterings of other libraries beside ours: same records, bounds and budget.

``python -m benchmarks.peers --data DIR --out FILE`` runs the bases of dpmorse, its default estimator and
every other library that can be installed, on the six public datasets and on generated blobs. ``DIR`` holds
``shuttle.parquet`` and so on; a file that is missing is downloaded and kept there. Prints tables and writes
JSON. Results are kept in ``FILE.partial`` as they come: an interrupted command, given again, does what is
missing.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dpmorse
from benchmarks import _paper
from benchmarks._clusterings import DELTA
from benchmarks._experiments import Task
from benchmarks._fingerprint import fingerprints, meaning
from benchmarks._measure import machine
from benchmarks._peer_libraries import states
from benchmarks._peer_runs import BLOBS, REFERENCE, own_methods, records, run
from benchmarks._peers_page import page, tables
from benchmarks._runner import Store, run_missing, write_whole
from benchmarks._scores import Results
from benchmarks.utility import _budget, _list_of, _one_of, _positive, keep_in_folder

_HERE = Path(__file__).parent
_CODE = ("_peer_fit.py", "_peer_libraries.py", "_peer_runs.py")
State = dict[str, str | None]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sets = (*_paper.DATASETS, BLOBS)
    parser.add_argument("--data", type=Path, required=True, help="folder of, or for, the six datasets")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--seeds", type=_positive, default=10, help="runs of every setting (default: 10)")
    parser.add_argument("--epsilon", type=_budget, default=1.0, help="what all claim (default: 1)")
    parser.add_argument("--datasets", type=_list_of(_one_of(sets)), default=sets, help=", ".join(sets))
    parser.add_argument("--results", type=Path, help="page to write, as docs/peers.md")
    return parser


def versions(peers: Sequence[State]) -> dict[str, str]:
    """Return the libraries that are installed."""
    return {str(peer["name"]): str(peer["version"]) for peer in peers if peer["version"] is not None}


def methods(peers: Sequence[State]) -> tuple[str, ...]:
    """Return the methods: ours, those of installed libraries, and k-means without privacy."""
    return (*own_methods(), *versions(peers), REFERENCE)


def configs(folder: Path, datasets: Sequence[str]) -> dict[str, str]:
    """Return fingerprints of the records of each dataset and of the code; "" has that of the code alone."""
    found = fingerprints(folder, [name for name in datasets if name != BLOBS])
    sources = [meaning((_HERE / name).read_text(encoding="utf-8")) for name in _CODE]
    compared = hashlib.sha256("\n".join(sources).encode()).hexdigest()[:8]
    return {name: f"{found.get(name, found[''])}-{compared}" for name in (*datasets, "")}


def tasks(options: argparse.Namespace, peers: Sequence[State]) -> list[Task]:
    """Return every run, seed by seed, so that all settings have results of a few seeds early."""
    config, version = configs(options.data, options.datasets), versions(peers)

    def task(method: str, dataset: str, seed: int) -> Task:
        epsilon = None if method == REFERENCE else options.epsilon
        made_with = " ".join([config[dataset], version.get(method, "")])
        return Task(method, dataset, None, epsilon, seed, 1.0, made_with.strip())

    return [
        task(method, dataset, seed)
        for seed in range(options.seeds)
        for dataset in options.datasets
        for method in methods(peers)
    ]


def settings(options: argparse.Namespace, peers: Sequence[State]) -> dict[str, Any]:
    """Return the settings and the methods, for the results file."""
    columns = {name: records(name, 0, options.data).n_features for name in options.datasets}
    return {
        "version": dpmorse.__version__,
        "code": configs(options.data, ())[""],
        "delta": DELTA,
        "neighboring": "add-remove",
        "methods": methods(peers),
        "peers": peers,
        "datasets": options.datasets,
        "n_features": columns,
        "epsilons": [options.epsilon],
        "n_seeds": options.seeds,
    }


def command(options: argparse.Namespace) -> str:
    """Return the command that gives these results, without the paths of this machine."""
    words = ["python -m benchmarks.peers --data DIR --out FILE", f"--seeds {options.seeds}"]
    words += [f"--epsilon {options.epsilon:g}", "--datasets " + ",".join(options.datasets)]
    return " \\\n  ".join(words)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    keep_in_folder(options.data, [name for name in options.datasets if name != BLOBS])
    peers = states()
    store = Store(options.out.with_name(f"{options.out.name}.partial"))
    rows = run_missing(tasks(options, peers), store, partial(run, folder=options.data), processes=1)
    where = {name: value for name, value in machine().items() if name != "argv"}  # it holds paths
    asked = settings(options, peers)
    content = {"machine": where, "command": command(options), "settings": asked, "rows": rows}
    text = json.dumps(content, indent=1) + "\n"
    write_whole(options.out, text)
    results = Results(json.loads(text))
    for table in tables(results):
        print(f"\n{table.title}\n{table}")
    if options.results is not None:
        write_whole(options.results, page(results))


if __name__ == "__main__":
    main()
