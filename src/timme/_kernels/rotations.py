"""Nearest rotations of many matrices of 3 × 3, and the rest of unions of rigid bodies.

A matrix with a positive determinant is H = R P with a symmetric P. Newton's iteration
H ← (H + H⁻ᵀ)/2 converges to R and doubles the digits in each step (Higham 1986). It is slow, or
ends at a reflection, where the determinant is not clearly positive: those matrices are left to
singular values.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

FLAT = 1e-4  # determinant over the third power of the size, below which steps are slow


@compiled
def to_rotation(m, out):
    """Fill the rotation nearest to nine numbers; return whether it was found."""
    size = 0.0
    for k in range(9):
        size += m[k] * m[k]
    if size == 0.0:
        return False
    size = np.sqrt(size / 3.0)
    a0, a1, a2 = m[0] / size, m[1] / size, m[2] / size
    a3, a4, a5 = m[3] / size, m[4] / size, m[5] / size
    a6, a7, a8 = m[6] / size, m[7] / size, m[8] / size
    for step in range(40):
        c0, c1, c2 = a4 * a8 - a5 * a7, a5 * a6 - a3 * a8, a3 * a7 - a4 * a6
        c3, c4, c5 = a2 * a7 - a1 * a8, a0 * a8 - a2 * a6, a1 * a6 - a0 * a7
        c6, c7, c8 = a1 * a5 - a2 * a4, a2 * a3 - a0 * a5, a0 * a4 - a1 * a3
        determinant = a0 * c0 + a1 * c1 + a2 * c2
        if step == 0 and determinant <= FLAT:
            return False
        inverse = 1.0 / determinant
        scale = 1.0
        if step < 4:  # brings singular values together, for which plain steps take long
            above = c0 * c0 + c1 * c1 + c2 * c2 + c3 * c3 + c4 * c4 + c5 * c5
            above += c6 * c6 + c7 * c7 + c8 * c8
            below = a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3 + a4 * a4 + a5 * a5
            below += a6 * a6 + a7 * a7 + a8 * a8
            scale = np.sqrt(np.sqrt(above * inverse * inverse / below))
        own, other = 0.5 * scale, 0.5 * inverse / scale
        b0, b1, b2 = own * a0 + other * c0, own * a1 + other * c1, own * a2 + other * c2
        b3, b4, b5 = own * a3 + other * c3, own * a4 + other * c4, own * a5 + other * c5
        b6, b7, b8 = own * a6 + other * c6, own * a7 + other * c7, own * a8 + other * c8
        moved = abs(b0 - a0) + abs(b1 - a1) + abs(b2 - a2) + abs(b3 - a3) + abs(b4 - a4)
        moved += abs(b5 - a5) + abs(b6 - a6) + abs(b7 - a7) + abs(b8 - a8)
        a0, a1, a2, a3, a4, a5, a6, a7, a8 = b0, b1, b2, b3, b4, b5, b6, b7, b8
        if moved < 1e-8:  # the next step is below rounding
            break
    out[0], out[1], out[2] = a0, a1, a2
    out[3], out[4], out[5] = a3, a4, a5
    out[6], out[7], out[8] = a6, a7, a8
    return True


@compiled
def to_rotations(matrices, found, known):
    """Fill the rotations nearest to matrices (matrices, 9), and which were found."""
    for k in range(len(matrices)):
        known[k] = to_rotation(matrices[k], found[k])


@compiled
def average(moments, rotations, vectors, ends, turns, reduced, means, mean_vector):
    """Fill mean rotations times moments and the mean vector of a union; return its squares."""
    means[:] = 0.0
    mean_vector[:] = 0.0
    for t in range(len(turns)):
        for i in range(3):
            for k in range(3):
                mean_vector[i] += turns[t, 3 * k + i] * vectors[t, k]
            for end in range(2):
                for j in range(3):
                    value = 0.0
                    for k in range(3):
                        value += turns[t, 3 * k + i] * rotations[ends[end], t, 3 * k + j]
                    means[end, 3 * i + j] += value
    kept = 0.0
    for i in range(3):
        mean_vector[i] /= len(turns)
        kept += reduced * mean_vector[i] ** 2
    for end in range(2):
        mean = means[end] / len(turns)
        for i in range(3):
            for j in range(3):
                value = 0.0
                for k in range(3):
                    value += moments[ends[end], 3 * j + k] * mean[3 * i + k]
                kept += mean[3 * i + j] * value
                means[end, 3 * i + j] = value
    return kept


@compiled
def turn_union(rotations, vectors, ends, turns, reduced, means, mean_vector):
    """Fill the rotations of a union that fit its mean shape best, where they are clear."""
    product = np.empty(9)
    for t in range(len(turns)):
        for i in range(3):
            for j in range(3):
                value = reduced * vectors[t, i] * mean_vector[j]
                for end in range(2):
                    for k in range(3):
                        value += rotations[ends[end], t, 3 * i + k] * means[end, 3 * j + k]
                product[3 * i + j] = value
        to_rotation(product, turns[t])


@compiled
def unite(sizes, moments, rotations, centres, pairs, steps, grown, union):
    """Fill how much the rest grows if two bodies become one, and the rotations of the union.

    ``rotations`` (bodies, snapshots, 9) and ``centres`` (bodies, snapshots, 3) are poses,
    ``moments`` (bodies, 9) sums of x xᵀ. ``grown`` (pairs,) and ``union`` (pairs, snapshots, 9) are
    filled. Bodies are taken to be rigid: what moves within them is the same before and after.
    """
    means, mean_vector = np.empty((2, 9)), np.empty(3)
    for p in range(len(pairs)):
        ends, turns = pairs[p], union[p]
        larger = ends[0] if sizes[ends[0]] >= sizes[ends[1]] else ends[1]
        turns[:] = rotations[larger]
        vectors = centres[ends[0]] - centres[ends[1]]
        reduced = sizes[ends[0]] * sizes[ends[1]] / (sizes[ends[0]] + sizes[ends[1]])
        total = 0.0
        for t in range(len(turns)):
            for k in range(3):
                total += reduced * vectors[t, k] ** 2
        for end in ends:
            for k in range(3):
                total += len(turns) * moments[end, 4 * k]
        last = np.inf
        for step in range(steps + 1):
            kept = average(moments, rotations, vectors, ends, turns, reduced, means, mean_vector)
            grown[p] = max(total - len(turns) * kept, 0.0)
            if step == steps or last - grown[p] <= 1e-4 * grown[p]:
                break
            last = grown[p]
            turn_union(rotations, vectors, ends, turns, reduced, means, mean_vector)
