"""Addresses and hashes of the files of public datasets, and the ranges of their columns.

The files are copies at commits, which never change. Ranges are minima and maxima of the published
records: they come from the data and are assumed public.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.public import raw_files
from dpmorse.typing import FloatArray, IntArray

_GITHUB = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class RawFile:
    """A file as published: its address and its SHA-256."""

    url: str
    sha256: str


@dataclass(frozen=True)
class Download:
    """A public dataset: its raw files, how they are read, and the range of every column.

    ``ranges`` is empty where the columns are computed, so that nobody published a range for them.
    """

    name: str
    n_features: int
    files: tuple[RawFile, ...]
    read: Callable[[Sequence[Path]], tuple[FloatArray, IntArray]]
    ranges: tuple[tuple[float, float], ...] = ()


def _emg_action(name: str, sha256: str) -> RawFile:
    repository = "VaibhavdLights/PhysicalActionClassification/aa20a20982cf439bc54d1b07e115ba56334d817a"
    folder = "EMGPhysicalActionDataSet/sub1/Normal/txt"
    return RawFile(f"{_GITHUB}/{repository}/{folder}/{name}.txt", sha256)


SHUTTLE = Download(
    "shuttle",
    9,
    (
        RawFile(
            f"{_GITHUB}/abhijeetborole/multilayerperceptron/5c12dba6d2537d84d257d246469bf251c3eaef21/shuttle.trn",
            "a0128290c86442a40ec7506003e51808afbef2f509d80a9ff244ecd5bc6dfa36",
        ),
    ),
    raw_files.read_shuttle,
    (
        (27, 126),
        (-4821, 5075),
        (21, 149),
        (-3939, 3830),
        (-188, 436),
        (-13839, 13148),
        (-48, 105),
        (-353, 270),
        (-356, 266),
    ),
)

EMG = Download(
    "emg",
    8,
    (
        _emg_action("Bowing", "ba561fc8e8ff314a727848422d7adde822978ac1e7a00f66e55f89c866c34d00"),
        _emg_action("Clapping", "3315e0c3963e6c06bfdcc2b2a1bc60080c2497a7c2cab36c3dbc9112dbbcbc8f"),
        _emg_action("Handshaking", "a389e648e3de7b4bdd36ef16d6ea5f7b2137ed63c0fb73c5ce210f84b757c6c7"),
        _emg_action("Running", "83bd8bfda157297d2f44679883672c693dd12e459395caf4b5d6f305ff8e6076"),
        _emg_action("Standing", "2c172a834446e473ec48f30b6913b0131c582be58f526f30f995237fdb0e79e2"),
        _emg_action("Walking", "dc84dea72bf84f2ad7ee57571002250212ea7500fd212210e0696c4ee151b14a"),
    ),
    raw_files.read_emg,
    (
        (-4000, 4000),
        (-1808, 1420),
        (-4000, 4000),
        (-4000, 3698),
        (-4000, 4000),
        (-4000, 4000),
        (-4000, 4000),
        (-4000, 4000),
    ),
)

MAGIC = Download(
    "magic",
    10,
    (
        RawFile(
            f"{_GITHUB}/gabeLin300/MAGIC-Gamma-Classification/a4b6f31cb90c5a6332cb59eee32de419bf7085e1/magic04.data",
            "e39817796e10b677d97d3766f8a949635531c27672f4434988d067c9b3bea804",
        ),
    ),
    raw_files.read_magic,
    (
        (4.2835, 334.177),
        (0.0, 256.382),
        (1.9413, 5.3233),
        (0.0131, 0.893),
        (0.0003, 0.6752),
        (-457.9161, 575.2407),
        (-331.78, 238.321),
        (-205.8947, 179.851),
        (0.0, 90.0),
        (1.2826, 495.561),
    ),
)

SLOAN = Download(
    "sloan",
    16,
    (
        RawFile(
            f"{_GITHUB}/Jason-Woo/Data-Completion-and-Interpolation/36dfc0feb1e874b6b369a274d68d1cc35eb37b66"
            "/Skyserver_SQL2_27_2018%206_51_39%20PM.csv",
            "6e2389dd300a825a068db04f59ca246280c78f4798bd5ddca38e8ca54ba7ce15",
        ),
    ),
    raw_files.read_sloan,
    (
        (1.23764679813785e18, 1.23765154033428e18),
        (8.2351004974, 260.8843818499),
        (-5.382632499, 68.542265413),
        (12.98897, 19.5999),
        (12.79955, 19.91897),
        (12.4316, 24.80204),
        (11.94721, 28.17963),
        (11.61041, 22.83306),
        (308.0, 1412.0),
        (1.0, 6.0),
        (11.0, 768.0),
        (2.9957818813097e17, 9.46883401009854e18),
        (-0.004136078, 5.353854),
        (266.0, 8410.0),
        (51578.0, 57481.0),
        (1.0, 1000.0),
    ),
)

PULSAR = Download(
    "pulsar",
    8,
    (
        RawFile(
            f"{_GITHUB}/JsebasA/Electiva_ML/44858892f66107f8c0da2a8cb67684018e61ae98/pulsar_data_train.csv",
            "fe760c609a44533104e4f6d1ff8b53f61f680940fb4be047677b03e8c1c0f003",
        ),
    ),
    raw_files.read_pulsar,
    (
        (6.1875, 189.734375),
        (24.77204176, 91.8086279),
        (-1.738020762, 8.069522046),
        (-1.791885981, 68.10162173),
        (0.213210702, 211.9489967),
        (7.370432165, 110.6422106),
        (-2.636857381, 34.53984419),
        (-1.976975603, 1191.000837),
    ),
)

USPS = Download(
    "usps",
    3,
    (
        RawFile(
            f"{_GITHUB}/robintux/Datasets4StackOverFlowQuestions/57a571f9d984e0bd730683dfa014751fbc28b1b7/zip.train.gz",
            "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
        ),
    ),
    raw_files.read_usps_pixels,
)
