"""Series with slow and white noise made white, for many guesses of how slow the noise is.

Slow noise of variance 1 − r that keeps φ of itself from one snapshot to the next, and white noise
of variance r on top: what is known of the slow part is carried from snapshot to snapshot (Kalman),
and what each snapshot adds is independent of all before it.
"""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled


@compiled
def whiten(series, lever, begins, kept, white, products, logarithms, tilts):
    """Sum products of series made white; sum what such noise adds to a lever times it.

    Of ``series`` (snapshots, columns), runs begin where ``begins`` says so; ``kept`` and ``white``
    (guesses,) are φ and r. Filled are, by guess, ``products`` (guesses, columns, columns), the
    ``logarithms`` of the determinant of the covariance C, and ``tilts``, l C l of the ``lever``
    l (snapshots,).
    """
    n_snapshots, n_columns = series.shape
    expected, innovation = np.empty(n_columns), np.empty(n_columns)
    for guess in range(len(kept)):
        phi, share = kept[guess], white[guess]
        products[guess] = 0.0
        logarithm, tilt, doubt, behind = 0.0, 0.0, 0.0, 0.0
        for t in range(n_snapshots):
            if begins[t]:
                expected[:] = 0.0
                doubt, behind = 1.0 - share, 0.0
            variance = doubt + share
            logarithm += np.log(variance)
            gain = doubt / variance
            for i in range(n_columns):
                innovation[i] = series[t, i] - expected[i]
                for j in range(i + 1):
                    products[guess, i, j] += innovation[i] * innovation[j] / variance
            for i in range(n_columns):
                expected[i] = phi * (expected[i] + gain * innovation[i])
            doubt = phi * phi * doubt * (1.0 - gain) + (1.0 - phi * phi) * (1.0 - share)
            tilt += lever[t] * (lever[t] + 2.0 * (1.0 - share) * behind)
            behind = phi * (behind + lever[t])
        for i in range(n_columns):
            for j in range(i):
                products[guess, j, i] = products[guess, i, j]
        logarithms[guess], tilts[guess] = logarithm, tilt
