"""Fit the motion of each site to σ² of pairs: σ² ≈ s² of one + s² of the other, none below 0."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

_AT_A_TIME = 16  # pairs: so many numbers of double precision are two lines of the cache


@compiled
def fit_sites(begins, partners, rows, squares, start, n_sweeps):
    """Sweep over the sites: each takes what its pairs leave for it on average, but no less than 0.

    From ``begins`` of it on are the ``partners`` of a site, and in which of the ``rows`` σ² of the
    pair is, each pair twice; ``squares`` is (draws, pairs). This descends, coordinate by
    coordinate, to the least sum of squares of what is left, for each draw from the same start.
    """
    found = np.empty((len(squares), len(start)))
    for draw in range(len(squares)):
        sites = found[draw]
        sites[:] = start
        for _ in range(n_sweeps):
            moved = 0.0
            for site in range(len(sites)):
                begin, end = begins[site], begins[site + 1]
                if begin == end:
                    continue
                total = 0.0
                for k in range(begin, end):
                    total += squares[draw, rows[k]] - sites[partners[k]]
                best = max(total / (end - begin), 0.0)
                moved = max(moved, abs(best - sites[site]))
                sites[site] = best
            if moved <= 1e-9 * np.max(sites):
                break
    return found


@compiled
def square_draws(sigma, squares):
    """Fill in σ² of each draw in double precision, 0 where σ is unknown.

    ``sigma`` is (pairs, draws) in single precision, and ``squares`` (draws, pairs). A few pairs at
    a time, so that neither the rows that are read nor those that are written leave the cache.
    """
    n_pairs, n_draws = sigma.shape
    for begin in range(0, n_pairs, _AT_A_TIME):
        end = min(begin + _AT_A_TIME, n_pairs)
        for draw in range(n_draws):
            for pair in range(begin, end):
                value = np.float64(sigma[pair, draw])
                squares[draw, pair] = value * value if np.isfinite(value) else 0.0


@compiled
def median_ratios(squares, first, second, sites):
    """Medians over pairs, draw by draw, of σ² over what the motion of both sites adds up to.

    ``squares`` is (draws, pairs) and ``sites`` (draws, sites); a ratio to nothing is infinite. One
    draw after another, so that the ratios stay in the cache.
    """
    medians = np.empty(len(squares))
    ratios = np.empty(len(first))
    for draw in range(len(squares)):
        for k in range(len(first)):
            explained = sites[draw, first[k]] + sites[draw, second[k]]
            ratios[k] = squares[draw, k] / explained if explained > 0.0 else np.inf
        medians[draw] = np.median(ratios)
    return medians
