"""Follow many rigid bodies at once: where each is in every snapshot, and how still sites are in it.

Sites are held in the order of their bodies, so that sums over bodies are sums over runs. How still
a site is in the frame of a body needs no transformed coordinates: Σ_t |Rᵀ(x − c) − mean|² is
Σ_t |x − c|² − T |mean|², four sums over the snapshots of a site.

Bodies in a plane are bodies in space whose third coordinate is 0, and that are given a moment along
it: turned out of the plane they would fit badly, so that the best rotations are those within it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import crowds as kernel
from timme.motion.rotations import nearest_rotations


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Rigid bodies, none of which share a site."""

    labels: Ints  # (sites,), body of each, -1 for none
    sizes: Ints  # (bodies,)
    rotations: Floats  # (bodies, snapshots, 3, 3)
    centres: Floats  # (bodies, snapshots, 3), middles of the bodies
    places: Floats  # (sites, 3), in the frame of the own body; NaN for sites of none
    rests: Floats  # (bodies,), Σ over snapshots and sites of squared distances from the places
    moments: Floats  # (bodies, 3, 3), Σ over sites of x xᵀ of their places

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return len(self.sizes)

    @property
    def n_dimensions(self) -> int:
        """Dimensions that bodies move in: 2 where all sites stay in the plane."""
        return 3 if self.centres[:, :, 2].any() or np.nan_to_num(self.places[:, 2]).any() else 2


def by_site(snapshots: Floats) -> Floats:
    """Lay out snapshots as one row for each site, which is how they are summed.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions.

    Returns
    -------
    ndarray, shape (sites, snapshots × 3)
        The same numbers, and no copy of them where :func:`take_sites` has chosen the sites.
    """
    return np.ascontiguousarray(snapshots.swapaxes(0, 1)).reshape(snapshots.shape[1], -1)


def take_sites(snapshots: Floats, sites: Ints) -> Floats:
    """Take some of the sites, and keep all snapshots of a site together in memory.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions.
    sites : ndarray of int
        Which ones.

    Returns
    -------
    ndarray, shape (snapshots, sites taken, 3)
        Their positions.
    """
    return np.take(snapshots.swapaxes(0, 1), sites, axis=0).swapaxes(0, 1)


def follow(
    snapshots: Floats, labels: Ints, *, before: Floats | None = None, steps: int = 50
) -> Crowd:
    """Fit bodies to all snapshots, each with its own mean shape.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen.
    labels : ndarray of int, shape (sites,)
        Body of each site, from 0 on; -1 for none.
    before : ndarray, shape (bodies, snapshots, 3, 3), optional
        Rotations to begin with.
    steps : int, optional
        How often shapes are averaged at most.

    Returns
    -------
    Crowd
        The bodies.
    """
    n_snapshots, n_sites, _ = snapshots.shape
    ranked = np.argsort(labels, kind="stable")
    ranked = ranked[labels[ranked] >= 0]
    sizes = np.bincount(labels[ranked])
    begins = np.append(0, np.cumsum(sizes))
    about = by_site(snapshots)[ranked]
    middles = np.add.reduceat(about, begins[:-1], axis=0) / sizes[:, None]
    about -= np.repeat(middles, sizes, axis=0)
    squares = np.add.reduceat(np.einsum("sk,sk->s", about, about), begins[:-1])
    flat_world = not snapshots[:, :, 2].any()
    if before is None:
        before = _turns(about[:, :3], about, begins, flat=flat_world)
    shapes, rotations = _shapes(about, begins, before), before
    spread, last = squares.sum(), np.inf
    for _ in range(steps):
        rotations = _turns(shapes, about, begins, flat=flat_world)
        shapes = _shapes(about, begins, rotations)
        rest = spread - n_snapshots * (shapes**2).sum()
        if last - rest <= 1e-7 * abs(rest):
            break
        last = rest
    places = np.full((n_sites, 3), np.nan)
    places[ranked] = shapes
    kept = np.add.reduceat((shapes**2).sum(axis=1), begins[:-1])
    return Crowd(
        labels=labels,
        sizes=sizes,
        rotations=rotations,
        centres=middles.reshape(len(sizes), n_snapshots, 3),
        places=places,
        rests=np.maximum(squares - n_snapshots * kept, 0.0),
        moments=_moments(shapes, begins, flat=flat_world),
    )


def stillness(snapshots: Floats, crowd: Crowd) -> Floats:
    """Say how much every site moves in the frame of every body.

    A site that belongs to a body pulls its frame along; that is taken off, by the leverage of the
    site in the fit.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions.
    crowd : Crowd
        Bodies.

    Returns
    -------
    ndarray, shape (sites, bodies)
        Σ over snapshots of squared distances from the mean place in that frame.
    """
    moved = np.empty((snapshots.shape[1], crowd.n_bodies))
    centres = crowd.centres.reshape(crowd.n_bodies, -1)
    kernel.move(by_site(snapshots), centres, _columns(crowd.rotations), moved)
    inside = np.flatnonzero(crowd.labels >= 0)
    own = crowd.labels[inside]
    moved[inside, own] /= (1 - _leverages(crowd, inside, own)) ** 2
    return moved


def assign(
    snapshots: Floats, labels: Ints, *, least: int, allowed: Ints | None = None, steps: int = 40
) -> Crowd:
    """Give each site to the body in whose frame it is stillest, and repeat to a fixed point.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions, all seen.
    labels : ndarray of int, shape (sites,)
        Bodies to begin with; -1 for sites of none, which find one.
    least : int
        Sites that a body needs; smaller ones dissolve, the smallest first.
    allowed : ndarray of int, optional
        Sites that may change; all by default.
    steps : int, optional
        How often sites are given out at most.

    Returns
    -------
    Crowd
        Bodies of at least that size, or one.
    """
    crowd = follow(snapshots, labels, steps=6)
    seen = set[bytes]()
    for _ in range(steps):
        moved = stillness(snapshots, crowd)
        best = moved.argmin(axis=1)
        if allowed is not None:
            held = np.setdiff1d(np.arange(len(labels)), allowed)
            best[held] = crowd.labels[held]
        best, kept = _without_small(best, least, crowd.n_bodies)
        if np.array_equal(best, crowd.labels) or best.tobytes() in seen:
            break
        seen.add(best.tobytes())
        crowd = follow(snapshots, best, before=crowd.rotations[kept], steps=3)
    return follow(snapshots, crowd.labels, before=crowd.rotations)


def _without_small(labels: Ints, least: int, n_bodies: int) -> tuple[Ints, Ints]:
    """Dissolve the smallest body if it is too small; number the others anew."""
    sizes = np.bincount(labels[labels >= 0], minlength=n_bodies)
    kept = np.flatnonzero(sizes)
    smallest = kept[sizes[kept].argmin()]
    if sizes[smallest] < least and len(kept) > 1:
        kept = kept[kept != smallest]
    number = np.full(n_bodies + 1, -1)
    number[kept] = np.arange(len(kept))
    return number[labels], kept


def _turns(shapes: Floats, about: Floats, begins: Ints, *, flat: bool) -> Floats:
    """Rotations that carry shapes onto their sites in every snapshot."""
    products = np.empty((len(begins) - 1, 3, about.shape[1]))
    kernel.correlate(about, begins, np.ascontiguousarray(shapes), products)
    stacked = products.reshape(len(products), 3, -1, 3).transpose(0, 2, 3, 1)
    if flat:
        stacked = stacked.copy()
        stacked[:, :, 2, 2] = np.linalg.norm(stacked, axis=(2, 3))
    return nearest_rotations(stacked)


def _moments(shapes: Floats, begins: Ints, *, flat: bool) -> Floats:
    """Σ x xᵀ of each shape."""
    found: Floats = np.add.reduceat(shapes[:, :, None] * shapes[:, None], begins[:-1])
    if flat:
        found[:, 2, 2] = np.trace(found, axis1=1, axis2=2)
    return found


def _shapes(about: Floats, begins: Ints, rotations: Floats) -> Floats:
    """Mean places of sites in the frames of their bodies."""
    shapes = np.empty((len(about), 3))
    kernel.average(about, begins, _columns(rotations), shapes)
    return shapes


def _columns(rotations: Floats) -> Floats:
    """Rotations of bodies, each column of them through all snapshots as one row."""
    n_bodies = len(rotations)
    return np.ascontiguousarray(rotations.reshape(n_bodies, -1, 3).swapaxes(1, 2))


def _leverages(crowd: Crowd, sites: Ints, own: Ints) -> Floats:
    """Share of each site in where its body is seen, mean over the three coordinates."""
    traces = np.trace(crowd.moments, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    inertia = traces - crowd.moments
    inverse = _inverse(inertia)[own]
    places = crowd.places[sites]
    # Trace of [x]× I⁻¹ [x]×ᵀ is |x|² tr I⁻¹ − x I⁻¹ x.
    square = (places**2).sum(axis=1) * np.trace(inverse, axis1=1, axis2=2)
    turning = square - np.einsum("si,sij,sj->s", places, inverse, places)
    found: Floats = np.clip(1 / crowd.sizes[own] + turning / 3, 0.0, 0.9)
    return found


def _inverse(inertia: Floats) -> Floats:
    """Inverses of symmetric matrices; of those that a line or a point has, what can be inverted."""
    clear = np.linalg.det(inertia) > 1e-9 * np.trace(inertia, axis1=1, axis2=2) ** 3
    if clear.all():
        return np.asarray(np.linalg.inv(inertia), np.float64)
    return np.asarray(np.linalg.pinv(inertia, hermitian=True), np.float64)
