"""Say how one body moves against another between two snapshots: as a screw.

Any rigid motion turns by an angle θ about an axis of direction n and shifts by d along it. With u
the way of a body's middle c, and u⊥ the part of it across n, the axis passes through
c + ½u⊥ + ½cot(θ/2) n×u⊥. Snapshots are laid onto the reference first, so that all is as seen from
there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from timme._arrays import Coordinates, Floats, Ints, frozen, numbers
from timme._html import Described
from timme.motion.cautions import LOST, cautions, is_lost
from timme.motion.fits import Shape, degeneracy, fit, in_space, shape_of
from timme.motion.rotations import inertia

_FLOOR = 3.0  # standard deviations below which a motion is not told from none
_OUTSIDE = 5.0  # times as far as the body, and farther: outside of both
FAR = "the axis is far outside both bodies: it is nearly a shift"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Screw(Described):
    """The motion of a body against another between two snapshots, in the frame of the first."""

    angle: float  # θ, in degrees, from 0 to 180; NaN where the body has no orientation
    axis: Floats  # (3,), unit vector n, right-handed; NaN where there is no telling
    shift: float  # d along the axis
    point: Floats  # (3,), of the axis, nearest to the middle of the interface
    move: Floats  # (3,), way u of the middle of the body
    distance: float  # of the axis from the middle of the body
    noise: float  # standard deviation of the angle, in degrees, that the rests of both bodies make
    move_noise: float  # the same of the way of the middle
    kind: str  # rigid, translation, hinge, screw or undefined
    verdict: str  # what to be careful about, or nothing

    def nearest(self, place: npt.ArrayLike) -> Floats:
        """Return the point of the axis that is nearest to a place.

        Parameters
        ----------
        place : array_like, shape (3,)
            In the coordinates of the first snapshot.

        Returns
        -------
        ndarray, shape (3,)
            NaN where there is no axis.
        """
        found: Floats = self.point + self.axis * (self.axis @ (np.asarray(place) - self.point))
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EffectiveRotation(Described):
    """The pure rotation that carries one middle to the other (Hingefind)."""

    angle: float  # in degrees
    axis: Floats  # (3,)
    pivot: Floats  # (3,)
    error: float  # how much worse it fits than the screw, in % of the way of the middle


def screw(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    body: Ints,
    reference: Ints,
    weights: Floats | None = None,
) -> Screw:
    """Find the screw by which a body moves against a reference.

    Parameters
    ----------
    before, after : array_like, shape (sites, dimensions)
        Two snapshots, in 2 or 3 dimensions; NaN where a site is not seen.
    body, reference : ndarray of int
        Their sites.
    weights : ndarray, shape (sites,), optional
        How much each site counts; all alike by default.

    Returns
    -------
    Screw
        In the coordinates of the first snapshot.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> planted = moving((60, 40), 2, spans=[60.0], noise=0.0)
    >>> pair = planted.ensemble.coordinates()
    >>> found = screw(*pair, body=np.arange(60, 100), reference=np.arange(60))
    >>> round(found.angle, 6), found.kind
    (60.0, 'hinge')
    """
    pair = two_snapshots(before, after)
    both = [
        shape_of(pair[:, sites], None if weights is None else weights[sites])
        for sites in (reference, body)
    ]
    words = [
        f"{name}: {why}"
        for name, sites in (("the reference", reference), ("the body", body))
        if (why := _orientation_verdict(pair[:, sites]))
    ]
    if words:
        return _undefined("; ".join(words))
    given = np.ones(pair.shape[1]) if weights is None else weights
    laid = lay_onto(pair, reference, given)
    pose = fit(laid[0][body], laid[1][body][None], given[body])
    if not pose.unique[0]:
        tie = bool(pose.ties[0])
        thin = "it is nearly a line" if np.isfinite(pair).all() else "it is not seen in both"
        return _undefined(f"the body: {'its mirror image fits as well' if tie else thin}")
    start = _middle(laid[0][body], given[body])
    move = _middle(laid[1][body], given[body]) - start
    away = start - _middle(laid[0][reference], given[reference])
    noise, move_noise = precision(both[1], both[0], away)
    if is_lost(noise, *both):
        words = [*cautions(both[1], "the body"), *cautions(both[0], "the reference"), LOST]
        return _undefined("; ".join(words))
    noise, move_noise = 2 * noise, np.sqrt(2) * move_noise  # both snapshots have it
    near = interface_middle(laid[0][body], laid[0][reference])
    turns, (start, move, near) = in_space(pose.rotations, np.array([start, move, near]))
    return from_rotation(turns[0], start, move, near=near, noise=noise, move_noise=move_noise)


def from_rotation(
    rotation: Floats, start: Floats, move: Floats, *, near: Floats, noise: Floats, move_noise: float
) -> Screw:
    """Read a screw off a rotation and the way of a middle.

    Parameters
    ----------
    rotation : ndarray, shape (3, 3)
        Of the body.
    start, move : ndarray, shape (3,)
        Where its middle was, and its way.
    near : ndarray, shape (3,)
        Where a point of the axis is wanted.
    noise : ndarray, shape (3, 3)
        Covariance that noise in both places gives the rotation vector, in rad².
    move_noise : float
        Standard deviation that it gives the way.

    Returns
    -------
    Screw
        With a kind and a verdict.
    """
    vector = Rotation.from_matrix(rotation).as_rotvec()
    angle = float(np.linalg.norm(vector))
    turning = np.sqrt(np.trace(noise) / 3) if np.isfinite(noise).all() else 0.0
    axis = vector / angle if angle > 0 else np.full(3, np.nan)
    if angle > 0 and np.isfinite(noise).all():
        turning = float(np.sqrt(axis @ noise @ axis))
    length = float(np.linalg.norm(move))
    nothing = np.full(3, np.nan)
    if angle <= max(_FLOOR * turning, 1e-9):
        moved = length > max(_FLOOR * move_noise, 1e-9)
        kind = "translation" if moved else "rigid"
        words = "turns by no more than its noise" + (": it is shifted" if moved else "")
        along = move / length if moved else nothing
        return Screw(
            np.degrees(angle), frozen(along), length if moved else 0.0, frozen(nothing),
            frozen(move), float("nan"), np.degrees(turning), move_noise, kind, words,
        )  # fmt: skip
    shift = float(axis @ move)
    across = move - shift * axis
    point = start + 0.5 * across + 0.5 / np.tan(angle / 2) * np.cross(axis, across)
    point = point + axis * (axis @ (near - point))
    distance = float(np.linalg.norm(across) / (2 * np.sin(angle / 2)))
    kind = "screw" if abs(shift) > max(0.1 * length, _FLOOR * move_noise) else "hinge"
    return Screw(
        float(np.degrees(angle)), frozen(axis), shift, frozen(point), frozen(move), distance,
        float(np.degrees(turning)), move_noise, kind, _warning(angle, distance, point, start, near),
    )  # fmt: skip


def closure(found: Screw, before: Floats, body: Ints, reference: Ints) -> float:
    """Say how far a motion closes the cleft between two bodies rather than twists them (DynDom).

    Parameters
    ----------
    found : Screw
        Of the body against the reference.
    before : ndarray, shape (sites, 3)
        The first snapshot.
    body, reference : ndarray of int
        Their sites.

    Returns
    -------
    float
        100 (1 − (n·e)²) %, with e along the line between their middles; 0 % is a twist.
    """
    line = before[body].mean(axis=0) - before[reference].mean(axis=0)
    return float(100 * (1 - (found.axis @ line / np.linalg.norm(line)) ** 2))


def interdomain_ratio(before: Floats, after: Floats, body: Ints, reference: Ints) -> float:
    """Set the motion of two bodies as wholes beside that within them (DynDom).

    Parameters
    ----------
    before, after : ndarray, shape (sites, 3)
        Two snapshots.
    body, reference : ndarray of int
        Their sites.

    Returns
    -------
    float
        Root of the ratio of mean squares, after one fit of both together.
    """
    together = np.concatenate([body, reference])
    laid = lay_onto(np.array([before, after]), together, np.ones(len(before)))
    outer = inner = 0.0
    for sites in (body, reference):
        moved = fit(laid[0][sites], laid[1][sites][None]).out_of(laid[0][sites])[0]
        outer += ((moved - laid[0][sites]) ** 2).sum() / len(sites)
        inner += ((moved - laid[1][sites]) ** 2).sum() / len(sites)
    return float(np.sqrt(outer / inner))


def effective_rotation(
    found: Screw, before: npt.ArrayLike, after: npt.ArrayLike, *, body: Ints, reference: Ints
) -> EffectiveRotation:
    """Find the pure rotation nearest to a screw that carries middle to middle (Hingefind).

    Parameters
    ----------
    found : Screw
        Of the body against the reference.
    before, after : array_like, shape (sites, 3)
        The two snapshots.
    body, reference : ndarray of int
        Their sites.

    Returns
    -------
    EffectiveRotation
        Its axis is that of the screw, projected onto the plane across the way of the middle.
    """
    laid = lay_onto(two_snapshots(before, after), reference, np.ones(len(np.asarray(before))))
    first, second = laid[0][body], laid[1][body]
    start, way = first.mean(axis=0), second.mean(axis=0) - first.mean(axis=0)
    length = float(np.linalg.norm(way))
    unit = way / length
    tilt = np.arcsin(min(1.0, abs(found.axis @ unit)))
    angle = 2 * np.arctan(np.cos(tilt) * np.tan(np.radians(found.angle) / 2))
    axis = found.axis - unit * (unit @ found.axis)
    axis = axis / np.linalg.norm(axis)
    arm = np.cross(axis, unit) * 0.5 * length / np.tan(angle / 2)
    pivot = start + 0.5 * way + arm
    turned = Rotation.from_rotvec(angle * axis).apply(first - pivot) + pivot
    fitted = fit(first, second[None]).out_of(first)[0]
    rms = [float(np.sqrt(((one - second) ** 2).sum(axis=1).mean())) for one in (turned, fitted)]
    error = 100 * (rms[0] - rms[1]) / length
    return EffectiveRotation(float(np.degrees(angle)), frozen(axis), frozen(pivot), error)


def is_far(distance: float, point: Floats, middle: Floats, near: Floats) -> bool:
    """Tell whether an axis is so far outside of both bodies that it is nearly a shift.

    Parameters
    ----------
    distance : float
        Of the axis from the middle of the body.
    point : ndarray, shape (3,)
        Of the axis, nearest to the interface.
    middle : ndarray, shape (3,)
        Of the body.
    near : ndarray, shape (3,)
        Middle of the interface.

    Returns
    -------
    bool
        Whether it is farther from either than five times what these are apart.
    """
    size = max(float(np.linalg.norm(middle - near)), 1e-9)
    return max(distance, float(np.linalg.norm(point - near))) > _OUTSIDE * size


def lay_onto(pair: Floats, reference: Ints, weights: Floats) -> Floats:
    """Lay later snapshots onto the reference in the first.

    Parameters
    ----------
    pair : ndarray, shape (snapshots, sites, 3)
        Snapshots.
    reference : ndarray of int
        Sites of the body that is held still.
    weights : ndarray, shape (sites,)
        How much each counts.

    Returns
    -------
    ndarray, shape (snapshots, sites, 3)
        The first as it is, the others laid onto it.
    """
    poses = fit(pair[0][reference], pair[:, reference], weights[reference])
    return poses.into(pair)


def interface_middle(body: Coordinates, reference: Coordinates) -> Floats:
    """Find the middle between two bodies: that of the pairs of sites that are nearest.

    Parameters
    ----------
    body, reference : ndarray, shape (sites, 3)
        Positions in one snapshot.

    Returns
    -------
    ndarray, shape (3,)
        Mean over the sites of each that are nearest to the other, a tenth of the smaller body.
    """
    from scipy.spatial import cKDTree

    here, there = (each[np.isfinite(each).all(axis=1)] for each in (body, reference))
    apart, partner = (np.asarray(each) for each in cKDTree(there).query(here))
    nearest = np.argsort(apart, kind="stable")[: max(1, len(here) // 10)]
    middle: Floats = 0.5 * (here[nearest] + there[partner[nearest]]).mean(axis=0)
    return middle


def precision(body: Shape, reference: Shape, away: Floats) -> tuple[Floats, float]:
    """Say how precisely a body is seen from another, given what moves within both.

    Parameters
    ----------
    body, reference : Shape
        Mean shapes.
    away : ndarray, shape (dimensions,)
        From the middle of the reference to that of the body.

    Returns
    -------
    turning : ndarray, shape (3, 3)
        Covariance of the rotation vector of one snapshot, in rad².
    shift : float
        Standard deviation of the middle of the body in one snapshot.
    """
    turning = np.zeros((3, 3))
    shift = 0.0
    for shape in (body, reference):
        noise = 0.0 if np.isnan(shape.noise) else shape.noise**2
        inverse = turning_noise(shape)
        turning += inverse
        shift += len(away) * noise / len(shape.places)
        if shape is reference:
            cross = np.cross(np.eye(3), np.append(away, np.zeros(3 - len(away))))
            shift += float(np.trace(cross @ inverse @ cross.T))
    return turning, float(np.sqrt(shift))


def two_snapshots(before: npt.ArrayLike, after: npt.ArrayLike) -> Floats:
    """Stack two snapshots.

    Parameters
    ----------
    before, after : array_like, shape (sites, dimensions)
        Positions of the same sites.

    Returns
    -------
    ndarray, shape (2, sites, dimensions)
        In double precision.
    """
    pair = [numbers(each, "snapshots") for each in (before, after)]
    if pair[0].shape != pair[1].shape or pair[0].ndim != 2:
        raise ValueError(
            "a motion is that of the same sites in two snapshots, got shapes "
            f"{pair[0].shape} and {pair[1].shape}"
        )
    return np.array(pair)


def turning_noise(shape: Shape) -> Floats:
    """Covariance of the rotation vector by which one fit of a body is off.

    Parameters
    ----------
    shape : Shape
        Its mean shape.

    Returns
    -------
    ndarray, shape (3, 3)
        ε² I⁻¹, in rad²; in a plane, bodies turn about the third direction alone.
    """
    noise = 0.0 if np.isnan(shape.noise) else shape.noise**2
    flat = np.zeros((len(shape.places), 3))
    flat[:, : shape.places.shape[1]] = shape.places
    found = inertia(flat, shape.weights)
    if shape.places.shape[1] == 3:
        inverse = np.linalg.pinv(found, hermitian=True).astype(np.float64)
        return noise * inverse
    return noise * np.diag([0.0, 0.0, 1 / found[2, 2]]).astype(np.float64)


def _middle(places: Floats, weights: Floats) -> Floats:
    known = np.isfinite(places).all(axis=1)
    middle: Floats = weights[known] @ places[known] / weights[known].sum()
    return middle


def _orientation_verdict(snapshots: Floats) -> str:
    """Why a body has no orientation in either of two snapshots, or nothing."""
    seen = (each for each in snapshots if np.isfinite(each).any())
    return shape_of(snapshots).verdict or next(filter(None, map(degeneracy, seen)), "")


def _undefined(verdict: str) -> Screw:
    nothing, none = float("nan"), frozen(np.full(3, np.nan))
    return Screw(
        nothing, none, nothing, none, none, nothing, nothing, nothing, "undefined", verdict
    )


def _warning(angle: float, distance: float, point: Floats, start: Floats, near: Floats) -> str:
    """What to be careful about: half turns, and axes far outside both bodies."""
    if angle > np.radians(179.0):
        return "it turns by half a turn: the axis and its opposite are equally right"
    return FAR if is_far(distance, point, start, near) else ""
