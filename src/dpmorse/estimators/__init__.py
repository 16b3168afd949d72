"""Where the towers meet: estimators that spend a budget and release a mixture."""

from dpmorse.estimators._load import load as load
from dpmorse.estimators.dp_cube import DPCube as DPCube
from dpmorse.estimators.dp_lloyd import DPLloyd as DPLloyd
from dpmorse.estimators.dp_morse import DPMorse as DPMorse
from dpmorse.estimators.dp_tree import DPTree as DPTree
from dpmorse.estimators.dpmog import DPMoG as DPMoG
from dpmorse.estimators.dpmog_hard import DPMoGHard as DPMoGHard
from dpmorse.estimators.morse_clustering import MorseClustering as MorseClustering
from dpmorse.estimators.private_gaussian_mixture import PrivateGaussianMixture as PrivateGaussianMixture
