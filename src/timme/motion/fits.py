"""Rigid fits: poses of a body in every snapshot, its mean shape, and snapshots laid onto it.

A pose has a rotation R and a centre c, so that y ≈ R x + c for the places x of the shape, by
weighted least squares. With H = Σ w y xᵀ about both centres, H = U S Vᵀ and σ = sign(det U · det V)
the best rotation is U diag(1, …, σ) Vᵀ. It is unique if and only if the last two singular values
have s + σ s' > 0. A point, a line, and a shape that fits its mirror image in two ways have no
unique rotation: there R is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen, indices, numbers
from timme._kernels import rotations as kernel
from timme._text import Described
from timme.ensemble import Boxes, Ensemble
from timme.ensemble.frames import Numbers, Placed, Step

NOT_UNIQUE = "the body is nearly a line in them, or its mirror image fits as well"
_FLAW = "its sites are at one point or on a line, or its mirror image fits as well"
_TIE = 1e-6  # of the largest singular value: below it, directions are undetermined
_POINT = 1e-13  # of the squares of coordinates: below it is rounding
_CLEAR = 0.0044  # of the size of a matrix: the second singular value where the kernel finds R
_STEPS, _CONVERGED = 200, 1e-10  # of a mean shape; the change in units of its size
_ROD_NOISE = 0.1  # rad: noise of turns about the length of a body that is worth a warning
_LOOSE = 0.25  # of the size of a body: a rest worth a warning
_RANDOM = 0.35  # rad: with more noise, angles are random
_MARGIN = 1.5  # times what noise adds to the moment of a line
_LONG = 10.0  # ratio of moments of inertia from which a body may be a rod
_FEWEST = 4  # sites that may be more than one body
_STRETCH = 1e-4  # by which a step along a chain may be longer than to the nearest image


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Poses(Described):
    """Rotation and centre of a rigid body in every snapshot: y ≈ R x + c."""

    rotations: Floats  # (snapshots, dimensions, dimensions), NaN where not unique
    centres: Floats  # (snapshots, dimensions)

    @property
    def unique(self) -> Bools:
        """Whether there is one best rotation, by snapshot."""
        return np.asarray(np.isfinite(self.rotations[:, 0, 0]))

    def into(self, snapshots: Coordinates) -> Floats:
        """Return positions (snapshots, sites, dimensions) in the frame of the body."""
        return np.asarray((snapshots - self.centres[:, None]) @ self.rotations)

    def out_of(self, shape: Floats) -> Floats:
        """Return positions in space of places (sites, dimensions) in the frame of the body."""
        return np.asarray(shape @ self.rotations.swapaxes(1, 2) + self.centres[:, None])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape(Described):
    """Mean shape of a body, its poses, and what no rigid motion accounts for."""

    places: Floats  # (sites, dimensions), turned as the first snapshot that could be fitted
    weights: Floats  # (sites,)
    poses: Poses
    rest: float  # root mean square distance of the sites from their places; NaN if never fitted
    n_fitted: int  # snapshots that could be fitted

    @property
    def noise(self) -> float:
        """Standard deviation of a coordinate about the shape, corrected for degrees of freedom."""
        n_sites, dimensions = self.places.shape
        pose = dimensions * (dimensions + 1) // 2
        free = (dimensions * n_sites - pose) * (self.n_fitted - 1)
        return float(np.sqrt(self.rest**2 * n_sites * self.n_fitted / free)) if free > 0 else np.nan

    @property
    def verdict(self) -> str:
        """Why the body has no orientation; empty if it has one."""
        return "" if self.n_fitted else _FLAW


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Superposition(Described):
    """Snapshots as seen by an observer who moves with a body."""

    ensemble: Ensemble  # the same sites, laid onto the body, in open space
    shape: Shape  # of the body, and where it was
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LaidOnto(Step):
    """Turn and shift every snapshot as a whole; boxes are taken away, since they would turn too."""

    numbers: Ints  # (snapshots,), in the source, ascending
    rotations: Floats  # (snapshots, dimensions, dimensions), of the body
    centres: Floats  # (snapshots, dimensions), of the body
    origin: Floats  # (dimensions,), where its centre is laid

    def __call__(self, coordinates: Coordinates, boxes: Floats | None, numbers: Numbers) -> Placed:
        """Return coordinates as seen from the body; NaN where it has no orientation."""
        del boxes
        places = np.searchsorted(self.numbers, np.asarray(numbers, np.int64))
        about = coordinates - self.centres[places, None]
        laid = about @ self.rotations[places] + self.origin
        return laid.astype(coordinates.dtype, copy=False), None


def fit(shape: Floats, snapshots: Coordinates, weights: Floats | None = None) -> Poses:
    """Return the poses of a rigid body in all snapshots.

    Parameters
    ----------
    shape : ndarray, shape (sites, dimensions)
        The body.
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        Positions of its sites.
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
    share = given / given.sum()
    middles = share @ snapshots
    products = ((snapshots - middles[:, None]) * given[:, None]).swapaxes(1, 2) @ shape
    rotations, values = nearest_rotations(products)
    rounding = _POINT * ((snapshots**2).sum(axis=2) @ given)
    clear = np.isnan(values[:, 0]) & (np.linalg.norm(products, axis=(1, 2)) > rounding / _CLEAR)
    least = np.maximum(_TIE * values[:, 0], rounding)
    gap = values[:, -2] + values[:, -1]
    rotations[~clear & ~((gap >= least) & (gap > 0))] = np.nan
    centres = middles - np.nan_to_num(rotations @ (share @ shape))
    return Poses(frozen(rotations), frozen(centres))


def superpose(
    ensemble: Ensemble,
    on: str | npt.ArrayLike | None = None,
    *,
    weights: npt.ArrayLike | None = None,
) -> Superposition:
    """Superpose all snapshots on the mean shape of a body, oriented as in the first snapshot.

    No more than the body and one block of snapshots are held in memory.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots; in a periodic box, molecules must be whole.
    on : str or array_like, optional
        Sites of the body: a selection, indices, or one truth value for each; all by default.
    weights : array_like, optional
        Weights of these sites in the fit, such as masses; equal by default.

    Returns
    -------
    Superposition
        Snapshots in which the body has no orientation are left out, with a note.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[60.0])
    >>> still = superpose(planted.ensemble, planted.labels == 0)
    >>> bool(rmsf(still.ensemble)[:60].max() < 0.3 < rmsf(still.ensemble)[60:].min())
    True
    """
    sites = body_sites(ensemble, on)
    positions = whole_positions(ensemble.select(sites))
    shape = shape_of(positions, site_weights(weights, len(sites)), ensemble.weights)
    require_orientation(ensemble.select(sites), "superposing", shape.verdict)
    fitted = np.flatnonzero(shape.poses.unique)
    poses, places = shape.poses, np.asarray(ensemble.frames.numbers, np.int64)
    step = LaidOnto(places, poses.rotations, poses.centres, poses.centres[fitted[0]])
    laid = replace(ensemble, frames=ensemble.frames.then(step), images=None)
    laid = laid if len(fitted) == ensemble.n_snapshots else laid[fitted]
    n_left_out = ensemble.n_snapshots - len(fitted)
    notes = [f"{n_left_out} snapshots were left out: {NOT_UNIQUE}"] * (n_left_out > 0)
    return Superposition(laid, shape, (*notes, *warnings_of(shape)))


def rmsf(ensemble: Ensemble) -> Floats:
    """Return the root mean square distance of sites from their mean positions.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots, which are not superposed here.

    Returns
    -------
    ndarray, shape (sites,)
        In the unit of the coordinates; NaN for sites that are not seen in every snapshot.

    Examples
    --------
    >>> rmsf(Ensemble.from_array([[[0.0, 0, 0]], [[2.0, 0, 0]]]))
    array([1.])
    """
    positions = np.asarray(ensemble.coordinates(), np.float64)
    away = positions - np.average(positions, axis=0, weights=ensemble.weights)
    return np.asarray(np.sqrt(np.average((away**2).sum(axis=2), axis=0, weights=ensemble.weights)))


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
    places = positions[0] - given @ positions[0] / given.sum()
    size = np.sqrt((places**2).sum() / places.size) or 1.0
    for _ in range(_STEPS):
        mean = _mean(fit(places, positions, given).into(positions), counted, places)
        change, places = np.abs(mean - places).max(), mean
        if change <= _CONVERGED * size:
            break
    turn = fit(places, positions[:1], given).rotations[0]
    places = places @ turn.T if np.isfinite(turn).all() else places
    poses = fit(places, positions, given)
    squares = _mean((poses.into(positions) - places) ** 2, counted, np.full_like(places, np.nan))
    rest = float(np.sqrt(given @ squares.sum(axis=1) / given.sum()))
    n_fitted = int((poses.unique & (counted > 0)).sum())
    return Shape(frozen(places), frozen(given), poses, rest, n_fitted)


def inertia(places: Floats, weights: Floats) -> Floats:
    """Σ w (|x|² 1 − x xᵀ) (3, 3) over the sites of a body, of places about their centre."""
    sites = np.zeros((len(places), 3))
    sites[:, : places.shape[1]] = places
    second = (sites * weights[:, None]).T @ sites
    return np.asarray(np.trace(second) * np.eye(3) - second)


def warnings_of(*shapes: Shape) -> list[str]:
    """Warnings about the orientations of a body and its reference, in words."""
    words = list[str]()
    for shape, name in zip(shapes, ("the body", "the reference"), strict=False):
        if rod_noise(shape) > _ROD_NOISE:
            words.append(f"{name} is nearly a line: turns about its length are uncertain")
        if shape.rest > _LOOSE * np.sqrt((shape.places**2).sum(axis=1).mean()):
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
    count = np.sqrt([len(shape.places), shape.n_fitted])
    by_noise = 2 * shape.noise**2 * (count.sum() / count[1]) ** 2
    left = float(moments[0] - _MARGIN * by_noise)
    return float(shape.noise / np.sqrt(left)) if left > 0 else float("inf")


def body_sites(ensemble: Ensemble, on: str | npt.ArrayLike | None) -> Ints:
    """Indices of the sites of a body, at least one; all for None."""
    if on is None:
        return np.arange(ensemble.n_sites)
    found = ensemble.find_sites(on) if isinstance(on, str) else on
    sites = indices(found, ensemble.n_sites, "sites of a body")
    if not len(sites):
        raise ValueError("a body needs at least 1 site, got none: select some")
    return sites


def site_weights(weights: npt.ArrayLike | None, n_sites: int) -> Floats:
    """Weights (sites,) in fits, with mean 1."""
    given = np.ones(n_sites) if weights is None else numbers(weights, "weights")
    if given.shape != (n_sites,) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
        raise ValueError(
            f"weights need one number, not negative, for each of {n_sites} sites, and at least one "
            f"above 0, got shape {given.shape} and {given.min(initial=0):g} at least"
        )
    return np.asarray(given / given.mean())


def require_orientation(ensemble: Ensemble, what: str, flaw: str) -> None:
    """Refuse sites that have no orientation, for a reason in words."""
    if flaw:
        raise ValueError(
            f"{ensemble.prefix}{what} needs sites with an orientation, got {ensemble.n_sites} "
            f"without one ({flaw}): select more sites"
        )


def body_labels(given: npt.ArrayLike, n_sites: int) -> Ints:
    """Check labels of bodies, a whole number for each site."""
    labels = np.asarray(given)
    if labels.shape != (n_sites,) or labels.dtype.kind not in "iu":
        words = f"bodies need a whole number for each of {n_sites} sites"
        raise ValueError(f"{words}, got {labels.dtype} of shape {labels.shape}")
    return labels.astype(np.int64)


def some_snapshots(ensemble: Ensemble, most: int, *, fewest: int = _FEWEST) -> Floats:
    """At most so many snapshots (snapshots, sites, dimensions), spread over an ensemble."""
    weights = np.ones(ensemble.n_snapshots) if ensemble.weights is None else ensemble.weights
    counting = np.flatnonzero(weights)
    if len(counting) < 2 or ensemble.n_sites < fewest:
        raise ValueError(
            f"{ensemble.prefix}rigid motion needs at least {fewest} sites and 2 snapshots, got "
            f"{ensemble.n_sites} and {len(counting)}: read or select more of them"
        )
    spread = np.linspace(0, len(counting) - 1, min(most, len(counting))).round()
    return whole_positions(ensemble[counting[np.unique(spread.astype(np.int64))]])


def whole_positions(ensemble: Ensemble) -> Floats:
    """Positions in double precision, of whole molecules whose sites are always seen."""
    require_dimensions(ensemble)
    refuse_torn(ensemble)
    positions = np.asarray(ensemble.coordinates(), np.float64)
    missing: Bools = np.asarray(np.isnan(positions).any(axis=(0, 2)))
    if missing.any():
        raise ValueError(
            f"{ensemble.prefix}rigid bodies need sites that are seen in all snapshots, but "
            f"{missing.sum()} of {len(missing)} are not: leave these out, or use timme.analyse"
        )
    return positions


def require_dimensions(ensemble: Ensemble) -> None:
    """Refuse ensembles that are neither in space nor in a plane."""
    if ensemble.n_dimensions not in (2, 3):
        words = f"motion needs 2 or 3 dimensions, got {ensemble.n_dimensions}"
        raise ValueError(ensemble.prefix + words)


def refuse_torn(ensemble: Ensemble) -> None:
    """Refuse molecules that the faces of a box cut apart."""
    atoms = ensemble.sites
    follows = np.flatnonzero((atoms.chains[1:] == atoms.chains[:-1]) & (np.diff(atoms.resids) <= 1))
    for block in ensemble.blocks():
        if block.boxes is None:
            return
        vectors = np.diff(block.coordinates.astype(np.float64), axis=1)[:, follows]
        boxes = Boxes.of(block.boxes, len(vectors), ensemble.n_dimensions)
        plain, nearest = (np.linalg.norm(v, axis=2) for v in (vectors, boxes.shorten(vectors)))
        for frame, place in np.argwhere(plain > nearest * (1 + _STRETCH))[:1].tolist():
            raise ValueError(
                f"{ensemble.prefix}rigid motion needs whole molecules, but in snapshot "
                f"{block.start + frame + 1} the box cuts the chain after "
                f"{ensemble.site_label(int(follows[place]))}: read it with bonds, so that "
                "molecules are made whole"
            )


def _mean(values: Floats, counts: Floats, instead: Floats) -> Floats:
    """Mean (sites, dimensions) over the snapshots that could be fitted, or something instead."""
    share = counts * np.isfinite(values[:, 0, 0])
    return np.tensordot(share / share.sum(), np.nan_to_num(values), 1) if share.any() else instead
