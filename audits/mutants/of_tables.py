"""Mistakes in what is paid for tables: categories, holes, and the numbers beside them."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import MOVED, TABLE_NEIGHBOURS, TABLE_SUMS

_CHECK = "tables"

OF_TABLES = (
    Mutant(
        "levels and holes with half their sensitivity",
        (Change(f"{TABLE_SUMS}._largest_change", "return self.n_ones *", "return self.n_ones / 4 *"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels under replace-one paid for once",
        (Change(f"{TABLE_SUMS}._largest_change", "else 2", "else 1"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "holes are free",
        (Change(f"{TABLE_SUMS}.n_ones", " + self.layout.n_holes", ""),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "only one column of categories is paid for",
        (Change(f"{TABLE_SUMS}.n_ones", "self.layout.n_categories", "min(self.layout.n_categories, 1)"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "numbers of a table with half their sensitivity",
        (
            Change(f"{TABLE_SUMS}.calibrate", "(1 - for_levels) * cost", "4 * (1 - for_levels) * cost"),
            Change(
                f"{TABLE_SUMS}.cost",
                "self.numbers.cost(scales.numbers, neighboring, noise)",
                "self.numbers.cost(scales.numbers, neighboring, noise) / 4",
            ),
        ),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "the cost of levels is left out",
        (Change(f"{TABLE_SUMS}._cost_of_levels", "return noise.cost(", "return 0 * noise.cost("),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels are counted twice",
        (Change(f"{TABLE_SUMS}.to_units", "shift(counted, spare)", "shift(counted, spare + 1)"),),
        (TABLE_NEIGHBOURS, MOVED),
        _CHECK,
    ),
    Mutant(
        "levels need not be one",
        (Change(f"{TABLE_SUMS}.__post_init__", "np.any(boxes[:, ones] != [[-1.0], [1.0]])", "False"),),
        ("tests/contracts/test_table_engines.py",),
    ),
)
