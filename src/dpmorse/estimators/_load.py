"""Reading a model file back into the estimator that wrote it."""

import os

from dpmorse.estimators._base import PrivateMixtureEstimator
from dpmorse.estimators._bases import base_from_document
from dpmorse.estimators._model_file import read_document
from dpmorse.estimators.morse_clustering import MorseClustering


def load(path: str | os.PathLike[str]) -> PrivateMixtureEstimator | MorseClustering:
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
    if document.get("estimator") == MorseClustering.__name__:
        return MorseClustering._from_document(document)  # noqa: SLF001 - the same package
    return base_from_document(document)
