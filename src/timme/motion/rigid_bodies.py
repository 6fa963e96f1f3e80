"""Rigid bodies of an ensemble, and how many there are.

Levels of σ are not domains: pairs near a hinge move less than the noise, and single linkage runs
through it. Here small pieces are bodies at first; each site goes to the body in whose frame it is
stillest; bodies join by the least growth of the rest, and sites are given out again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.ensemble import Ensemble
from timme.hierarchy.partition import rand_index, rank_labels
from timme.hierarchy.tree import Hierarchy, Quantity, grow
from timme.motion.fits import degeneracy, require_dimensions, some_snapshots
from timme.motion.pieces import (
    GAP,
    LEAST,
    PART,
    SHARP,
    SOFT,
    Pieces,
    assign,
    follow,
    gap,
    merges,
    mobile_sites,
    patches,
    sharpness,
    stillness,
)
from timme.series import effective_size

REST = Quantity(
    "rest", words="rest that no rigid motion accounts for", clusters="rigid bodies", is_length=True
)
_FRAMES = 100  # snapshots at most
_FEW_BODIES = 6  # up to which every number of bodies is looked at
_BESIDE = 2.0  # times the rms of a piece, up to which a site beside a hinge belongs to it
_STILL = 3.0  # times the rms of a body, up to which a mobile site belongs to it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Described):
    """What a number of bodies accounts for."""

    n_bodies: int
    gap: float  # G; NaN for one body
    sharpness: float  # S; NaN where G is too small, or parts are too few
    rest: float  # rms distance of sites from their places
    labels: Ints  # (sites,), body of each, 0 the largest; -1 for none

    @property
    def bends(self) -> bool:
        """Whether the bodies are parts of one that bends evenly."""
        return self.sharpness < SHARP


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
    chosen: int  # place of the level that was chosen
    n_snapshots: int  # that were looked at
    agreement: Agreement | None  # None for fewer than 4 snapshots

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return int(self.labels.max()) + 1

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

    At most 100 snapshots, spread over all, are looked at. Half of a transition may give other
    bodies than the whole.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; of a protein, select Cα first. In a periodic box,
        molecules must be whole.
    n_bodies : int, optional
        Number of bodies; by default as many as stand out.

    Returns
    -------
    Bodies
        With what other numbers of bodies would account for.

    Examples
    --------
    >>> from timme import synthetic
    >>> planted = synthetic.bodies((60, 40), spans=[30.0])
    >>> found = bodies(planted.ensemble)
    >>> found.n_bodies, bool((found.labels == planted.labels).mean() > 0.95)
    (2, True)
    """
    require_dimensions(ensemble, "rigid bodies")
    snapshots = some_snapshots(ensemble, _FRAMES)
    near = snapshots - snapshots[0].mean(axis=0)
    flaws = [degeneracy(places) for places in near]
    if all(flaws):
        raise ValueError(
            f"{ensemble.prefix}rigid bodies need sites with an orientation, but of the "
            f"{ensemble.n_sites} sites {flaws[0]}: select more sites"
        )
    # Far from the origin, squares of positions would leave few digits for what moves.
    tracks = np.zeros((ensemble.n_sites, len(snapshots), 3))
    tracks[:, :, : ensemble.n_dimensions] = (
        snapshots - snapshots.mean(axis=1, keepdims=True)
    ).swapaxes(0, 1)
    search = _Search.of(tracks, ordered=not ensemble.independent, asked=n_bodies or 0)
    levels = [*search.levels()]
    chosen = choose(levels) if n_bodies is None else _place_of(n_bodies, levels)
    labels = levels[chosen].labels
    hierarchy, cutoff = _hierarchy(search, search.found[chosen], labels, ensemble.unit)
    return Bodies(
        labels=labels,
        chains=_chains(ensemble, labels),
        hierarchy=hierarchy,
        cutoff=cutoff,
        levels=tuple(levels),
        chosen=chosen,
        n_snapshots=len(snapshots),
        agreement=_agreement(search),
    )


def choose(levels: list[Level]) -> int:
    """Place of the largest number of bodies with a wide gap that do not bend; 0 if none has."""
    wide = [place for place, level in enumerate(levels) if level.gap >= GAP and not level.bends]
    return max(wide, default=0)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Bodies of some snapshots, by their number."""

    tracks: Floats  # (sites, snapshots, 3)
    ordered: bool  # in time
    kept: Ints  # sites that are not mobile
    pieces: Ints  # (kept,), small pieces, of which parts of bodies are made
    found: tuple[Pieces, ...]  # bodies of the kept sites, from one body up
    n_effective: float

    @classmethod
    def of(
        cls, tracks: Floats, *, ordered: bool, asked: int = 0, n_effective: float = 0.0
    ) -> _Search:
        kept = np.flatnonzero(~mobile_sites(tracks))
        base = assign(tracks[kept], patches(tracks[kept, 0]), least=PART)
        # Sites beside a wide hinge, whose neighbours part, may be still in a piece after all.
        # Pieces of a tail move much themselves and must not gather the rest of it.
        squares = base.rests / base.sizes
        limits = _BESIDE**2 * np.minimum(squares, np.median(squares))
        labels = _join_still(tracks, kept, base, limits)
        again = np.flatnonzero(labels >= 0)
        if len(again) > len(kept):
            kept = again
            base = assign(tracks[kept], labels[kept], least=PART)
        inner = tracks[kept]
        found = {1: follow(inner, np.zeros(len(kept), np.int64))}
        for each in _candidates(base, asked):
            pieces = assign(inner, each, least=min(LEAST, len(kept)))
            found.setdefault(pieces.n_bodies, pieces)
        by_number = tuple(found[number] for number in sorted(found))
        known = n_effective or _count_independent(inner, by_number[-1], ordered=ordered)
        return cls(tracks, ordered, kept, base.labels, by_number, known)

    def levels(self) -> Iterator[Level]:
        """What each number of bodies accounts for."""
        inner, cuts = self.tracks[self.kept], dict[bytes, float]()
        whole = self.found[0]
        for each in self.found:
            wide = gap(inner, each, self.pieces, self.n_effective, cuts)
            sharp = sharpness(inner, each, whole) if wide >= GAP else np.nan
            rest = float(np.sqrt(each.rests.sum() / inner[:, :, 0].size))
            # Mobile sites join bodies where they are still enough.
            limits = _STILL**2 * each.rests / each.sizes
            labels = frozen(rank_labels(_join_still(self.tracks, self.kept, each, limits)))
            yield Level(each.n_bodies, wide, sharp, rest, labels)


def _candidates(base: Pieces, asked: int) -> Iterator[Ints]:
    """Labels on the way from all pieces to two: few, as requested, or hard to merge further."""
    joined = list(merges(base))
    labels = [base.labels, *(each for *_, each in joined[:-1])]
    growths = [np.inf, *(growth for _, _, growth, _ in joined)]
    for each, (last, following) in zip(labels, pairwise(growths), strict=False):
        own = np.unique(each, return_inverse=True)[1]
        number = own.max() + 1
        if number <= _FEW_BODIES or number == asked or following >= SOFT * last:
            yield own


def _join_still(tracks: Floats, kept: Ints, pieces: Pieces, limits: Floats) -> Ints:
    """Bodies of all sites; those not kept join where they move by no more than the limit."""
    labels, places = np.full(len(tracks), -1), np.full((len(tracks), 3), np.nan)
    labels[kept], places[kept] = pieces.labels, pieces.places
    moved = stillness(tracks, replace(pieces, labels=labels, places=places))
    best = moved.argmin(axis=1)
    found = np.where(moved.min(axis=1) <= limits[best], best, -1)
    found[kept] = pieces.labels
    return found


def _count_independent(tracks: Floats, pieces: Pieces, *, ordered: bool) -> float:
    """Number of independent snapshots, by what moves within bodies."""
    n_snapshots, own = tracks.shape[1], pieces.labels
    if not ordered or n_snapshots == 2:
        return float(n_snapshots)
    inner = np.einsum("stij,sti->sjt", pieces.rotations[own], tracks - pieces.centres[own])
    return effective_size(inner.reshape(-1, n_snapshots))


def _place_of(n_bodies: int, levels: list[Level]) -> int:
    there = [level.n_bodies for level in levels]
    if n_bodies not in there:
        words = ", ".join(map(str, there))
        raise ValueError(
            f"{n_bodies} bodies of at least {LEAST} sites were not found, only {words}"
        )
    return there.index(n_bodies)


def _agreement(search: _Search) -> Agreement | None:
    """Bodies found anew in alternate tenths of the snapshots."""
    n_snapshots, known = search.tracks.shape[1], search.n_effective / 2
    if n_snapshots < 4:
        return None
    block, found = np.arange(n_snapshots) // max(1, n_snapshots // 10) % 2, []
    for half in (0, 1):
        some = np.ascontiguousarray(search.tracks[:, block == half])
        levels = [*_Search.of(some, ordered=search.ordered, n_effective=known).levels()]
        found.append(levels[choose(levels)].labels)
    one, other = found
    both = (one >= 0) & (other >= 0)
    rand = rand_index(one[both], other[both]) if both.any() else float("nan")
    return Agreement((int(one.max()) + 1, int(other.max()) + 1), rand)


def _hierarchy(search: _Search, chosen: Pieces, labels: Ints, unit: str) -> tuple[Hierarchy, float]:
    """Tree of pieces, bodies and the whole, and the cutoff of the bodies."""
    kept, inner = search.kept, search.tracks[search.kept]
    split = np.unique(search.pieces * chosen.n_bodies + chosen.labels, return_inverse=True)[1]
    base = follow(inner, split, steps=6)
    first = np.unique(split, return_index=True)[1]
    ceiling = float(chosen.rests.sum())
    floor = rest = min(float(base.rests.sum()), ceiling)
    heads = first[split]
    edges = [(kept[head], kept[site]) for site, head in enumerate(heads) if head != site]
    rests = [floor] * len(edges)
    for one, other, growth, each in merges(base, within=chosen.labels[first]):
        joined = np.unique(each, return_inverse=True)[1]
        if joined.max() + 1 >= chosen.n_bodies:
            rest = min(rest + growth, ceiling)
        else:
            after = float(follow(inner, joined, steps=6).rests.sum())
            rest = max(rest, after, ceiling * 1.0001)
        edges.append((kept[one], kept[other]))
        rests.append(rest)
    top = max(rests, default=0.0)
    inside = min(max(ceiling, floor), top)
    for site in np.setdiff1d(np.arange(len(labels)), kept):
        home = kept[labels[kept] == labels[site]] if labels[site] >= 0 else kept[:0]
        edges.append((home[0] if len(home) else kept[0], site))
        rests.append(inside if len(home) else top * 1.01)
    size = inner[:, :, 0].size
    heights = np.sqrt(np.array(rests) / size)
    tree = grow(len(labels), np.array(edges).reshape(-1, 2), heights, unit=unit, quantity=REST)
    low = float(np.sqrt(inside / size))
    above = heights[heights > low * (1 + 1e-9)]
    return tree, float(np.sqrt(low * above.min())) if len(above) else low


def _chains(ensemble: Ensemble, labels: Ints) -> tuple[str, ...]:
    """Chain that has most sites of each body."""
    chains = ensemble.sites.chains
    names, number = np.unique(chains, return_inverse=True)
    return tuple(
        str(names[np.bincount(number[labels == body]).argmax()])
        for body in range(int(labels.max()) + 1)
    )
