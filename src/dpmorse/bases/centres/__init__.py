"""The bases that find centres first and measure the records around them afterwards."""

from dpmorse.bases.centres.base import CentreBase as CentreBase
from dpmorse.bases.centres.dp_cube import DPCube as DPCube
from dpmorse.bases.centres.dp_lloyd import DPLloyd as DPLloyd
from dpmorse.bases.centres.dp_tree import DPTree as DPTree
