"""The experiments of the paper: sets, components, budgets, and scores printed as numbers.

Byun, Choi and Lee, *Improving the utility of differentially private clustering through dynamical processing*.
Its other scores are curves in figures. It states no delta.
"""

from collections.abc import Mapping
from types import MappingProxyType

CLUSTERS: Mapping[str, int] = MappingProxyType(
    {"shuttle": 7, "emg": 6, "magic": 2, "sloan": 3, "pulsar": 2, "usps": 10}
)
COMPONENTS: Mapping[str, int] = MappingProxyType(
    {"shuttle": 12, "emg": 10, "magic": 6, "sloan": 6, "pulsar": 6, "usps": 13}
)
DATASETS = tuple(COMPONENTS)
EPSILONS = (10.0, 5.0, 2.0, 1.0, 0.5)
RUNS = 5

PRINTED_METHOD = "DPMoGHard-Morse"
PRINTED_COMPONENTS = (6, 10, 15, 20)
PRINTED: Mapping[str, Mapping[float, tuple[float, ...]]] = MappingProxyType(
    {
        "pulsar": {
            10.0: (0.754277, 0.754838, 0.766507, 0.728404),
            5.0: (0.694178, 0.673453, 0.659280, 0.664384),
            2.0: (0.688862, 0.610148, 0.596477, 0.576486),
            1.0: (0.561494, 0.584608, 0.577082, 0.542264),
        },
        "magic": {
            10.0: (0.259386, 0.250220, 0.248503, 0.251199),
            5.0: (0.217444, 0.215024, 0.209862, 0.216947),
            2.0: (0.083149, 0.092159, 0.087595, 0.096408),
            1.0: (0.040309, 0.047554, 0.040972, 0.038205),
        },
    }
)
