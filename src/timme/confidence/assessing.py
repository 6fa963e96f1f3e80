"""Assess the clusters of a hierarchy: which would be found again, and which move by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from timme._arrays import Bools, Floats, Ints, indices
from timme.confidence.bridges import Bridge, find_bridges
from timme.confidence.convergence import converge, cut_lengths
from timme.confidence.draws import N_DRAWS, Draws, draw
from timme.confidence.findings import Separation
from timme.confidence.levels import Silhouettes, silhouettes
from timme.confidence.noise import take_off
from timme.confidence.records import ClusterRecord, Confidence, is_trusted
from timme.confidence.replicates import MOST_PAIRS, resampled_hierarchies, sum_what_matters
from timme.confidence.sampling import Sampling, count_independent
from timme.confidence.separation import Sides, draw_sides, pairs_to_judge, separate
from timme.confidence.support import Matches, intervals, match
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.measuring import measure_in_chunks
from timme.fluctuations.sigma import Fluctuations
from timme.fluctuations.sums import NoiseVariance, PartSums, lay_out_once, sum_parts
from timme.hierarchy.condensed import MIN_SIZE, CondensedTree, condense
from timme.hierarchy.linkages import Linkage
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.pairs.choices import given

_SAMPLE = 500  # pairs by which σ of a part of the trajectory is compared with that of all
_SITE_PAIRS = 2_000_000  # that are measured at a time
MOST_SHOWN = 1200  # shown objects of which σ of all pairs is measured


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
        taken off σ² of every draw as well.
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
    sampling = count_independent(objects, sigma, replicas=replicas, metric=metric, seed=seed)
    found = suggest_levels(
        *(objects, tree.hierarchy),
        shown=seen,
        min_size=min_size,
        metric=metric,
        noise=noise,
        seed=seed,
        run=run,
    )
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
    sums, notes = sum_what_matters(
        *(objects, sigma, draws),
        linkage=linkage,
        most=most_pairs,
        metric=metric,
        layout=layout,
        noise=noise,
        run=run,
    )
    lengths = cut_lengths(draws)
    trees, shorter = (  # apart, as more pairs matter in short ones
        resampled_hierarchies(sums, times, shown=seen, quantity=hierarchy.quantity, linkage=linkage)
        for times in (draws.times, lengths.times)
    )
    del sums
    matches = match(tree.masks(), trees)
    contacts = _among(sigma.pairs, seen, len(objects))
    separations = _separations(tree, seen, contacts, draws, support=matches.support, summed=summed)
    reach = draws.reach(sampling.n_effective)
    bridges = _bridges(tree, sigma, seen, linkage)
    records = _records(tree, matches, separations, bridges, reach)
    trusted = tree.masks()[[record.cluster for record in records if record.trusted]]
    some = np.random.default_rng(seed).permutation(len(sigma.pairs))[:_SAMPLE]
    told = converge(lengths, shorter, trusted, summed(sigma.pairs[np.sort(some)]))
    return Confidence(sampling, tree, records, found, draws, tuple(trees), notes, told)


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


def suggest_levels(  # noqa: PLR0913, as above
    objects: Objects,
    hierarchy: Hierarchy,
    *,
    shown: Ints,
    min_size: int = MIN_SIZE,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
    seed: int = 0,
    run: Run = DEFAULT,
) -> Silhouettes:
    """Find levels worth looking at, by σ of all pairs of shown objects.

    Parameters
    ----------
    objects : Objects
        What was compared.
    hierarchy : Hierarchy
        As the shown objects see it.
    shown : ndarray of int
        Which these are.
    min_size : int, optional
        Sites that a cluster needs to count.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        As for :func:`assess`.
    seed : int, optional
        Of the random numbers, by which 1200 of more shown objects are chosen.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Silhouettes
        Levels, the best first.
    """
    n_shown = len(shown)
    chosen = np.arange(n_shown)
    if n_shown > MOST_SHOWN:
        chosen = np.sort(np.random.default_rng(seed).permutation(n_shown)[:MOST_SHOWN])
    matrix = _sigma_of_all(objects, shown[chosen], metric, noise, run)
    return silhouettes(hierarchy, matrix, sites=chosen, min_size=min_size)


def _sigma_of_all(
    objects: Objects,
    chosen: Ints,
    metric: Metric | None,
    noise: NoiseVariance | None,
    run: Run,
) -> Floats:
    """σ of all pairs of some objects as a matrix; NaN where two are never seen together."""
    matrix = np.full((len(chosen), len(chosen)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    if len(chosen) < 2:
        return matrix
    pairs = given(objects, np.column_stack([chosen[k] for k in np.triu_indices(len(chosen), 1)]))
    place = np.empty(len(objects), np.int64)
    place[chosen] = np.arange(len(chosen))
    per_pair = 1.0 if objects.are_points else (len(objects.members) / len(objects)) ** 2
    for part in measure_in_chunks(
        objects,
        pairs,
        chunk=max(1, round(_SITE_PAIRS / per_pair)),
        min_overlap=2 if objects.ensemble.gaps else None,
        metric=metric,
        run=Run(run.engine),
        near=lambda *_: None,  # which was told when the pairs that are linked were measured
    ):
        one, other = place[part.pairs].T
        sigma = part if noise is None else take_off(part, noise)[0]
        matrix[one, other] = matrix[other, one] = sigma.sigma
    return matrix


def _separations(
    tree: CondensedTree,
    shown: Ints,
    contacts: Ints,
    draws: Draws,
    *,
    support: Floats,
    summed: Callable[[Ints], PartSums],
) -> list[Separation | None]:
    """Separation of each cluster from its siblings, or of a tree from all else; None of one alone.

    The lowest splits come first, so that what is higher knows of which bodies its sides consist.
    """
    masks = tree.masks()
    sides = [_sides(tree, masks, cluster) for cluster in range(len(tree))]
    asked = [split for split in sides if split is not None]
    found: list[Separation | None] = [None] * len(tree)
    if not asked:
        return found
    index, compared = pairs_to_judge(asked, contacts, len(shown))
    near = np.sort(shown[index], axis=1)
    sums = replace(summed(near), pairs=index)  # numbered as the shown objects are
    bodies = np.arange(len(tree))[:, None] * masks - ~masks  # of the sites of each cluster
    shares = tree.shares
    for cluster in range(len(tree) - 1, -1, -1):
        split = sides[cluster]
        if split is None:
            continue
        own = bodies[[cluster, *tree.siblings(cluster)]].max(axis=0)
        if tree.parents[cluster] < 0:
            own = np.where(split.other, len(tree), own)
        found[cluster] = separate(split, sums, contacts=compared, times=draws.times, bodies=own)
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
        return draw_sides(masks[cluster], other, seed=cluster)
    rest = ~masks[cluster]
    return draw_sides(masks[cluster], rest, seed=cluster) if rest.any() else None


def _among(pairs: Ints, shown: Ints, n_objects: int) -> Ints:
    """Pairs both of which are shown, numbered as these are, the lower first."""
    number = np.full(n_objects, -1)
    number[shown] = np.arange(len(shown))
    inside = number[pairs]
    return np.sort(inside[(inside >= 0).all(axis=1)], axis=1)


def _bridges(
    tree: CondensedTree, sigma: Fluctuations, shown: Ints, linkage: Linkage
) -> list[Bridge | None]:
    """What each cluster hangs on in the middle of its life; a whole tree joins nothing."""
    found: list[Bridge | None] = [None] * len(tree)
    if linkage != "single":  # others do not join by single pairs
        return found
    living = np.flatnonzero(np.isfinite(tree.deaths)).tolist()
    middle = np.sqrt(np.maximum(tree.births[living], 0.0) * tree.deaths[living])
    asked = [
        (int(shown[tree.members(k)[0]]), float(height))
        for k, height in zip(living, middle, strict=True)
    ]
    each = find_bridges(sigma, asked, shown=shown, min_size=tree.min_size)
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
