"""A promise to persons: seconds of a fit beside one without, in memory and from Parquet, and its memory.

    python -m benchmarks._scale_persons ESTIMATOR FILE UNIT

fits a file in a process of its own, with the unit or, for "-", without, and prints seconds and peak memory.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import dpmorse
from benchmarks._measure import ROOT, printed_by, seconds
from benchmarks.speed import N_COMPONENTS, N_FEATURES, overlapping_groups
from dpmorse import DataFiles

N_ROWS, N_PERSONS, MOST = 1_000_000, 100_000, 5
_NAMES = [f"x{j}" for j in range(N_FEATURES)]
_UNITS = ("number", "name")


def with_persons(n_rows: int = N_ROWS) -> dict[str, Any]:
    """Return seconds with persons and without, their ratios, and peak memory of fits from Parquet."""
    X, persons = overlapping_groups(n_rows, N_COMPONENTS, 0.3), _persons(n_rows)
    path = ROOT / ".bench" / "records" / f"persons-{n_rows}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(path, n_rows)
    found: dict[str, Any] = {"rows": n_rows, "persons": N_PERSONS, "rows used of each": MOST}
    for estimator in ("DPMorse", "DPMoGHard"):
        found[estimator] = {**_in_memory(estimator, X, persons), **_from_parquet(estimator, path)}
    return found


def write_parquet(path: Path, n_rows: int) -> None:
    """Write records with the numbers and names of persons."""
    X, persons = overlapping_groups(n_rows, N_COMPONENTS, 0.3), _persons(n_rows)
    columns = dict(zip(_NAMES, X.T, strict=True))
    names = np.char.add("patient-", persons.astype(str))
    pa.parquet.write_table(pa.table({**columns, "number": persons, "name": names}), path)


def _persons(n_rows: int) -> Any:
    return np.random.default_rng(1).integers(0, N_PERSONS, size=n_rows)


def _model(estimator: str, *, owned: bool) -> Any:
    limit = {"max_rows_per_group": MOST} if owned else {}
    return getattr(dpmorse, estimator)(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), **limit)


def _in_memory(estimator: str, X: Any, persons: Any) -> dict[str, float]:
    for few in (X[:20_000], X):  # load and compile, then warm memory
        _model(estimator, owned=True).fit(few, groups=persons[: len(few)])
    alone = seconds(lambda: _model(estimator, owned=False).fit(X), 5)
    owned = seconds(lambda: _model(estimator, owned=True).fit(X, groups=persons), 5)
    return {"memory, s": alone, "memory, with persons, s": owned, "memory, ratio": owned / alone}


def _from_parquet(estimator: str, path: Path) -> dict[str, float]:
    command = ("-m", "benchmarks._scale_persons", estimator, str(path))
    alone = printed_by(Path(sys.executable), *command, "-")
    found = {"Parquet, s": alone["seconds"], "Parquet, peak MB": alone["peak MB"]}
    for unit in _UNITS:
        owned = printed_by(Path(sys.executable), *command, unit)
        found |= {
            f"Parquet, by {unit}, s": owned["seconds"],
            f"Parquet, by {unit}, ratio": owned["seconds"] / alone["seconds"],
            f"Parquet, by {unit}, peak MB": owned["peak MB"],
        }
    return found


def main() -> None:
    estimator, path, unit = sys.argv[1:]
    unit_of_rows = None if unit == "-" else unit

    def fit(file: Path) -> Any:
        records = DataFiles(file, columns=_NAMES, unit=unit_of_rows)
        return _model(estimator, owned=unit_of_rows is not None).fit(records)

    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder) / "small.parquet", 20_000)
        fit(Path(folder) / "small.parquet")  # load and compile
    taken = seconds(lambda: fit(Path(path)), 4)
    print(json.dumps({"seconds": taken, "peak MB": _peak_of_this_process()}))


def _peak_of_this_process() -> float:
    """Return the peak of resident memory, in MB; getrusage would include that of the parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
