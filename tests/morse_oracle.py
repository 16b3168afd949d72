"""An independent oracle for merge trees: flood a fine grid, then polish what the flood found.

It shares nothing with ``dpmorse.morse``: f, its gradient and Hessian come from ``GaussianMixture``, connectivity
from union-find over the pixels of a grid in rising order, and critical points from SciPy's root finder started
at the pixels where water appears or two lakes meet.
"""

import itertools
from dataclasses import dataclass

import numba
import numpy as np
from scipy.optimize import root


@dataclass(frozen=True)
class OracleTree:
    """Modes, and the heights at which they merge, lowest first; ``sure`` if all meeting points were polished."""

    modes: np.ndarray
    heights: np.ndarray
    sure: bool


def flood(mixture, n_pixels, margin=3.0):
    """Return the merge tree of f = -ln p on a grid with about ``n_pixels`` pixels."""
    axes = _axes(mixture, n_pixels, margin)
    f = _on_grid(mixture, axes)
    order = np.argsort(f, axis=None, kind="stable")
    steps = np.array([s for s in itertools.product((-1, 0, 1), repeat=len(axes)) if any(s)])
    minima, pixels, first, second = _union_find(f.ravel(), order, np.array(f.shape), steps)
    pitch = np.array([axis[1] - axis[0] for axis in axes])
    modes, labels = _polish_minima(mixture, _points(axes, f.shape, minima))
    return _assemble(mixture, modes, labels[first], labels[second], _points(axes, f.shape, pixels), f.ravel()[pixels], pitch)


def _axes(mixture, n_pixels, margin):
    deviation = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    kept = mixture.weights > 0
    low = (mixture.means - margin * deviation)[kept].min(axis=0)
    high = (mixture.means + margin * deviation)[kept].max(axis=0)
    per_axis = int(round(n_pixels ** (1 / mixture.n_features)))
    return [np.linspace(a, b, per_axis) for a, b in zip(low, high, strict=True)]


def _on_grid(mixture, axes):
    rest = np.stack([g.ravel() for g in np.meshgrid(*axes[1:], indexing="ij")], axis=1)
    slabs = [-mixture.log_density(np.c_[np.full(len(rest), x), rest]) for x in axes[0]]
    return np.array(slabs).reshape([len(axis) for axis in axes])


def _points(axes, shape, pixels):
    return np.stack([axis[i] for axis, i in zip(axes, np.unravel_index(pixels, shape), strict=True)], axis=1)


@numba.njit(cache=True)
def _find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@numba.njit(cache=True)
def _union_find(f, order, shape, steps):
    """Flood pixels in rising order; return lakes' first pixels, and meetings as (pixel, lake, lake)."""
    parent = np.full(f.size, -1, np.int64)
    lake = np.full(f.size, -1, np.int64)  # of a root: the number of its lake
    minima, pixels, first, second = [order[0]], [order[0]], [0], [0]
    minima.pop(), pixels.pop(), first.pop(), second.pop()
    where = np.empty(shape.size, np.int64)
    for p in order:
        rest = p
        for a in range(shape.size - 1, -1, -1):
            where[a] = rest % shape[a]
            rest //= shape[a]
        parent[p] = p
        for s in range(len(steps)):
            q, inside = 0, True
            for a in range(shape.size):
                c = where[a] + steps[s, a]
                inside = inside and 0 <= c < shape[a]
                q = q * shape[a] + c
            if not inside or parent[q] < 0:
                continue
            ours, theirs = _find(parent, p), _find(parent, q)
            if ours == theirs:
                continue
            if lake[ours] >= 0:
                pixels.append(p)
                first.append(lake[ours])
                second.append(lake[theirs])
                if f[minima[lake[ours]]] < f[minima[lake[theirs]]]:
                    lake[theirs] = lake[ours]
            parent[ours] = theirs
        top = _find(parent, p)
        if lake[top] < 0:
            lake[top] = len(minima)
            minima.append(p)
    return np.array(minima), np.array(pixels), np.array(first), np.array(second)


def _polish_minima(mixture, starts):
    """Descend from each pixel minimum with SciPy; return distinct modes and the mode of each start."""
    modes, labels = np.empty((0, mixture.n_features)), []
    for x in starts:
        x = _newton_descent(mixture, x)
        metric = mixture.hessian(x[None])[0]
        away = modes - x
        same = np.flatnonzero(np.einsum("nd,de,ne->n", away, metric, away) < 1e-6)
        if not same.size:
            modes, same = np.vstack([modes, x]), [len(modes)]
        labels.append(same[0])
    return modes, np.array(labels, dtype=int)


def _newton_descent(mixture, x):
    for _ in range(500):
        gradient, hessian = mixture.gradient(x[None])[0], mixture.hessian(x[None])[0]
        values, vectors = np.linalg.eigh(hessian)
        step = -vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-8))
        if abs(gradient @ step) < 1e-24:
            break
        height, size = -mixture.log_density(x[None])[0], 1.0
        while -mixture.log_density((x + size * step)[None])[0] > height and size > 1e-8:
            size /= 2
        if size <= 1e-8:
            break
        x = x + size * step
    return x


def _polish_saddle(mixture, x, pitch):
    """Return f at the saddle within a few pixels of x, or None."""
    found = root(
        lambda y: mixture.gradient((x + y * pitch)[None])[0] * pitch,
        np.zeros(len(x)),
        jac=lambda y: mixture.hessian((x + y * pitch)[None])[0] * pitch[:, None] * pitch,
        tol=1e-13,
    )
    y = x + found.x * pitch
    values = np.linalg.eigvalsh(mixture.hessian(y[None])[0] * pitch[:, None] * pitch)
    near, flat = np.abs(found.x).max() < 4, np.abs(mixture.gradient(y[None])[0] * pitch).max() < 1e-7
    return -mixture.log_density(y[None])[0] if near and flat and (values < 0).sum() == 1 else None


def _assemble(mixture, modes, first, second, points, pixel_heights, pitch):
    """Kruskal over the meetings between different modes, each at its polished height."""
    group, heights, sure = np.arange(len(modes)), [], True
    edges = []
    for i in np.flatnonzero(first != second):
        polished = _polish_saddle(mixture, points[i], pitch)
        edges.append((pixel_heights[i] if polished is None else polished, first[i], second[i], polished is not None))
    for height, a, b, ok in sorted(edges):
        if group[a] != group[b]:
            group[group == group[b]] = group[a]
            heights.append(height)
            sure = sure and ok
    return OracleTree(modes, np.array(heights), sure)
