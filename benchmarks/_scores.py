"""Results of many runs: mean, spread and worst case over seeds, by setting."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._clusterings import DEFAULT, REFERENCES, merges
from benchmarks._experiments import Row, main_components
from dpmorse.typing import FloatArray

Key = tuple[str, str, int | None, float | None, float]


@dataclass(frozen=True)
class Score:
    """Adjusted Rand index over the seeds of one setting; failed runs count as 0."""

    mean: float
    std: float
    smallest: float

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Score":
        """Summarise the runs of one setting."""
        values = np.array([row["ari"] for row in rows])
        return cls(float(values.mean()), float(values.std()), float(values.min()))

    def __str__(self) -> str:
        return f"{short(self.mean)} ± {short(self.std)} ({short(self.smallest)})"


def short(value: float) -> str:
    """Return three digits after the point and no 0 before it."""
    text = f"{round(value, 3) + 0.0:.3f}"  # adding 0.0 turns -0.0 into 0.0
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


class Results:
    """The content of a results file, with scores by setting.

    Parameters
    ----------
    content : mapping
        The JSON object: ``rows``, ``settings``, ``machine``, ``command``.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.rows: list[Row] = content["rows"]
        self.settings: Mapping[str, Any] = content["settings"]
        self.machine: Mapping[str, Any] = content["machine"]
        self.command: str = content["command"]
        groups: dict[Key, list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[_key(row)].append(row)
        self._scores = {key: Score.of(rows) for key, rows in groups.items()}

    @property
    def datasets(self) -> list[str]:
        """Those of the six that were run."""
        return list(self.settings["datasets"])

    @property
    def epsilons(self) -> list[float]:
        """Budgets of the six, as asked for."""
        return list(self.settings["epsilons"])

    @property
    def private_methods(self) -> list[str]:
        """Methods with a budget, in their order."""
        return [method for method in self.settings["methods"] if method not in REFERENCES]

    @property
    def references(self) -> list[str]:
        """Methods that see the records."""
        return [method for method in self.settings["methods"] if method in REFERENCES]

    @property
    def merging(self) -> list[str]:
        """Methods with a budget that merge more components than there are clusters."""
        return [method for method in self.private_methods if merges(method)]

    @property
    def has_default(self) -> bool:
        """Whether the default estimator took part."""
        return DEFAULT in self.settings["methods"]

    def score(
        self,
        method: str,
        dataset: str,
        epsilon: float | None = None,
        n_components: int | None = None,
        bounds_factor: float = 1.0,
    ) -> Score | None:
        """Return the score of a setting, None if it was not run."""
        return self._scores.get((method, dataset, n_components, epsilon, bounds_factor))

    def by_seed(self, method: str, dataset: str, epsilon: float, bounds_factor: float) -> FloatArray:
        """Return the adjusted Rand indices of a setting in the order of their seeds."""
        key = (method, dataset, None, epsilon, bounds_factor)
        rows = sorted((row for row in self.rows if _key(row) == key), key=lambda row: row["seed"])
        return np.array([row["ari"] for row in rows])

    def main(self, method: str, dataset: str, epsilon: float | None = None) -> Score | None:
        """Return the score in the main setting: the paper's K0 for bases with the Morse step."""
        return self.score(method, dataset, epsilon, main_components(method, dataset))

    def of_method(self, method: str) -> list[Row]:
        """Return every run of a method."""
        return [row for row in self.rows if row["method"] == method]


def _key(row: Row) -> Key:
    return row["method"], row["dataset"], row["n_components"], row["epsilon"], row["bounds_factor"]
