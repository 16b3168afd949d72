"""Model files, and how what is in them is called."""

from collections.abc import Sequence

from dpmorse.bases import PrivateMixtureEstimator
from dpmorse.clustering import MorseEstimator, load
from dpmorse.exceptions import InvalidTypeError, ModelFormatError
from dpmorse.profiles import Profile
from dpmorse.schema import Schema

Model = PrivateMixtureEstimator | MorseEstimator
"""What a model file may hold."""


def load_model(path: str) -> Model:
    """Read a model file; errors name the file."""
    try:
        return load(path)
    except ModelFormatError as error:
        raise ModelFormatError(f"{path!r} cannot be used as a model: {error}") from None


def load_tree(path: str) -> MorseEstimator:
    """Read a model file that must hold a merge tree."""
    model = load_model(path)
    if not isinstance(model, MorseEstimator):
        raise InvalidTypeError(
            f"{path!r} holds a mixture without clusters: only `dpmorse fit` models can be cut."
        )
    return model


def profile_of(model: Model) -> Profile | None:
    """Return what was measured of the clusters, if anything was."""
    return model._released.profile_


def has_names(model: Model) -> bool:
    """Say whether the columns of the fit had names."""
    return model.schema_.stated or hasattr(model, "feature_names_in_")


def schema_of(model: Model) -> Schema:
    """Return what the columns are; those without names are called by their positions."""
    schema: Schema = model.schema_
    return schema if has_names(model) else schema.called(list(map(str, range(len(schema.columns)))))


def label_name(names: Sequence[str], model: Model) -> str:
    """Return a name for the column of labels that no other column has."""
    name = "cluster" if isinstance(model, MorseEstimator) else "component"
    while name in names:
        name = f"dpmorse_{name}"
    return name
