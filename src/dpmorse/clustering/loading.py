"""Reading a model file back into the estimator that wrote it."""

import os

from dpmorse.bases import PrivateMixtureEstimator, base_from_document
from dpmorse.clustering.base import MorseEstimator
from dpmorse.clustering.dp_morse import DPMorse
from dpmorse.clustering.morse_clustering import MorseClustering
from dpmorse.persistence import read_document

_WITH_TREE: dict[object, type[MorseEstimator]] = {kind.__name__: kind for kind in (DPMorse, MorseClustering)}


def load(path: str | os.PathLike[str]) -> PrivateMixtureEstimator | MorseEstimator:
    """Read a model file written by ``save``.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFormatError
        If the file is damaged, inconsistent, not a model file, or from a newer version.
    OSError
        If the file cannot be read.
    """
    document = read_document(path)
    kind = document.get("estimator")
    if isinstance(kind, str) and kind in _WITH_TREE:
        return _WITH_TREE[kind]._from_document(document)
    return base_from_document(document)
