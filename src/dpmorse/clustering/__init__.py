"""Clusters of a released mixture: the default estimator, the Morse step on any base, and loading."""

from dpmorse.clustering.base import MorseEstimator as MorseEstimator
from dpmorse.clustering.dp_morse import DPMorse as DPMorse
from dpmorse.clustering.loading import load as load
from dpmorse.clustering.morse_clustering import MorseClustering as MorseClustering
