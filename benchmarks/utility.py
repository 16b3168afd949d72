"""Quality of private clusterings: the paper's experiments, and more, by one command.

``python -m benchmarks.utility --data DIR --out FILE`` runs every method of dpmorse on the six public
datasets. ``DIR`` holds ``shuttle.parquet`` and so on; a file that is missing is downloaded and kept there.
Prints tables and writes JSON. Results are kept in ``FILE.partial`` as they come: an interrupted command,
given again, does what is missing.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import dpmorse
from benchmarks import _paper, public
from benchmarks._clusterings import DEFAULT, DELTA, REFERENCES, private_methods
from benchmarks._experiments import Plan, run
from benchmarks._fingerprint import fingerprints
from benchmarks._measure import machine
from benchmarks._results_page import page, tables
from benchmarks._runner import Store, run_missing, write_whole
from benchmarks._scores import Results
from dpmorse.datasets import LabelledData

Item = TypeVar("Item")


def _list_of(convert: Callable[[str], Item]) -> Callable[[str], tuple[Item, ...]]:
    def read(text: str) -> tuple[Item, ...]:
        return tuple(dict.fromkeys(convert(part) for part in text.split(",") if part))

    read.__name__ = "list"  # what argparse calls it where a part is no number
    return read


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def name(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(names)}")
        return text

    return name


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer >= 1")
    return int(text)


def _budget(text: str) -> float:
    if not 0 < float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return float(text)


def _factor(text: str) -> float:
    if not 1 <= float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number >= 1: bounds contain the records")
    return float(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    methods, none = (*private_methods(), *REFERENCES), (*_paper.DATASETS, "none")
    parser.add_argument("--data", type=Path, help="folder of the six datasets")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--seeds", type=_positive, default=10, help="runs of every setting (default: 10)")
    parser.add_argument("--epsilons", type=_list_of(_budget), default=_paper.EPSILONS)
    parser.add_argument(
        "--datasets", type=_list_of(_one_of(none)), default=_paper.DATASETS, help=", ".join(none)
    )
    parser.add_argument(
        "--methods", type=_list_of(_one_of(methods)), default=methods, help=", ".join(methods)
    )
    parser.add_argument("--processes", type=_positive, default=1)
    parser.add_argument("--generated", action="store_true", help=f"also generated sets, for {DEFAULT}")
    parser.add_argument("--instances", type=_list_of(int), default=(100, 101), help="of every family")
    parser.add_argument("--generated-seeds", type=_positive, default=3, help="runs on generated sets")
    parser.add_argument(
        "--bounds-factor", type=_list_of(_factor), default=(), help=f"also wider bounds, for {DEFAULT}"
    )
    parser.add_argument("--figures", type=Path, help="folder for figures (needs the extra plot)")
    parser.add_argument("--results", type=Path, help="page to write, as docs/results.md")
    return parser


def keep_in_folder(folder: Path, names: Sequence[str]) -> None:
    """Download those of the six that are not in the folder; the embedding of usps is then computed once."""
    for name in names:
        path = folder / f"{name}.parquet"
        if not path.is_file():
            print(f"{path.name} is not in the folder: downloading", file=sys.stderr)
            folder.mkdir(parents=True, exist_ok=True)
            _write_parquet(getattr(public, f"fetch_{name}")(), path)


def _write_parquet(data: LabelledData, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {f"f{i}": column for i, column in enumerate(data.X.T)}
    beside = path.with_suffix(".new")  # whole or not at all: a later run would take a part for the whole
    parquet.write_table(pa.table({**columns, "label": data.y}), beside, compression="zstd")
    os.replace(beside, path)


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the runs that the options ask for."""
    return Plan(
        methods=options.methods,
        datasets=options.datasets,
        epsilons=options.epsilons,
        n_seeds=options.seeds,
        bounds_factors=tuple(factor for factor in options.bounds_factor if factor != 1.0),
        instances=options.instances if options.generated else (),
        n_generated_seeds=options.generated_seeds,
        configs=fingerprints(options.data, options.datasets),
    )


def command(plan: Plan) -> str:
    """Return the command that gives these results, without the paths of this machine."""
    words = ["python -m benchmarks.utility --data DIR --out FILE", f"--seeds {plan.n_seeds}"]
    words.append("--epsilons " + ",".join(f"{epsilon:g}" for epsilon in plan.epsilons))
    words.append("--datasets " + (",".join(plan.datasets) or "none"))
    words.append("--methods " + ",".join(plan.methods))
    if plan.instances:
        words.append(f"--generated --instances {','.join(map(str, plan.instances))}")
        words.append(f"--generated-seeds {plan.n_generated_seeds}")
    if plan.bounds_factors:
        words.append("--bounds-factor " + ",".join(f"{factor:g}" for factor in plan.bounds_factors))
    return " \\\n  ".join(words)


def settings(plan: Plan) -> dict[str, Any]:
    """Return the settings, for the results file."""
    return {
        "version": dpmorse.__version__,
        "code": plan.configs[""],
        "delta": DELTA,
        "neighboring": "add-remove",
        "methods": plan.methods,
        "datasets": plan.datasets,
        "epsilons": plan.epsilons,
        "n_seeds": plan.n_seeds,
        "bounds_factors": plan.bounds_factors,
        "instances": plan.instances,
        "n_generated_seeds": plan.n_generated_seeds,
    }


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    options.datasets = tuple(name for name in options.datasets if name != "none")
    if options.datasets and options.data is None:
        parser.error("--data is missing: a folder with, or for, the datasets; or give --datasets none")
    if DEFAULT not in options.methods and (options.generated or options.bounds_factor):
        print(f"{DEFAULT} does not take part: wide bounds and generated sets are its own", file=sys.stderr)
    return options


def _report(results: Results, options: argparse.Namespace) -> None:
    for table in tables(results):
        print(f"\n{table.title}\n{table}")
    pictures: list[Path] = []
    if options.figures is not None:
        from benchmarks._figures import draw_all  # loads matplotlib, which is an extra

        pictures = draw_all(results, options.figures)
    if options.results is not None:
        write_whole(options.results, page(results, pictures, options.results))


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    keep_in_folder(options.data, options.datasets)
    plan = plan_of(options)
    store = Store(options.out.with_name(f"{options.out.name}.partial"))
    rows = run_missing(plan.tasks(), store, partial(run, folder=options.data), options.processes)
    where = {name: value for name, value in machine().items() if name != "argv"}  # it holds paths
    content = {"machine": where, "command": command(plan), "settings": settings(plan), "rows": rows}
    text = json.dumps(content, indent=1) + "\n"
    write_whole(options.out, text)
    _report(Results(json.loads(text)), options)


if __name__ == "__main__":
    main()
