"""All mutants."""

from audits.known_mutants import KNOWN
from audits.own_mutants import OWN
from audits.person_mutants import OF_PERSONS

__all__ = ["KNOWN", "MUTANTS", "OF_PERSONS", "OWN"]

MUTANTS = KNOWN + OWN + OF_PERSONS
