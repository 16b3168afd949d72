"""Reading a model file back into the estimator that wrote it."""

import os

from dpmorse.estimators._base import PrivateMixtureEstimator
from dpmorse.estimators._model_file import read_document
from dpmorse.estimators.dpmog import DPMoG
from dpmorse.estimators.dpmog_hard import DPMoGHard
from dpmorse.exceptions import ModelFormatError

_ESTIMATORS: dict[str, type[PrivateMixtureEstimator]] = {kind.__name__: kind for kind in (DPMoG, DPMoGHard)}


def load(path: str | os.PathLike[str]) -> PrivateMixtureEstimator:
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
    if not isinstance(kind, str) or kind not in _ESTIMATORS:
        raise ModelFormatError(f"the file names an estimator this version does not know: {str(kind)[:40]!r}.")
    return _ESTIMATORS[kind]._from_document(document)  # noqa: SLF001 - the same package
