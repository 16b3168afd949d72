"""Generated datasets of the benchmarks: a family and a seed stand for records, classes and bounds."""

from benchmarks.generated.families import FAMILIES as FAMILIES
from benchmarks.generated.families import make_family as make_family
