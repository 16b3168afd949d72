"""Model files, and how what is in them is called."""

from dpmorse.bases import PrivateMixtureEstimator
from dpmorse.clustering import MorseEstimator, load
from dpmorse.exceptions import InvalidTypeError, ModelFormatError

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


def column_names(model: Model) -> list[str]:
    """Return the names of the columns, or their positions if they have none."""
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    return [str(name) for name in names]


def label_name(names: list[str], model: Model) -> str:
    """Return a name for the column of labels that no other column has."""
    name = "cluster" if isinstance(model, MorseEstimator) else "component"
    while name in names:
        name = f"dpmorse_{name}"
    return name
