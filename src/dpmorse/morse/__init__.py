"""Public tower, part 2: modes, saddles and merge trees of released densities. Never sees data.

Other packages import from here; ``morse.critical`` offers the parts of the search, ``morse.rules`` what it
takes to write a merge rule.
"""

from dpmorse.morse.critical.points import CriticalPoints as CriticalPoints
from dpmorse.morse.critical.search import SEARCHES as SEARCHES
from dpmorse.morse.critical.search import find_critical_points as find_critical_points
from dpmorse.morse.graph import MorseGraph as MorseGraph
from dpmorse.morse.labelling import label_by_basin as label_by_basin
from dpmorse.morse.rules import RULES as RULES
from dpmorse.morse.tree import MergeTree as MergeTree
from dpmorse.morse.tree import merge_tree as merge_tree
