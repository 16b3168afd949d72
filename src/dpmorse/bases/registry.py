"""The bases by name, those of other packages included, and reading one back from a model file."""

from importlib.metadata import entry_points
from typing import Any

from dpmorse.bases.centres.dp_cube import DPCube
from dpmorse.bases.centres.dp_lloyd import DPLloyd
from dpmorse.bases.centres.dp_tree import DPTree
from dpmorse.bases.em.dpmog import DPMoG
from dpmorse.bases.em.dpmog_hard import DPMoGHard
from dpmorse.bases.mixture_estimator import PrivateMixtureEstimator
from dpmorse.bases.staged.private_gaussian_mixture import PrivateGaussianMixture
from dpmorse.exceptions import InvalidTypeError, ModelFormatError

BASES: dict[str, type[PrivateMixtureEstimator]] = {
    kind.__name__: kind for kind in (PrivateGaussianMixture, DPMoG, DPMoGHard, DPLloyd, DPCube, DPTree)
}
"""Those of this package. What is made of them all, a test or an audit, goes by this list."""

ENTRY_POINTS = "dpmorse.bases"
"""The group under which another package declares its bases, each by the name of its class."""


def available_bases() -> dict[str, type[PrivateMixtureEstimator]]:
    """Return all bases by name: those of this package, and those that installed packages declare."""
    declared = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    return {**{name: _checked(name, kind) for name, kind in declared.items()}, **BASES}


def base_from_document(document: dict[str, Any]) -> PrivateMixtureEstimator:
    """Rebuild the base that a document describes."""
    kind = document.get("estimator")
    if not isinstance(kind, str):
        raise ModelFormatError("the file names an estimator this version does not know: it must be a text.")
    return _find_base(kind)._from_document(document)


def _find_base(name: str) -> type[PrivateMixtureEstimator]:
    """Return a base by name; the code of another package is loaded only if it declares that name."""
    if name in BASES:
        return BASES[name]
    for point in entry_points(group=ENTRY_POINTS, name=name):
        return _checked(name, point.load())
    raise ModelFormatError(
        f"the file names an estimator this version does not know: {name[:40]!r}. If it is of another "
        f"package, install that package; it must declare the base in the entry point group {ENTRY_POINTS!r}."
    )


def _checked(name: str, kind: object) -> type[PrivateMixtureEstimator]:
    if not (isinstance(kind, type) and issubclass(kind, PrivateMixtureEstimator) and kind.__name__ == name):
        raise InvalidTypeError(
            f"the entry point {name!r} of the group {ENTRY_POINTS!r} must be a class of that name that "
            f"derives from dpmorse.bases.PrivateFit, got {kind!r}."
        )
    return kind
