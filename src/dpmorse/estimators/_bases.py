"""The bases by name, and reading one back from its part of a model file."""

from typing import Any

from dpmorse.estimators._base import PrivateMixtureEstimator
from dpmorse.estimators.dp_cube import DPCube
from dpmorse.estimators.dp_lloyd import DPLloyd
from dpmorse.estimators.dp_tree import DPTree
from dpmorse.estimators.dpmog import DPMoG
from dpmorse.estimators.dpmog_hard import DPMoGHard
from dpmorse.estimators.private_gaussian_mixture import PrivateGaussianMixture
from dpmorse.exceptions import ModelFormatError

BASES: dict[str, type[PrivateMixtureEstimator]] = {
    kind.__name__: kind for kind in (PrivateGaussianMixture, DPMoG, DPMoGHard, DPLloyd, DPCube, DPTree)
}


def base_from_document(document: dict[str, Any]) -> PrivateMixtureEstimator:
    """Rebuild the base that a document describes."""
    kind = document.get("estimator")
    if not isinstance(kind, str) or kind not in BASES:
        raise ModelFormatError(f"the file names an estimator this version does not know: {str(kind)[:40]!r}.")
    return BASES[kind]._from_document(document)  # noqa: SLF001 - the same package
