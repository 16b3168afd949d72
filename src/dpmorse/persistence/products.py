"""The model of a table with categories or missing values in a model file; every field is checked."""

from itertools import pairwise
from typing import Any

import numpy as np

from dpmorse._plain_data import fields, numbers, of_type, rebuild
from dpmorse.densities import ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.arrays import array_of, lower_triangles, unfolded
from dpmorse.schema import Layout
from dpmorse.statistics import LARGEST_N_CELLS
from dpmorse.typing import FloatArray


def product_to_dict(mixture: ProductMixture) -> dict[str, Any]:
    """Return the layout and the parameters of a mixture of products as nested lists."""
    return {
        "layout": layout_to_dict(mixture.layout),
        "weights": mixture.weights.tolist(),
        "means": mixture.means.tolist(),
        "covariances_lower": lower_triangles(mixture.covariances),
        "probabilities": mixture.probabilities.tolist(),
    }


def product_from_dict(content: object, name: str = "mixture") -> ProductMixture:
    """Rebuild a mixture of products; its constructor checks finiteness, definiteness and sums."""
    keys = ("weights", "means", "covariances_lower", "probabilities")
    parts = fields(name, content, "layout", *keys)
    layout = layout_from_dict(parts["layout"], f"{name}.layout")
    return rebuild(
        name, lambda: _product(name, layout, **{key: array_of(name, key, parts[key]) for key in keys})
    )


def layout_to_dict(layout: Layout) -> dict[str, Any]:
    """Return a layout as plain data."""
    return {name: list(getattr(layout, name)) for name in ("lower", "upper", "holes", "n_levels")}


def layout_from_dict(content: object, name: str = "layout") -> Layout:
    """Rebuild a layout, which must be one that a table can have."""
    parts = fields(name, content, "lower", "upper", "holes", "n_levels")
    lower = numbers(f"{name}.lower", parts["lower"], len(of_type(f"{name}.lower", parts["lower"], list)))
    upper = numbers(f"{name}.upper", parts["upper"], len(lower))
    if not all(low < high for low, high in zip(lower, upper, strict=True)):
        raise ModelFormatError(f"{name}.lower must be below {name}.upper.")
    holes = _integers(f"{name}.holes", parts["holes"])
    if not all(a < b for a, b in pairwise((-1, *holes, len(lower)))):
        raise ModelFormatError(f"{name}.holes must be places among the numbers, ascending.")
    n_levels = _integers(f"{name}.n_levels", parts["n_levels"])
    if not all(n >= 2 for n in n_levels):
        raise ModelFormatError(f"{name}.n_levels must be at least 2.")
    return Layout(tuple(lower), tuple(upper), holes, n_levels)


def _integers(name: str, value: object) -> tuple[int, ...]:
    return tuple(of_type(name, item, int) for item in of_type(name, value, list))


def _product(
    name: str,
    layout: Layout,
    *,
    weights: FloatArray,
    means: FloatArray,
    covariances_lower: FloatArray,
    probabilities: FloatArray,
) -> ProductMixture:
    """Unfold the lower triangles; shapes are checked before anything of their size is allocated."""
    if weights.ndim != 1 or not 1 <= len(weights) <= LARGEST_N_CELLS:
        raise ModelFormatError(f"{name}.weights does not have the shape of a mixture.")
    k, d = len(weights), layout.n_numbers
    if means.shape != (k, d) or probabilities.shape != (k, layout.n_all_levels):
        raise ModelFormatError(f"{name}.means and {name}.probabilities do not have the shapes of the layout.")
    lower = unfolded(f"{name}.covariances_lower", covariances_lower, k, d)
    covariances = lower + np.tril(lower, -1).transpose(0, 2, 1)
    return ProductMixture(weights, means, covariances, probabilities, layout)
