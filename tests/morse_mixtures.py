"""Random mixtures in eleven families, from easy to nasty, for the tests and benchmarks of the Morse step."""

import numpy as np

from dpmorse.densities import GaussianMixture

FAMILIES = (
    "separated",
    "overlapping",
    "elongated",
    "crossed",
    "nested",
    "triangle",
    "moons",
    "rings",
    "noisy",
    "degenerate",
    "unbalanced",
)


def random_mixture(family, n_features, seed, n_components=None):
    """Return a mixture of the family; K is 3..30 in 2-D and 3..12 otherwise, unless it is given."""
    rng = np.random.default_rng([FAMILIES.index(family), n_features, seed])
    drawn = int(rng.integers(3, 31 if n_features == 2 else 13))
    n_components = n_components or drawn
    weights, means, covariances = _MAKERS[family](rng, n_components, n_features)
    return GaussianMixture(weights / np.sum(weights), means, covariances)


def rotation(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def covariance(rng, d, scale, aspect):
    """Return a covariance with axes between scale / aspect and scale, one axis of each length at least."""
    spread = np.r_[0.0, 1.0, rng.random(max(d - 2, 0))][:d]
    axes = rotation(rng, d) * (scale * aspect**-spread)
    return axes @ axes.T


def _many(rng, k, d, scale, aspect):
    return np.array(
        [
            covariance(rng, d, s, a)
            for s, a in zip(np.broadcast_to(scale, k), np.broadcast_to(aspect, k), strict=True)
        ]
    )


def _weights(rng, k, concentration=3.0):
    return rng.dirichlet(np.full(k, concentration)) + 1e-3


def _separated(rng, k, d):
    side = np.ceil(k ** (1 / d))
    cells = rng.permutation(int(side**d))[:k]
    means = 7.0 * np.stack(np.unravel_index(cells, (int(side),) * d), axis=1) + rng.uniform(-1, 1, (k, d))
    return _weights(rng, k), means, _many(rng, k, d, 1.0, rng.uniform(1, 2, k))


def _overlapping(rng, k, d):
    means = rng.uniform(-1, 1, (k, d)) * 1.4 * k ** (1 / d)
    return _weights(rng, k), means, _many(rng, k, d, rng.uniform(0.6, 1.4, k), rng.uniform(1, 3, k))


def _elongated(rng, k, d):
    means = rng.uniform(-1, 1, (k, d)) * 1.6 * k ** (1 / d)
    return _weights(rng, k), means, _many(rng, k, d, 1.5, rng.uniform(3, 12, k))


def _crossed(rng, k, d):
    means = rng.standard_normal((k, d)) * 0.8
    return _weights(rng, k), means, _many(rng, k, d, rng.uniform(1, 2, k), rng.uniform(5, 20, k))


def _nested(rng, k, d):
    scales = 3.0 ** -rng.uniform(0, 3, k)
    means = rng.standard_normal((k, d)) * 0.7
    return _weights(rng, k), means, _many(rng, k, d, scales, rng.uniform(1, 2.5, k))


def _triangle(rng, k, d):
    """Regular simplices near the size at which their centre turns from mode to maximum."""
    simplex = np.eye(d + 1) - 1 / (d + 1)
    corners = simplex @ np.linalg.svd(simplex)[2][:d].T  # side sqrt 2
    n = max(1, k // (d + 1))
    side = rng.uniform(2.2, 3.2, n)[:, None, None] / np.sqrt(2)
    means = (side * corners + 9.0 * np.arange(n)[:, None, None]).reshape(-1, d)
    means = means @ rotation(rng, d) + 0.02 * rng.standard_normal(means.shape)
    return np.ones(len(means)) + 0.02 * rng.random(len(means)), means, np.tile(np.eye(d), (len(means), 1, 1))


def _tangent_covariances(rng, directions, along, across):
    d = directions.shape[1]
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    outer = unit[:, :, None] * unit[:, None, :]
    return along**2 * outer + across**2 * (np.eye(d) - outer)


def _moons(rng, k, d):
    t = np.r_[np.linspace(0, np.pi, k // 2), np.linspace(0, np.pi, k - k // 2)]
    lower = np.arange(k) >= k // 2
    means, tangents = np.zeros((k, d)), np.zeros((k, d))
    means[:, 0], means[:, 1] = (
        np.where(lower, 1 - np.cos(t), np.cos(t)),
        np.where(lower, 0.5 - np.sin(t), np.sin(t)),
    )
    tangents[:, 0], tangents[:, 1] = (
        np.where(lower, np.sin(t), -np.sin(t)),
        np.where(lower, -np.cos(t), np.cos(t)),
    )
    means += 0.02 * rng.standard_normal((k, d))
    return (
        _weights(rng, k, 20.0),
        means,
        _tangent_covariances(rng, tangents, rng.uniform(0.8, 1.6) * 1.5 / k, 0.1),
    )


def _rings(rng, k, d):
    t = rng.uniform(0, 2 * np.pi) + np.linspace(0, 2 * np.pi, k, endpoint=False)
    radius = np.where(np.arange(k) % 3 == 0, 0.8, 2.0)
    means, tangents = 0.05 * rng.standard_normal((k, d)), np.zeros((k, d))
    means[:, 0] += radius * np.cos(t)
    means[:, 1] += radius * np.sin(t)
    tangents[:, 0], tangents[:, 1] = -np.sin(t), np.cos(t)
    return _weights(rng, k, 20.0), means, _tangent_covariances(rng, tangents, rng.uniform(1.5, 4) / k, 0.2)


def _noisy(rng, k, d):
    """What a private release looks like: symmetric noise on moments, floored eigenvalues, clipped weights."""
    _, means, covariances = _overlapping(rng, k, d)
    noise = rng.standard_normal((k, d, d)) * rng.uniform(0.1, 0.6)
    values, vectors = np.linalg.eigh(covariances + (noise + noise.transpose(0, 2, 1)) / 2)
    covariances = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, 0.01), vectors)
    weights = np.maximum(_weights(rng, k) + 0.05 * rng.standard_normal(k), 1e-3)
    return weights, means + 0.3 * rng.standard_normal((k, d)), covariances


def _degenerate(rng, k, d):
    means = rng.uniform(-1, 1, (k, d)) * k ** (1 / d)
    return _weights(rng, k), means, _many(rng, k, d, rng.uniform(0.5, 1.5, k), rng.uniform(10, 40, k))


def _unbalanced(rng, k, d):
    _, means, covariances = _overlapping(rng, k, d)
    return 10.0 ** rng.uniform(-5, 0, k), means, covariances


_MAKERS = {name: globals()[f"_{name}"] for name in FAMILIES}
