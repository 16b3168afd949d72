"""Attacks on what the library claims: certified lower bounds on the privacy that is really spent.

``audit_mechanism`` tells releases of two neighbouring datasets apart as well as can be; ``audit_releases``
does so for everything a fit releases; ``audit_estimator`` guesses from the released model alone. A bound
above the claim refutes it. A bound below it proves nothing but that this attack fails.

The other names are the parts that attacks are made of: watched fits, invented records, scores and pairs.
"""

from dpmorse.audit.attacks import Scores as Scores
from dpmorse.audit.estimators import audit_estimator as audit_estimator
from dpmorse.audit.invented import far_records as far_records
from dpmorse.audit.invented import invented_records as invented_records
from dpmorse.audit.likelihoods import Pair as Pair
from dpmorse.audit.mechanisms import audit_mechanism as audit_mechanism
from dpmorse.audit.recording import Asked as Asked
from dpmorse.audit.recording import Transcript as Transcript
from dpmorse.audit.recording import same_question as same_question
from dpmorse.audit.recording import watched_fit as watched_fit
from dpmorse.audit.releases import audit_releases as audit_releases
from dpmorse.audit.results import AuditResult as AuditResult
from dpmorse.audit.results import Claim as Claim
from dpmorse.audit.results import Unit as Unit
