"""Screws: how one body moves against another between two snapshots.

Any rigid motion turns by an angle θ about an axis n and shifts by d along it. With u the
displacement of the body's centre c and u⊥ its part across n, the axis passes through
c + ½u⊥ + ½cot(θ/2) n×u⊥. Snapshots are laid onto the reference first.

DynDom's closure and bending residues (Hayward and Berendsen 1998) and the effective rotation of
Hingefind (Wriggers and Schulten 1997) are given beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from timme._arrays import Bools, Floats, Ints, frozen, indices, numbers
from timme._text import Described
from timme.ensemble import Ensemble
from timme.motion.fits import fit
from timme.motion.joints import UndeterminedError, relative

FAR = "the axis is far outside both bodies: the motion is nearly a shift"
_HALF_TURN = "it turns by half a turn: the axis and its opposite are equally right"
_FLOOR = 3.0  # standard deviations above which a motion counts
_OUTSIDE = 5.0  # times the distance of body and interface, from which an axis is far outside
_TWIST = 1e-6  # cosine between an axis and the plane across the way, below which it has no pivot
_WINDOW = 5  # residues
_UNLIKE = 4.6  # χ² of three, 80 %: squared distance from the mean rotation of a body


def nowhere() -> Floats:
    """Return a place or direction (3,) that is not known."""
    return frozen(np.full(3, np.nan))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EffectiveRotation(Described):
    """The pure rotation nearest to a screw that carries centre to centre (Hingefind)."""

    angle: float  # in degrees
    axis: Floats  # (3,)
    pivot: Floats  # (3,)
    error: float  # how much worse it fits than the screw, in % of the displacement


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Screw(Described):
    """Motion of a body against another between two snapshots, in the frame of the first."""

    angle: float = np.nan  # θ in degrees, from 0 to 180; NaN where a body has no orientation
    axis: Floats = field(default_factory=nowhere)  # (3,), unit vector n; NaN where there is none
    shift: float = np.nan  # d along the axis
    point: Floats = field(default_factory=nowhere)  # (3,), of the axis, nearest to the interface
    move: Floats = field(default_factory=nowhere)  # (3,), displacement u of the body's centre
    distance: float = np.nan  # of the axis from the centre of the body
    noise: float = np.nan  # standard deviation of the angle, in degrees, from the rests
    kind: str = "undefined"  # rigid, translation, hinge, screw or undefined
    verdict: str = ""  # warnings
    closure: float = np.nan  # of the cleft between the bodies, in % (DynDom); 0 for a twist
    effective: EffectiveRotation | None = None  # (Hingefind), if the body does not only slide


def screw(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    body: Ints,
    reference: Ints,
) -> Screw:
    """Return the screw by which a body moves against a reference.

    Parameters
    ----------
    before, after : array_like, shape (sites, dimensions)
        Two snapshots in 2 or 3 dimensions; NaN where a site is not seen.
    body, reference : ndarray of int
        Their sites.

    Returns
    -------
    Screw
        In the coordinates of the first snapshot.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> pair = bodies((60, 40), 2, spans=[60.0], jitter=0.0).ensemble.coordinates()
    >>> found = screw(*pair, body=np.arange(60, 100), reference=np.arange(60))
    >>> round(found.angle, 6), found.kind
    (60.0, 'hinge')
    """
    pair = np.stack([numbers(each, "snapshots") for each in (before, after)])
    seen: Bools = np.asarray(np.isfinite(pair).all(axis=(0, 2)))
    body, reference = (indices(each, len(seen), "sites of a body") for each in (body, reference))
    body, reference = body[seen[body]], reference[seen[reference]]
    try:
        ensemble = Ensemble.from_array(np.where(seen[:, None], pair, 0.0))
        poses = relative(ensemble, body, reference)
    except UndeterminedError as why:
        return Screw(verdict=str(why))
    turn, start = poses.rotations[1] @ poses.rotations[0].T, poses.centres[0]
    noise = 2 * poses.turning, np.sqrt(2) * poses.shift  # of both snapshots
    found = from_rotation(turn, start, poses.centres[1] - start, poses.near, noise)
    if pair.shape[2] < 3 or found.kind not in {"hinge", "screw"}:
        return found
    line = pair[0, body].mean(axis=0) - pair[0, reference].mean(axis=0)
    closure = 100 * (1 - (found.axis @ line / (np.linalg.norm(line) or np.nan)) ** 2)
    effective = _effective_rotation(found, pair, body, reference)
    return replace(found, closure=float(closure), effective=effective)


def from_rotation(
    rotation: Floats, start: Floats, move: Floats, near: Floats, noise: tuple[Floats, float]
) -> Screw:
    """Screw of a rotation (3, 3) and the displacement of a centre, with a point near a place.

    ``noise`` is the covariance of the rotation vector (3, 3) in rad², and the standard deviation of
    the displacement.
    """
    vector = Rotation.from_matrix(rotation).as_rotvec()
    angle, length = float(np.linalg.norm(vector)), float(np.linalg.norm(move))
    axis = vector / angle if angle > 0 else nowhere()
    turning = float(np.sqrt(axis @ noise[0] @ axis if angle > 0 else np.trace(noise[0]) / 3))
    degrees, sure = np.degrees([angle, turning]).tolist()
    found = Screw(degrees, move=frozen(move), noise=sure)
    if angle <= max(_FLOOR * turning, 1e-9):
        verdict = "no rotation above noise"
        if length <= max(_FLOOR * noise[1], 1e-9):
            return replace(found, kind="rigid", shift=0.0, verdict=verdict)
        way, verdict = frozen(move / length), f"{verdict}, but a shift"
        return replace(found, kind="translation", axis=way, shift=length, verdict=verdict)
    shift = float(axis @ move)
    across = move - shift * axis
    point = start + 0.5 * across + 0.5 / np.tan(angle / 2) * np.cross(axis, across)
    point = point + axis * (axis @ (near - point))
    distance = float(np.linalg.norm(across) / (2 * np.sin(angle / 2)))
    verdict = FAR if is_far(distance, point, start, near) else ""
    verdict = _HALF_TURN if angle > np.radians(179.0) else verdict
    kind = "screw" if abs(shift) > max(0.1 * length, _FLOOR * noise[1]) else "hinge"
    found = replace(found, axis=frozen(axis), point=frozen(point), distance=distance)
    return replace(found, kind=kind, shift=shift, verdict=verdict)


def bending_residues(before: Floats, after: Floats, residues: Ints, labels: Ints) -> Ints:
    """Return the residues that bend between bodies (DynDom).

    Walking from a boundary into a body, a residue bends while the rotation of the five residues
    around it is unlike those of the body (χ² of three above 4.6). Boundary residues always bend.

    Parameters
    ----------
    before, after : ndarray, shape (sites, 3)
        Two snapshots of a chain, such as N, Cα and C of each residue, or Cα alone.
    residues : ndarray of int, shape (sites,)
        Residue of each site, ascending from 0 without gaps.
    labels : ndarray of int, shape (residues,)
        Body of each residue, -1 for none.

    Returns
    -------
    ndarray of int
        Residues, ascending.
    """
    vectors = _window_rotations(before, after, residues)
    bends = np.zeros(len(labels), np.bool_)
    edges = np.flatnonzero((labels[1:] != labels[:-1]) & (labels[1:] >= 0) & (labels[:-1] >= 0))
    for first, step in [(edge, -1) for edge in edges] + [(edge + 1, 1) for edge in edges]:
        own = labels == labels[first]
        bent = (own & (_unlikeness(vectors, own) > _UNLIKE))[first::step]
        bent[0] = True
        bends[first + step * np.arange(np.append(bent, False).argmin())] = True
    return np.flatnonzero(bends)


def is_far(distance: float, point: Floats, centre: Floats, near: Floats) -> bool:
    """Whether an axis is so far outside both bodies that the motion is nearly a shift."""
    size = max(float(np.linalg.norm(centre - near)), 1e-9)
    return max(distance, float(np.linalg.norm(point - near))) > _OUTSIDE * size


def _effective_rotation(
    found: Screw, pair: Floats, body: Ints, reference: Ints
) -> EffectiveRotation | None:
    """Pure rotation from centre to centre about the axis across the way between them, if any is."""
    first, second = fit(pair[0, reference], pair[:, reference]).into(pair)[:, body]
    start = first.mean(axis=0)
    way = second.mean(axis=0) - start
    length = float(np.linalg.norm(way))
    unit = way / max(length, 1e-300)
    axis = found.axis - unit * (unit @ found.axis)
    share = float(np.linalg.norm(axis))  # cosine of the angle between the axis and that plane
    if length == 0 or share < _TWIST:
        return None
    axis = axis / share
    angle = 2 * np.arctan(share * np.tan(np.radians(found.angle) / 2))
    pivot = start + 0.5 * way + np.cross(axis, unit) * 0.5 * length / np.tan(angle / 2)
    turned = Rotation.from_rotvec(angle * axis).apply(first - pivot) + pivot
    fitted = fit(first, second[None]).out_of(first)[0]
    rms = [np.sqrt(((each - second) ** 2).sum(axis=1).mean()) for each in (turned, fitted)]
    error = float(100 * (rms[0] - rms[1]) / length)
    return EffectiveRotation(float(np.degrees(angle)), frozen(axis), frozen(pivot), error)


def _window_rotations(before: Floats, after: Floats, residues: Ints) -> Floats:
    """Rotation vectors (residues, 3) of five residues each, after one fit; NaN at the ends."""
    found = np.full((int(residues.max()) + 1, 3), np.nan)
    laid = fit(after, before[None]).out_of(after)[0]
    for middle in range(_WINDOW // 2, len(found) - _WINDOW // 2):
        own = np.abs(residues - middle) <= _WINDOW // 2
        poses = fit(before[own], laid[None, own])
        if poses.unique[0]:
            # SciPy 1.15 takes writable arrays only
            found[middle] = Rotation.from_matrix(poses.rotations[0].copy()).as_rotvec()
    return found


def _unlikeness(vectors: Floats, body: Bools) -> Floats:
    """Squared distance of rotation vectors from the mean of a body, in its own spread."""
    own = vectors[body & np.isfinite(vectors[:, 0])]
    if len(own) < 4:
        return np.full(len(vectors), np.nan)
    away = vectors - own.mean(axis=0)
    return np.asarray(np.einsum("ri,ij,rj->r", away, np.linalg.pinv(np.cov(own.T)), away))
