"""Grow the hierarchies of resampled trajectories from the few pairs that can matter in any of them.

Take the spanning tree of each pair's largest σ over all draws. In every draw, two sites are joined
along it no higher than by its highest edge between them; a pair whose smallest σ exceeds that edge
closes a loop that is already closed, and is in no draw's tree. What is left is a few thousand of a
million pairs, and every hierarchy is exactly that of all pairs.

Sums over parts are not made of all pairs to find that out. The tree of all snapshots, each of whose
edges is as high as in the draw where it is highest, bounds where pairs are joined in any draw; what
:func:`timme.fluctuations.floors.floors` says can never be as low is left out first. What it leaves
out has its largest σ above that bound, too, and is no part of the spanning tree of largest σ: in
the end the same few pairs remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from timme._arrays import Floats, Ints, indices
from timme._kernels import parts as kernel
from timme.confidence.draws import AT_A_TIME, Draws
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.fluctuations.floors import floors
from timme.fluctuations.resampling import PartSums
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.fluctuations.site_sums import is_plain
from timme.fluctuations.sums import sum_parts
from timme.fluctuations.units import Layout
from timme.hierarchy.forest import spanning_forest
from timme.hierarchy.joining import grow_shown, heights_between
from timme.hierarchy.linkages import Linkage, grow_by
from timme.hierarchy.quantity import SIGMA, Quantity, as_quantity
from timme.hierarchy.tree import Hierarchy, grow
from timme.objects import Objects

_ROUNDING = 1e-5  # products of matrices in single precision, of other shapes, differ by less
_MARGIN = 0.02  # of σ² in single precision, where pairs are left out before they are resampled
_FEW = 20_000  # pairs that are summed without asking which of them matter
_GLANCE = 2, 11  # snapshots of each part looked at first, of points: so many, or a share of all
_GLANCE_AT_GROUPS = 4, 6  # whose floor is the mean of many, each of them loose
_CLOSER = 3  # times as many snapshots that are looked at next
_LONG = 4  # snapshots of a window from which on there is much to be found within it
MOST_PAIRS = 1_500_000  # whose sums over 64 parts take less than 1 GB


def sum_what_matters(  # noqa: PLR0913, what was made so far, and how it is carried out
    objects: Objects,
    sigma: Fluctuations,
    draws: Draws,
    *,
    linkage: Linkage = "single",
    most: int = MOST_PAIRS,
    metric: Metric | None = None,
    layout: Layout | None = None,
    noise: NoiseVariance | None = None,
    joining: Ints | None = None,
    run: Run = DEFAULT,
) -> tuple[PartSums, tuple[str, ...]]:
    """Sum the pairs that can be in the tree of some draw over parts of the snapshots.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations
        σ of the pairs that were linked.
    draws : Draws
        Parts, and how often each counts.
    linkage : {"single", "braced", "average"}, optional
        How pairs are joined. All of them matter if not by single linkage.
    most : int, optional
        Pairs of which sums can be held.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    layout : Layout, optional
        As for :func:`timme.fluctuations.sums.sum_parts`.
    noise : callable, optional
        As for :func:`timme.fluctuations.sums.sum_parts`; it was taken off `sigma`, too.
    joining : ndarray of int, shape (joins, 2), optional
        The pairs by which all snapshots are joined, if they are known.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    PartSums
        Of all pairs that matter; of more than can be held, of those that are nearest to the height
        at which they are joined in all snapshots.
    tuple of str
        A note, where some that may matter were left out.
    """
    pairs, n_pairs = sigma.pairs, len(sigma.pairs)
    # In boxes and with gaps, the pass that tells what matters costs as much as that which sums, and
    # windows of very few snapshots say little of how much moves within them.
    summed = partial(
        sum_parts, objects, parts=draws.parts, metric=metric, layout=layout, noise=noise, run=run
    )
    plain = is_plain(objects.ensemble, known_metric(metric, objects.ensemble))
    n_inside = objects.ensemble.n_snapshots * draws.runs.window // len(draws.parts)
    if linkage == "single" and n_pairs > (min(most, _FEW) if plain and n_inside >= _LONG else most):
        if joining is None:
            joining, _ = spanning_forest(sigma.n_objects, pairs, sigma.sigma)
        bounds = _bounds(sigma, joining, draws, summed)
        if noise is not None:  # floors are those of what was measured
            bounds = bounds + noise(pairs)
        least_of = partial(
            floors,
            objects,
            parts=draws.parts,
            runs=draws.runs,
            metric=metric,
            layout=layout,
            most=max(most, _FEW),
        )
        for most_frames in _glances(objects, draws, plain=plain):
            if most_frames is not None and len(pairs) <= _FEW:
                continue
            least = least_of(pairs, most_frames=most_frames, run=run)
            low = least <= (1 + _MARGIN) * bounds
            pairs, bounds = pairs[low], bounds[low]
    notes = tuple[str, ...]()
    if len(pairs) > most:
        told = f"{most:,} of {len(pairs):,} pairs that may matter, those nearest to where they are"
        notes = (f"how sure clusters are is told by {told} joined: more do not fit into memory",)
        joined = joining_heights(sigma.n_objects, sigma.pairs, sigma.sigma)
        excess = sigma.sigma / np.maximum(joined, 1e-300)
        pairs = sigma.pairs[np.sort(np.argpartition(excess, most)[:most])]
    return summed(pairs), notes


def _glances(objects: Objects, draws: Draws, *, plain: bool) -> list[int | None]:
    """How many snapshots of each part are looked at, ever more, in the end all.

    Most pairs are seen to be too high at a glance. As a floor is lower by the share of the
    snapshots that are looked at, that share is what counts, however long the parts are.
    """
    longest = max(map(len, draws.parts))
    least, share = _GLANCE if objects.are_points else _GLANCE_AT_GROUPS
    glances = list[int | None]()
    n_frames = max(least, longest // share)
    while plain and 2 * n_frames <= longest:  # else it is nearly all
        glances.append(n_frames)
        n_frames *= _CLOSER
    return [*glances, None]


def _bounds(
    sigma: Fluctuations, joining: Ints, draws: Draws, summed: Callable[[Ints], PartSums]
) -> Floats:
    """Height, as σ², below which each pair is joined in every draw."""
    edges = np.sort(joining, axis=1)
    sums = summed(edges)
    highest = [squares.max(axis=1) for _, squares in sums.resample(draws.times)]
    heights = np.concatenate([np.empty(0), *highest])
    return heights_between(grow(sigma.n_objects, edges, heights), sigma.pairs)


def resampled_hierarchies(
    sums: PartSums,
    times: Ints,
    *,
    shown: Ints | None = None,
    rows: Ints | None = None,
    quantity: Quantity = SIGMA,
    linkage: Linkage = "single",
    workers: int | None = None,
) -> Iterator[Hierarchy]:
    """Grow the hierarchy of every draw, one after another: all of them may be too many to hold.

    Parameters
    ----------
    sums : PartSums
        Of pairs of objects over parts of the snapshots.
    times : ndarray of int, shape (draws, parts)
        How often each part counts.
    shown : ndarray of int, optional
        Objects by which clusters are counted; all by default.
    rows : ndarray of int, optional
        Which of the pairs are linked; all by default.
    quantity : Quantity, optional
        What the heights are.
    linkage : {"single", "braced", "average"}, optional
        How pairs are joined. Only for single linkage are there few pairs that can matter.
    workers : int, optional
        Threads; all cores by default.

    Yields
    ------
    Hierarchy
        As the shown objects see it, for each draw.
    """
    matter = rows if linkage != "single" else pairs_that_matter(sums, times, rows=rows)
    edges = sums.pairs if matter is None else sums.pairs[matter]
    drawn = (
        sums.sigma(some, rows=matter).astype(np.float64).T
        for some in np.array_split(times, -(-len(times) * len(edges) // AT_A_TIME) or 1)
    )
    unit = as_quantity(quantity, sums.unit)
    if linkage == "single" and shown is not None:
        seen = indices(shown, sums.n_objects, "shown sites")
        grow_one = partial(_grow_one, edges, unit)
        shares = sums.n_objects, seen
        threads = Threads(workers)
        for some in drawn:
            yield from threads.map(grow_one, shares, [*some])
        return
    grown = (
        grow_by(linkage, sums.n_objects, edges, each, quantity=unit)
        for some in drawn
        for each in some
    )
    yield from (tree if shown is None else tree.restrict(shown) for tree in grown)


def _grow_one(edges: Ints, unit: Quantity, sites: tuple[int, Ints], heights: Floats) -> Hierarchy:
    """Grow the hierarchy of a draw, as the shown of so many sites see it."""
    n_sites, seen = sites
    return grow_shown(n_sites, edges, heights, seen, quantity=unit)


def pairs_that_matter(
    sums: PartSums, times: Ints | Sequence[Sequence[int]], *, rows: Ints | None = None
) -> Ints:
    """Find the pairs that can be in the spanning tree of some draw.

    Parameters
    ----------
    sums, times, rows
        As for :func:`resampled_hierarchies`.

    Returns
    -------
    ndarray of int
        Their places in the list of pairs, ascending.
    """
    chosen = np.arange(len(sums.pairs)) if rows is None else np.asarray(rows)
    lowest, highest = np.empty(len(chosen)), np.empty(len(chosen))
    for tile, squares in sums.resample(times, rows=rows):
        kernel.extremes(squares, lowest[tile], highest[tile])
    bounds = joining_heights(sums.n_objects, sums.pairs[chosen], highest)
    return chosen[lowest <= bounds * (1 + _ROUNDING)]


def joining_heights(n_objects: int, pairs: Ints, heights: Floats) -> Floats:
    """Return the height at which each pair is joined, along whatever path.

    Parameters
    ----------
    n_objects : int
        Number of objects.
    pairs : ndarray of int, shape (pairs, 2)
        Who with whom.
    heights : ndarray, shape (pairs,)
        Of each; one that is infinite joins nothing.

    Returns
    -------
    ndarray, shape (pairs,)
        At most its own height; inf where no path joins a pair.
    """
    return heights_between(grow(n_objects, pairs, heights), pairs)
