"""What chance would do: tracks that are shifted in time against one another have nothing in common.

In the laboratory frame, each track's displacements shifted circularly by a random time are those of
an independent walker with the same statistics. Clusters that such walkers form, they form by
chance: a band beside P(r ≥ R), and the largest cluster by chance, in a sentence. It is never a
verdict; and for molecules, whose atoms are bonded, it would say nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.confidence.findings import NullBand
from timme.fluctuations.sigma import NoiseVariance
from timme.fluctuations.sums import sum_parts
from timme.hierarchy.linkages import Linkage, grow_by
from timme.objects import points
from timme.settings.values import LARGE
from timme.statistics import curves
from timme.system.ensemble import Ensemble

_N_DRAWS = 20
_N_CUTOFFS = 200


def null_band(  # noqa: PLR0913, what walked, and how it is counted
    ensemble: Ensemble,
    pairs: Ints,
    cutoffs: Floats | None = None,
    *,
    large: int = LARGE,
    n_draws: int = _N_DRAWS,
    linkage: Linkage = "single",
    noise: NoiseVariance | None = None,
    seed: int = 0,
) -> NullBand:
    """Link walkers that have nothing in common but their steps.

    Parameters
    ----------
    ensemble : Ensemble
        Tracks of particles, in memory, seen in every snapshot.
    pairs : ndarray of int, shape (pairs, 2)
        Who was compared with whom.
    cutoffs : ndarray, optional
        Where to count; evenly between nothing and the largest σ by default.
    large : int, optional
        The R of P(r ≥ R).
    n_draws : int, optional
        How many times tracks are shifted.
    linkage : {"single", "braced", "average"}, optional
        How pairs were joined: walkers are joined alike.
    noise : callable, optional
        What errors of positions add to σ² of pairs, which is taken off: walkers have them, too.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    NullBand
        Of P(r ≥ R), and of the largest cluster.
    """
    if ensemble.gaps:
        raise ValueError("walkers by chance need tracks without gaps: select those seen throughout")
    if ensemble.n_snapshots < 3:
        raise ValueError(f"walkers by chance need at least 3 snapshots, got {ensemble.n_snapshots}")
    rng = np.random.default_rng(seed)
    places = np.asarray(ensemble.coordinates(), np.float64)
    box = None if ensemble.snapshot(0)[1] is None else ensemble.block(0).boxes
    errors = None if noise is None else noise(pairs)
    drawn = [_sigma_of(_shift_steps(places, rng), box, pairs, errors) for _ in range(n_draws)]
    top = max(float(sigma.max(initial=0.0)) for sigma in drawn)
    grid = np.linspace(0.0, top, _N_CUTOFFS) if cutoffs is None else np.asarray(cutoffs)
    counted = [
        curves(tree, large=large, sizes=(), cutoffs=grid)
        for tree in (grow_by(linkage, places.shape[1], pairs, sigma) for sigma in drawn)
    ]
    fractions = np.stack([each.large_fraction for each in counted])
    low, high = np.percentile(fractions, [5, 95], axis=0)
    largest = np.stack([each.largest for each in counted])
    return NullBand(frozen(grid), frozen(low), frozen(high), frozen(largest))


def _shift_steps(places: Floats, rng: np.random.Generator) -> Floats:
    """Walk from the same first places by the same steps, each track from another time on."""
    steps = np.diff(places, axis=0)
    times = np.arange(len(steps))[:, None] - rng.integers(len(steps), size=places.shape[1])
    walked: Floats = np.empty_like(places)
    walked[0] = places[0]
    walked[1:] = np.take_along_axis(steps, (times % len(steps))[:, :, None], axis=0)
    return np.cumsum(walked, axis=0, out=walked)


def _sigma_of(places: Floats, boxes: Floats | None, pairs: Ints, errors: Floats | None) -> Floats:
    made = points(Ensemble.from_array(places, boxes=None if boxes is None else boxes[0]))
    sums = replace(sum_parts(made, pairs, [range(len(places))]), noise=errors)
    return sums.sigma([[1]])[:, 0].astype(np.float64)
