"""Mixtures of Gaussians and of products in a model file; every field is checked.

Arrays are nested lists of numbers; of symmetric or triangular matrices the lower triangles.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from dpmorse._plain_data import fields, holds_boolean, numbers, of_type, rebuild
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.schema import Layout
from dpmorse.statistics import LARGEST_N_CELLS
from dpmorse.typing import FloatArray


def mixture_to_dict(mixture: GaussianMixture | ProductMixture) -> dict[str, Any]:
    """Return the parameters of a mixture of either kind."""
    return product_to_dict(mixture) if isinstance(mixture, ProductMixture) else gaussians_to_dict(mixture)


def mixture_from_dict(content: object) -> GaussianMixture | ProductMixture:
    """Rebuild a mixture of either kind: products have a layout."""
    is_product = isinstance(content, dict) and "layout" in content
    return product_from_dict(content) if is_product else gaussians_from_dict(content)


def gaussians_to_dict(mixture: GaussianMixture) -> dict[str, Any]:
    """Return the parameters of a mixture of Gaussians as nested lists."""
    return {
        "weights": mixture.weights.tolist(),
        "means": mixture.means.tolist(),
        "covariances_lower": lower_triangles(mixture.covariances),
    }


def gaussians_from_dict(content: object, name: str = "mixture") -> GaussianMixture:
    """Rebuild a mixture of Gaussians; its constructor checks shapes, finiteness and definiteness."""
    parts = fields(name, content, "weights", "means", "covariances_lower")

    def build() -> GaussianMixture:  # shapes are checked before anything of their size is allocated
        arrays = {key: array_of(name, key, part) for key, part in parts.items()}
        weights, means = arrays["weights"], arrays["means"]
        if weights.ndim != 1 or means.ndim != 2 or not 1 <= len(weights) <= LARGEST_N_CELLS:
            raise ModelFormatError(f"{name}.weights and {name}.means do not have the shapes of a mixture.")
        covariances = _symmetric(name, arrays["covariances_lower"], *means.shape)
        return GaussianMixture(weights, means, covariances)

    return rebuild(name, build)


def product_to_dict(mixture: ProductMixture) -> dict[str, Any]:
    """Return the layout and the parameters of a mixture of products as nested lists."""
    return {
        "layout": layout_to_dict(mixture.layout),
        "weights": mixture.weights.tolist(),
        "means": mixture.means.tolist(),
        "covariances_lower": lower_triangles(mixture.covariances),
        "probabilities": mixture.probabilities.tolist(),
    }


def product_from_dict(content: object) -> ProductMixture:
    """Rebuild a mixture of products; its constructor checks finiteness, definiteness and sums."""
    keys = ("weights", "means", "covariances_lower", "probabilities")
    parts = fields("mixture", content, "layout", *keys)
    layout = layout_from_dict(parts["layout"], "mixture.layout")

    def build() -> ProductMixture:  # shapes are checked before anything of their size is allocated
        weights, means, covariances_lower, probabilities = (
            array_of("mixture", key, parts[key]) for key in keys
        )
        if weights.ndim != 1 or not 1 <= len(weights) <= LARGEST_N_CELLS:
            raise ModelFormatError("mixture.weights does not have the shape of a mixture.")
        k, d = len(weights), layout.n_numbers
        if means.shape != (k, d) or probabilities.shape != (k, layout.n_all_levels):
            raise ModelFormatError(
                "mixture.means and mixture.probabilities do not have the shapes of the layout."
            )
        covariances = _symmetric("mixture", covariances_lower, k, d)
        return ProductMixture(weights, means, covariances, probabilities, layout)

    return rebuild("mixture", build)


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


def _symmetric(name: str, lower: FloatArray, k: int, d: int) -> FloatArray:
    """Return covariances from their lower triangles."""
    matrices = unfolded(f"{name}.covariances_lower", lower, k, d)
    return matrices + np.tril(matrices, -1).transpose(0, 2, 1)


def array_of(name: str, key: str, value: object) -> Any:
    """Return nested lists of numbers as an array, or say which field holds something else."""
    if not isinstance(value, list):
        raise ModelFormatError(f"{name}.{key} must be a list of numbers.")
    array = np.array(value)  # ragged lists raise ValueError, which `rebuild` turns into a format error
    if array.dtype.kind not in "fi" or holds_boolean(value):
        raise ModelFormatError(f"{name}.{key} must hold numbers only.")
    return array


def lower_triangles(matrices: FloatArray) -> Any:
    """Return the lower triangles, row by row."""
    rows, columns = np.tril_indices(matrices.shape[-1])
    return matrices[:, rows, columns].tolist()


def unfolded(name: str, lower: FloatArray, k: int, d: int) -> FloatArray:
    """Return k lower triangular matrices; the shape is checked before anything of their size is allocated."""
    if lower.shape != (k, d * (d + 1) // 2):
        raise ModelFormatError(f"{name} does not have the shape of k lower triangles.")
    matrices = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d)
    matrices[:, rows, columns] = lower
    return matrices
