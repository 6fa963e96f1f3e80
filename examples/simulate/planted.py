"""Make systems whose clusters are known: a rigid cluster in two pieces, points in 50 dimensions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from runs import describe, options, record, write

import timme

SITES = (3, 3, 10)  # parts, parts of each, points of each of these
MOTIONS = (1.0, 0.3, 0.05)  # by which parts of each level are displaced


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    record(chosen.folder, {"seed": chosen.seed, "short": chosen.short}, ("numpy", "pytimme"))
    pieces = timme.synthetic.noncontiguous(n_fluid=20 if chosen.short else 60, seed=chosen.seed)
    keep(chosen.folder / "noncontiguous", pieces, measure_pieces(pieces))
    sites = (3, 3, 4) if chosen.short else SITES
    points = timme.synthetic.planted(sites, motions=MOTIONS, n_dimensions=50, seed=chosen.seed)
    keep(chosen.folder / "fifty_dimensions", points, measure_points(points))


def keep(path: Path, made: timme.synthetic.Planted, measured: dict[str, Any]) -> None:
    """Write places, and the answer: the cluster of every site, at each level."""
    file = path.with_suffix(".npz")
    places = made.ensemble.block(0).coordinates.astype(np.float32)
    write(file, positions=places, clusters=made.labels)
    describe(path, "planted.py", [file.name], measured)


def measure_pieces(made: timme.synthetic.Planted) -> dict[str, Any]:
    """How far two plates of ten sites move against one another, and all else against both."""
    sigma = every_sigma(made.ensemble)
    upper, lower, rest = slice(0, 10), slice(10, 20), slice(20, None)
    return {
        "sigma_within_a_piece_largest": float(max(sigma[s, s].max() for s in (upper, lower))),
        "sigma_between_the_pieces_largest": float(sigma[upper, lower].max()),
        "sigma_to_what_is_between_smallest": float(sigma[:20, rest].min()),
    }


def measure_points(made: timme.synthetic.Planted) -> dict[str, Any]:
    """σ of points of one part and of two, which grows with the motions of each level.

    Where motions are small beside distances it is √2 times the motion: 0.07 at the finest level.
    """
    sigma = every_sigma(made.ensemble)
    coarse, fine = made.labels[:, :, None] == made.labels[:, None]
    apart = ~np.eye(len(sigma), dtype=bool)
    return {
        "sigma_mean_within_parts_of_parts": float(sigma[fine & apart].mean()),
        "sigma_mean_within_parts": float(sigma[coarse & ~fine].mean()),
        "sigma_mean_between_parts": float(sigma[~coarse].mean()),
    }


def every_sigma(ensemble: timme.Ensemble) -> np.ndarray:
    """Fluctuations of all distances, as a symmetric matrix; 0 of a site with itself."""
    points = timme.objects.points(ensemble)
    found = timme.measure(points, timme.pairs.all(points))
    matrix = np.zeros((ensemble.n_sites, ensemble.n_sites))
    first, second = found.pairs.T
    matrix[first, second] = matrix[second, first] = found.sigma
    return matrix


if __name__ == "__main__":
    main(sys.argv[1:])
