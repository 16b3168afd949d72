"""Model files, and how what is in them is called."""

from dpmorse.bases import PrivateMixtureEstimator
from dpmorse.clustering import MorseEstimator, load
from dpmorse.exceptions import InvalidTypeError, ModelFormatError
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


def schema_of(model: Model) -> Schema | None:
    """Return what the columns of a table are; None for a model of numbers alone."""
    return getattr(getattr(model, "base_", model), "schema_", None)


def column_names(model: Model) -> list[str]:
    """Return the names of the columns, or their positions if they have none."""
    schema = schema_of(model)
    unnamed = range(model.n_features_in_) if schema is None else schema.names
    names = getattr(model, "feature_names_in_", unnamed)
    return [str(name) for name in names]


def label_name(names: list[str], model: Model) -> str:
    """Return a name for the column of labels that no other column has."""
    name = "cluster" if isinstance(model, MorseEstimator) else "component"
    while name in names:
        name = f"dpmorse_{name}"
    return name
