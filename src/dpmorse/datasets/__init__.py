"""Labelled data to try clustering on: synthetic families and public datasets.

Nothing here is private and nothing here touches a budget: no other part of the library imports it.
"""

from dpmorse.datasets.curves import make_manifold as make_manifold
from dpmorse.datasets.curves import make_moons as make_moons
from dpmorse.datasets.curves import make_rings as make_rings
from dpmorse.datasets.curves import make_spirals as make_spirals
from dpmorse.datasets.curves import make_worms as make_worms
from dpmorse.datasets.fetch import fetch_emg as fetch_emg
from dpmorse.datasets.fetch import fetch_magic as fetch_magic
from dpmorse.datasets.fetch import fetch_pulsar as fetch_pulsar
from dpmorse.datasets.fetch import fetch_shuttle as fetch_shuttle
from dpmorse.datasets.fetch import fetch_sloan as fetch_sloan
from dpmorse.datasets.fetch import fetch_usps as fetch_usps
from dpmorse.datasets.labelled import LabelledData as LabelledData
from dpmorse.datasets.mixtures import make_background as make_background
from dpmorse.datasets.mixtures import make_blobs as make_blobs
from dpmorse.datasets.mixtures import make_concentric as make_concentric
from dpmorse.datasets.mixtures import make_dominant as make_dominant
from dpmorse.datasets.mixtures import make_elongated as make_elongated
from dpmorse.datasets.mixtures import make_multiscale as make_multiscale
from dpmorse.datasets.mixtures import make_unbalanced as make_unbalanced
from dpmorse.datasets.patients import make_patients as make_patients
from dpmorse.datasets.synthetic import FAMILIES as FAMILIES
from dpmorse.datasets.synthetic import make_family as make_family
from dpmorse.datasets.tables import make_boxes as make_boxes
from dpmorse.datasets.tables import make_discrete as make_discrete
from dpmorse.datasets.tables import make_skewed as make_skewed
from dpmorse.datasets.tables import make_slab as make_slab
from dpmorse.datasets.tables import make_subclasses as make_subclasses
from dpmorse.datasets.tables import make_trajectory as make_trajectory
