"""Sums over parts of the snapshots, counted from the mean over all, and their resampling."""

from __future__ import annotations

from timme_next._kernels import compiled

_BESIDE = 16  # pairs whose rows are filled together, so that whole lines of the cache are read


@compiled
def centre(start, stop, means, squares, weights, first, second, seen):
    """Turn moments (parts, pairs) of some pairs into sums (pairs, parts) about the common mean.

    Moments are means, sums of squares about them and weights, which have one column where they are
    equal for all pairs; sums are those of deviations, of their squares, and weights, which have no
    columns then.
    """
    n_parts = len(means)
    for begin in range(start, stop, _BESIDE):
        for p in range(begin, min(begin + _BESIDE, stop)):
            column, total, whole = p if seen.shape[1] > 0 else 0, 0.0, 1e-300
            for k in range(n_parts):
                total += weights[k, column] * means[k, p]
                whole += weights[k, column]
            for k in range(n_parts):
                shift, weight = means[k, p] - total / whole, weights[k, column]
                first[p, k] = weight * shift
                second[p, k] = squares[k, p] + weight * shift * shift
                if seen.shape[1] > 0:
                    seen[p, k] = weight


@compiled(fastmath={"contract"})
def multiply(rows, counts, products):
    """Multiply (rows, parts) by (parts, draws), adding up in one order wherever it is done.

    Libraries add in an order that depends on the number of rows and threads.
    """
    n_parts, n_draws = counts.shape
    whole = n_parts - n_parts % 4
    for p in range(len(rows)):
        for d in range(n_draws):
            products[p, d] = 0.0
        for k in range(0, whole, 4):  # four at a time: each time, products are read and written
            one, two, three, four = rows[p, k], rows[p, k + 1], rows[p, k + 2], rows[p, k + 3]
            for d in range(n_draws):
                products[p, d] += (one * counts[k, d] + two * counts[k + 1, d]) + (
                    three * counts[k + 2, d] + four * counts[k + 3, d]
                )
        for k in range(whole, n_parts):
            for d in range(n_draws):
                products[p, d] += rows[p, k] * counts[k, d]
