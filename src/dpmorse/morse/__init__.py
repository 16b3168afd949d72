"""Public tower, part 2: modes, saddles and merge trees of released densities. Never sees data."""

from dpmorse.morse.critical.points import CriticalPoints as CriticalPoints
from dpmorse.morse.critical.points import find_critical_points as find_critical_points
from dpmorse.morse.graph import MorseGraph as MorseGraph
from dpmorse.morse.tree import MergeTree as MergeTree
from dpmorse.morse.tree import merge_tree as merge_tree
