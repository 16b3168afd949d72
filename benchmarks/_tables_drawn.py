"""Tables as people have them, drawn at random: overlap, missing values, categories, persons."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from benchmarks._drawn import SHAPES, noise
from dpmorse import Nominal, Numeric
from dpmorse.typing import FloatArray, IntArray

GAPS = ("complete", "at random", "by group")
"""Where values are missing: nowhere, anywhere, or in some groups more often than in others."""

MOST_ROWS = 6
"""Most rows of a person."""


@dataclass(frozen=True)
class Setting:
    """A random setting; the estimator is told the columns, the budget and the number of groups.

    Attributes
    ----------
    number : int
        Its number, which is its seed.
    shape : str
        Distribution of the numbers inside a group.
    n_columns, n_categories : int
        Columns that are numbers, and that are categories.
    n_records, epsilon : int, float
        Size of the table, and budget.
    distance : float
        Of the two nearest groups, in their own standard deviations.
    gaps, missing : str, float
        Where values are missing, and how many.
    persons : bool
        Whether a person has up to six rows, and the promise is made to persons.
    correlation : float
        Between columns inside a group.
    """

    number: int
    shape: str
    n_columns: int
    n_categories: int
    n_records: int
    epsilon: float
    distance: float
    gaps: str
    missing: float
    persons: bool
    correlation: float

    @classmethod
    def draw(cls, number: int) -> "Setting":
        """Draw a setting."""
        rng = np.random.default_rng([number, 37])
        gaps = GAPS[rng.choice(3, p=[0.4, 0.3, 0.3])]
        return cls(
            number,
            str(rng.choice(SHAPES)),
            n_columns=int(rng.choice([1, 2, 4, 10, 20, 40])),
            n_categories=int(rng.choice([0, 1, 3, 8], p=[0.5, 0.2, 0.2, 0.1])),
            n_records=int(rng.choice([2_000, 5_000, 20_000, 200_000], p=[0.3, 0.3, 0.3, 0.1])),
            epsilon=float(rng.choice([0.5, 1.0, 10.0])),
            distance=float(rng.choice([2.0, 3.0, 6.0, 10.0])),
            gaps=gaps,
            missing=0.0 if gaps == "complete" else float(rng.choice([0.1, 0.3, 0.5])),
            persons=bool(rng.random() < 0.25),
            correlation=float(rng.choice([0.0, 0.6])),
        )

    def table(self, seed: int) -> "DrawnTable":
        """Draw a table."""
        rng = np.random.default_rng([self.number, 41, seed])
        groups = rng.choice(4, self.n_records, p=rng.dirichlet([4.0] * 4))
        centres = rng.standard_normal((4, self.n_columns))
        apart = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(4, 1)].min()
        centres *= self.distance / max(apart, 1e-9) if self.n_columns > 1 else 0.0
        if self.n_columns == 1:
            centres[:, 0] = self.distance * rng.permutation(4)
        own = noise(self.shape, (self.n_records, self.n_columns + 1), rng)
        common = np.sqrt(self.correlation) * own[:, -1:]
        numbers = centres[groups] + np.sqrt(1 - self.correlation) * own[:, :-1] + common
        levels = rng.integers(2, 31, size=self.n_categories)
        codes = np.zeros((self.n_records, self.n_categories), dtype=np.int64)
        for j, n in enumerate(levels):
            below = np.cumsum(rng.dirichlet(np.full(n, 0.5), size=4), axis=1)[:, :-1]
            codes[:, j] = (rng.random(self.n_records)[:, None] > below[groups]).sum(axis=1)
        return DrawnTable(self, numbers, codes, levels, self._holes(groups, rng), self._owners(rng))

    def _holes(self, groups: IntArray, rng: np.random.Generator) -> Any:
        """Return where values are missing: in half of the columns."""
        width = self.n_columns + self.n_categories
        part = np.full((4, width), self.missing)
        if self.gaps == "by group":
            part = np.minimum(2 * self.missing * rng.random((4, width)), 0.9)
        part[:, rng.permutation(width)[: width // 2]] = 0.0
        return rng.random((self.n_records, width)) < part[groups]

    def _owners(self, rng: np.random.Generator) -> IntArray | None:
        if not self.persons:
            return None
        rows = rng.integers(1, MOST_ROWS + 1, size=self.n_records)
        return np.asarray(rng.permutation(np.repeat(np.arange(self.n_records), rows)[: self.n_records]))


@dataclass(frozen=True)
class DrawnTable:
    """A table that was drawn: numbers, codes of categories, what is missing, and whose rows they are."""

    setting: Setting
    numbers: FloatArray
    codes: IntArray
    n_levels: IntArray
    holes: Any
    owners: IntArray | None

    @property
    def bounds(self) -> tuple[float, float]:
        """Public bounds of all numbers: far wider than they are."""
        reach = 15.0 + 4 * self.setting.distance
        return -reach, reach

    @property
    def is_table(self) -> bool:
        """Whether columns have to be described."""
        return bool(self.setting.n_categories or self.setting.missing)

    def frame(self) -> Any:
        """Return the records: an array of numbers, or a data frame."""
        if not self.is_table:
            return self.numbers
        d = self.setting.n_columns
        numbers = np.where(self.holes[:, :d], np.nan, self.numbers)
        columns: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(d)}
        for j in range(self.setting.n_categories):
            codes = self.codes[:, j].astype(object)
            codes[self.holes[:, d + j]] = None
            columns[f"c{j}"] = codes
        return pd.DataFrame(columns)

    def parameters(self) -> dict[str, Any]:
        """Return what the estimator is told of the columns."""
        if not self.is_table:
            return {"bounds": self.bounds}
        numbers = {f"x{j}": Numeric(*self.bounds, missing="ignore") for j in range(self.setting.n_columns)}
        categories = {
            f"c{j}": Nominal(list(range(n)), missing="ignore") for j, n in enumerate(self.n_levels.tolist())
        }
        return {"columns": {**numbers, **categories}}
