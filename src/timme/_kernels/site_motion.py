"""Motion of single sites that explains σ² of pairs: σ² ≈ s² of one site + s² of the other."""

from __future__ import annotations

import numpy as np

from timme._kernels import compiled

_STILL = 1e-9  # of the largest s², below which sweeps change nothing any more


@compiled
def fit_sites(begins, partners, rows, squares, start, n_sweeps):
    """Fit s² of all sites, none below 0, to σ² of pairs for each draw, by least squares.

    The pairs of site ``i``, each listed for both of its sites, are at ``begins[i]:begins[i + 1]``:
    their other sites are ``partners``, and ``rows`` are their columns in ``squares`` (draws,
    pairs). From ``start``, each site in turn takes what its pairs leave for it on average, up to
    ``n_sweeps`` times. Returned is s² (draws, sites).
    """
    found = np.empty((len(squares), len(start)))
    for draw in range(len(squares)):
        sites = found[draw]
        sites[:] = start
        for _ in range(n_sweeps):
            moved = 0.0
            for site in range(len(sites)):
                begin, end = begins[site], begins[site + 1]
                total = 0.0
                for k in range(begin, end):
                    total += squares[draw, rows[k]] - sites[partners[k]]
                if end > begin:
                    best = max(total / (end - begin), 0.0)
                    moved = max(moved, abs(best - sites[site]))
                    sites[site] = best
            if moved <= _STILL * np.max(sites):
                break
    return found
