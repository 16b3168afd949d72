"""Labelled synthetic data to try clustering on.

Nothing here is private and nothing here touches a budget: no other part of the library imports it, but for
the demonstration of the command line.
"""

from dpmorse.datasets.labelled import NOISE as NOISE
from dpmorse.datasets.labelled import LabelledData as LabelledData
from dpmorse.datasets.labelled import widened_bounds as widened_bounds
from dpmorse.datasets.patients import make_patient_table as make_patient_table
from dpmorse.datasets.patients import make_patients as make_patients
from dpmorse.datasets.shapes import make_blobs as make_blobs
from dpmorse.datasets.shapes import make_moons as make_moons
from dpmorse.datasets.shapes import make_rings as make_rings
