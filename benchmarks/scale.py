"""Scale: one model from every container, files larger than memory, dying workers, Spark, speed, a GPU.

    python -m benchmarks.scale [--only PART ...] [--out FILE] [--gpu FILE] [--results docs/results.md]

Parts: models, files, persons, dask, spark, speed, peers, start, trees. Each is added to the results file as
soon as it is done, so that an interrupted run goes on with --only. ``--gpu`` takes the figures that ``python
-m benchmarks._scale_gpu`` wrote on a machine that has one. Spark runs where it is installed, in
.venv-engines, with --only spark. Files of records are kept in .bench/records (2.6 GB).
"""

import argparse
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks._measure import machine
from benchmarks._scale_dask import killed_fits
from benchmarks._scale_files import by_rows
from benchmarks._scale_models import identical_models
from benchmarks._scale_page import replace_section, section
from benchmarks._scale_persons import with_persons
from benchmarks._scale_spark import on_spark
from benchmarks._scale_speed import against_peers, against_scikit_learn
from benchmarks._scale_stages import start_up, trees

PARTS: dict[str, Callable[[], Any]] = {
    "models": identical_models,
    "files": lambda: {name: by_rows(name) for name in ("DPMoGHard", "DPMorse")},
    "persons": with_persons,
    "dask": killed_fits,
    "spark": on_spark,
    "speed": against_scikit_learn,
    "peers": against_peers,
    "start": start_up,
    "trees": trees,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    installed = [part for part in PARTS if part != "spark" or find_spec("pyspark") is not None]
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=installed, help="parts to run")
    parser.add_argument("--none", action="store_true", help="run nothing: only write the page again")
    parser.add_argument("--out", type=Path, default=Path(".bench/scale.json"), help="JSON file of results")
    parser.add_argument("--gpu", type=Path, help="results of benchmarks._scale_gpu")
    parser.add_argument("--results", type=Path, help="page whose section is replaced, as docs/results.md")
    options = parser.parse_args()
    results = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    results["machine"] = machine()
    if options.gpu is not None:
        results["gpu"] = json.loads(options.gpu.read_text(encoding="utf-8"))
    for part in [] if options.none else options.only:
        results[part] = json.loads(json.dumps(PARTS[part]()))  # as it is read back
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({part: results[part]}, indent=1), flush=True)
    if options.results is not None:
        replace_section(options.results, section(results))


if __name__ == "__main__":
    main()
