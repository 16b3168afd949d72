"""Mistakes that the tests must notice: in the source of the library, one at a time."""

from audits.mutants.known import KNOWN as KNOWN
from audits.mutants.mutation import Change as Change
from audits.mutants.mutation import Mutant as Mutant
from audits.mutants.of_kernels import OF_KERNELS
from audits.mutants.of_persons import OF_PERSONS
from audits.mutants.of_profiles import OF_PROFILES
from audits.mutants.of_readers import OF_READERS
from audits.mutants.of_tables import OF_TABLES
from audits.mutants.own import OWN

MUTANTS = KNOWN + OWN + OF_PERSONS + OF_TABLES + OF_READERS + OF_KERNELS + OF_PROFILES
"""All mutants, in the order of the page."""
