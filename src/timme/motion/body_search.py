"""Search for rigid bodies: sites are given out, bodies join, and a number of them is chosen.

The gap G(n) decides how many bodies there are. It is the least growth of the rest on joining two of
n bodies, divided by the most it falls on cutting one of them into parts of at least 5 sites, or by
what noise alone would give if that is more: F₀ · 6 (T − 1) v (3 in a plane), with v the variance of
a coordinate within bodies and F₀ = 1 + 20/(n_eff − 1). Single domains have at most 5.5 (two open
crystal structures of adenylate kinase, whose domains differ by 4° to 7°) and known domains at least
8.4, so 6.5 is required, and half of that makes soft parts.

A rod that bends evenly is cut by G as well: by theory bending costs 32 times what another cut
gains. Sharpness S tells it from a hinge. Beside a hinge small parts turn alike within a body and
differ by a step between bodies; along a bending rod turning grows evenly with the place. S is what
the even model leaves over what the steps leave, each by its degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.partition import rank_labels
from timme.motion import pieces
from timme.motion.pieces import LEAST, PART, Pieces
from timme.series import effective_size

GAP = 6.5  # G of bodies
_SOFT = GAP / 2  # G of soft parts
SHARP = 0.7  # S of bodies; known domains have 0.84 and more
_FEW_BODIES = 6  # up to which every number of bodies is looked at
_BESIDE = 2.0  # times the rms of a piece, up to which a site beside a hinge belongs to it
_STILL = 3.0  # times the rms of a body, up to which a mobile site belongs to it
_PART_SITES = 4  # sites of a part whose turning is looked at
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Level(Described):
    """Fit of a number of bodies; for several chains, G and S are the smallest of all."""

    n_bodies: int
    gap: float  # G; NaN for one body
    sharpness: float  # S; NaN where G is too small, or parts are too few
    rest: float  # rms distance of sites from their places
    labels: Ints  # (sites,), body of each, 0 the largest; -1 for none
    rests: tuple[float, ...]  # of each chain that was searched by itself, or of all sites

    @property
    def bends(self) -> bool:
        """Whether the bodies are parts of one that bends evenly."""
        return self.sharpness < SHARP


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Bodies of some snapshots, by their number."""

    tracks: Floats  # (sites, snapshots, 3)
    ordered: bool  # in time
    kept: Ints  # sites that are not mobile
    small: Ints  # (kept,), small pieces, of which parts of bodies are made
    found: tuple[Pieces, ...]  # bodies of the kept sites, from one body up
    n_effective: float
    levels: tuple[Level, ...]  # what each of these accounts for
    chosen: int  # place of a level

    @classmethod
    def of(
        cls, tracks: Floats, *, ordered: bool, asked: int | None = None, n_effective: float = 0.0
    ) -> Search:
        """Look at few numbers of bodies and the one that is given, which is chosen then."""
        kept = np.flatnonzero(~pieces.mobile_sites(tracks))
        base = pieces.assign(tracks[kept], pieces.patches(tracks[kept, 0]), least=PART)
        # Sites beside a wide hinge, whose neighbours part, may be still in a piece after all.
        # Pieces of a tail move much themselves and must not gather the rest of it.
        squares = base.rests / base.sizes
        limits = _BESIDE**2 * np.minimum(squares, np.median(squares))
        labels = _join_still(tracks, kept, base, limits)
        kept = np.flatnonzero(labels >= 0)
        inner = tracks[kept]
        base = pieces.assign(inner, labels[kept], least=PART)
        by_number = {1: pieces.follow(inner, np.zeros(len(kept), np.int64))}
        for joined in _candidates(base, asked):
            bodies = pieces.assign(inner, joined, least=min(LEAST, len(kept)))
            by_number.setdefault(bodies.n_bodies, bodies)
        found = tuple(by_number[number] for number in sorted(by_number))
        known = n_effective or _count_independent(inner, found[-1], ordered=ordered)
        levels, cuts = list[Level](), dict[bytes, float]()
        for each in found:
            gap = _gap(inner, each, base.labels, known, cuts)
            sharp = sharpness(inner, each, found[0]) if gap >= GAP else np.nan
            rest = float(np.sqrt(each.rests.sum() / inner[:, :, 0].size))
            # Mobile sites join bodies where they are still enough.
            limits = _STILL**2 * each.rests / each.sizes
            own = frozen(rank_labels(_join_still(tracks, kept, each, limits)))
            levels.append(Level(each.n_bodies, gap, sharp, rest, own, (rest,)))
        chosen = _choose(levels, asked)
        return cls(tracks, ordered, kept, base.labels, found, known, tuple(levels), chosen)


def _choose(levels: Sequence[Level], asked: int | None) -> int:
    """Place of the most bodies with a wide gap that do not bend, 0 if none have; or as asked."""
    if asked is None:
        wide = [place for place, each in enumerate(levels) if each.gap >= GAP and not each.bends]
        return max(wide, default=0)
    numbers = [level.n_bodies for level in levels]
    if asked not in numbers:
        words = f"{asked} bodies of at least {LEAST} sites were not found, only "
        raise ValueError(words + ", ".join(map(str, numbers)))
    return numbers.index(asked)


def sharpness(tracks: Floats, bodies: Pieces, whole: Pieces) -> float:
    """S of two or more bodies beside all sites as one body; NaN for too few parts."""
    parts, owners = np.full(len(bodies.labels), -1), list[int]()
    for body in range(bodies.n_bodies):
        members = np.flatnonzero(bodies.labels == body)
        patch = pieces.patches(whole.places[members])
        for number in np.flatnonzero(np.bincount(patch) >= _PART_SITES):
            parts[members[patch == number]] = len(owners)
            owners.append(body)
    small, turned = pieces.follow(tracks, parts), whole.rotations[0].swapaxes(1, 2)
    seen = [Rotation.from_matrix(each) for each in turned @ small.rotations]
    turns = np.array([(each * each.mean().inv()).as_rotvec().ravel() for each in seen])
    middles = [whole.places[parts == part].mean(axis=0) for part in range(len(owners))]
    even = np.column_stack([np.ones(len(owners)), np.array(middles)])
    steps = (np.array(owners)[:, None] == np.arange(bodies.n_bodies)).astype(np.float64)
    smooth, stepped = (_left(turns, model, small.sizes) for model in (even, steps))
    return smooth / max(stepped, _TINY)


def _candidates(base: Pieces, asked: int | None) -> Iterator[Ints]:
    """Labels on the way from all pieces to two: few, as requested, or hard to merge further."""
    labels, last = base.labels, np.inf
    for _, _, growth, joined in pieces.merges(base):
        own = np.unique(labels, return_inverse=True)[1]
        number = own.max() + 1
        if number <= _FEW_BODIES or number == asked or growth >= _SOFT * last:
            yield own
        labels, last = joined, growth


def _join_still(tracks: Floats, kept: Ints, bodies: Pieces, limits: Floats) -> Ints:
    """Bodies of all sites; those not kept join where they move by no more than the limit."""
    labels, places = np.full(len(tracks), -1), np.full((len(tracks), 3), np.nan)
    labels[kept], places[kept] = bodies.labels, bodies.places
    moved = pieces.stillness(tracks, replace(bodies, labels=labels, places=places))
    best = moved.argmin(axis=1)
    found = np.where(moved.min(axis=1) <= limits[best], best, -1)
    found[kept] = bodies.labels
    return found


def _count_independent(tracks: Floats, bodies: Pieces, *, ordered: bool) -> float:
    """Number of independent snapshots, by what moves within bodies."""
    n_snapshots, own = tracks.shape[1], bodies.labels
    if not ordered or n_snapshots == 2:
        return float(n_snapshots)
    inner = np.einsum("stij,sti->sjt", bodies.rotations[own], tracks - bodies.centres[own])
    return effective_size(inner.reshape(-1, n_snapshots))


def _gap(
    tracks: Floats, bodies: Pieces, start: Ints, n_effective: float, cuts: dict[bytes, float]
) -> float:
    """G of bodies of all sites; NaN for one.

    ``start`` (sites,) are small pieces, of which parts are made. ``cuts`` keeps what cutting bodies
    gains, by their sites, since numbers of bodies share some.
    """
    if bodies.n_bodies < 2:
        return float("nan")
    joining = pieces.unite(bodies, pieces.all_pairs(bodies.n_bodies))[0].min()
    cutting = max(_gain_of_noise(bodies, n_effective), _TINY)
    for body in range(bodies.n_bodies):
        own = bodies.labels == body
        if own.tobytes() not in cuts:
            cuts[own.tobytes()] = _best_cut(tracks[own], start[own])
        cutting = max(cutting, cuts[own.tobytes()])
    return float(joining / cutting)


def _best_cut(tracks: Floats, start: Ints) -> float:
    """Most that the rest falls if a body is cut in two."""
    numbered = np.unique(start, return_inverse=True)[1]
    if numbered.max() < 2:  # what is very rigid is found as a whole at once
        numbered = pieces.patches(tracks[:, 0])
    if len(tracks) < PART + LEAST or numbered.max() == 0:
        return 0.0
    small = pieces.follow(tracks, numbered, steps=6)
    joined = [numbered, *(each for *_, each in pieces.merges(small))]
    halves = np.unique(joined[-2], return_inverse=True)[1]
    best = 0.0
    for least in (PART, LEAST):
        cut = pieces.assign(tracks, halves, least=least)
        if cut.n_bodies == 2:
            best = max(best, float(pieces.unite(cut, pieces.all_pairs(2))[0][0]))
        if cut.sizes.min() >= LEAST:
            break
    return best


def _gain_of_noise(bodies: Pieces, n_effective: float) -> float:
    """What independent noise gives on cutting a body, as the best of many cuts."""
    n_snapshots, dimensions = bodies.centres.shape[1], bodies.dimensions
    pose = dimensions * (dimensions + 1) // 2
    free = ((dimensions * bodies.sizes - pose) * (n_snapshots - 1)).sum()
    factor = 1 + 20 / max(n_effective - 1, 0.5)
    return float(factor * pose * (n_snapshots - 1) * bodies.rests.sum() / max(free, 1))


def _left(turns: Floats, model: Floats, weights: Ints) -> float:
    """Squares that a linear model leaves, by degrees of freedom; NaN without any."""
    share = np.sqrt(weights)[:, None]
    found, _, rank, _ = np.linalg.lstsq(model * share, turns * share, rcond=1e-9)
    left = (((turns - model @ found) * share) ** 2).sum()
    return float(left / (len(turns) - rank)) if len(turns) > rank else float("nan")
