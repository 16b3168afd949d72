"""What the long audits share with those in tests/audit: cases, bases, tables, the printed algorithm."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "audit"))

import audited_bases
import person_tables
import precision_attack
import printed_algorithm
import sensitivity_search
import worst_pairs

__all__ = [
    "audited_bases",
    "person_tables",
    "precision_attack",
    "printed_algorithm",
    "sensitivity_search",
    "worst_pairs",
]
