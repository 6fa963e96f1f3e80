"""Find the rigid bodies of an ensemble, and how many there are.

Levels of σ are not domains: pairs near a hinge move less than the noise, and single linkage runs
through it. So pieces of a few sites are bodies at first; each site goes to the body in whose frame
it is stillest, over and over; bodies are joined by the least growth of the rest, and sites are
given out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.agreement import rand_index
from timme.hierarchy.labels import checked_labels, rank_labels
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import Hierarchy, grow
from timme.motion.counting import ENOUGH, LEAST, SOFT, Level, bends, choose, gap, separation
from timme.motion.crowd import Crowd, assign, follow, stillness, take_sites
from timme.motion.gaps import fill_gaps
from timme.motion.merging import merges
from timme.motion.seeds import floppy, patches, sow
from timme.motion.sharpness import sharpness
from timme.motion.whole import whole_snapshots
from timme.series import effective_size
from timme.system.ensemble import Ensemble

REST = Quantity(
    "rest", words="rest that no rigid motion accounts for", clusters="rigid bodies", is_length=True
)
_FRAMES = 100
_LEAST_SEED = 5  # sites of a piece to begin with
_FEW_BODIES = 6  # up to which every number of bodies is looked at
_BESIDE = 2.0  # times the rms of a piece, up to which a site beside a hinge belongs to it
_STILL = 3.0  # times the rms of a body, up to which a floppy site belongs to it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Described):
    """Bodies that were found in alternate blocks of the snapshots."""

    counts: tuple[int, int]  # bodies found in each
    rand: float  # adjusted Rand index of both


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bodies(Described):
    """The rigid bodies of an ensemble."""

    labels: Ints  # (sites,), body of each, 0 the largest; -1 for sites of none
    hierarchy: Hierarchy  # of all sites; height is the rest of the whole once so much is joined
    cutoff: float  # at which the clusters of the hierarchy are the bodies
    levels: tuple[Level, ...]  # of one body and more, by their number
    chosen: int  # place of the level that was chosen
    n_effective: float  # independent snapshots, as the rest tells
    n_snapshots: int  # from which bodies were learned
    agreement: Agreement | None  # None of too few snapshots

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
        """Level of the widest gap among those of more bodies than were chosen, if there is one."""
        others = [
            level
            for place, level in enumerate(self.levels)
            if place > self.chosen and np.isfinite(level.gap)
        ]
        return max(others, key=lambda level: level.gap, default=None)

    def members(self, body: int) -> Ints:
        """Return the sites of one body.

        Parameters
        ----------
        body : int
            Its number, 0 the largest.

        Returns
        -------
        ndarray of int
            Ascending.
        """
        return np.flatnonzero(self.labels == body)

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("bodies", self.n_bodies),
            ("sizes", ", ".join(map(str, self.sizes.tolist()))),
            ("sites of none", len(self.unassigned)),
            ("gap", f"{self.levels[self.chosen].gap:.3g}"),
            ("rest", f"{self.levels[self.chosen].rest:.3g}"),
        )


def bodies(
    ensemble: Ensemble, *, n_bodies: int | None = None, seeds: npt.ArrayLike | None = None
) -> Bodies:
    """Find the rigid bodies of an ensemble.

    At most 100 snapshots, spread over all, are looked at. Half of a transition may give other
    bodies than the whole.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions, at least 2; of a protein, select its Cα first. In a periodic
        box, molecules must be whole.
    n_bodies : int, optional
        How many are wanted; by default as many as stand out (see :mod:`timme.motion.counting`).
    seeds : array_like of int, shape (sites,), optional
        Pieces to begin with, such as the clusters of a cut of σ, -1 for sites of none. Those of
        fewer than 5 sites count as none; such sites begin in patches of about nine, as all do
        by default.

    Returns
    -------
    Bodies
        With a table of what other numbers of bodies would account for.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> planted = moving((60, 40), 20, spans=[30.0])
    >>> found = bodies(planted.ensemble)
    >>> found.n_bodies, bool((found.labels == planted.labels).mean() > 0.95)
    (2, True)
    """
    snapshots, seen, ordered = whole_snapshots(fill_gaps(ensemble), _FRAMES)
    # Far from the origin, squares of places would leave few digits for what moves.
    snapshots = snapshots - snapshots.mean(axis=1, keepdims=True)
    given = None
    if seeds is not None:
        given = checked_labels(seeds, ensemble.n_sites, "seeds need")[seen]
    found = _Search.of(snapshots, ordered=ordered, seeds=given, asked=n_bodies)
    levels = found.judge()
    chosen = choose(levels) if n_bodies is None else _asked(levels, n_bodies)
    crowd = found.crowds[chosen]
    labels = np.full(ensemble.n_sites, -1)
    labels[seen] = found.with_floppy(crowd)
    labels = rank_labels(labels)
    hierarchy, cutoff = _hierarchy(found, crowd, labels, seen, ensemble.unit)
    return Bodies(
        labels=frozen(labels),
        hierarchy=hierarchy,
        cutoff=cutoff,
        levels=tuple(
            _on_all_sites(level, found.with_floppy(crowd), seen, len(labels))
            for level, crowd in zip(levels, found.crowds, strict=True)
        ),
        chosen=chosen,
        n_effective=found.n_effective,
        n_snapshots=len(snapshots),
        agreement=_agreement(snapshots, found, ordered=ordered),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What was found of bodies in some snapshots."""

    snapshots: Floats  # (snapshots, sites, 3)
    kept: Ints  # sites that are not floppy
    inner: Floats  # (snapshots, kept, 3)
    pieces: Ints  # (kept,)
    crowds: tuple[Crowd, ...]  # bodies of the kept sites, by their number
    n_effective: float

    @classmethod
    def of(
        cls,
        snapshots: Floats,
        *,
        ordered: bool,
        n_effective: float | None = None,
        seeds: Ints | None = None,
        asked: int | None = None,
    ) -> _Search:
        kept = np.flatnonzero(~floppy(snapshots))
        inner = take_sites(snapshots, kept)
        pieces = patches(inner[0])
        if seeds is not None:
            pieces = sow(pieces, seeds[kept], least=_LEAST_SEED)
        base = assign(inner, pieces, least=_LEAST_SEED)
        kept, base = _take_back(snapshots, kept, base)
        inner = take_sites(snapshots, kept)
        crowds = _crowds(inner, base, asked)
        if n_effective is None:
            n_effective = _independent(inner, crowds[-1], ordered=ordered)
        return cls(snapshots, kept, inner, base.labels, crowds, n_effective)

    def judge(self) -> tuple[Level, ...]:
        """Tell what each number of bodies accounts for."""
        sigma, known = _sigma(self.inner), dict[bytes, float]()
        gaps = [self._gap(crowd, known) for crowd in self.crowds]
        return tuple(
            Level(
                n_bodies=crowd.n_bodies,
                gap=wide,
                separation=separation(sigma, crowd.labels),
                sharpness=self._sharpness(crowd) if wide >= ENOUGH else float("nan"),
                rest=float(np.sqrt(crowd.rests.sum() / self.inner[:, :, 0].size)),
                labels=crowd.labels,
            )
            for crowd, wide in zip(self.crowds, gaps, strict=True)
        )

    def best(self) -> Crowd:
        """Choose as :func:`choose` does, where nothing is told of other numbers of bodies."""
        known = dict[bytes, float]()
        for crowd in reversed(self.crowds[1:]):
            wide = self._gap(crowd, known, down_to=ENOUGH) >= ENOUGH
            if wide and not bends(self._sharpness(crowd)):
                return crowd
        return self.crowds[0]

    def _gap(self, crowd: Crowd, known: dict[bytes, float], *, down_to: float = 0.0) -> float:
        return gap(
            self.inner,
            crowd,
            self.pieces,
            n_effective=self.n_effective,
            known=known,
            down_to=down_to,
        )

    def _sharpness(self, crowd: Crowd) -> float:
        return sharpness(self.inner, crowd, self.crowds[0])

    def with_floppy(self, crowd: Crowd) -> Ints:
        """Bodies of all sites; floppy ones join where they are still enough."""
        limits = _STILL**2 * crowd.rests / crowd.sizes
        return _join_still(self.snapshots, self.kept, crowd, limits)


def _join_still(snapshots: Floats, kept: Ints, crowd: Crowd, limits: Floats) -> Ints:
    """Bodies of all sites: what was set aside joins where it moves by no more than the limit."""
    moved = stillness(snapshots, _of_all_sites(crowd, kept, snapshots.shape[1]))
    best = moved.argmin(axis=1)
    labels = np.where(moved[np.arange(len(best)), best] <= limits[best], best, -1)
    labels[kept] = crowd.labels
    return labels


def _take_back(snapshots: Floats, kept: Ints, base: Crowd) -> tuple[Ints, Crowd]:
    """Keep sites after all that are still in a piece: beside a wide hinge, neighbours part."""
    squares = base.rests / base.sizes
    # Pieces of a tail move much themselves: they must not gather the rest of it.
    limits = _BESIDE**2 * np.minimum(squares, np.median(squares))
    labels = _join_still(snapshots, kept, base, limits)
    again = np.flatnonzero(labels >= 0)
    if len(again) == len(kept):
        return kept, base
    return again, assign(take_sites(snapshots, again), labels[again], least=_LEAST_SEED)


def _crowds(snapshots: Floats, base: Crowd, asked: int | None) -> tuple[Crowd, ...]:
    """Bodies by their number, from one up; sites are given out again after each merge."""
    n_sites = snapshots.shape[1]
    found = {1: follow(snapshots, np.zeros(n_sites, np.int64))}
    for labels in _worth_a_look(base, asked):
        crowd = assign(snapshots, labels, least=min(LEAST, n_sites))
        found.setdefault(crowd.n_bodies, crowd)
    return tuple(found[number] for number in sorted(found))


def _worth_a_look(base: Crowd, asked: int | None) -> Iterator[Ints]:
    """Yield bodies on the way from all pieces to two: few, asked for, or hard to merge further."""
    joined = list(merges(base))
    labels = [base.labels, *(merge.labels for merge in joined[:-1])]
    growths = [np.inf, *(merge.growth for merge in joined)]
    for after, (last, following) in zip(labels, pairwise(growths), strict=False):
        own = np.unique(after, return_inverse=True)[1]
        number = own.max() + 1
        if number <= _FEW_BODIES or number == asked or following >= SOFT * last:
            yield own


def _independent(snapshots: Floats, crowd: Crowd, *, ordered: bool) -> float:
    """Number of independent snapshots, as what moves within bodies tells."""
    n_snapshots = len(snapshots)
    if not ordered or n_snapshots == 2:
        return float(n_snapshots)
    own = crowd.labels
    away = snapshots.swapaxes(0, 1) - crowd.centres[own]
    inner = np.einsum("stij,sti->sjt", crowd.rotations[own], away)
    return effective_size(inner.reshape(-1, n_snapshots))


def _sigma(snapshots: Floats) -> Floats:
    """σ of all pairs of at most 300 sites would do; of all here, in at most 50 snapshots."""
    chosen = snapshots[:: -(-len(snapshots) // 50)]
    total = square = np.zeros((snapshots.shape[1],) * 2)
    for places in chosen:
        norms = (places**2).sum(axis=1)
        squared = np.maximum(norms[:, None] + norms - 2 * places @ places.T, 0.0)
        total, square = total + np.sqrt(squared), square + squared
    mean = total / len(chosen)
    return np.sqrt(np.maximum(square / len(chosen) - mean**2, 0.0))


def _asked(levels: tuple[Level, ...], n_bodies: int) -> int:
    for place, level in enumerate(levels):
        if level.n_bodies == n_bodies:
            return place
    there = ", ".join(str(level.n_bodies) for level in levels)
    raise ValueError(f"{n_bodies} bodies of at least {LEAST} sites were not found, only {there}")


def _agreement(snapshots: Floats, found: _Search, *, ordered: bool) -> Agreement | None:
    """Find bodies anew in alternate blocks of the snapshots."""
    n_snapshots = len(snapshots)
    if n_snapshots < 4:
        return None
    block = np.arange(n_snapshots) // max(1, n_snapshots // 10) % 2
    share = found.n_effective / 2
    halves = [
        _Search.of(snapshots[block == half], ordered=ordered, n_effective=share) for half in (0, 1)
    ]
    labels = [half.with_floppy(half.best()) for half in halves]
    both = (labels[0] >= 0) & (labels[1] >= 0)
    rand = rand_index(labels[0][both], labels[1][both]) if both.any() else float("nan")
    return Agreement((int(labels[0].max()) + 1, int(labels[1].max()) + 1), rand)


def _hierarchy(
    found: _Search, crowd: Crowd, labels: Ints, seen: Ints, unit: str
) -> tuple[Hierarchy, float]:
    """Tree of pieces, bodies and the whole; its heights are the rest of the whole."""
    kept = seen[found.kept]
    inner = found.inner
    size = inner[:, :, 0].size
    split = np.unique(found.pieces * crowd.n_bodies + crowd.labels, return_inverse=True)[1]
    base = follow(inner, split, steps=6)
    body = np.array([crowd.labels[np.argmax(split == piece)] for piece in range(base.n_bodies)])
    edges, rests = list[tuple[int, int]](), list[float]()
    rest, ceiling = float(base.rests.sum()), float(crowd.rests.sum())
    rest = min(rest, ceiling)
    floor = rest
    for sites in (np.flatnonzero(split == piece) for piece in range(base.n_bodies)):
        edges += [(int(kept[sites[0]]), int(kept[site])) for site in sites[1:]]
        rests += [floor] * (len(sites) - 1)
    for merge in merges(base, within=body):
        n_left = len(np.unique(merge.labels))
        if n_left >= crowd.n_bodies:
            rest = min(rest + merge.growth, ceiling)
        else:
            joined = np.unique(merge.labels, return_inverse=True)[1]
            rest = max(rest, float(follow(inner, joined, steps=6).rests.sum()), ceiling * 1.0001)
        edges.append((int(kept[merge.kept]), int(kept[merge.joined])))
        rests.append(rest)
    top = max(rests, default=0.0)
    inside = min(max(ceiling, floor), top)
    heads = [int(kept[np.argmax(crowd.labels == each)]) for each in range(crowd.n_bodies)]
    settled = set(kept.tolist())
    for site in range(len(labels)):
        if site not in settled:
            home = labels[site]
            same = [head for head in heads if home >= 0 and labels[head] == home]
            edges.append((same[0] if same else heads[0], site))
            rests.append(inside if same else top * 1.01)
    heights = np.sqrt(np.array(rests) / size)
    tree = grow(len(labels), np.array(edges).reshape(-1, 2), heights, unit=unit, quantity=REST)
    above = heights[heights > np.sqrt(inside / size) * (1 + 1e-9)]
    low = float(np.sqrt(inside / size))
    return tree, float(np.sqrt(low * above.min())) if len(above) else low


def _of_all_sites(crowd: Crowd, kept: Ints, n_sites: int) -> Crowd:
    labels = np.full(n_sites, -1)
    places = np.full((n_sites, 3), np.nan)
    labels[kept], places[kept] = crowd.labels, crowd.places
    return replace(crowd, labels=labels, places=places)


def _on_all_sites(level: Level, found: Ints, seen: Ints, n_sites: int) -> Level:
    labels = np.full(n_sites, -1)
    labels[seen] = found
    return replace(level, labels=frozen(rank_labels(labels)))
