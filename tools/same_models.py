"""Whether two versions of the code release the same models: the files of seeded fits, byte for byte.

    python -m tools.same_models write FOLDER     fit every estimator in many ways, also on tables; of each the
                                                 model file, labels, synthetic records, and what people read
    python -m tools.same_models compare A B      list the files that differ
    python -m tools.same_models released A B     list the models of A that released something else than in B

``--only TEXT`` looks at the fits alone whose names contain this text, such as ``--only table``.

Run ``write`` at two commits (``PYTHONPATH=<checkout>/src``) and compare the folders. It says nothing about
whether the models are good: only that a change of the code has not changed what is released. ``released``
looks at mixture, domain and ledger only, whatever else files hold; fits that have a profile are written
without it, too, and these are compared with what code before the profile wrote.
"""

import argparse
import itertools
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    MomentShares,
    MorseClustering,
    PrivateGaussianMixture,
)
from dpmorse.bases import BASES
from tools.same_tables import TableFit, table_ways, write_what_people_get

WITHOUT = "-without-profile"
RULES = ("single", "persistence", "overlap", "likelihood", "variance", "auto")


def records(n_columns: int, n_rows: int = 3000) -> Any:
    """Return blobs in a box of half-width 1, and whose rows they are."""
    rng = np.random.default_rng(n_columns)
    centres = rng.uniform(-0.7, 0.7, size=(4, n_columns))
    X = centres[rng.integers(4, size=n_rows)] + 0.08 * rng.standard_normal((n_rows, n_columns))
    return X, rng.integers(n_rows // 3, size=n_rows)


def ways() -> Iterator[tuple[str, "Fit"]]:
    """Yield names and seeded fits; those of the default base twice."""
    for name, make in _ways():
        yield name, make
        if name.removeprefix("MorseClustering-").startswith((PrivateGaussianMixture.__name__, "DPMorse")):
            yield name + WITHOUT, without_profile(make)


def _ways() -> Iterator[tuple[str, "Fit"]]:
    for base, d in itertools.product(BASES.values(), (1, 2, 3, 8)):
        yield f"{base.__name__}-{d}", fit(base, d)
        yield f"{base.__name__}-{d}-replace", fit(base, d, neighboring="replace-one")
        yield f"{base.__name__}-{d}-zcdp", fit(base, d, calibration="zcdp")
        yield f"{base.__name__}-{d}-private-bounds", fit(base, d, bounds="private")
        yield f"{base.__name__}-{d}-persons", fit(base, d, max_rows_per_group=2)
        yield f"{base.__name__}-{d}-weak", fit(base, d, epsilon=0.02)
    for base, d in itertools.product((DPLloyd, DPCube, DPTree), (2, 8)):
        yield f"{base.__name__}-{d}-pure", fit(base, d, delta=0.0)
        yield f"{base.__name__}-{d}-pure-persons", fit(base, d, delta=0.0, max_rows_per_group=3)
        yield f"{base.__name__}-{d}-capped", fit(base, d, capped=True, radius=1.2, n_iter=3)
    for base, d in itertools.product((DPMoG, DPMoGHard), (2, 8)):
        yield f"{base.__name__}-{d}-paper", fit(base, d, calibration="paper")
        yield f"{base.__name__}-{d}-radius", fit(base, d, radius=1.1, n_iter=5, n_averaged=2, relocate=False)
        shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5)
        yield f"{base.__name__}-{d}-shares", fit(base, d, shares=shares)
    for rule, d in itertools.product(RULES, (2, 5)):
        yield f"DPMorse-{d}-by-{rule}", fit(DPMorse, d, n_clusters=3, n_components=None, merge=rule)
    for d in (1, 2, 4, 12):
        yield f"DPMorse-{d}-auto", fit(DPMorse, d, n_clusters="auto", n_components=None)
        yield f"DPMorse-{d}-persons", fit(DPMorse, d, n_clusters=4, n_components=None, max_rows_per_group=2)
    yield "DPMorse-string", fit(DPMorse, 2, n_clusters=3, n_components=None, search="quadratic-string")
    for base in BASES.values():
        yield f"MorseClustering-{base.__name__}", around(base)


@dataclass(frozen=True)
class Fit:
    """A seeded fit that is made when it is called."""

    estimator: Any
    n_columns: int
    owned: bool = False

    def __call__(self) -> Any:
        """Return the fitted estimator."""
        X, owners = records(self.n_columns)
        return self.estimator.fit(X, groups=owners if self.owned else None)

    @property
    def examples(self) -> Any:
        """Records to be labelled."""
        return records(self.n_columns)[0][:200]


def fit(kind: Any, n_columns: int, **parameters: Any) -> Fit:
    """Return a fit of an estimator."""
    default = {"n_components": 6, "epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 7}
    return Fit(kind(**{**default, **parameters}), n_columns, "max_rows_per_group" in parameters)


def around(base: Any) -> Fit:
    """Return a fit of the Morse step on a base."""
    unfitted = base(8, epsilon=1.0, bounds=(-1.0, 1.0), random_state=3)
    return Fit(MorseClustering(unfitted, n_clusters=3), 3)


def without_profile(way: Fit) -> Fit:
    """Return the same fit whose base releases no profile."""
    model = clone(way.estimator)
    name = "base__profile" if isinstance(model, MorseClustering) else "profile"
    return replace(way, estimator=model.set_params(**{name: False}))


def write(folder: Path, only: str = "") -> None:
    """Write the model files of fits with this text in their names, and how models label and sample."""
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    every: list[tuple[str, Fit | TableFit]] = [*ways(), *table_ways()]
    if len(dict(every)) < len(every):
        raise ValueError("every fit must have a name of its own: one would overwrite the files of another.")
    for name, make in every:
        if only.lower() not in name.lower():
            continue
        model = make()
        model.save(folder / f"{name}.json")
        points, _ = model.sample(20, random_state=0)
        said = [
            model.predict(make.examples),
            model.score_samples(make.examples),
            points,
            model.privacy_.table,
            model.privacy_.statement,
        ]
        (folder / f"{name}.txt").write_text("\n".join(_exactly(part) for part in said))
        write_what_people_get(model, folder / f"{name}.json")


def _exactly(part: Any) -> str:
    if hasattr(part, "to_csv") or hasattr(part, "rows"):
        return str(part.to_csv() if hasattr(part, "to_csv") else part.rows())
    return part if isinstance(part, str) else " ".join(map(repr, np.ravel(part).tolist()))


def compare(some: Path, others: Path, only: str = "") -> tuple[int, list[str]]:
    """Return how many files there are in the folders, and the names of those that differ."""
    names = sorted({path.name for folder in (some, others) for path in folder.iterdir()})
    names = [name for name in names if only.lower() in name.lower()]
    return len(names), [name for name in names if _content(some / name) != _content(others / name)]


def released(before: Path, after: Path, only: str = "") -> tuple[int, list[str]]:
    """Return how many models there were before, and the names of those that released something else."""
    paths = [path for path in sorted(before.glob("*.json")) if only.lower() in path.name.lower()]
    pairs = [(path, _successor(path, after)) for path in paths]
    return len(paths), [some.name for some, other in pairs if _released(some) != _released(other)]


def _successor(path: Path, folder: Path) -> Path:
    """Return the model of the same fit: without a profile where code before the profile has none."""
    without = folder / f"{path.stem}{WITHOUT}.json"
    return without if without.exists() and _base(path).get("profile") is None else folder / path.name


def _released(path: Path) -> Any:
    if not path.exists():
        return None
    return {name: _base(path).get(name) for name in ("mixture", "domain", "privacy")}  # tables have no domain


def _base(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    base: dict[str, Any] = document.get("base", document)
    return base


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["write", "compare", "released"])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    if arguments.command == "write":
        write(arguments.folders[0], arguments.only)
        return 0
    before, after = arguments.folders
    look = compare if arguments.command == "compare" else released
    n_files, different = look(before, after, arguments.only)
    print(f"{n_files - len(different)} of {n_files} files are the same.", *different, sep="\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
