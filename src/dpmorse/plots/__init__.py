"""Pictures of released densities and their trees.

scikit-learn's display convention: ``from_tree`` or ``from_estimator`` computes what is to be drawn and
keeps it as plain arrays; ``plot`` draws it with matplotlib, loaded only then. Everything shown is released.
"""

from dpmorse.plots._drawing import COLOURS as COLOURS
from dpmorse.plots.dendrogram import DendrogramDisplay as DendrogramDisplay
from dpmorse.plots.errors import AuditDisplay as AuditDisplay
from dpmorse.plots.graph import GraphDisplay as GraphDisplay
from dpmorse.plots.landscape import LandscapeDisplay as LandscapeDisplay
from dpmorse.plots.pairs import PairsDisplay as PairsDisplay
from dpmorse.plots.profiles import ProfileDisplay as ProfileDisplay
