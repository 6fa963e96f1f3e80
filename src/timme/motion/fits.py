"""Rigid fits: poses of a body in every snapshot, and its mean shape.

A pose has a rotation R and a centre c, so that y ≈ R x + c for the places x of the shape, by
weighted least squares. With H = Σ w y xᵀ about both centres, H = U S Vᵀ and σ = sign(det U · det V)
the best rotation is U diag(1, …, σ) Vᵀ. It is unique if and only if the last two singular values
have s + σ s' > 0. A point, a line, and a shape that fits its mirror image in two ways have no
unique rotation: there R is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, frozen
from timme._kernels import rotations as kernel
from timme._text import Described

MIRROR = "its mirror image fits as well"
_TIE = 1e-6  # of the largest singular value: below it, directions are undetermined
_POINT = 1e-13  # of the squares of coordinates: below it is rounding
_SAME = 1e-12  # of the coordinates: sites no farther apart are at one point
_CLEAR = 0.0044  # of the size of a matrix: the second singular value where the kernel finds R
_STEPS, _CONVERGED = 200, 1e-10  # of a mean shape; the change in units of its size
_ROD_NOISE = 0.1  # rad: noise of turns about the length of a body that is worth a warning
_LOOSE = 0.25  # of the size of a body: a rest worth a warning
_RANDOM = 0.35  # rad: with more noise, angles are random
_MARGIN = 1.5  # times what noise adds to the moment of a line
_LONG = 10.0  # ratio of moments of inertia from which a body may be a rod


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Poses(Described):
    """Rotation and centre of a rigid body in every snapshot: y ≈ R x + c."""

    rotations: Floats  # (snapshots, dimensions, dimensions), NaN where not unique
    centres: Floats  # (snapshots, dimensions), NaN where no site is seen
    ties: Bools  # (snapshots,), whether a mirror image makes two rotations equally good

    @property
    def unique(self) -> Bools:
        """Whether there is one best rotation, by snapshot."""
        return np.asarray(np.isfinite(self.rotations[:, 0, 0]))

    def into(self, snapshots: Coordinates) -> Floats:
        """Return positions (snapshots, sites, dimensions) in the frame of the body."""
        return np.asarray((snapshots - self.centres[:, None]) @ self.rotations)

    def out_of(self, shape: Floats) -> Floats:
        """Return places (sites, dimensions) in the frame of the body as they are in space."""
        return np.asarray(shape @ self.rotations.swapaxes(1, 2) + self.centres[:, None])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape(Described):
    """Mean shape of a body, its poses, and what no rigid motion accounts for."""

    places: Floats  # (sites, dimensions), turned as the first snapshot that could be fitted
    weights: Floats  # (sites,)
    poses: Poses
    squares: Floats  # (sites,), mean square distance of each site from its place; NaN if unseen
    n_fitted: int  # snapshots that could be fitted
    flaw: str  # why the first snapshot has no orientation, or ""

    @property
    def rest(self) -> float:
        """Root mean square distance of the sites from their places."""
        known = np.isfinite(self.squares)
        weights = self.weights[known]
        return float(np.sqrt(weights @ self.squares[known] / weights.sum()))

    @property
    def noise(self) -> float:
        """Standard deviation of a coordinate about the shape, corrected for degrees of freedom."""
        n_sites, dimensions = self.places.shape
        pose = dimensions * (dimensions + 1) // 2
        free = (dimensions * n_sites - pose) * (self.n_fitted - 1)
        return float(np.sqrt(self.rest**2 * n_sites * self.n_fitted / free)) if free > 0 else np.nan

    @property
    def verdict(self) -> str:
        """Why the body has no orientation, or nothing."""
        if self.n_fitted:
            return ""
        return self.flaw or (MIRROR if self.poses.ties.any() else "it is never whole")


def fit(shape: Floats, snapshots: Coordinates, weights: Floats | None = None) -> Poses:
    """Return the poses of a rigid body in all snapshots.

    Parameters
    ----------
    shape : ndarray, shape (sites, dimensions)
        The body.
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        Positions of its sites; NaN where a site is not seen.
    weights : ndarray, shape (sites,), optional
        Weights of the sites, such as masses; equal by default.

    Returns
    -------
    Poses
        With NaN for rotations that are not unique.

    Examples
    --------
    >>> shape = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
    >>> turned = shape[:, [1, 0, 2]] * [-1, 1, 1] + 5
    >>> fit(shape, turned[None]).rotations[0].round(6)
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    given = np.ones(len(shape)) if weights is None else weights
    known: Bools = np.asarray(np.isfinite(shape).all(axis=1))
    seen: Bools = np.asarray(np.isfinite(snapshots).all(axis=2)) & known
    filled = snapshots if seen.all() else np.where(seen[:, :, None], snapshots, 0.0)
    shares, places = given * seen, np.where(known[:, None], shape, 0.0)
    with np.errstate(invalid="ignore"):
        means = shares / shares.sum(axis=1, keepdims=True)
    middles = (np.nan_to_num(means)[:, None] @ filled)[:, 0]
    products = ((filled - middles[:, None]) * shares[:, :, None]).swapaxes(1, 2) @ places
    scale = (shares * (filled**2).sum(axis=2)).sum(axis=1)
    rotations, ties = best_rotations(products, _POINT * scale)
    carried = np.einsum("tij,tj->ti", rotations, means @ places)
    middles[np.isnan(means[:, 0])] = np.nan
    centres = middles - np.nan_to_num(carried)
    return Poses(frozen(rotations), frozen(centres), frozen(ties))


def nearest_rotations(matrices: Floats) -> tuple[Floats, Floats]:
    """Rotations nearest to matrices (matrices, d, d), one of them where there are several.

    Singular values come second, the last with the sign of the determinant; NaN where a clearly
    positive determinant makes the rotation unique.
    """
    flat = np.ascontiguousarray(matrices, dtype=np.float64).reshape(len(matrices), -1)
    found, known = np.empty_like(flat), np.zeros(len(flat), np.bool_)
    if matrices.shape[-1] == 3:
        kernel.to_rotations(flat, found, known)
    rotations, values = found.reshape(matrices.shape), np.full(matrices.shape[:2], np.nan)
    if not known.all():
        left, values[~known], right = np.linalg.svd(matrices[~known])
        sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
        left[:, :, -1] *= sign[:, None]
        values[~known, -1] *= sign
        rotations[~known] = left @ right
    return rotations, values


def best_rotations(products: Floats, rounding: Floats) -> tuple[Floats, Bools]:
    """Rotations nearest to matrices (snapshots, d, d), NaN where not unique, and mirror ties.

    Singular values below ``rounding`` (snapshots,) are taken for 0.
    """
    rotations, values = nearest_rotations(products)
    clear = np.isnan(values[:, 0]) & (np.linalg.norm(products, axis=(1, 2)) > rounding / _CLEAR)
    least = np.maximum(_TIE * values[:, 0], rounding)
    second, gap = values[:, -2], values[:, -2] + values[:, -1]
    single = clear | ((gap >= least) & (gap > 0))
    rotations[~single] = np.nan
    return rotations, ~single & (second >= least) & (second > 0)


def shape_of(
    snapshots: Coordinates, weights: Floats | None = None, counts: Floats | None = None
) -> Shape:
    """Mean shape of a body: fit all snapshots to it, average, and repeat until it stays.

    ``snapshots`` are (snapshots, sites, dimensions), ``weights`` those of the sites, and ``counts``
    those of the snapshots; all are equal by default.
    """
    positions = np.asarray(snapshots, np.float64)
    given = np.ones(positions.shape[1]) if weights is None else weights
    counted = np.ones(len(positions)) if counts is None else counts
    first = positions[np.isfinite(positions).all(axis=2).sum(axis=1).argmax()]
    places = _centred(first, given)
    size = np.sqrt(np.nansum(places**2) / places.size) or 1.0
    for _ in range(_STEPS):
        inner = fit(places, positions, given).into(positions)
        mean = _centred(_mean(inner, counted, instead=places), given)
        new = np.isnan(places).sum() > np.isnan(mean).sum()
        change, places = np.nanmax(np.abs(mean - places), initial=0.0), mean
        if not new and change <= _CONVERGED * size:
            break
    turn = fit(places, first[None], given).rotations[0]
    if np.isfinite(turn).all():
        places = places @ turn.T
    poses = fit(places, positions, given)
    squares = _mean(((poses.into(positions) - places) ** 2).sum(axis=2, keepdims=True), counted)
    n_fitted = int((poses.unique & (counted > 0)).sum())
    flaw = degeneracy(first, given)
    return Shape(frozen(places), frozen(given), poses, frozen(squares[:, 0]), n_fitted, flaw)


def degeneracy(places: Floats, weights: Floats | None = None) -> str:
    """Why a shape (sites, dimensions) has no orientation, or nothing."""
    given = np.ones(len(places)) if weights is None else weights
    known = np.isfinite(places).all(axis=1) & (given > 0)
    if known.sum() < 2:
        return "it is a single site" if known.any() else "it has no site"
    about = _centred(places[known], given[known])
    values = np.append(np.linalg.svd(about, compute_uv=False), [0.0, 0.0]) ** 2
    if values[0] <= _POINT * (places[known] ** 2).sum():
        if np.ptp(places[known], axis=0).max() <= _SAME * np.abs(places[known]).max():
            return "its sites are at one point"
        return "its sites are too far from the origin to be told apart"
    return "its sites are on a line" if values[1] < _TIE * values[0] and about.shape[1] > 2 else ""


def inertia(places: Floats, weights: Floats) -> Floats:
    """Σ w (|x|² 1 − x xᵀ) (3, 3) over the sites of a body, of places about their centre."""
    known = np.isfinite(places).all(axis=1)
    sites = np.zeros((int(known.sum()), 3))
    sites[:, : places.shape[1]] = places[known]
    second = (sites * weights[known, None]).T @ sites
    return np.asarray(np.trace(second) * np.eye(3) - second)


def warnings_of(*shapes: Shape) -> list[str]:
    """Warnings about the orientations of a body and its reference, in words."""
    words = list[str]()
    for shape, name in zip(shapes, ("the body", "the reference"), strict=False):
        if rod_noise(shape) > _ROD_NOISE:
            words.append(f"{name} is nearly a line: turns about its length are uncertain")
        if shape.rest > _LOOSE * np.sqrt(np.nanmean((shape.places**2).sum(axis=1))):
            words.append(f"{name} is hardly rigid: its rest is more than a quarter of its size")
    return words


def is_random(turning: Floats, *shapes: Shape) -> bool:
    """Whether noise, of covariance ``turning`` (3, 3) in rad², leaves angles undetermined."""
    largest = float(np.sqrt(np.linalg.eigvalsh(turning)[-1]))
    return max(largest, *map(rod_noise, shapes)) > _RANDOM


def rod_noise(shape: Shape) -> float:
    """Noise of turns of a body about its length in rad: inf for a line, 0 if it is not long.

    The mean of a few snapshots of a line is no line: each is turned until its noise ε lies on that
    of the others, which adds up to 2 ε² (√n + √T)² / T to the moment about the length (the largest
    singular value of a random matrix, Marchenko and Pastur 1967).
    """
    if shape.places.shape[1] != 3 or not shape.noise > 0:
        return 0.0
    moments = np.linalg.eigvalsh(inertia(shape.places, shape.weights))
    if moments[1] <= _LONG * moments[0]:
        return 0.0
    count = np.sqrt([np.isfinite(shape.places[:, 0]).sum(), shape.n_fitted])
    by_noise = 2 * shape.noise**2 * (count.sum() / count[1]) ** 2
    left = float(moments[0] - _MARGIN * by_noise)
    return float(shape.noise / np.sqrt(left)) if left > 0 else float("inf")


def _mean(values: Floats, counts: Floats, instead: Floats | float = np.nan) -> Floats:
    """Mean (sites, numbers) over the snapshots in which a site is seen, or something instead."""
    share = counts[:, None] * np.isfinite(values[:, :, 0])
    total = np.einsum("ts,tsd->sd", share, np.nan_to_num(values))
    with np.errstate(invalid="ignore"):
        mean = total / share.sum(axis=0)[:, None]
    return np.where(np.isfinite(mean), mean, instead)


def _centred(places: Floats, weights: Floats) -> Floats:
    """Shape whose weighted centre is the origin."""
    share = weights * np.isfinite(places).all(axis=1)
    middle = share @ np.nan_to_num(places) / max(share.sum(), np.finfo(float).tiny)
    return np.asarray(places - middle)
