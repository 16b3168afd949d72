"""Attacks on the claims of the library: certified lower bounds on the privacy that is really spent.

``audit_mechanism`` is the best attack that tells releases of two neighbouring datasets apart;
``audit_releases`` makes it on all releases of a fit; ``audit_estimator`` guesses from the released model
alone. A bound above the claim refutes it. A bound below it only says that this attack fails.

The other names are parts of attacks: watched fits, invented records, scores and pairs.
"""

from dpmorse.audit.bounds import Scores as Scores
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
