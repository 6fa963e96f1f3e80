"""Lay stacks of points onto one another as rigid bodies, and say where that is not unique.

A body is turned by the rotation R and its middle carried to c, so that y ≈ R x + c for the places x
of its shape, weighted least squares. With H = Σ w y xᵀ about both middles, H = U S Vᵀ and
σ = sign(det U · det V), the best rotation is U diag(1, …, σ) Vᵀ, and it is the only one if and only
if the last two singular values have s + σ s' > 0. A point and a line have no such rotation, and
neither has what is as near to its mirror image turned one way as turned another. There R is NaN: no
number is better than an arbitrary one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen
from timme._html import Described
from timme.motion.rotations import clear_rotations

# Of the largest singular value: what is below it is as good as nothing.
_TIE = 1e-6
# Of the squares of coordinates: what is below it is rounding, and the body a point.
_POINT = 1e-13
_SAME = 1e-12  # of the coordinates: what lies no farther apart is at the same point

Blocks = Callable[[], Iterable[tuple[Coordinates, Floats]]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Poses(Described):
    """Where a rigid body is in every snapshot: y ≈ R x + c."""

    rotations: Floats  # (snapshots, dimensions, dimensions), NaN where no rotation is the best
    centres: Floats  # (snapshots, dimensions), NaN where no site is seen
    ties: Bools  # (snapshots,), whether it is a mirror image that makes two rotations equally good

    @property
    def unique(self) -> Bools:
        """Whether there is one best rotation, by snapshot."""
        known: Bools = np.isfinite(self.rotations[:, 0, 0])
        return known

    def into(self, snapshots: Coordinates) -> Floats:
        """Bring snapshots into the frame of the body.

        Parameters
        ----------
        snapshots : ndarray, shape (snapshots, sites, dimensions)
            Positions of any sites, one snapshot for each pose.

        Returns
        -------
        ndarray, shape (snapshots, sites, dimensions)
            Positions as an observer sees them who moves with the body.
        """
        moved: Floats = (snapshots - self.centres[:, None]) @ self.rotations
        return moved

    def out_of(self, shape: Floats) -> Floats:
        """Carry places in the frame of the body to where they are in every snapshot.

        Parameters
        ----------
        shape : ndarray, shape (sites, dimensions)
            Places in the frame of the body.

        Returns
        -------
        ndarray, shape (snapshots, sites, dimensions)
            Positions.
        """
        moved: Floats = shape @ self.rotations.swapaxes(1, 2) + self.centres[:, None]
        return moved

    def keep(self, snapshots: Ints | Bools) -> Poses:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : ndarray of int or bool
            Which ones.

        Returns
        -------
        Poses
            In these.
        """
        return Poses(self.rotations[snapshots], self.centres[snapshots], self.ties[snapshots])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape(Described):
    """The mean shape of a body over all snapshots, and where it is in each of them."""

    places: Floats  # (sites, dimensions), turned as the first snapshot that could be fitted
    weights: Floats  # (sites,)
    poses: Poses
    squares: Floats  # (sites,), mean square distance of each site from its place; NaN if unseen
    scatter: Floats  # (dimensions, dimensions), Σ w d dᵀ of a snapshot, of distances d from places
    n_fitted: int  # snapshots that could be fitted
    n_lost: int  # snapshots that could not, though every site is seen
    flaw: str  # why it has no orientation, or nothing

    @property
    def rest(self) -> float:
        """What no rigid motion accounts for: rms distance of sites from their places."""
        known = np.isfinite(self.squares)
        weights = self.weights[known]
        return float(np.sqrt(weights @ self.squares[known] / weights.sum()))

    @property
    def noise(self) -> float:
        """Standard deviation of each coordinate about the shape, degrees of freedom taken off."""
        n_sites, dimensions = self.places.shape
        pose = dimensions * (dimensions + 1) // 2
        free = (dimensions * n_sites - pose) * (self.n_fitted - 1)
        if free <= 0:
            return float("nan")
        return float(np.sqrt(self.rest**2 * n_sites * self.n_fitted / free))

    @property
    def verdict(self) -> str:
        """Why the body has no orientation, or nothing."""
        if self.n_fitted:
            return ""
        return self.flaw or (
            "its mirror image fits as well" if self.poses.ties.any() else "it is never whole"
        )


def fit(shape: Floats, snapshots: Coordinates, weights: Floats | None = None) -> Poses:
    """Find where a rigid body is in every snapshot.

    Parameters
    ----------
    shape : ndarray, shape (sites, dimensions)
        The body.
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        Positions of its sites; those that are NaN are left out of the fit of their snapshot.
    weights : ndarray, shape (sites,), optional
        How much each counts, such as masses; all alike by default.

    Returns
    -------
    Poses
        NaN for the rotation where it is not unique.

    Examples
    --------
    >>> shape = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
    >>> turned = shape[:, [1, 0, 2]] * [-1, 1, 1] + 5
    >>> poses = fit(shape, turned[None])
    >>> poses.rotations[0].round(6)
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    given = np.ones(len(shape)) if weights is None else weights
    known: Bools = np.asarray(np.isfinite(shape).all(axis=1))
    seen: Bools = np.asarray(np.isfinite(snapshots).all(axis=2)) & known
    counted = given * seen
    total = counted.sum(axis=1)[:, None]
    filled = snapshots if seen.all() else np.where(seen[:, :, None], snapshots, 0.0)
    places = np.where(known[:, None], shape, 0.0)
    with np.errstate(invalid="ignore"):
        middles = (counted[:, None] @ filled)[:, 0] / total
        origins = counted @ places / total
    about = (filled - middles[:, None]) * counted[:, :, None]
    about[total[:, 0] == 0] = 0.0
    products = about.swapaxes(1, 2) @ places  # rows are coordinates of the snapshot
    scale = (counted[:, None] @ (filled**2).sum(axis=2)[:, :, None])[:, 0, 0]
    rotations, ties = best_rotations(products, _POINT * scale)
    carried = np.einsum("tij,tj->ti", rotations, origins)
    lonely = np.isnan(carried).any(axis=1)
    return Poses(rotations, np.where(lonely[:, None], middles, middles - carried), ties)


def best_rotations(products: Floats, least: Floats) -> tuple[Floats, Bools]:
    """Find the rotations that have the largest products with matrices.

    Parameters
    ----------
    products : ndarray, shape (snapshots, dimensions, dimensions)
        Σ w y xᵀ of each.
    least : ndarray, shape (snapshots,)
        Singular values below it are rounding.

    Returns
    -------
    rotations : ndarray, shape (snapshots, dimensions, dimensions)
        NaN where there are several.
    ties : ndarray of bool, shape (snapshots,)
        Whether that is because of a mirror image.
    """
    if products.shape[-1] != 3:
        return _by_singular_values(products, least)
    rotations, known = clear_rotations(products)
    # What is clear has a second singular value of 0.0076 of its size and more, so that it is the
    # only one, unless all of it is rounding.
    known &= 0.0076 * np.linalg.norm(products, axis=(1, 2)) > np.sqrt(3) * least
    ties = np.zeros(len(products), np.bool_)
    if not known.all():
        rotations[~known], ties[~known] = _by_singular_values(products[~known], least[~known])
    return rotations, ties


def mean_shape(
    blocks: Blocks, weights: Floats, *, start: Floats | None = None, tolerance: float = 1e-10
) -> Shape:
    """Find the mean shape of a body: fit all snapshots to it, average, and repeat.

    Parameters
    ----------
    blocks : callable
        Walks through positions (snapshots, sites, dimensions) and the weights of the snapshots,
        each time it is called.
    weights : ndarray, shape (sites,)
        How much each site counts.
    start : ndarray, shape (sites, dimensions), optional
        A shape to begin with; by default the first snapshot in which most sites are seen.
    tolerance : float, optional
        Largest change of a place, relative to the size of the body, at which it is the mean.

    Returns
    -------
    Shape
        With its middle at the origin.
    """
    blocks = _read_once(blocks)
    first = _first_whole(blocks)
    places = _about_middle(first if start is None else start, weights)
    size = np.sqrt(np.nanmean(places**2)) or 1.0
    held = _Held.of(blocks, weights)
    for _ in range(200):
        mean = held.average(places) if held else _average(blocks, places, weights)[0]
        mean = _about_middle(np.where(np.isfinite(mean), mean, places), weights)
        moved = np.abs(mean - places)
        new = np.isnan(places) & ~np.isnan(mean)  # sites that have a place since this step
        places = mean
        if not new.any() and np.nanmax(moved, initial=0.0) <= tolerance * size:
            break
    turn = fit(places, first[None], weights).rotations[0]
    if np.isfinite(turn).all():
        places = places @ turn.T
    _, squares, scatter, poses, (n_fitted, n_lost) = _average(blocks, places, weights)
    return Shape(
        frozen(places),
        frozen(weights),
        poses,
        frozen(squares),
        frozen(scatter),
        n_fitted,
        n_lost,
        degeneracy(first, weights),
    )


def shape_of(snapshots: Coordinates, weights: Floats | None = None) -> Shape:
    """Find the mean shape of a body whose snapshots are in memory.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        Positions, NaN where a site is not seen.
    weights : ndarray, shape (sites,), optional
        How much each counts; all alike by default.

    Returns
    -------
    Shape
        Its mean.
    """
    given = np.ones(snapshots.shape[1]) if weights is None else weights
    positions = np.asarray(snapshots, dtype=np.float64)
    alike = np.ones(len(positions))
    return mean_shape(lambda: [(positions, alike)], given)


def in_space(rotations: Floats, centres: Floats) -> tuple[Floats, Floats]:
    """Put poses in a plane into space, where they turn about the third axis.

    Parameters
    ----------
    rotations : ndarray, shape (snapshots, dimensions, dimensions)
        In 2 or 3 dimensions.
    centres : ndarray, shape (snapshots, dimensions)
        Middles.

    Returns
    -------
    rotations : ndarray, shape (snapshots, 3, 3)
        Rotations.
    centres : ndarray, shape (snapshots, 3)
        Middles.
    """
    size = rotations.shape[1]
    turned = np.tile(np.eye(3), (len(rotations), 1, 1))
    turned[:, :size, :size] = rotations
    moved = np.zeros((len(centres), 3))
    moved[:, :size] = centres
    return turned, moved


def degeneracy(places: Floats, weights: Floats | None = None) -> str:
    """Say why a shape has no orientation.

    Parameters
    ----------
    places : ndarray, shape (sites, dimensions)
        A shape.
    weights : ndarray, shape (sites,), optional
        How much each counts.

    Returns
    -------
    str
        In words, or nothing where it has one.
    """
    given = np.ones(len(places)) if weights is None else weights
    known = np.isfinite(places).all(axis=1) & (given > 0)
    if known.sum() < 2:
        return "it is a single site" if known.any() else "it has no site"
    about = _about_middle(places[known], given[known])
    values = np.linalg.svd(about, compute_uv=False)
    values = np.append(values, np.zeros(places.shape[1]))[: places.shape[1]] ** 2
    if values[0] <= _POINT * (places[known] ** 2).sum():
        if np.ptp(places[known], axis=0).max() <= _SAME * np.abs(places[known]).max():
            return "its sites are at one point"
        return "its sites are as good as at one point, so far are they from the origin"
    if places.shape[1] == 3 and values[1] < _TIE * values[0]:
        return "its sites are on a line"
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Snapshots of one block in which all is seen, laid about their middles once and for all.

    A shape is averaged many times, and where nothing is unseen two products of matrices do it.
    """

    about: Floats  # (sites, snapshots × dimensions), from the middle of the snapshot
    counts: Floats  # (snapshots,), their weights
    weights: Floats  # (sites,)
    least: Floats  # (snapshots,), as for :func:`best_rotations`

    @classmethod
    def of(cls, blocks: Blocks, weights: Floats) -> _Held | None:
        """Hold the only block, if it is the only one and has no gap."""
        walk = iter(blocks())
        snapshots, counts = next(walk)
        if next(walk, None) is not None or not np.isfinite(snapshots).all() or not weights.any():
            return None
        flat = np.asarray(snapshots, np.float64).swapaxes(0, 1).reshape(len(weights), -1)
        about = flat - weights @ flat / weights.sum()
        squares = (weights @ flat**2).reshape(len(counts), -1).sum(axis=1)
        return cls(about, counts, weights, _POINT * squares)

    def average(self, places: Floats) -> Floats:
        """Mean place of each site in the frame of the body; as it was where none can be fitted."""
        n_snapshots, dimensions = len(self.counts), places.shape[1]
        products = (self.weights[:, None] * places).T @ self.about
        products = products.reshape(dimensions, n_snapshots, dimensions).transpose(1, 2, 0)
        rotations, _ = best_rotations(products, self.least)
        fitted = np.isfinite(rotations[:, 0, 0])
        share = self.counts * fitted
        if not share.any():
            return places
        turns = np.where(fitted[:, None, None], rotations, 0.0) * share[:, None, None]
        mean: Floats = self.about @ turns.reshape(-1, dimensions) / share.sum()
        return mean


def _by_singular_values(products: Floats, least: Floats) -> tuple[Floats, Bools]:
    """Best rotations, and ties, of matrices of any kind."""
    left, values, right = np.linalg.svd(products)
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
    left[:, :, -1] *= sign[:, None]
    rotations = left @ right
    gap = values[:, -2] + sign * values[:, -1]
    large = np.maximum(_TIE * values[:, 0], least)
    single = (gap >= large) & (gap > 0)
    rotations[~single] = np.nan
    return rotations, ~single & (values[:, -2] >= large) & (values[:, -2] > 0)


def _average(
    blocks: Blocks, places: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Poses, tuple[int, int]]:
    """Mean place of each site in the frame of the body, mean squares, scatter, poses and counts."""
    total, mean, square = np.zeros(len(places)), np.zeros_like(places), np.zeros(len(places))
    scatter, fitted = np.zeros((places.shape[1],) * 2), 0.0
    about = np.where(np.isfinite(places), places, 0.0)
    found = list[Poses]()
    n_fitted = n_lost = 0
    for snapshots, counts in blocks():
        poses = fit(places, snapshots, weights)
        inner = poses.into(snapshots)
        known: Bools = np.asarray(np.isfinite(inner).all(axis=2))
        share = counts[:, None] * known
        away = np.where(known[:, :, None], inner - about, 0.0)
        total += share.sum(axis=0)
        mean += np.einsum("ts,tsd->sd", share, away)
        square += np.einsum("ts,tsd->s", share, away**2)
        flat = away.reshape(-1, places.shape[1])
        scatter += (flat * (share * weights).reshape(-1, 1)).T @ flat
        fitted += float(counts[poses.unique].sum())
        n_fitted += int((poses.unique & (counts > 0)).sum())
        whole: Bools = np.asarray(np.isfinite(snapshots).all(axis=(1, 2)))
        n_lost += int((whole & ~poses.unique & (counts > 0)).sum())
        found.append(poses)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square = about + mean / total[:, None], square / total
    names = ("rotations", "centres", "ties")
    joined = (np.concatenate([getattr(each, name) for each in found]) for name in names)
    scatter /= max(fitted, np.finfo(float).tiny)
    return mean, square, scatter, Poses(*joined), (n_fitted, n_lost)


def _read_once(blocks: Blocks) -> Blocks:
    """Walk through the only block again and again without reading it again, if it is the only."""
    walk = iter(blocks())
    only = next(walk)
    return blocks if next(walk, None) is not None else lambda: [only]


def _first_whole(blocks: Blocks) -> Floats:
    """The first of the snapshots in which most sites are seen."""
    best, most = np.empty(0), -1
    for snapshots, _ in blocks():
        seen = np.isfinite(snapshots).all(axis=2).sum(axis=1)
        if seen.max() > most:
            most = int(seen.max())
            best = np.asarray(snapshots[seen.argmax()], dtype=np.float64)
        if most == snapshots.shape[1]:
            break
    return best


def _about_middle(places: Floats, weights: Floats) -> Floats:
    """Shift a shape so that its weighted middle is the origin."""
    counted = weights * np.isfinite(places).all(axis=1)
    middle = counted @ np.nan_to_num(places) / max(counted.sum(), np.finfo(float).tiny)
    shifted: Floats = places - middle
    return shifted
