"""Attacks on what the library claims: certified lower bounds on the privacy that is really spent.

``audit_mechanism`` tells releases of two neighbouring datasets apart as well as can be; ``audit_releases``
does so for everything a fit releases; ``audit_estimator`` guesses from the released model alone. A bound
above the claim refutes it. A bound below it proves nothing but that this attack fails.
"""

from dpmorse.audit.estimators import audit_estimator as audit_estimator
from dpmorse.audit.mechanisms import audit_mechanism as audit_mechanism
from dpmorse.audit.releases import audit_releases as audit_releases
from dpmorse.audit.results import AuditResult as AuditResult
from dpmorse.audit.results import Claim as Claim
from dpmorse.audit.results import Unit as Unit
