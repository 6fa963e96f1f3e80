"""Pieces: many rigid bodies at once, their sites and merges.

The track of a site is one row (snapshots × 3,), in the order of bodies. How much a site moves in
the frame of a body needs no transformed coordinates: Σ_t |Rᵀ(x − c) − mean|² is Σ_t |x − c|² less
T |mean|². Bodies in a plane are bodies in space with third coordinate 0 and a moment along it, so
that the best rotations stay in the plane.

Two bodies are joined by the least increase of the rest, what no rigid motion accounts for ("rigid
Ward"). A body of n sites with rotation A and centre c has Σ |A x + c|² = Σ |x|² + n |c|², so sizes,
moments Σ x xᵀ and poses give the rest of a union, and no site is needed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints
from timme._kernels import rotations as kernel
from timme.motion.fits import nearest_rotations

LEAST = 10  # sites of a body
PART = 5  # sites of a part into which a body is cut, and of a piece to begin with
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
    dimensions: int

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return len(self.sizes)


def follow(
    tracks: Floats, labels: Ints, *, before: Floats | None = None, steps: int = 50
) -> Pieces:
    """Fit bodies to all snapshots, each with its own mean shape.

    ``tracks`` are (sites, snapshots, 3), ``labels`` (sites,) are -1 for sites of no body,
    ``before`` (bodies, snapshots, 3, 3) are rotations to begin with.
    """
    n_sites, n_snapshots, _ = tracks.shape
    ranked = np.argsort(labels, kind="stable")
    ranked = ranked[labels[ranked] >= 0]
    sizes = np.bincount(labels[ranked])
    bounds = np.append(0, np.cumsum(sizes))
    about = tracks.reshape(n_sites, -1)[ranked]
    middles = np.add.reduceat(about, bounds[:-1], axis=0) / sizes[:, None]
    about -= np.repeat(middles, sizes, axis=0)
    squares = np.add.reduceat(np.einsum("sk,sk->s", about, about), bounds[:-1])
    flat = not tracks[:, :, 2].any()
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
    return Pieces(labels, sizes, rotations, centres, places, rests, moments, 2 if flat else 3)


def stillness(tracks: Floats, pieces: Pieces) -> Floats:
    """Σ over snapshots of squared distances of sites from their mean places (sites, bodies).

    A site pulls the frame of its own body along; that is corrected by its leverage in the fit.
    """
    rows, centres = tracks.reshape(len(tracks), -1), pieces.centres.reshape(pieces.n_bodies, -1)
    squares, moved = (rows**2).sum(axis=1), np.empty((len(rows), pieces.n_bodies))
    columns = pieces.rotations.reshape(pieces.n_bodies, -1, 3)
    # One body at a time: for larger products BLAS starts threads, which wait more than they work.
    for body, (centre, turns) in enumerate(zip(centres, columns, strict=True)):
        sums = rows @ np.column_stack([turns, centre])
        means = sums[:, :3] - centre @ turns
        square = squares - 2 * sums[:, 3] + centre @ centre
        moved[:, body] = square - (means**2).sum(axis=1) / tracks.shape[1]
    np.maximum(moved, 0.0, out=moved)
    inside = np.flatnonzero(pieces.labels >= 0)
    own = pieces.labels[inside]
    moved[inside, own] /= (1 - _leverages(pieces, inside, own)) ** 2
    return moved


def assign(tracks: Floats, labels: Ints, *, least: int, steps: int = 40) -> Pieces:
    """Give each site to the body in whose frame it is stillest, and repeat to a fixed point.

    Bodies of fewer than ``least`` sites dissolve, one in each step, the smallest first.
    """
    pieces = follow(tracks, labels, steps=6)
    seen = set[bytes]()
    for _ in range(steps):
        best = stillness(tracks, pieces).argmin(axis=1)
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
        pieces = follow(tracks, best, before=pieces.rotations[kept], steps=3)
    return follow(tracks, pieces.labels, before=pieces.rotations)


def unite(pieces: Pieces, pairs: Ints, *, steps: int = 30) -> tuple[Floats, Floats]:
    """How much the rest grows if the bodies of each pair (pairs, 2) become one, and its rotations.

    The rotations are (pairs, snapshots, 3, 3).
    """
    grown, union = np.empty(len(pairs)), np.empty((len(pairs), pieces.centres.shape[1], 9))
    moments, turns = (x.reshape(*x.shape[:-2], 9) for x in (pieces.moments, pieces.rotations))
    sizes = pieces.sizes.astype(np.float64)
    kernel.unite(sizes, moments, turns, pieces.centres, pairs, steps, grown, union)
    return grown, union.reshape(*union.shape[:2], 3, 3)


def all_pairs(count: int) -> Ints:
    """Pairs (pairs, 2) of so many bodies, the lower first."""
    return np.column_stack(np.triu_indices(count, 1))


def merges(pieces: Pieces, *, within: Ints | None = None) -> Iterator[tuple[int, int, float, Ints]]:
    """Join the two bodies whose union adds least to the rest, again and again.

    Yielded are a site of each, the growth of the rest over all snapshots, and the bodies (sites,)
    after it. ``within`` (bodies,) are families, whose bodies join before they join others.
    """
    step, n_bodies = -(-pieces.centres.shape[1] // _FRAMES), pieces.n_bodies
    some = {name: getattr(pieces, name)[:, ::step].copy() for name in ("rotations", "centres")}
    own = {name: getattr(pieces, name).copy() for name in ("labels", "sizes", "moments")}
    pieces = replace(pieces, **some, **own)
    family = np.zeros(n_bodies, np.int64) if within is None else within
    growth, pairs = np.full((n_bodies, n_bodies), np.inf), all_pairs(n_bodies)
    growth[*pairs.T] = unite(pieces, pairs, steps=8)[0]
    inside = np.flatnonzero(pieces.labels >= 0)
    heads = inside[np.unique(pieces.labels[inside], return_index=True)[1]].tolist()
    for _ in range(n_bodies - 1):
        masked = np.where(family[:, None] == family, growth, np.inf)
        masked = masked if np.isfinite(masked).any() else growth
        first, second = divmod(int(masked.argmin()), n_bodies)
        added = float(growth[first, second])
        _join(pieces, first, second)
        growth[second] = growth[:, second] = np.inf
        others = np.setdiff1d(pieces.labels, [-1, first])
        pairs = np.sort(np.column_stack([np.full(len(others), first), others]), axis=1)
        growth[*pairs.T] = unite(pieces, pairs, steps=8)[0]
        yield heads[first], heads[second], added * step, pieces.labels.copy()


def patches(places: Floats) -> Ints:
    """Patch (sites,) of about nine near sites of each place (sites, 3), by k-means.

    It begins with sites as far from one another as can be.
    """
    count = min(_PATCHES, round(len(places) / _PATCH))
    if count < 2:
        return np.zeros(len(places), np.int64)
    with warnings.catch_warnings(action="ignore"):  # of patches that end without a site
        labels = kmeans2(places, places[_far_apart(places, count)], iter=30, minit="matrix")[1]
    return np.asarray(np.unique(labels, return_inverse=True)[1])


def mobile_sites(tracks: Floats) -> Bools:
    """Whether sites move against their ten nearest neighbours by three times the median."""
    tracks = tracks[:, :: -(-tracks.shape[1] // _FRAMES)]
    n_sites = len(tracks)
    if n_sites <= _NEIGHBOURS:
        return np.zeros(n_sites, np.bool_)
    near = np.asarray(cKDTree(tracks[:, 0]).query(tracks[:, 0], _NEIGHBOURS + 1)[1])
    owner = np.repeat(np.arange(n_sites), _NEIGHBOURS)
    around = follow(tracks[near[:, 1:].ravel()], owner, steps=3)
    inner = np.einsum("stij,sti->stj", around.rotations, tracks - around.centres)
    moved = np.sqrt(inner.var(axis=1).sum(axis=1))
    rounding = _ROUNDING * float(np.abs(tracks).max())
    return np.asarray(moved > np.maximum(_MOBILE * np.median(moved), rounding))


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
    return np.asarray(np.clip(1 / pieces.sizes[own] + turning / 3, 0.0, 0.9))


def _join(pieces: Pieces, first: int, second: int) -> None:
    """Make one body of two, in place; the number of the second stays empty."""
    both = np.array([first, second])
    rotation, sizes = unite(pieces, both[None])[1][0], pieces.sizes[both]
    centre = np.tensordot(sizes / sizes.sum(), pieces.centres[both], 1)
    turns = (rotation.swapaxes(1, 2) @ pieces.rotations[both]).mean(axis=1)
    offsets = np.einsum("tji,btj->bi", rotation, pieces.centres[both] - centre) / len(centre)
    moment = (turns @ pieces.moments[both] @ turns.swapaxes(1, 2)).sum(axis=0)
    pieces.moments[first] = moment + (sizes[:, None] * offsets).T @ offsets
    pieces.rotations[first], pieces.centres[first] = rotation, centre
    pieces.sizes[first] = sizes.sum()
    pieces.labels[pieces.labels == second] = first


def _far_apart(places: Floats, count: int) -> Ints:
    """Sites each as far as can be from those before, the first from the middle."""
    chosen = [int(((places - places.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    far = np.full(len(places), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(far.argmax()))
    return np.array(chosen)
