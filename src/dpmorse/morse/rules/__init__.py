"""Merge rules, one file each; ``RULES`` lists all of them.

The choices of the parameter, the hints of error messages and the labels of heights in plots and reports are
read from ``RULES``. A new rule needs a file with a subclass of ``MergeRule``, and a line here.
"""

from dpmorse.morse.rules.base import NO_GROUPS as NO_GROUPS
from dpmorse.morse.rules.base import Decision as Decision
from dpmorse.morse.rules.base import Leaves as Leaves
from dpmorse.morse.rules.base import MergeInput as MergeInput
from dpmorse.morse.rules.base import MergeRule as MergeRule
from dpmorse.morse.rules.base import Merges as Merges
from dpmorse.morse.rules.base import Suggestion as Suggestion
from dpmorse.morse.rules.base import Suggests as Suggests
from dpmorse.morse.rules.groups import attach_bare_modes as attach_bare_modes
from dpmorse.morse.rules.likelihood import Likelihood
from dpmorse.morse.rules.overlap import Overlap
from dpmorse.morse.rules.persistence import Persistence
from dpmorse.morse.rules.selection import Auto
from dpmorse.morse.rules.single import Single
from dpmorse.morse.rules.sizes import Sizes as Sizes
from dpmorse.morse.rules.variance import Variance

_SINGLE, _PERSISTENCE, _OVERLAP = Single(), Persistence(), Overlap()
_LIKELIHOOD, _VARIANCE = Likelihood(), Variance()

# "auto" chooses among the rules that are named here. "variance" looks at weights and means only, which
# smoothing does not move, and is asked once.
_AUTO = Auto(at_every_scale=(_OVERLAP, _SINGLE, _PERSISTENCE, _LIKELIHOOD), unsmoothed=(_VARIANCE,))

RULES: dict[str, MergeRule] = {
    rule.name: rule for rule in (_SINGLE, _PERSISTENCE, _OVERLAP, _LIKELIHOOD, _VARIANCE, _AUTO)
}
