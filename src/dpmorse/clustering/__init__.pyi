from dpmorse.clustering.base import MorseEstimator as MorseEstimator
from dpmorse.clustering.dp_morse import DPMorse as DPMorse
from dpmorse.clustering.dp_morse import fitted_n_components as fitted_n_components
from dpmorse.clustering.loading import load as load
from dpmorse.clustering.morse_clustering import MorseClustering as MorseClustering
from dpmorse.clustering.rehearsal import MOST_REHEARSALS as MOST_REHEARSALS
from dpmorse.clustering.rehearsed import SuggestedNumber as SuggestedNumber
