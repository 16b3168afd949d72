"""All mutants."""

from audits.known_mutants import KNOWN
from audits.own_mutants import OWN

__all__ = ["KNOWN", "MUTANTS", "OWN"]

MUTANTS = KNOWN + OWN
