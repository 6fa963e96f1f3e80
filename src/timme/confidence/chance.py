"""Chance level: clusters of independent walkers with the same steps.

The steps of each track, shifted circularly by a random time, are those of an independent walker.
Clusters of such walkers form by chance. Shifting keeps the net displacement of each track, so
tracks of steady drift or of few steps look alike by chance; their chance level cannot be estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.confidence.bootstrap import Compared
from timme.ensemble import Ensemble
from timme.ensemble.frames import ArraySource, Frames
from timme.ensemble.unwrapping import molecules_of
from timme.hierarchy.condensed import Lineage, lineages
from timme.hierarchy.curves import LARGE, count_clusters
from timme.objects import points

N_DRAWS, _N_CUTOFFS = 20, 200
STEADY = 0.5  # squared net displacement, of that in a straight line: 1/n for n independent steps


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """Clusters of independent walkers."""

    cutoffs: Floats  # (cutoffs,)
    low: Floats  # (cutoffs,), P(r ≥ R): 5 % of draws are below
    high: Floats  # (cutoffs,), and 5 % above
    largest: Ints  # (draws, cutoffs), sites of the largest cluster
    overlaps: Floats  # (groups,), mean best Jaccard overlap at the middle of each plateau
    width: float  # log of the widest range over which a cluster of any draw stays the same
    drift: float  # median over tracks of net displacement² / (n Σ step²), 1 for a straight line

    @property
    def is_meaningful(self) -> bool:
        """Whether tracks are so irregular that shifting them makes walkers independent."""
        return self.drift <= STEADY


def compare_with_chance(
    compared: Compared,
    cutoffs: Floats | None = None,
    *,
    groups: Sequence[Lineage] = (),
    large: int = LARGE,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Chance:
    """Link independent walkers as the particles of an ensemble were linked.

    Parameters
    ----------
    compared : Compared
        Points, in boxes or with gaps, but no molecules, seen in at least 3 snapshots.
    cutoffs : ndarray, optional
        Where clusters are counted; evenly between 0 and the largest σ by default.
    groups : sequence of Lineage, optional
        Groups whose overlap with clusters of walkers is measured.
    large : int, optional
        The R of P(r ≥ R).
    n_draws, seed : int, optional
        Number of draws, and seed of the random numbers.

    Returns
    -------
    Chance
        Of all draws.
    """
    objects, rng = compared.objects, np.random.default_rng(seed)
    if not objects.are_points:
        raise ValueError(f"independent walkers need points, or centres, got {objects.kind}")
    ensemble, pairs = objects.centres(), compared.sigma.pairs
    drawn = (points(walkers(ensemble, seed=rng)) for _ in range(n_draws))
    trees = [compared.link(compared.measure(made, pairs)) for made in drawn]
    top = max(float(tree.heights.max(initial=0.0)) for tree in trees)
    grid = np.linspace(0.0, top, _N_CUTOFFS) if cutoffs is None else np.asarray(cutoffs)
    counted = [count_clusters(tree, large=large, sizes=(), cutoffs=grid) for tree in trees]
    low, high = np.percentile([each.large_fraction for each in counted], [5, 95], axis=0)
    overlaps = np.zeros(len(groups))
    for place, group in enumerate(groups):
        middle = np.sqrt(group.low * group.high) if np.isfinite(group.high) else group.low
        for tree in trees:
            labels = tree.cut(middle).labels
            shared, sizes = np.bincount(labels[group.sites]), np.bincount(labels)
            together = shared / (len(group.sites) + sizes[: len(shared)] - shared)
            overlaps[place] += together.max() / n_draws
    largest = np.stack([each.largest for each in counted])
    counts = frozen(grid), frozen(low), frozen(high), frozen(largest)
    lines = (line for tree in trees for line in lineages(tree, min_size=large))
    width = max((line.width for line in lines if np.isfinite(line.width)), default=np.nan)
    return Chance(*counts, frozen(overlaps), width, _drift(ensemble))


def walkers(ensemble: Ensemble, *, seed: int | np.random.Generator = 0) -> Ensemble:
    """Return the same tracks with steps shifted in time, by another random time each.

    Steps are those between the snapshots in which a particle is seen, within one run; a walker is
    seen when its particle is.
    """
    needs = f"{ensemble.prefix}independent walkers need"
    if len(np.unique(molecules_of(ensemble))) < ensemble.n_sites:
        raise ValueError(f"{needs} particles, got molecules of several sites: select one of each")
    if ensemble.n_snapshots < 3:
        raise ValueError(f"{needs} at least 3 snapshots, got {ensemble.n_snapshots}")
    rng, unwrapped = np.random.default_rng(seed), ensemble.unwrapped()
    places, boxes = unwrapped.frames.read(0, ensemble.n_snapshots)
    walked = places.astype(np.float64)
    for run in np.split(walked, np.cumsum(ensemble.replicas)[:-1]):
        seen = np.isfinite(run).all(axis=2)
        n_steps = np.maximum(np.count_nonzero(seen, axis=0) - 1, 1)
        order = np.argsort(~seen, axis=0, kind="stable")[:, :, None]  # what is seen comes first
        steps = np.diff(np.take_along_axis(run, order, axis=0), axis=0, prepend=0.0)
        times = np.arange(len(run) - 1)[:, None] - rng.integers(n_steps)
        steps[1:] = np.take_along_axis(steps[1:], (times % n_steps)[:, :, None], axis=0)
        np.put_along_axis(run, order, np.cumsum(steps, axis=0), axis=0)
        run[~seen] = np.nan
    source = ArraySource(frozen(walked), boxes, ensemble.times)
    return replace(unwrapped, frames=Frames.of(source))


def _drift(ensemble: Ensemble) -> float:
    """Median over tracks of net displacement² over n Σ step²."""
    steps = np.diff(ensemble.unwrapped().coordinates().astype(np.float64), axis=0)
    steps[np.cumsum(ensemble.replicas)[:-1] - 1] = np.nan  # between runs
    n_steps = np.count_nonzero(np.isfinite(steps).all(axis=2), axis=0)
    net = (np.nansum(steps, axis=0) ** 2).sum(axis=1)
    most = n_steps * np.nansum(steps**2, axis=(0, 2))
    return float(np.median(net[most > 0] / most[most > 0])) if (most > 0).any() else np.nan
