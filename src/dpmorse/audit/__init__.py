"""Attacks on what the library claims: certified lower bounds on the privacy that is really spent."""

from dpmorse.audit.mechanisms import audit_mechanism as audit_mechanism
from dpmorse.audit.releases import audit_releases as audit_releases
from dpmorse.audit.results import AuditResult as AuditResult
from dpmorse.audit.results import Claim as Claim
