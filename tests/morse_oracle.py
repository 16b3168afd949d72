"""An independent oracle for merge trees: flood a fine grid, and start Newton's method all over a coarser one.

It shares nothing with ``dpmorse.morse``: f, its gradient and Hessian come from ``GaussianMixture``. Connectivity comes
from union-find over the pixels of a grid in rising order, polished with SciPy's root finder where two lakes meet.
Pixels miss basins and passes smaller than themselves, so Newton's method also starts from every pixel of a
coarser grid, and of a small grid around each component in its own units; each saddle it finds joins the two
modes below it. The tree is Kruskal's over both.
"""

import itertools
from dataclasses import dataclass

import numba
import numpy as np
from scipy.optimize import root
from scipy.spatial import cKDTree

_STARTS = 30_000


@dataclass(frozen=True)
class OracleTree:
    """Modes, and the heights at which they merge, lowest first; ``sure`` if all meeting points were polished."""

    modes: np.ndarray
    heights: np.ndarray
    sure: bool


def flood(mixture, n_pixels, margin=3.0):
    """Return the merge tree of f = -ln p, from a grid of about ``n_pixels`` pixels."""
    axes = _axes(mixture, n_pixels, margin)
    f = _on_grid(mixture, axes)
    order = np.argsort(f, axis=None, kind="stable")
    steps = np.array([s for s in itertools.product((-1, 0, 1), repeat=len(axes)) if any(s)])
    minima, pixels, first, second = _union_find(f.ravel(), order, np.array(f.shape), steps)
    pitch = np.array([axis[1] - axis[0] for axis in axes])
    met = _points(axes, f.shape, pixels)
    polished = [_polish_saddle(mixture, x, pitch) for x in met]
    unpolished = np.array([x is None for x in polished], dtype=bool)
    stationary = _critical_points(
        mixture, _axes(mixture, _STARTS, margin), [x for x in polished if x is not None]
    )
    values, vectors = np.linalg.eigh(mixture.hessian(stationary))
    saddle = (values[:, 0] < 0) & (values[:, 1] > 0)
    aside = 0.02 * vectors[saddle, :, 0] / np.sqrt(-values[saddle, :1])
    sides = stationary[saddle] + aside, stationary[saddle] - aside
    starts = np.vstack([*sides, _points(axes, f.shape, minima), stationary[values[:, 0] > 0]])
    modes, labels = _polish_minima(mixture, starts)
    n = int(saddle.sum())
    edges = [
        (height, a, b, True)
        for height, a, b in zip(
            -mixture.log_density(stationary[saddle]), labels[:n], labels[n : 2 * n], strict=True
        )
    ]
    lakes = labels[2 * n :]
    edges += [
        (f.ravel()[pixels[i]], lakes[first[i]], lakes[second[i]], False) for i in np.flatnonzero(unpolished)
    ]
    return _kruskal(modes, edges)


def _axes(mixture, n_pixels, margin):
    deviation = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    kept = mixture.weights > 0
    low = (mixture.means - margin * deviation)[kept].min(axis=0)
    high = (mixture.means + margin * deviation)[kept].max(axis=0)
    per_axis = round(n_pixels ** (1 / mixture.n_features))
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
def _neighbour(where, step, shape):
    """Return the number of the pixel one step away, -1 outside the grid."""
    q = 0
    for a in range(shape.size):
        c = where[a] + step[a]
        if not 0 <= c < shape[a]:
            return -1
        q = q * shape[a] + c
    return q


@numba.njit(cache=True)
def _place(pixel, shape, where):
    for a in range(shape.size - 1, -1, -1):
        where[a] = pixel % shape[a]
        pixel //= shape[a]


@numba.njit(cache=True)
def _union_find(f, order, shape, steps):
    """Flood pixels in rising order; return lakes' first pixels, and meetings as (pixel, lake, lake)."""
    parent, lake = np.full(f.size, -1, np.int64), np.full(f.size, -1, np.int64)  # lake: of roots only
    minima, pixels, first, second = [order[0]], [order[0]], [0], [0]
    minima.pop(), pixels.pop(), first.pop(), second.pop()
    where = np.empty(shape.size, np.int64)
    for p in order:
        _place(p, shape, where)
        parent[p] = p
        for s in range(len(steps)):
            q = _neighbour(where, steps[s], shape)
            if q < 0 or parent[q] < 0:
                continue
            ours, theirs = _find(parent, p), _find(parent, q)
            if ours != theirs and lake[ours] >= 0:
                pixels.append(p), first.append(lake[ours]), second.append(lake[theirs])
                if f[minima[lake[ours]]] < f[minima[lake[theirs]]]:
                    lake[theirs] = lake[ours]
            parent[ours] = theirs
        top = _find(parent, p)
        if lake[top] < 0:
            lake[top] = len(minima)
            minima.append(p)
    return np.array(minima), np.array(pixels), np.array(first), np.array(second)


def _polish_minima(mixture, starts):
    """Descend from each start; return distinct modes and the mode of each start."""
    ends = _newton_descent(mixture, starts)
    modes, labels = np.empty((0, mixture.n_features)), np.full(len(ends), -1)
    while np.any(labels < 0):
        seed = np.argmin(labels)
        away = ends - ends[seed]
        squared = np.einsum("nd,de,ne->n", away, mixture.hessian(ends[seed][None])[0], away)
        labels[(labels < 0) & (squared < 1e-6)] = len(modes)
        labels[seed] = len(modes)
        modes = np.vstack([modes, ends[seed]])
    return modes, labels


def _newton_descent(mixture, x):
    """Descend by steps short enough to follow the valley: a twentieth of the size of components there."""
    x, active = np.array(x), np.arange(len(x))
    precisions = np.linalg.inv(mixture.covariances)
    for _ in range(2000):
        gradient, hessian = mixture.gradient(x[active]), mixture.hessian(x[active])
        values, vectors = np.linalg.eigh(hessian)
        along = np.einsum("nij,ni->nj", vectors, gradient)
        curvature = np.maximum(np.abs(values), 1e-8)
        step = -np.einsum("nij,nj->ni", vectors, along / curvature)
        local = np.einsum("nk,kij->nij", mixture.responsibilities(x[active]), precisions)
        length = np.sqrt(np.einsum("ni,nij,nj->n", step, local, step))
        step *= np.minimum(1, 0.05 / (length + 1e-300))[:, None]
        moving = -(gradient * step).sum(axis=1) > 1e-18
        active, step = active[moving], step[moving]
        if not active.size:
            break
        height, size = -mixture.log_density(x[active]), np.ones(len(active))
        for _ in range(30):
            higher = -mixture.log_density(x[active] + size[:, None] * step) > height
            if not higher.any():
                break
            size[higher] /= 2
        x[active] += np.where(higher, 0, size)[:, None] * step
        active = active[~higher]
    return x


def _polish_saddle(mixture, x, pitch):
    """Return the saddle within a few pixels of x, or None."""
    found = root(
        lambda y: mixture.gradient((x + y * pitch)[None])[0] * pitch,
        np.zeros(len(x)),
        jac=lambda y: mixture.hessian((x + y * pitch)[None])[0] * pitch[:, None] * pitch,
        tol=1e-13,
    )
    y = x + found.x * pitch
    values = np.linalg.eigvalsh(mixture.hessian(y[None])[0] * pitch[:, None] * pitch)
    near, flat = np.abs(found.x).max() < 4, np.abs(mixture.gradient(y[None])[0] * pitch).max() < 1e-7
    return y if near and flat and (values < 0).sum() == 1 else None


def _kruskal(modes, edges):
    """Join modes over polished edges, lowest first, and only then over what could not be polished."""
    group, heights, sure = np.arange(len(modes)), [], True
    for height, a, b, ok in sorted(edges, key=lambda edge: (not edge[3], edge[0])):
        if group[a] != group[b]:
            group[group == group[b]] = group[a]
            heights.append(height)
            sure = sure and ok
    return OracleTree(modes, np.sort(heights), sure)


def _critical_points(mixture, axes, known):
    """Return critical points: those known, and where Newton's method all over grids comes to rest."""
    pitch = np.array([axis[1] - axis[0] for axis in axes])
    coarse = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    short = coarse[np.abs(_newton_step(mixture, coarse) / pitch).max(axis=1) < 2]
    starts = np.vstack([short, _around_components(mixture), *known])
    return _distinct(mixture, _newton(mixture, starts))


def _newton(mixture, x, most=40):
    """Return where Newton's method, with steps of limited length, comes to rest."""
    active = np.arange(len(x))
    for _ in range(most):
        hessian = mixture.hessian(x[active])
        step = _newton_step(mixture, x[active], hessian)
        length = np.sqrt(np.abs(np.einsum("nd,nde,ne->n", step, np.abs(hessian), step)))
        x[active] += step / np.maximum(1, length / 0.5)[:, None]
        active = active[length > 1e-9]
    return np.delete(x, active, axis=0)


def _around_components(mixture, reach=8.0):
    ticks = np.linspace(-reach, reach, 25 if mixture.n_features < 3 else 15)
    unit = np.stack([g.ravel() for g in np.meshgrid(*[ticks] * mixture.n_features, indexing="ij")], axis=1)
    kept = np.flatnonzero(mixture.weights > 0)
    return np.vstack([mixture.means[k] + unit @ np.linalg.cholesky(mixture.covariances[k]).T for k in kept])


def _newton_step(mixture, x, hessian=None):
    hessian = mixture.hessian(x) if hessian is None else hessian
    regular = hessian + 1e-12 * np.eye(x.shape[1])
    return -np.linalg.solve(regular, mixture.gradient(x)[..., None])[..., 0]


def _distinct(mixture, x):
    """Return one of each group of points that agree to a millionth of the whole extent."""
    extent = np.ptp(mixture.means, axis=0) + np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2)).max(
        axis=0
    )
    x = x[np.unique(np.round(x / extent, 9), axis=0, return_index=True)[1]]
    tree = cKDTree(x / extent)
    kept = [i for i, near in enumerate(tree.query_ball_point(x / extent, 1e-6)) if min(near) == i]
    return x[kept]
