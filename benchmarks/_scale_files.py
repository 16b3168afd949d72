"""Files larger than memory: seconds and peak memory of whole fits, by the number of rows.

    python -m benchmarks._scale_files ESTIMATOR FILE

fits in a process of its own and prints seconds (the least of five fits, if they are short) and the peak of
its resident memory.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import dpmorse
from benchmarks._measure import ROOT, peak_megabytes, printed_by, seconds
from benchmarks.speed import N_COMPONENTS, N_FEATURES, overlapping_groups

ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000)
_GROUP_ROWS = 1_000_000
_ITERATIONS = 10
_SHORT = 4.0  # seconds; shorter fits are repeated


def write_parquet(path: Path, n_rows: int) -> None:
    """Write records a million at a time."""
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(N_FEATURES)])
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, _GROUP_ROWS):
            X = overlapping_groups(min(_GROUP_ROWS, n_rows - start), N_COMPONENTS, 0.3, part=start)
            writer.write_table(pa.table(list(X.T), schema=schema))


def by_rows(estimator: str, rows: Sequence[int] = ROWS) -> dict[str, Any]:
    """Return seconds and peak memory for each number of rows, and the exponent of the seconds."""
    folder = ROOT / ".bench" / "records"
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for n_rows in rows:
        path = folder / f"{n_rows}.parquet"
        if not path.exists():
            write_parquet(path, n_rows)
        command = ("-m", "benchmarks._scale_files", estimator, str(path))
        found[n_rows] = printed_by(Path(sys.executable), *command)
    exponent = np.polyfit(np.log(rows), np.log([found[n]["seconds"] for n in rows]), 1)[0]
    return {"fits": found, "exponent": float(exponent), "rows": list(rows)}


def _model(estimator: str) -> Any:
    options = {"n_iter": _ITERATIONS} if estimator == "DPMoGHard" else {}
    return getattr(dpmorse, estimator)(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), **options)


def main() -> None:
    estimator, path = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder) / "small.parquet", 20_000)
        _model(estimator).fit(Path(folder) / "small.parquet")  # load and compile
    first = seconds(lambda: _model(estimator).fit(path), 1)
    least = min(first, seconds(lambda: _model(estimator).fit(path), 4)) if first < _SHORT else first
    print(json.dumps({"seconds": least, "peak MB": peak_megabytes()}))


if __name__ == "__main__":
    main()
