"""Pieces: many rigid bodies at once, sites given to the one they follow, and their merges.

Sites are held in the order of their bodies, one row (snapshots × 3,) each. How much a site moves in
the frame of a body needs no transformed coordinates: Σ_t |Rᵀ(x − c) − mean|² is Σ_t |x − c|² less
T |mean|². Bodies in a plane are bodies in space with third coordinate 0 and a moment along it, so
that the best rotations stay in the plane.

Two bodies are joined by the least increase of the rest, what no rigid motion accounts for ("rigid
Ward"). A body of n sites with rotation A and centre c has Σ |A x + c|² = Σ |x|² + n |c|², so sizes,
moments Σ x xᵀ and poses give the rest of a union, and no site is needed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from timme_next._arrays import Bools, Floats, Ints
from timme_next._kernels import rotations as kernel
from timme_next.motion.fits import nearest_rotations

_PATCH = 9  # sites of a patch
_PATCHES = 60  # at most: with many sites patches are larger
_NEIGHBOURS = 10
_MOBILE = 3.0  # times the median motion
_FRAMES = 33  # snapshots that decide which bodies merge, and which sites are mobile
_ROUNDING = 1e-10  # of the coordinates: sites that move by less are not mobile


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Rigid bodies, none of which share a site."""

    labels: Ints  # (sites,), body of each, -1 for none
    sizes: Ints  # (bodies,)
    rotations: Floats  # (bodies, snapshots, 3, 3)
    centres: Floats  # (bodies, snapshots, 3)
    places: Floats  # (sites, 3), in the frame of the own body; NaN for sites of none
    rests: Floats  # (bodies,), Σ of squared distances from the places
    moments: Floats  # (bodies, 3, 3), Σ x xᵀ of the places

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return len(self.sizes)


class Merge(NamedTuple):
    """Two bodies that became one."""

    kept: int  # a site of the one
    joined: int  # a site of the other
    growth: float  # of the rest, over all snapshots
    labels: Ints  # (sites,), bodies after it


def follow(
    snapshots: Floats, labels: Ints, *, before: Floats | None = None, steps: int = 50
) -> Pieces:
    """Fit bodies to all snapshots, each with its own mean shape.

    ``snapshots`` are (snapshots, sites, 3), ``labels`` (sites,) are -1 for sites of no body,
    ``before`` (bodies, snapshots, 3, 3) are rotations to begin with.
    """
    n_snapshots, n_sites, _ = snapshots.shape
    ranked = np.argsort(labels, kind="stable")
    ranked = ranked[labels[ranked] >= 0]
    sizes = np.bincount(labels[ranked])
    bounds = np.append(0, np.cumsum(sizes))
    about = _rows(snapshots)[ranked]
    middles = np.add.reduceat(about, bounds[:-1], axis=0) / sizes[:, None]
    about -= np.repeat(middles, sizes, axis=0)
    squares = np.add.reduceat(np.einsum("sk,sk->s", about, about), bounds[:-1])
    flat = not snapshots[:, :, 2].any()
    if before is None:
        before = _rotations(about[:, :3], about, bounds, flat=flat)
    shapes, rotations, last = _shapes(about, bounds, before), before, np.inf
    for _ in range(steps):
        rotations = _rotations(shapes, about, bounds, flat=flat)
        shapes = _shapes(about, bounds, rotations)
        rest = squares.sum() - n_snapshots * (shapes**2).sum()
        if last - rest <= 1e-7 * abs(rest):
            break
        last = rest
    places = np.full((n_sites, 3), np.nan)
    places[ranked] = shapes
    moments = np.add.reduceat(shapes[:, :, None] * shapes[:, None], bounds[:-1])
    kept = np.trace(moments, axis1=1, axis2=2)
    if flat:
        moments[:, 2, 2] = kept
    rests = np.maximum(squares - n_snapshots * kept, 0.0)
    centres = middles.reshape(len(sizes), n_snapshots, 3)
    return Pieces(labels, sizes, rotations, centres, places, rests, moments)


def stillness(snapshots: Floats, pieces: Pieces) -> Floats:
    """Σ over snapshots of squared distances of sites from their mean places (sites, bodies).

    A site pulls the frame of its own body along; that is corrected by its leverage in the fit.
    """
    rows, centres = _rows(snapshots), pieces.centres.reshape(pieces.n_bodies, -1)
    squares, moved = (rows**2).sum(axis=1), np.empty((len(rows), pieces.n_bodies))
    columns = pieces.rotations.reshape(pieces.n_bodies, -1, 3)
    # One body at a time: for larger products BLAS starts threads, which wait more than they work.
    for body, (centre, turns) in enumerate(zip(centres, columns, strict=True)):
        sums = rows @ np.column_stack([turns, centre])
        means = sums[:, :3] - centre @ turns
        square = squares - 2 * sums[:, 3] + centre @ centre
        moved[:, body] = square - (means**2).sum(axis=1) / len(snapshots)
    np.maximum(moved, 0.0, out=moved)
    inside = np.flatnonzero(pieces.labels >= 0)
    own = pieces.labels[inside]
    moved[inside, own] /= (1 - _leverages(pieces, inside, own)) ** 2
    return moved


def assign(snapshots: Floats, labels: Ints, *, least: int, steps: int = 40) -> Pieces:
    """Give each site to the body in whose frame it is stillest, and repeat to a fixed point.

    Bodies of fewer than ``least`` sites dissolve, one in each step, the smallest first.
    """
    pieces = follow(snapshots, labels, steps=6)
    seen = set[bytes]()
    for _ in range(steps):
        best = stillness(snapshots, pieces).argmin(axis=1)
        sizes = np.bincount(best, minlength=pieces.n_bodies)
        kept = np.flatnonzero(sizes)
        smallest = kept[sizes[kept].argmin()]
        if sizes[smallest] < least and len(kept) > 1:
            kept = kept[kept != smallest]
        number = np.full(pieces.n_bodies, -1)
        number[kept] = np.arange(len(kept))
        best = number[best]
        if np.array_equal(best, pieces.labels) or best.tobytes() in seen:
            break
        seen.add(best.tobytes())
        pieces = follow(snapshots, best, before=pieces.rotations[kept], steps=3)
    return follow(snapshots, pieces.labels, before=pieces.rotations)


def increases(pieces: Pieces, pairs: Ints, *, steps: int = 30) -> Floats:
    """How much the rest grows if the two bodies of each pair (pairs, 2) become one."""
    return _unite(pieces, pairs, steps)[0]


def all_pairs(count: int) -> Ints:
    """Pairs (pairs, 2) of so many bodies, the lower first."""
    return np.column_stack(np.triu_indices(count, 1))


def merges(pieces: Pieces, *, within: Ints | None = None) -> Iterator[Merge]:
    """Join the two bodies whose union adds least to the rest, again and again.

    ``within`` (bodies,) are families, whose bodies join before they join others.
    """
    scale = -(-pieces.centres.shape[1] // _FRAMES)
    some = {name: getattr(pieces, name)[:, ::scale] for name in ("rotations", "centres")}
    pieces, n_bodies = replace(pieces, **some), pieces.n_bodies
    family = np.zeros(n_bodies, np.int64) if within is None else within
    growth, pairs = np.full((n_bodies, n_bodies), np.inf), all_pairs(n_bodies)
    growth[pairs[:, 0], pairs[:, 1]] = increases(pieces, pairs, steps=8)
    representative = np.unique(pieces.labels[pieces.labels >= 0], return_index=True)[1]
    representative = np.flatnonzero(pieces.labels >= 0)[representative]
    alive = np.ones(n_bodies, np.bool_)
    for _ in range(n_bodies - 1):
        masked = np.where(family[:, None] == family, growth, np.inf)
        masked = masked if np.isfinite(masked).any() else growth
        first, second = divmod(int(masked.argmin()), n_bodies)
        added = float(growth[first, second])
        pieces = _merge(pieces, first, second, added)
        growth[second], growth[:, second], alive[second] = np.inf, np.inf, False
        others = np.flatnonzero(alive & (np.arange(n_bodies) != first))
        pairs = np.sort(np.column_stack([np.full(len(others), first), others]), axis=1)
        growth[pairs[:, 0], pairs[:, 1]] = increases(pieces, pairs, steps=8)
        ends = int(representative[first]), int(representative[second])
        yield Merge(*ends, added * scale, pieces.labels)


def patches(places: Floats) -> Ints:
    """Patch (sites,) of about nine near sites of each place (sites, 3), by k-means.

    It begins with sites as far from one another as can be.
    """
    count = min(_PATCHES, round(len(places) / _PATCH))
    labels = np.zeros(len(places), np.int64)
    if count < 2:
        return labels
    centres = places[_far_apart(places, count)]
    for _ in range(30):
        found = ((places[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if np.array_equal(found, labels):
            break
        labels = np.unique(found, return_inverse=True)[1].astype(np.int64)
        members = [places[labels == patch] for patch in range(labels.max() + 1)]
        centres = np.array([sites.mean(axis=0) for sites in members])
    return labels


def mobile_sites(snapshots: Floats) -> Bools:
    """Whether sites move against their ten nearest neighbours by three times the median."""
    snapshots = snapshots[:: -(-len(snapshots) // _FRAMES)]
    n_sites = snapshots.shape[1]
    if n_sites <= _NEIGHBOURS:
        return np.zeros(n_sites, np.bool_)
    near = np.asarray(cKDTree(snapshots[0]).query(snapshots[0], _NEIGHBOURS + 1)[1])
    owner = np.repeat(np.arange(n_sites), _NEIGHBOURS)
    around = follow(snapshots[:, near[:, 1:].ravel()], owner, steps=3)
    away = snapshots.swapaxes(0, 1) - around.centres
    inner = np.einsum("stij,sti->stj", around.rotations, away)
    moved = np.sqrt(inner.var(axis=1).sum(axis=1))
    rounding = _ROUNDING * float(np.abs(snapshots).max())
    found: Bools = moved > np.maximum(_MOBILE * np.median(moved), rounding)
    return found


def take_sites(snapshots: Floats, sites: Ints) -> Floats:
    """Take some sites, all snapshots of each side by side in memory."""
    return np.take(snapshots.swapaxes(0, 1), sites, axis=0).swapaxes(0, 1)


def _rows(snapshots: Floats) -> Floats:
    """Snapshots as one row (snapshots × 3,) for each site."""
    return np.ascontiguousarray(snapshots.swapaxes(0, 1)).reshape(snapshots.shape[1], -1)


def _shapes(about: Floats, bounds: Ints, rotations: Floats) -> Floats:
    """Mean places of sites in the frames of their bodies."""
    columns = rotations.reshape(len(rotations), -1, 3)
    parts = [about[a:b] @ turns for (a, b), turns in zip(pairwise(bounds), columns, strict=True)]
    return np.asarray(np.concatenate(parts) / rotations.shape[1])


def _rotations(shapes: Floats, about: Floats, bounds: Ints, *, flat: bool) -> Floats:
    """Rotations that carry shapes onto their sites in every snapshot."""
    products = np.array([shapes[a:b].T @ about[a:b] for a, b in pairwise(bounds)])
    stacked = products.reshape(len(products), 3, -1, 3).transpose(0, 2, 3, 1)
    if flat:
        stacked = stacked.copy()
        stacked[:, :, 2, 2] = np.linalg.norm(stacked, axis=(2, 3))
    return nearest_rotations(stacked.reshape(-1, 3, 3))[0].reshape(stacked.shape)


def _leverages(pieces: Pieces, sites: Ints, own: Ints) -> Floats:
    """Share of each site in the pose of its body, mean over three coordinates."""
    traces = np.trace(pieces.moments, axis1=1, axis2=2)
    inertias = traces[:, None, None] * np.eye(3) - pieces.moments
    inverse = np.linalg.pinv(inertias, hermitian=True)[own]  # of a line or a point as well
    places = pieces.places[sites]
    # The trace of [x]× I⁻¹ [x]×ᵀ is |x|² tr I⁻¹ − x I⁻¹ x.
    turning = (places**2).sum(axis=1) * np.trace(inverse, axis1=1, axis2=2)
    turning = turning - np.einsum("si,sij,sj->s", places, inverse, places)
    found: Floats = np.clip(1 / pieces.sizes[own] + turning / 3, 0.0, 0.9)
    return found


def _unite(pieces: Pieces, pairs: Ints, steps: int) -> tuple[Floats, Floats]:
    """Growth of the rest for each pair, and the rotations of the union."""
    n_bodies, n_snapshots = pieces.centres.shape[:2]
    grown, union = np.empty(len(pairs)), np.empty((len(pairs), n_snapshots, 9))
    kernel.unite(
        pieces.sizes.astype(np.float64),
        np.ascontiguousarray(pieces.moments).reshape(n_bodies, 9),
        np.ascontiguousarray(pieces.rotations).reshape(n_bodies, n_snapshots, 9),
        np.ascontiguousarray(pieces.centres),
        np.ascontiguousarray(pairs),
        steps,
        grown,
        union,
    )
    return grown, union.reshape(len(pairs), n_snapshots, 3, 3)


def _merge(pieces: Pieces, first: int, second: int, growth: float) -> Pieces:
    """Make one body of two; the number of the second stays empty."""
    both = np.array([first, second])
    rotation = _unite(pieces, both[None], 30)[1][0]
    sizes, labels = pieces.sizes[both], pieces.labels.copy()
    labels[labels == second] = first
    centre = np.tensordot(sizes / sizes.sum(), pieces.centres[both], 1)
    turns = (rotation.swapaxes(1, 2) @ pieces.rotations[both]).mean(axis=1)
    offsets = np.einsum("tji,btj->bi", rotation, pieces.centres[both] - centre) / len(centre)
    moment = (turns @ pieces.moments[both] @ turns.swapaxes(1, 2)).sum(axis=0)
    moment = moment + (sizes[:, None] * offsets).T @ offsets
    values = {
        "rotations": rotation,
        "centres": centre,
        "moments": moment,
        "sizes": sizes.sum(),
        "rests": pieces.rests[both].sum() + growth,
    }
    changed = {name: getattr(pieces, name).copy() for name in values}
    for name, value in values.items():
        changed[name][first] = value
    return replace(pieces, labels=labels, **changed)


def _far_apart(places: Floats, count: int) -> Ints:
    """Sites each as far as can be from those before, the first from the middle."""
    chosen = [int(((places - places.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    far = np.full(len(places), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(far.argmax()))
    return np.array(chosen)
