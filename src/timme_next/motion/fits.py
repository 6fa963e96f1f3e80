"""Rigid fits: poses of a body in every snapshot, and its mean shape.

A pose has a rotation R and a centre c, so that y ≈ R x + c for the places x of the shape, by
weighted least squares. With H = Σ w y xᵀ about both centres, H = U S Vᵀ and σ = sign(det U · det V)
the best rotation is U diag(1, …, σ) Vᵀ. It is unique if and only if the last two singular values
have s + σ s' > 0. A point, a line, and a shape that fits its mirror image in two ways have no
unique rotation: there R is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from timme_next._arrays import Bools, Coordinates, Floats, frozen
from timme_next._kernels import rotations as kernel
from timme_next._text import Described

Blocks = Callable[[], Iterable[tuple[Coordinates, Floats]]]

MIRROR = "its mirror image fits as well"
_TIE = 1e-6  # of the largest singular value: below it, directions are undetermined
_POINT = 1e-13  # of the squares of coordinates: below it is rounding
_SAME = 1e-12  # of the coordinates: sites no farther apart are at one point
_CLEAR = 0.0076  # of the size of a matrix: the second singular value where the kernel finds R
_STEPS, _CONVERGED = 200, 1e-10  # of a mean shape; the change in units of its size
_ROD_NOISE = 0.1  # rad: noise of turns about the length of a body that is worth a warning
_LOOSE = 0.25  # of the size of a body: a rest worth a warning
_RANDOM = 0.35  # rad: with more noise, angles are random
_CHANCE = 1e-4  # probability below which what lies across a rod is no chance
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
        found: Bools = np.isfinite(self.rotations[:, 0, 0])
        return found

    def into(self, snapshots: Coordinates) -> Floats:
        """Return positions (snapshots, sites, dimensions) in the frame of the body."""
        moved: Floats = (snapshots - self.centres[:, None]) @ self.rotations
        return moved

    def out_of(self, shape: Floats) -> Floats:
        """Return places (sites, dimensions) in the frame of the body as they are in space."""
        moved: Floats = shape @ self.rotations.swapaxes(1, 2) + self.centres[:, None]
        return moved


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape(Described):
    """Mean shape of a body, its poses, and what no rigid motion accounts for."""

    places: Floats  # (sites, dimensions), turned as the first snapshot that could be fitted
    weights: Floats  # (sites,)
    poses: Poses
    squares: Floats  # (sites,), mean square distance of each site from its place; NaN if unseen
    scatter: Floats  # (dimensions, dimensions), Σ w d dᵀ of the distances d, per snapshot
    n_fitted: int  # snapshots that could be fitted
    n_lost: int  # snapshots that could not, although every site is seen
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
    counted_sites = given * seen
    total = counted_sites.sum(axis=1)[:, None]
    filled = snapshots if seen.all() else np.where(seen[:, :, None], snapshots, 0.0)
    places = np.where(known[:, None], shape, 0.0)
    with np.errstate(invalid="ignore"):
        middles = (counted_sites[:, None] @ filled)[:, 0] / total
        origins = counted_sites @ places / total
    about = (filled - middles[:, None]) * counted_sites[:, :, None]
    about[total[:, 0] == 0] = 0.0
    products = about.swapaxes(1, 2) @ places  # rows are coordinates of the snapshot
    scale = (counted_sites[:, None] @ (filled**2).sum(axis=2)[:, :, None])[:, 0, 0]
    rotations, ties = best_rotations(products, _POINT * scale)
    carried = np.einsum("tij,tj->ti", rotations, origins)
    centres = middles - np.where(np.isfinite(carried), carried, 0.0)
    return Poses(frozen(rotations), frozen(centres), frozen(ties))


def best_rotations(products: Floats, rounding: Floats) -> tuple[Floats, Bools]:
    """Rotations nearest to matrices (snapshots, d, d), NaN where not unique, and mirror ties.

    Singular values below ``rounding`` (snapshots,) are taken for 0.
    """
    if products.shape[-1] != 3:
        return _by_singular_values(products, rounding)
    rotations, known = _clear_rotations(products)
    known &= _CLEAR * np.linalg.norm(products, axis=(1, 2)) > np.sqrt(3) * rounding
    ties = np.zeros(len(products), np.bool_)
    if not known.all():
        rotations[~known], ties[~known] = _by_singular_values(products[~known], rounding[~known])
    return rotations, ties


def nearest_rotations(matrices: Floats) -> Floats:
    """Rotations nearest to matrices (..., 3, 3); one of them where there are several."""
    flat = matrices.reshape(-1, 3, 3)
    found, known = _clear_rotations(flat)
    if not known.all():
        left, _, right = np.linalg.svd(flat[~known])
        left[:, :, -1] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[:, None]
        found[~known] = left @ right
    return found.reshape(matrices.shape)


def mean_shape(blocks: Blocks, weights: Floats) -> Shape:
    """Mean shape of a body: fit all snapshots to it, average, and repeat until it stays.

    ``blocks`` yields positions (snapshots, sites, dimensions) and weights (snapshots,) each time it
    is called, ``weights`` are those of the sites.
    """
    walk = iter(blocks())
    only = next(walk)
    if next(walk, None) is None:  # a single block is read once
        blocks = lambda: [only]  # noqa: E731
    first = _first_whole(blocks)
    places = _centred(first, weights)
    size = np.sqrt(np.nanmean(places**2)) or 1.0
    for _ in range(_STEPS):
        total, shift = np.zeros(len(places)), np.zeros_like(places)
        for _, away, share in _residuals(blocks, places, weights):
            total += share.sum(axis=0)
            shift += np.einsum("ts,tsd->sd", share, away)
        with np.errstate(invalid="ignore"):
            mean = np.where(np.isfinite(places), places, 0.0) + shift / total[:, None]
        mean = _centred(np.where(np.isfinite(mean), mean, places), weights)
        change = np.nanmax(np.abs(mean - places), initial=0.0)
        new = np.isnan(places) & ~np.isnan(mean)
        places = mean
        if not new.any() and change <= _CONVERGED * size:
            break
    turn = fit(places, first[None], weights).rotations[0]
    if np.isfinite(turn).all():
        places = places @ turn.T
    return _shape(blocks, places, weights, degeneracy(first, weights))


def shape_of(snapshots: Coordinates, weights: Floats | None = None) -> Shape:
    """Mean shape of a body whose snapshots (snapshots, sites, dimensions) are in memory."""
    given = np.ones(snapshots.shape[1]) if weights is None else weights
    positions = np.asarray(snapshots, np.float64)
    return mean_shape(lambda: [(positions, np.ones(len(positions)))], given)


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
    found: Floats = np.trace(second) * np.eye(3) - second
    return found


def warnings_of(shape: Shape, name: str) -> list[str]:
    """Warnings about the orientations of a body, in words."""
    words = []
    if rod_noise(shape) > _ROD_NOISE:
        words.append(f"{name} is nearly a line: turns about its length are uncertain")
    size = np.sqrt(np.nanmean((shape.places**2).sum(axis=1)))
    if shape.rest > _LOOSE * size:
        words.append(f"{name} is hardly rigid: its rest is more than a quarter of its size")
    return words


def is_random(turning: Floats, *shapes: Shape) -> bool:
    """Whether noise, of covariance ``turning`` (3, 3) in rad², leaves angles undetermined."""
    largest = float(np.sqrt(np.linalg.eigvalsh(turning)[-1]))
    return max(largest, *map(rod_noise, shapes)) > _RANDOM


def rod_noise(shape: Shape) -> float:
    """Noise of turns of a body about its length in rad: inf for a line, 0 if it is not long.

    The mean of a few snapshots of a line is no line: each is turned until its noise lies on that of
    the others. So what lies across the length must be more alike in all snapshots than noise would
    be. To the moment of the mean, noise ε adds 2 ε² n / T.
    """
    if shape.places.shape[1] != 3 or not shape.noise > 0:
        return 0.0
    moments, directions = np.linalg.eigh(inertia(shape.places, shape.weights))
    if moments[1] <= _LONG * moments[0]:
        return 0.0
    known = shape.weights[np.isfinite(shape.places).all(axis=1)]
    n_free = float(known.sum() ** 2 / (known**2).sum()) - 2  # two define the line
    sides = directions[:, 1:]
    mean, about = float(moments[0]), float(np.trace(sides.T @ shape.scatter @ sides))
    alike = _coherence(mean, about, shape.n_fitted)
    if shape.n_lost or alike <= _coherence_of_noise(n_free, shape.n_fitted):
        return float("inf")
    unit = 2 * shape.noise**2 / shape.n_fitted
    return float(shape.noise / np.sqrt(max(mean - unit * known.sum(), unit)))


def _coherence(mean: float, about: float, n_snapshots: int) -> float:
    """r² of one snapshot with the mean of the others, from squares of the mean and about it."""
    others = n_snapshots - 1
    shared = max(0.0, mean - about / others)
    return shared**2 / ((mean + about) * (mean + about / others**2))


def _coherence_of_noise(n_free: float, n_snapshots: int) -> float:
    """Coherence that noise across a line reaches, each snapshot turned to fit the others.

    Across a line are n complex numbers of noise. Two snapshots of them have more than r² with
    probability (1 − r²)ⁿ⁻¹, however they are turned. The mean of T of them has at most
    (√n + √T)² / T of the n squares of one, the largest singular value of a random matrix
    (Marchenko and Pastur 1967).
    """
    if n_free <= 1:
        return 1.0
    by_chance = -float(np.expm1(np.log(_CHANCE) / (n_free - 1)))
    reach = (np.sqrt(n_free) + np.sqrt(n_snapshots)) ** 2 / n_snapshots
    if reach >= n_free:
        return by_chance
    return min(by_chance, _coherence(reach, n_free - reach, n_snapshots))


def _clear_rotations(matrices: Floats) -> tuple[Floats, Bools]:
    """Nearest rotations of matrices with a clearly positive determinant, and which these are."""
    flat = np.ascontiguousarray(matrices, dtype=np.float64).reshape(-1, 9)
    found, known = np.empty_like(flat), np.empty(len(flat), np.bool_)
    kernel.to_rotations(flat, found, known)
    return found.reshape(-1, 3, 3), known


def _by_singular_values(products: Floats, rounding: Floats) -> tuple[Floats, Bools]:
    """Nearest rotations of any matrices, NaN where not unique, and mirror ties."""
    left, values, right = np.linalg.svd(products)
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
    left[:, :, -1] *= sign[:, None]
    rotations = left @ right
    gap = values[:, -2] + sign * values[:, -1]
    large = np.maximum(_TIE * values[:, 0], rounding)
    single = (gap >= large) & (gap > 0)
    rotations[~single] = np.nan
    return rotations, ~single & (values[:, -2] >= large) & (values[:, -2] > 0)


def _residuals(
    blocks: Blocks, places: Floats, weights: Floats
) -> Iterator[tuple[Poses, Floats, Floats]]:
    """Poses, distances from the places (0 if unseen) and weights of sites, block by block."""
    about = np.where(np.isfinite(places), places, 0.0)
    for snapshots, counts in blocks():
        poses = fit(places, snapshots, weights)
        inner = poses.into(snapshots)
        known: Bools = np.asarray(np.isfinite(inner).all(axis=2))
        yield poses, np.where(known[:, :, None], inner - about, 0.0), counts[:, None] * known


def _shape(blocks: Blocks, places: Floats, weights: Floats, flaw: str) -> Shape:
    """Shape with the poses of all snapshots, and what is left in them."""
    total, squares, fitted = np.zeros(len(places)), np.zeros(len(places)), 0.0
    scatter, found = np.zeros((places.shape[1],) * 2), list[Poses]()
    n_fitted = n_lost = 0
    residuals = _residuals(blocks, places, weights)
    for (snapshots, counts), (poses, away, share) in zip(blocks(), residuals, strict=True):
        total += share.sum(axis=0)
        squares += np.einsum("ts,tsd->s", share, away**2)
        flat = away.reshape(-1, places.shape[1])
        scatter += (flat * (share * weights).reshape(-1, 1)).T @ flat
        fitted += float(counts[poses.unique].sum())
        n_fitted += int((poses.unique & (counts > 0)).sum())
        whole: Bools = np.asarray(np.isfinite(snapshots).all(axis=(1, 2)))
        n_lost += int((whole & ~poses.unique & (counts > 0)).sum())
        found.append(poses)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = squares / total
    names = ("rotations", "centres", "ties")
    joined = Poses(*(np.concatenate([getattr(each, name) for each in found]) for name in names))
    scatter /= max(fitted, np.finfo(float).tiny)
    return Shape(
        frozen(places), frozen(weights), joined, frozen(squares), frozen(scatter),
        n_fitted, n_lost, flaw,
    )  # fmt: skip


def _first_whole(blocks: Blocks) -> Floats:
    """First of the snapshots in which most sites are seen."""
    best, most = np.empty(0), -1
    for snapshots, _ in blocks():
        seen = np.isfinite(snapshots).all(axis=2).sum(axis=1)
        if seen.max() > most:
            most, best = int(seen.max()), np.asarray(snapshots[seen.argmax()], np.float64)
        if most == snapshots.shape[1]:
            break
    return best


def _centred(places: Floats, weights: Floats) -> Floats:
    """Shape whose weighted centre is the origin."""
    share = weights * np.isfinite(places).all(axis=1)
    middle = share @ np.nan_to_num(places) / max(share.sum(), np.finfo(float).tiny)
    shifted: Floats = places - middle
    return shifted
