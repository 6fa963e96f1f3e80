"""Assess the clusters of a hierarchy: which would be found again, and which move by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from timme._arrays import Bools, Floats, Ints, indices
from timme.confidence.bridges import Bridge, find_bridges
from timme.confidence.convergence import converge, cut_lengths
from timme.confidence.draws import N_DRAWS, Draws, draw
from timme.confidence.findings import Separation
from timme.confidence.levels import silhouettes
from timme.confidence.records import ClusterRecord, Confidence, is_trusted
from timme.confidence.replicates import MOST_PAIRS, resampled_hierarchies, sum_what_matters
from timme.confidence.sampling import Sampling, count_independent
from timme.confidence.separation import (
    JudgedPairs,
    Sides,
    choose_held,
    draw_sides,
    pairs_to_judge,
    separate,
)
from timme.confidence.shown import ShownSigma, among_shown, measure_shown
from timme.confidence.support import Matches, intervals, match
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.crossing import Singles
from timme.fluctuations.resampling import PartSums
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.fluctuations.sums import lay_out_once, sum_parts
from timme.hierarchy.condensed import MIN_SIZE, CondensedTree, condense
from timme.hierarchy.forest import spanning_forest
from timme.hierarchy.linkages import Linkage
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects

_SAMPLE = 500  # pairs by which σ of a part of the trajectory is compared with that of all


def assess(  # noqa: PLR0913, what was made so far, and how much is asked
    objects: Objects,
    sigma: Fluctuations,
    hierarchy: Hierarchy,
    *,
    shown: Ints | None = None,
    replicas: Sequence[int] | None = None,
    min_size: int = MIN_SIZE,
    n_draws: int = N_DRAWS,
    linkage: Linkage = "single",
    most_pairs: int = MOST_PAIRS,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
    seed: int = 0,
    run: Run = DEFAULT,
) -> Confidence:
    """Tell which clusters to believe.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations
        σ of the pairs that were linked.
    hierarchy : Hierarchy
        What they were linked to; or that as the shown objects see it.
    shown : array_like of int, optional
        Objects in which clusters are counted; all by default.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; by default, those that were read.
    min_size : int, optional
        Shown objects that both sides of a split need to be judged.
    n_draws : int, optional
        Resampled trajectories.
    linkage : {"single", "braced", "average"}, optional
        How pairs were joined.
    most_pairs : int, optional
        Pairs of which sums over parts of the snapshots can be held. Those that can matter in no
        draw are left out first; if there are still more, the likeliest to matter are taken, which
        the result notes.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, if it was taken off `sigma`: it is
        taken off σ² of every draw, and off how soon motions are forgotten, as well.
    seed : int, optional
        Of the random numbers.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Confidence
        A record for every cluster of the condensed tree.

    Examples
    --------
    >>> import timme
    >>> made = timme.synthetic.hinged(3, 30, 100)
    >>> points = timme.objects.points(made.ensemble)
    >>> sigma = timme.measure(points, timme.pairs.all(points))
    >>> found = assess(points, sigma, timme.link(sigma))
    >>> [record.size for record in found.trusted]
    [60, 30, 30, 30]
    """
    n_objects = len(objects)
    seen = np.arange(n_objects) if shown is None else indices(shown, n_objects, "shown objects")
    tree = condense(_restrict(hierarchy, seen, len(objects)), min_size=min_size)
    sampling = count_independent(
        objects, sigma, replicas=replicas, metric=metric, noise=noise, seed=seed
    )
    among = measure_shown(
        objects, seen, known=sigma, metric=metric, noise=noise, seed=seed, run=run
    )
    found = silhouettes(tree.hierarchy, among.matrix, sites=among.chosen, min_size=min_size)
    if np.isnan(sampling.n_effective):
        return Confidence(sampling, tree, _unjudged(tree), found)
    draws = draw(
        objects.ensemble.n_snapshots,
        np.inf if sampling.independent else sampling.n_effective,
        replicas=sampling.replicas,
        n_draws=n_draws,
        seed=seed,
    )
    layout = lay_out_once(objects, draws.parts, metric)
    summed = partial(
        sum_parts, objects, parts=draws.parts, metric=metric, layout=layout, noise=noise, run=run
    )
    # What joins all snapshots bounds that of draws, and is what clusters hang on.
    forest = spanning_forest(n_objects, sigma.pairs, sigma.sigma) if linkage == "single" else None
    sums, notes = sum_what_matters(
        *(objects, sigma, draws),
        linkage=linkage,
        most=most_pairs,
        metric=metric,
        layout=layout,
        noise=noise,
        joining=None if forest is None else forest[0],
        run=run,
    )
    lengths = cut_lengths(draws)
    grown = partial(
        resampled_hierarchies,
        sums,
        shown=seen,
        quantity=hierarchy.quantity,
        linkage=linkage,
        workers=run.engine.threads_here,
    )
    matches = match(tree.masks(), grown(draws.times))
    shorter = match(tree.masks(), grown(lengths.times)).overlaps  # where more pairs matter
    del sums, grown
    sides = _all_sides(tree)
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(len(sigma.pairs), min(_SAMPLE, len(sigma.pairs)), replace=False))
    judged, looked_at = _judge(sides, seen, sigma, among, some, summed, most=most_pairs)
    notes = (*notes, *_note_on_held(judged))
    separations = _separations(tree, sides, judged, draws, support=matches.support)
    reach = draws.reach(sampling.n_effective)
    bridges = _bridges(tree, sigma, seen, forest)
    records = _records(tree, matches, separations, bridges, reach)
    trusted = [record.cluster for record in records if record.trusted]
    told = converge(lengths, shorter[:, trusted], *looked_at)
    return Confidence(sampling, tree, records, found, draws, notes, told)


def levels_of_matrix(
    matrix: Floats, hierarchy: Hierarchy, *, min_size: int = MIN_SIZE
) -> Confidence:
    """Find levels worth looking at of a ready-made matrix.

    Parameters
    ----------
    matrix : ndarray, shape (sites, sites)
        Heights of all pairs, NaN where a pair has none.
    hierarchy : Hierarchy
        What they were linked to.
    min_size : int, optional
        Sites that a cluster needs to count.

    Returns
    -------
    Confidence
        Records that know nothing but cutoffs.
    """
    tree = condense(hierarchy, min_size=min_size)
    found = silhouettes(hierarchy, matrix, min_size=min_size)
    return Confidence(Sampling(0, np.nan, (), independent=False), tree, _unjudged(tree), found)


def _all_sides(tree: CondensedTree) -> list[Sides | None]:
    """Return what each cluster is held against; None of one that is alone."""
    masks = tree.masks()
    return [_sides(tree, masks, cluster) for cluster in range(len(tree))]


def _judge(
    sides: Sequence[Sides | None],
    shown: Ints,
    sigma: Fluctuations,
    among: ShownSigma,
    sample: Ints,
    summed: Callable[[Ints], PartSums],
    *,
    most: int,
) -> tuple[JudgedPairs, tuple[PartSums, Ints]]:
    """Gather the pairs by which splits are judged; the shown objects are numbered among these.

    All that is asked of partners is σ over all snapshots, which is known from the levels. Sums over
    parts, which cost more, are made of contacts, and of others only where too few contacts cross.
    With them go those of a sample of all pairs, and where this is among them. Of more contacts than
    can be held, those that cross a split come first.
    """
    contacts, known = among_shown(sigma, shown)
    asked = [split for split in sides if split is not None]
    index, compared = pairs_to_judge(asked, contacts, len(shown))
    near = np.sort(shown[index], axis=1)
    keys = index @ [len(shown), 1]
    found = np.empty(len(index))
    found[np.searchsorted(keys, contacts @ [len(shown), 1])] = known
    found[~compared] = among.of(index[~compared])
    held = choose_held(asked, index, compared, most=most)
    number = np.cumsum(held) - 1
    of_held = near[held]
    sums = summed(np.concatenate([of_held, sigma.pairs[sample]]))

    def resample(rows: Ints, times: Ints) -> Singles:
        here = held[rows]
        if here.all():
            return sums.sigma(times, rows=number[rows])
        drawn = np.empty((len(rows), len(times)), np.float32)
        drawn[here] = sums.sigma(times, rows=number[rows[here]])
        drawn[~here] = summed(near[rows[~here]]).sigma(times)
        return drawn

    places = len(of_held) + np.arange(len(sample))
    return JudgedPairs(index, compared, held, found, resample), (sums, places)


def _note_on_held(judged: JudgedPairs) -> tuple[str, ...]:
    n_held, n_contacts = np.count_nonzero(judged.held), np.count_nonzero(judged.contacts)
    if not 0 < n_held < n_contacts:
        return ()
    told = f"{n_held:,} of {n_contacts:,} pairs, those that cross a split first"
    return (f"how sure excess motion is, is told by {told}: more do not fit into memory",)


def _separations(
    tree: CondensedTree,
    sides: Sequence[Sides | None],
    judged: JudgedPairs,
    draws: Draws,
    *,
    support: Floats,
) -> list[Separation | None]:
    """Separation of each cluster from its siblings, or of a tree from all else; None of one alone.

    The lowest splits come first, so that what is higher knows of which bodies its sides consist.
    """
    masks = tree.masks()
    found: list[Separation | None] = [None] * len(tree)
    bodies = np.arange(len(tree))[:, None] * masks - ~masks  # of the sites of each cluster
    shares = tree.shares
    for cluster in range(len(tree) - 1, -1, -1):
        split = sides[cluster]
        if split is None:
            continue
        own = bodies[[cluster, *tree.siblings(cluster)]].max(axis=0)
        if tree.parents[cluster] < 0:
            own = np.where(split.other, len(tree), own)
        found[cluster] = separate(split, judged, times=draws.times, bodies=own)
        above = tree.parents[cluster]
        if above >= 0 and is_trusted(
            float(support[cluster]),
            found[cluster],
            sibling_support=sibling_support(tree, support, cluster),
            share=float(shares[cluster]),
        ):
            bodies[above] = np.where(split.side | split.other, own, -1)
    return found


def sibling_support(tree: CondensedTree, support: Floats, cluster: int) -> float | None:
    """Return the support of what a cluster splits from, if that is less than half of it.

    Parameters
    ----------
    tree : CondensedTree
        Clusters.
    support : ndarray, shape (clusters,)
        Of each.
    cluster : int
        Which one.

    Returns
    -------
    float or None
        The highest of several siblings; None of a root, and beside large ones.
    """
    siblings = tree.siblings(cluster)
    if not len(siblings) or 2 * tree.sizes[siblings].sum() > tree.sizes[cluster]:
        return None
    return float(support[siblings].max())


def _sides(tree: CondensedTree, masks: Bools, cluster: int) -> Sides | None:
    """A cluster and its siblings; a tree of several, and all else."""
    siblings = tree.siblings(cluster)
    if len(siblings):
        other: Bools = np.asarray(masks[siblings].any(axis=0))
        return draw_sides(masks[cluster], other, seed=cluster, n_splits=len(tree))
    rest = ~masks[cluster]
    if not rest.any():
        return None
    return draw_sides(masks[cluster], rest, seed=cluster, n_splits=len(tree))


def _bridges(
    tree: CondensedTree, sigma: Fluctuations, shown: Ints, forest: tuple[Ints, Floats] | None
) -> list[Bridge | None]:
    """What each cluster hangs on in the middle of its life; a whole tree joins nothing."""
    found: list[Bridge | None] = [None] * len(tree)
    if forest is None:  # other linkages do not join by single pairs
        return found
    living = np.flatnonzero(np.isfinite(tree.deaths)).tolist()
    middle = np.sqrt(np.maximum(tree.births[living], 0.0) * tree.deaths[living])
    asked = [
        (int(shown[tree.members(k)[0]]), float(height))
        for k, height in zip(living, middle, strict=True)
    ]
    each = find_bridges(sigma, asked, shown=shown, min_size=tree.min_size, forest=forest)
    for cluster, bridge in zip(living, each, strict=True):
        found[cluster] = bridge
    return found


def _records(
    tree: CondensedTree,
    matches: Matches,
    separations: list[Separation | None],
    bridges: list[Bridge | None],
    reach: float,
) -> tuple[ClusterRecord, ...]:
    births = intervals(tree.births, matches.births, matches.overlaps, reach=reach)
    deaths = intervals(tree.deaths, matches.deaths, matches.overlaps, reach=reach)
    shares = tree.shares
    return tuple(
        ClusterRecord(
            cluster=cluster,
            sites=tree.members(cluster),
            parent=int(tree.parents[cluster]),
            birth=float(tree.births[cluster]),
            death=float(tree.deaths[cluster]),
            birth_interval=births[cluster],
            death_interval=deaths[cluster],
            support=float(matches.support[cluster]) if tree.parents[cluster] >= 0 else None,
            sibling_support=sibling_support(tree, matches.support, cluster),
            share=None if tree.parents[cluster] < 0 else float(shares[cluster]),
            separation=separations[cluster],
            bridge=bridges[cluster],
        )
        for cluster in range(len(tree))
    )


def _restrict(hierarchy: Hierarchy, shown: Ints, n_objects: int) -> Hierarchy:
    """The hierarchy as the shown objects see it, unless it is that already."""
    all_shown = np.array_equal(shown, np.arange(n_objects))
    seen = hierarchy.n_sites == len(shown) and (hierarchy.n_sites < n_objects or all_shown)
    return hierarchy if seen else hierarchy.restrict(shown)


def _unjudged(tree: CondensedTree) -> tuple[ClusterRecord, ...]:
    return tuple(
        ClusterRecord(
            cluster=cluster,
            sites=tree.members(cluster),
            parent=int(tree.parents[cluster]),
            birth=float(tree.births[cluster]),
            death=float(tree.deaths[cluster]),
        )
        for cluster in range(len(tree))
    )
