"""Resampling of sums over parts of the snapshots."""

from __future__ import annotations

from timme._kernels import compiled


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
