"""The mixture of products against closed forms, sums over what is missing, samples and its own invariances."""

import copy
import dataclasses
import itertools
import json
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from dpmorse import GaussianMixture, InvalidParameterError, ModelFormatError
from dpmorse.densities import ProductMixture
from dpmorse.persistence import (
    layout_from_dict,
    layout_to_dict,
    product_from_dict,
    product_to_dict,
)
from dpmorse.schema import Layout
from plain import random_mixture

LAYOUT = Layout((-3.0,) * 3, (3.0,) * 3, (0, 2), (2, 4))


def make(rng, layout=LAYOUT, n_components=4):
    if layout.n_numbers:
        weights, means, covariances = random_mixture(rng, n_components, layout.n_numbers)
    else:
        weights, means = rng.dirichlet(np.ones(n_components)), np.empty((n_components, 0))
        covariances = np.empty((n_components, 0, 0))
    probabilities = [rng.dirichlet(np.ones(n), n_components) for n in layout.n_levels]
    return ProductMixture(
        weights, means, covariances, np.hstack([np.empty((n_components, 0)), *probabilities]), layout
    )


def encode(layout, numbers, codes):
    """Encode records: NaN is a missing number, -1 a missing category."""
    missing = np.isnan(numbers)
    levels = [np.eye(n + 1)[codes[:, j]][:, :n] for j, n in enumerate(layout.n_levels)]
    return np.hstack([missing[:, list(layout.holes)], np.where(missing, layout.middle, numbers), *levels])


def some_records(rng, layout=LAYOUT, n=50):
    numbers = rng.normal(size=(n, layout.n_numbers))
    codes = rng.integers(0, layout.n_levels, size=(n, layout.n_categories))
    return numbers, codes


def joint_of_scipy(mixture, numbers, codes):
    """Products of SciPy's densities over what is there, one record and one component after the other."""
    out = np.empty((len(numbers), mixture.n_components))
    for (n, k), _ in np.ndenumerate(out):
        known = ~np.isnan(numbers[n])
        out[n, k] = np.log(mixture.weights[k])
        if known.any():
            covariance = mixture.covariances[k][np.ix_(known, known)]
            out[n, k] += stats.multivariate_normal(mixture.means[k][known], covariance).logpdf(
                numbers[n][known]
            )
        for j, own in enumerate(mixture.layout.levels):
            if codes[n, j] >= 0:
                p = mixture.probabilities[k, own]
                out[n, k] += stats.multinomial(1, p / p.sum()).logpmf(np.eye(p.size)[codes[n, j]])
    return out


def test_it_is_a_normal_times_multinomials(rng):
    mixture, (numbers, codes) = make(rng), some_records(rng)
    numbers[rng.random(numbers.shape) < 0.3] = np.nan
    numbers[:, 1] = 0.5  # only columns 0 and 2 may be missing
    codes[rng.random(codes.shape) < 0.3] = -1
    E, expected = encode(LAYOUT, numbers, codes), joint_of_scipy(mixture, numbers, codes)
    assert mixture.log_joint(E) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert mixture.log_density(E) == pytest.approx(np.log(np.exp(expected).sum(axis=1)))
    shares = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    assert mixture.responsibilities(E) == pytest.approx(shares)
    assert mixture.labels(E).tolist() == expected.argmax(axis=1).tolist()
    assert mixture.labels(E).dtype == np.int8


def test_one_component_by_hand():
    layout = Layout((0.0,), (1.0,), (), (2,))
    mixture = ProductMixture([1.0], [[0.0]], [[[1.0]]], [[0.25, 0.75]], layout)
    assert mixture.log_density([[0.0, 0, 1]])[0] == pytest.approx(np.log(0.75 / np.sqrt(2 * np.pi)))
    assert mixture.responsibilities([[9.0, 1, 0]]).tolist() == [[1.0]]


def test_a_missing_number_is_integrated_over(rng):
    mixture, (numbers, codes) = make(rng), some_records(rng, n=5)
    grid = np.linspace(-30, 30, 20_001)
    holed = numbers.copy()
    holed[:, 2] = np.nan
    for n, density in enumerate(mixture.log_density(encode(LAYOUT, holed, codes))):
        line = np.tile(numbers[n], (grid.size, 1))
        line[:, 2] = grid
        values = np.exp(mixture.log_density(encode(LAYOUT, line, np.tile(codes[n], (grid.size, 1)))))
        assert np.log(trapezoid(values, grid)) == pytest.approx(density, abs=1e-6)


def test_a_missing_category_is_summed_over(rng):
    mixture, (numbers, codes) = make(rng), some_records(rng, n=5)
    total = 0.0
    for level in itertools.product(*map(range, LAYOUT.n_levels)):
        total += np.exp(mixture.log_joint(encode(LAYOUT, numbers, np.tile(level, (5, 1)))))
    assert mixture.log_joint(encode(LAYOUT, numbers, -np.ones_like(codes))) == pytest.approx(np.log(total))


def test_nothing_is_known(rng):
    layout = Layout((0.0,), (1.0,), (0,), (3,))
    mixture = make(rng, layout)
    E = encode(layout, np.array([[np.nan]]), np.array([[-1]]))
    assert mixture.log_density(E) == pytest.approx([0.0])
    assert mixture.responsibilities(E)[0] == pytest.approx(mixture.weights)


def test_what_stands_for_a_missing_number_does_not_matter(rng):
    mixture, (numbers, codes) = make(rng), some_records(rng)
    numbers[:, 0] = np.nan
    E = encode(LAYOUT, numbers, codes)
    moved = E.copy()
    moved[:, LAYOUT.n_holes] = 1e6
    assert np.array_equal(mixture.log_joint(E), mixture.log_joint(moved))


def test_categories_alone(rng):
    layout = Layout((), (), (), (3, 2))
    mixture, (numbers, codes) = make(rng, layout), some_records(rng, layout)
    expected = np.log(mixture.weights) + sum(
        np.log(mixture.probabilities[:, own][:, codes[:, j]].T) for j, own in enumerate(layout.levels)
    )
    assert mixture.log_joint(encode(layout, numbers, codes)) == pytest.approx(expected)
    assert mixture.n_features == 2


def test_numbers_alone_are_a_gaussian_mixture(rng):
    layout = Layout((-1.0,) * 3, (1.0,) * 3)
    mixture = make(rng, layout)
    plain = GaussianMixture(mixture.weights, mixture.means, mixture.covariances)
    X = rng.normal(size=(40, 3))
    assert np.array_equal(mixture.log_joint(X), plain.component_log_densities(X))
    assert np.array_equal(mixture.log_density(X), plain.log_density(X))
    assert np.array_equal(mixture.responsibilities(X), plain.responsibilities(X))
    assert np.array_equal(mixture.labels(X), plain.labels(X))
    for ours, theirs in zip(mixture.sample(9, 0), plain.sample(9, 0), strict=True):
        assert np.array_equal(ours, theirs)


def test_samples_have_the_mixtures_moments(rng):
    mixture = make(rng)
    E, labels = mixture.sample(200_000, rng)
    assert not E[:, LAYOUT.hole_part].any()
    assert np.bincount(labels) / len(E) == pytest.approx(mixture.weights, abs=0.01)
    levels = E[:, LAYOUT.level_part]
    for own in LAYOUT.levels:
        assert np.array_equal(np.unique(levels[:, own]), [0, 1])
        assert (levels[:, own].sum(axis=1) == 1).all()
    for k in range(mixture.n_components):
        assert E[labels == k][:, LAYOUT.number_part].mean(axis=0) == pytest.approx(mixture.means[k], abs=0.05)
        assert levels[labels == k].mean(axis=0) == pytest.approx(mixture.probabilities[k], abs=0.02)


def test_order_of_components_does_not_matter(rng):
    mixture, records = make(rng), encode(LAYOUT, *some_records(rng))
    order = np.array([2, 0, 3, 1])
    parts = (mixture.weights, mixture.means, mixture.covariances, mixture.probabilities)
    other = ProductMixture(*(part[order] for part in parts), LAYOUT)
    assert other.log_density(records) == pytest.approx(mixture.log_density(records), rel=1e-12)
    assert other.responsibilities(records) == pytest.approx(mixture.responsibilities(records)[:, order])
    ours, theirs = mixture.landscape, other.landscape
    signs = np.sign(ours.means[order][0] * theirs.means[0])
    assert ours.means[order] * signs == pytest.approx(theirs.means, abs=1e-6)


def test_the_shadow_has_the_moments_of_samples(rng):
    mixture = make(rng)
    (matrix, origin), shadow = mixture.shadow_map, mixture.landscape
    assert shadow.n_features == 3
    E, labels = mixture.sample(400_000, rng)
    y = (E[:, LAYOUT.n_holes :] - origin) @ matrix.T
    for k in range(mixture.n_components):
        assert y[labels == k].mean(axis=0) == pytest.approx(shadow.means[k], abs=0.05)
        assert np.cov(y[labels == k].T) == pytest.approx(shadow.covariances[k], abs=0.1)
    within = np.einsum("k,kij->ij", shadow.weights, shadow.covariances)
    assert within == pytest.approx(np.eye(3), abs=0.05)


def test_the_shadow_does_not_depend_on_the_units_of_numbers(rng):
    layout = Layout((-1.0,) * 2, (1.0,) * 2, (), (3,))
    mixture = make(rng, layout)
    units = np.array([1e4, 1e-4])
    covariances = mixture.covariances * (units[:, None] * units)
    other = ProductMixture(mixture.weights, mixture.means * units, covariances, mixture.probabilities, layout)
    assert np.abs(mixture.landscape.means) == pytest.approx(np.abs(other.landscape.means), abs=1e-6)


@pytest.mark.parametrize(("n_components", "expected"), [(1, 1), (4, 3), (9, 8), (12, 8)])
def test_directions_of_the_shadow(rng, n_components, expected):
    mixture = make(rng, Layout((), (), (), (6, 7)), n_components)
    assert mixture.landscape.n_features == expected


def test_it_is_a_value(rng):
    mixture = make(rng)
    with pytest.raises(ValueError, match="read-only"):
        mixture.probabilities[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        mixture.layout = LAYOUT
    assert mixture != make(rng)
    assert mixture != "mixture"
    for copied in (copy.deepcopy(mixture), pickle.loads(pickle.dumps(mixture))):
        assert copied == mixture
        assert not copied.probabilities.flags.writeable


def test_no_records(rng):
    for layout in (LAYOUT, Layout((), (), (), (2,))):
        assert make(rng, layout).log_joint(np.empty((0, layout.width))).shape == (0, 4)
        assert make(rng, layout).sample(0)[0].shape == (0, layout.width)


def test_weight_zero_takes_part_in_nothing():
    layout = Layout((), (), (), (2,))
    none = np.empty((2, 0)), np.empty((2, 0, 0))
    mixture = ProductMixture([1.0, 0.0], *none, [[0.5, 0.5], [0.1, 0.9]], layout)
    assert mixture.responsibilities([[0, 1]]).tolist() == [[1.0, 0.0]]


SMALL = Layout((0.0,), (1.0,), (), (2,))
GOOD = {"weights": [1.0], "means": [[0.0]], "covariances": [[[1.0]]], "probabilities": [[0.5, 0.5]]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weights": [2.0]}, "weights must be non-negative and sum to 1"),
        ({"weights": []}, "weights must have shape"),
        ({"means": [[0.0, 0.0]]}, r"means must have shape \(1, 1\), got \(1, 2\)"),
        ({"means": [[np.nan]]}, "means must be finite"),
        ({"covariances": [[1.0]]}, "covariances must have shape"),
        ({"covariances": [[[-1.0]]]}, "not positive definite"),
        ({"probabilities": [[0.5, 0.2, 0.3]]}, "probabilities must have shape"),
        ({"probabilities": [[np.nan, 0.5]]}, "probabilities must be finite"),
        ({"probabilities": [[1.0, 0.0]]}, "probabilities must be > 0, got 0"),
        ({"probabilities": [[0.5, 0.4]]}, "sums from 0.9 to 0.9 in category 0"),
        ({"layout": Layout((), ())}, "layout must have a column"),
    ],
)
def test_bad_parameters(changed, message):
    with pytest.raises(InvalidParameterError, match=message):
        ProductMixture(**{**GOOD, "layout": SMALL, **changed})


def test_bad_records():
    mixture = ProductMixture(**GOOD, layout=SMALL)
    with pytest.raises(InvalidParameterError, match=r"E must have shape \(n_samples, 3\), got \(2, 2\)"):
        mixture.log_joint(np.zeros((2, 2)))


@pytest.mark.parametrize("layout", [LAYOUT, Layout((), (), (), (2, 3)), Layout((0.0,), (1.0,), (0,))])
def test_files_keep_every_bit(rng, layout):
    mixture = make(rng, layout)
    assert product_from_dict(json.loads(json.dumps(product_to_dict(mixture)))) == mixture
    assert layout_from_dict(layout_to_dict(layout)) == layout


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("lower", [0.0], "upper must hold 1 numbers"),
        ("upper", [-9.0, 1.0, 1.0], "layout.lower must be below"),
        ("holes", [2, 0], "ascending"),
        ("holes", [3], "places among the numbers"),
        ("holes", [True], "must be of type int"),
        ("n_levels", [1, 4], "must be at least 2"),
        ("n_levels", [2, 10**18], "do not have the shapes of the layout"),
        ("n_levels", [4, 2], "sum to 1"),
    ],
)
def test_bad_layouts_in_files(rng, part, value, message):
    content = product_to_dict(make(rng))
    content["layout"][part] = value
    with pytest.raises(ModelFormatError, match=message):
        product_from_dict(content)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("weights", [[1.0]], "weights does not have the shape"),
        ("weights", ["a"], "must hold numbers only"),
        ("means", [[0.0]], "means and mixture.probabilities do not have the shapes"),
        ("covariances_lower", [[1.0]], "shape of k lower triangles"),
        ("probabilities", "no list", "must be a list of numbers"),
        ("more", 1, "must have exactly the fields"),
    ],
)
def test_bad_parameters_in_files(rng, part, value, message):
    with pytest.raises(ModelFormatError, match=message):
        product_from_dict({**product_to_dict(make(rng)), part: value})
