"""Compiled k-means: starts by k-means++, and Lloyd's iterations.

Points are stored one column after the other, so that the innermost loops run over points and vectorise.
Columns, and centres, are padded to whole groups of four: a group of four centres is compared by 4 x 4 blocks
that stay in registers. Distances to compare leave out |x|^2, which is the same for all centres.

Compiled functions call those of their own file only, because numba's cache notices changes per file.
"""

import numpy as np
import numpy.typing as npt

from dpmorse._compile import compiled, compiled_reordered
from dpmorse.typing import FloatArray

BLOCK = 256
"""Points in a block: their scores and labels stay in the first-level cache."""

Labels = npt.NDArray[np.int64]


@compiled_reordered
def seed(columns: FloatArray, weights: FloatArray, uniforms: FloatArray, centres: FloatArray) -> None:
    """Choose centres among the points by k-means++; write them.

    A row of ``uniforms`` chooses candidates for one centre, of which that with the lowest inertia is taken.
    """
    n, n_trials = weights.shape[0], uniforms.shape[1]
    nearest, cumulated, distances, best = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    nearest[:] = np.inf
    for k in range(uniforms.shape[0]):
        _cumulate(weights, nearest, cumulated, first=k == 0)
        chosen, lowest = 0, np.inf
        for trial in range(n_trials if k else 1):
            candidate = _first_above(cumulated, uniforms[k, trial] * cumulated[n - 1])
            inertia = _try_centre(columns, weights, candidate, nearest, distances)
            if trial == 0 or inertia < lowest:
                chosen, lowest = candidate, inertia
                best, distances = distances, best
        nearest, best = best, nearest
        for j in range(columns.shape[0]):
            centres[k, j] = columns[j, chosen]


@compiled
def _cumulate(weights: FloatArray, nearest: FloatArray, cumulated: FloatArray, first: bool) -> None:
    """Add up the chances of points: their weights at first, then times the squared distance to a centre."""
    total = 0.0
    for r in range(weights.shape[0]):
        total += weights[r] if first else weights[r] * nearest[r]
        cumulated[r] = total


@compiled
def _first_above(ascending: FloatArray, value: float) -> int:
    """Return the first place of a larger number, or the last place: ``np.searchsorted`` compiles for long."""
    low, high = 0, ascending.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@compiled_reordered
def _try_centre(
    columns: FloatArray, weights: FloatArray, candidate: int, nearest: FloatArray, distances: FloatArray
) -> float:
    """Write squared distances to the nearest centre if a point became one; return the inertia."""
    distances[:] = 0.0
    for j in range(0, columns.shape[0], 4):
        x0, x1, x2, x3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        c0, c1, c2, c3 = x0[candidate], x1[candidate], x2[candidate], x3[candidate]
        for r in range(distances.shape[0]):
            a, b, c, d = x0[r] - c0, x1[r] - c1, x2[r] - c2, x3[r] - c3
            distances[r] += a * a + b * b + c * c + d * d
    inertia = 0.0
    for r in range(distances.shape[0]):
        distances[r] = min(distances[r], nearest[r])
        inertia += weights[r] * distances[r]
    return inertia


@compiled
def lloyd(
    columns: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    n_centres: int,
    most_rounds: int,
    tolerance: float,
    labels: Labels,
) -> float:
    """Move centres to the means of their points until hardly anything moves; return the inertia.

    Rows of ``centres`` from ``n_centres`` on are padding.
    """
    masses, sums = np.empty(n_centres), np.empty((n_centres, columns.shape[0]))
    lowest = np.empty(columns.shape[1])
    _assign(columns, centres, n_centres, labels, lowest)
    for _ in range(most_rounds):
        _add_up(columns, weights, labels, masses, sums)
        moved = _move(columns, weights, labels, masses, sums, centres)
        changed = _assign(columns, centres, n_centres, labels, lowest)
        if changed == 0 or moved <= tolerance:
            break
    inertia = 0.0
    for r in range(labels.shape[0]):
        inertia += weights[r] * _squared_distance(columns, r, centres[labels[r]])
    return inertia


@compiled
def _assign(
    columns: FloatArray, centres: FloatArray, n_centres: int, labels: Labels, lowest: FloatArray
) -> int:
    """Give each point the label of its nearest centre; return how many have changed."""
    constants = np.empty(centres.shape[0])
    constants[:] = np.inf
    for k in range(n_centres):
        constants[k] = 0.0
        for j in range(centres.shape[1]):
            constants[k] += centres[k, j] ** 2 / 2
    scores, found = np.empty((4, BLOCK)), np.empty(BLOCK, np.int64)
    n, changed = labels.shape[0], 0
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        best = lowest[begin:end]
        best[:] = np.inf
        found[:] = 0
        for k in range(0, centres.shape[0], 4):
            _scores_of_four(columns, begin, end, centres, constants, k, scores)
            _keep_nearest(scores, k, best, found)
        for r in range(end - begin):
            changed += found[r] != labels[begin + r]
            labels[begin + r] = found[r]
    return changed


@compiled_reordered
def _scores_of_four(
    columns: FloatArray,
    begin: int,
    end: int,
    centres: FloatArray,
    constants: FloatArray,
    k: int,
    scores: FloatArray,
) -> None:
    """Write |c|^2 / 2 - c x for centres k..k+3."""
    n = end - begin
    s0, s1, s2, s3 = scores[0][:n], scores[1][:n], scores[2][:n], scores[3][:n]
    s0[:], s1[:], s2[:], s3[:] = constants[k], constants[k + 1], constants[k + 2], constants[k + 3]
    first, second, third, fourth = centres[k], centres[k + 1], centres[k + 2], centres[k + 3]
    for j in range(0, columns.shape[0], 4):
        x0, x1 = columns[j][begin:end], columns[j + 1][begin:end]
        x2, x3 = columns[j + 2][begin:end], columns[j + 3][begin:end]
        c00, c01, c02, c03 = first[j], first[j + 1], first[j + 2], first[j + 3]
        c10, c11, c12, c13 = second[j], second[j + 1], second[j + 2], second[j + 3]
        c20, c21, c22, c23 = third[j], third[j + 1], third[j + 2], third[j + 3]
        c30, c31, c32, c33 = fourth[j], fourth[j + 1], fourth[j + 2], fourth[j + 3]
        for r in range(n):
            a, b, d, e = x0[r], x1[r], x2[r], x3[r]
            s0[r] -= c00 * a + c01 * b + c02 * d + c03 * e
            s1[r] -= c10 * a + c11 * b + c12 * d + c13 * e
            s2[r] -= c20 * a + c21 * b + c22 * d + c23 * e
            s3[r] -= c30 * a + c31 * b + c32 * d + c33 * e


@compiled
def _keep_nearest(scores: FloatArray, k: int, best: FloatArray, found: Labels) -> None:
    """Let centres k..k+3 win where they are strictly nearer than those before them."""
    s0, s1, s2, s3 = scores[0], scores[1], scores[2], scores[3]
    for r in range(best.shape[0]):
        # Selections instead of branches, so that the loop vectorises.
        low01, low23 = min(s0[r], s1[r]), min(s2[r], s3[r])
        label01, label23 = k + (s1[r] < s0[r]), k + 2 + (s3[r] < s2[r])
        low, label = min(low01, low23), label23 if low23 < low01 else label01
        found[r] = label if low < best[r] else found[r]
        best[r] = min(low, best[r])


@compiled
def _add_up(
    columns: FloatArray, weights: FloatArray, labels: Labels, masses: FloatArray, sums: FloatArray
) -> None:
    """Write the weight of each cluster and the weighted sum of its points."""
    masses[:] = 0.0
    sums[:] = 0.0
    for r in range(labels.shape[0]):
        masses[labels[r]] += weights[r]
        for j in range(columns.shape[0]):
            sums[labels[r], j] += weights[r] * columns[j, r]


@compiled
def _move(
    columns: FloatArray,
    weights: FloatArray,
    labels: Labels,
    masses: FloatArray,
    sums: FloatArray,
    centres: FloatArray,
) -> float:
    """Move each centre to its mean, or to the point farthest from its own where it has none.

    Return the sum of squared steps.
    """
    for k in range(masses.shape[0]):
        if masses[k] <= 0:
            farthest = _farthest(columns, weights, centres, labels)
            labels[farthest], masses[k] = -1, 1.0  # not taken twice, and not settled
            for j in range(columns.shape[0]):
                sums[k, j] = columns[j, farthest]
    moved = 0.0
    for k in range(masses.shape[0]):
        for j in range(columns.shape[0]):
            mean = sums[k, j] / masses[k]
            moved += (mean - centres[k, j]) ** 2
            centres[k, j] = mean
    return moved


@compiled
def _farthest(columns: FloatArray, weights: FloatArray, centres: FloatArray, labels: Labels) -> int:
    """Return the point that adds most to the inertia; those with label -1 add nothing."""
    farthest, most = 0, -1.0
    for r in range(labels.shape[0]):
        if labels[r] < 0:
            continue
        part = weights[r] * _squared_distance(columns, r, centres[labels[r]])
        if part > most:
            farthest, most = r, part
    return farthest


@compiled
def _squared_distance(columns: FloatArray, r: int, centre: FloatArray) -> float:
    total = 0.0
    for j in range(columns.shape[0]):
        total += (columns[j, r] - centre[j]) ** 2
    return total
