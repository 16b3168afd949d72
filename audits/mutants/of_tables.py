"""Mistakes in the costs of tables: categories, missing values, and the numbers beside them."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import CELLS, LEVELS, MOVED, TABLE_NEIGHBOURS

_CHECK = "tables"

OF_TABLES = (
    Mutant(
        "levels and missing values with half their sensitivity",
        (Change(f"{LEVELS}.squared_sensitivity", "return self.n_ones *", "return self.n_ones / 4 *"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels under replace-one paid for once",
        (Change(f"{LEVELS}.squared_sensitivity", "else 2", "else 1"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "missing values are free",
        (Change(f"{LEVELS}.n_ones", " + self.layout.n_holes", ""),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "only one column of categories is paid for",
        (Change(f"{LEVELS}.n_ones", "self.layout.n_categories", "min(self.layout.n_categories, 1)"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "numbers of a table with half their sensitivity",
        (
            Change(f"{CELLS}.calibrate", "(1 - for_levels) * cost", "4 * (1 - for_levels) * cost"),
            Change(
                f"{CELLS}.cost",
                "of_moments = self._cost_of_moments(scales, neighboring, noise)",
                "of_moments = self._cost_of_moments(scales, neighboring, noise) / 4",
            ),
        ),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "the cost of levels is left out",
        (Change(f"{LEVELS}.cost", "return noise.cost(", "return 0 * noise.cost("),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels are counted twice",
        (
            Change(
                f"{CELLS}._vector_of", "spare - self.domain.grid_bits", "spare - self.domain.grid_bits + 1"
            ),
        ),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels need not be one",
        (Change(f"{LEVELS}.check", "np.any(boxes[:, self.places] != [[-1.0], [1.0]])", "False"),),
        ("tests/contracts/test_table_engines.py",),
    ),
)
