"""Rigid bodies of an ensemble, and how many there are.

Levels of σ are not domains: pairs near a hinge move less than the noise, and single linkage runs
through it. Here small pieces are bodies at first; each site goes to the body in whose frame it is
stillest; bodies join by the least growth of the rest, and sites are given out again.

Chains of one sequence, such as those of a homodimer, are searched one by one: how such copies are
packed may differ more than what moves within each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.ensemble import Atoms, Ensemble
from timme.hierarchy.partition import rand_index, rank_labels
from timme.hierarchy.tree import Hierarchy, Quantity, grow
from timme.motion.body_search import Level, Search
from timme.motion.fits import require_orientation, shape_of, some_snapshots
from timme.motion.pieces import LEAST, follow, merges

REST = Quantity(
    "rest", words="rest that no rigid motion accounts for", clusters="rigid bodies", is_length=True
)
_FRAMES = 100  # snapshots at most
_ALIKE = 0.7  # of the residues of copies are the same in the same order
_ABOVE = 1 + 2e-9  # times a rest: what is larger is no rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Described):
    """Bodies found in alternate blocks of the snapshots."""

    counts: tuple[int, int]  # bodies found in each half
    rand: float  # adjusted Rand index of both


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bodies(Described):
    """The rigid bodies of an ensemble."""

    labels: Ints  # (sites,), body of each, 0 the largest; -1 for none
    chains: tuple[str, ...]  # (bodies,), chain that has most sites of each
    hierarchy: Hierarchy  # of all sites; heights are the rest of the whole
    cutoff: float  # at which the clusters of the hierarchy are the bodies
    levels: tuple[Level, ...]  # by number of bodies, from one up
    chosen: int  # place of the level that was chosen; at the first, each chain is one body
    n_snapshots: int  # that were looked at
    agreement: Agreement | None  # None for fewer than 4 snapshots

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return int(self.labels.max()) + 1

    @property
    def n_copies(self) -> int:
        """Number of chains that were searched one by one; 1 if all sites were searched together."""
        return len(self.levels[0].rests)

    @property
    def sizes(self) -> Ints:
        """Sites of each body, largest first."""
        return np.bincount(self.labels[self.labels >= 0])

    @property
    def unassigned(self) -> Ints:
        """Sites of no body: linkers, loops and tails."""
        return np.flatnonzero(self.labels < 0)

    @property
    def next_best(self) -> Level | None:
        """Level with the widest gap among those of more bodies than were chosen."""
        others = [each for each in self.levels[self.chosen + 1 :] if np.isfinite(each.gap)]
        return max(others, key=lambda level: level.gap, default=None)

    def members(self, body: int) -> Ints:
        """Return the sites of one body, ascending."""
        return np.flatnonzero(self.labels == body)


def bodies(ensemble: Ensemble, *, n_bodies: int | None = None) -> Bodies:
    """Find the rigid bodies of an ensemble.

    At most 100 snapshots, evenly spaced, are used. Half of a transition may give other
    bodies than the whole. Where all chains have the same sequence, each is searched by itself.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; of a protein, select Cα first. In a periodic box,
        molecules must be whole.
    n_bodies : int, optional
        Number of bodies, of each chain where chains are searched one by one; by default as many
        as stand out.

    Returns
    -------
    Bodies
        Bodies, beside the fits of other numbers of bodies.

    Examples
    --------
    >>> from timme import synthetic
    >>> planted = synthetic.bodies((60, 40), spans=[30.0])
    >>> found = bodies(planted.ensemble)
    >>> found.n_bodies, bool((found.labels == planted.labels).mean() > 0.95)
    (2, True)
    """
    snapshots = some_snapshots(ensemble, _FRAMES)
    copies = find_copies(ensemble.sites)
    whole = shape_of(snapshots - snapshots[0].mean(axis=0))
    require_orientation(ensemble, "finding rigid bodies", whole.verdict)
    ordered = not ensemble.independent
    searches = [
        Search.of(_tracks(snapshots[:, own]), ordered=ordered, asked=n_bodies) for own in copies
    ]
    # Levels of all chains go in step up to those that were chosen, and from there on.
    chosen = max(search.chosen for search in searches)
    count = chosen + max(len(search.levels) - search.chosen for search in searches)
    rows = ([_in_step(search, step, chosen) for search in searches] for step in range(count))
    levels = tuple(_join(copies, row) for row in rows)
    labels, halves = levels[chosen].labels, _agreement(searches)
    chains, tree = _chains(ensemble.sites, labels), _hierarchy(copies, searches, ensemble.unit)
    return Bodies(labels, chains, *tree, levels, chosen, len(snapshots), halves)


def find_copies(atoms: Atoms) -> list[Ints]:
    """Return the sites of each chain if all chains are alike, else all sites at once.

    Copies share 70 % of their residues in the same order, so that they may differ by mutations, and
    have as many sites as two bodies need.
    """
    chains = [np.flatnonzero(atoms.chains == name) for name in dict.fromkeys(atoms.chains.tolist())]
    first, *others = (atoms.resnames[own].tolist() for own in chains)
    alike = all(
        each == first or SequenceMatcher(None, first, each, autojunk=False).ratio() >= _ALIKE
        for each in others
    )
    return chains if alike and min(map(len, chains)) >= 2 * LEAST else [np.arange(len(atoms))]


def _tracks(snapshots: Floats) -> Floats:
    """Tracks (sites, snapshots, 3) about the middle of all sites.

    Far from the origin, squares of positions would leave few digits for what moves.
    """
    n_snapshots, n_sites, n_dimensions = snapshots.shape
    about = snapshots - snapshots.mean(axis=1, keepdims=True)
    tracks = np.zeros((n_sites, n_snapshots, 3))
    tracks[:, :, :n_dimensions] = about.swapaxes(0, 1)
    return tracks


def _in_step(search: Search, step: int, most: int) -> Level:
    """Level of one chain at a step; by the step `most`, all chains have the chosen ones."""
    if step <= most:
        return search.levels[min(step, search.chosen)]
    return search.levels[min(search.chosen + step - most, len(search.levels) - 1)]


def _join(copies: Sequence[Ints], levels: Sequence[Level]) -> Level:
    """One level of all chains from one of each."""
    labels = np.full(sum(map(len, copies)), -1)
    for sites, level in zip(copies, levels, strict=True):
        labels[sites] = np.where(level.labels >= 0, level.labels + labels.max() + 1, -1)
    gap, sharp = np.fmin.reduce([(level.gap, level.sharpness) for level in levels]).tolist()
    rests = tuple(level.rest for level in levels)
    rest = float(np.sqrt(np.average(np.square(rests), weights=[len(each) for each in copies])))
    n_bodies, own = sum(level.n_bodies for level in levels), frozen(rank_labels(labels))
    return Level(n_bodies, gap, sharp, rest, own, rests)


def _agreement(searches: Sequence[Search]) -> Agreement | None:
    """Bodies found anew in alternate tenths of the snapshots; the least agreement of all chains."""
    n_snapshots = searches[0].tracks.shape[1]
    if n_snapshots < 4:
        return None
    found = list[Agreement]()
    block = np.arange(n_snapshots) // max(1, n_snapshots // 10) % 2
    for search in searches:
        known, parts = search.n_effective / 2, (search.tracks[:, block == half] for half in (0, 1))
        halves = [Search.of(part, ordered=search.ordered, n_effective=known) for part in parts]
        one, other = (half.levels[half.chosen].labels for half in halves)
        both = (one >= 0) & (other >= 0)
        rand = rand_index(one[both], other[both]) if both.any() else float("nan")
        found.append(Agreement((int(one.max()) + 1, int(other.max()) + 1), rand))
    return min(found, key=lambda each: each.rand)


def _edges(search: Search) -> tuple[Ints, Floats, float]:
    """Edges between the sites of one chain, and the rms rest at which each joins two clusters.

    Small pieces join into the bodies that were chosen up to the third value, and these into one.
    """
    chosen, labels = search.found[search.chosen], search.levels[search.chosen].labels
    kept, inner = search.kept, search.tracks[search.kept]
    split = np.unique(search.small * chosen.n_bodies + chosen.labels, return_inverse=True)[1]
    base, first = follow(inner, split, steps=6), np.unique(split, return_index=True)[1]
    ceiling = float(chosen.rests.sum())
    joins, rests = np.empty((0, 2), np.int64), [min(float(base.rests.sum()), ceiling)]
    for one, other, growth, each in merges(base, within=chosen.labels[first]):
        joined = np.unique(each, return_inverse=True)[1]
        if joined.max() + 1 >= chosen.n_bodies:
            rests.append(min(rests[-1] + growth, ceiling))
        else:
            after = float(follow(inner, joined, steps=6).rests.sum())
            rests.append(max(rests[-1], after, ceiling * 1.0001))
        joins = np.append(joins, [[one, other]], axis=0)
    inside = min(ceiling, rests[-1])
    # Sites that were not kept join the first site of their body, or else all others at last.
    away = np.setdiff1d(np.arange(len(labels)), kept)
    heads = np.append(np.unique(labels[kept], return_index=True)[1], 0)[labels[away]]
    joins = np.append(np.column_stack([first[split], np.arange(len(kept))]), joins, axis=0)
    edges = np.append(kept[joins], np.column_stack([kept[heads], away]), axis=0)
    late = np.where(labels[away] >= 0, inside, rests[-1] * 1.01)
    heights = np.concatenate([np.full(len(kept), rests[0]), rests[1:], late])
    size = inner[:, :, 0].size
    return edges, np.sqrt(heights / size), float(np.sqrt(inside / size))


def _hierarchy(
    copies: Sequence[Ints], searches: Sequence[Search], unit: str
) -> tuple[Hierarchy, float]:
    """Hierarchy of pieces, bodies and chains, which join last, and the cutoff of the bodies."""
    trees = [_edges(search) for search in searches]
    inside = max(own for _, _, own in trees)
    edges = [sites[own] for sites, (own, _, _) in zip(copies, trees, strict=True)]
    # Bodies of one chain join above the rest within those of every chain.
    rests = np.concatenate(
        [np.where(own > end, np.maximum(own, inside * _ABOVE), own) for _, own, end in trees]
    )
    edges.append(np.array([(copies[0][0], sites[0]) for sites in copies]))
    rests = np.append(rests, rests.max() * 1.01 ** np.arange(len(copies)))
    found = grow(sum(map(len, copies)), np.concatenate(edges), rests, unit=unit, quantity=REST)
    above = rests[rests > inside]
    return found, float(np.sqrt(inside * above.min())) if len(above) else inside


def _chains(atoms: Atoms, labels: Ints) -> tuple[str, ...]:
    """Chain that has most sites of each body."""
    owners = (Counter(atoms.chains[labels == body].tolist()) for body in range(labels.max() + 1))
    return tuple(owner.most_common(1)[0][0] for owner in owners)
