"""Modes and saddles of a density: how they are searched for and certified."""

from dpmorse.morse.critical.landscape import Landscape as Landscape
from dpmorse.morse.critical.modes import ModeSet as ModeSet
from dpmorse.morse.critical.points import CriticalPoints as CriticalPoints
from dpmorse.morse.critical.points import spanning_edges as spanning_edges
from dpmorse.morse.critical.search import SEARCHES as SEARCHES
from dpmorse.morse.critical.search import RidgelineSearch as RidgelineSearch
from dpmorse.morse.critical.search import find_critical_points as find_critical_points
