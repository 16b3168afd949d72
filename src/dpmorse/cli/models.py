"""Model files, how what is in them is called, and records drawn from it."""

from collections.abc import Sequence
from typing import Any

from dpmorse.bases import PrivateMixtureEstimator, draw_records
from dpmorse.cli.progress import Bar
from dpmorse.clustering import MorseEstimator, load
from dpmorse.exceptions import InvalidTypeError, ModelFormatError
from dpmorse.records import plain
from dpmorse.schema import Schema
from dpmorse.typing import IntArray

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


def rehearse(model: Model, bar: Bar) -> bool:
    """Make the rehearsals that a model still lacks, and show how far they are; say whether it has any."""
    if not isinstance(model, MorseEstimator):
        return False
    with bar.fraction("rehearsing on synthetic records") as told:
        return model._rehearsals.made(told) is not None


def has_names(model: Model) -> bool:
    """Say whether the columns of the fit had names."""
    return model._released.schema_.stated or hasattr(model, "feature_names_in_")


def schema_of(model: Model) -> Schema:
    """Return what the columns are; those without names are called by their positions."""
    schema: Schema = model._released.schema_
    return schema if has_names(model) else schema.called(list(map(str, range(len(schema.columns)))))


def label_name(names: Sequence[str], model: Model) -> str:
    """Return a name for the column of labels that no other column has."""
    name = "cluster" if isinstance(model, MorseEstimator) else "component"
    while name in names:
        name = f"dpmorse_{name}"
    return name


def sampled_columns(
    model: Model, n_rows: int, seed: int | None, *, missing: bool = False
) -> tuple[dict[str, list[Any]], IntArray]:
    """Draw records; return the columns of the model by name, None where a value is missing, and clusters."""
    points, components = draw_records(model._released, n_rows, seed, missing=missing)
    schema = schema_of(model)
    columns = points if schema.stated else dict(zip(schema.names, points.T, strict=True))
    written = {}
    for name, column in schema.columns:
        known = (value if value == value else None for value in map(plain, columns[name].tolist()))  # noqa: PLR0124 - NaN
        written[name] = [column.as_written(value) for value in known]
    return written, model._labels_of_components(None)[components]
