"""Modes and saddles of a density: how they are searched for and certified."""

from dpmorse.morse.critical.points import CriticalPoints as CriticalPoints
from dpmorse.morse.critical.points import find_critical_points as find_critical_points
