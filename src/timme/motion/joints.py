"""Joints: poses of one body as seen from another, how it turns, and the place that stays.

The error of an axis is the largest of three: what noise within the bodies makes, the spread of
draws of blocks of snapshots, and what the axes of both halves of a run (from 50 snapshots), or of
several runs, differ by. The first is exact for white noise, and far too small where turns across
the axis are slow. The same three are compared for the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.ensemble import Ensemble
from timme.motion import fits
from timme.motion.fits import Shape
from timme.series import correlation_time, count_drawn, draw_runs

Kind = Literal["undefined", "rigid", "translation", "hinge", "screw", "ball", "diffuse"]

INDEX = 0.9  # of a hinge, and above
_CONTRADICTION = 40.0  # degrees: axes of parts farther apart are no samples of one axis
_CONE = 1.73  # √ln 20: standard deviations that hold 95 % in two directions
_DRAWS = 200
_LONG = 50  # snapshots of a run whose halves are compared


class UndeterminedError(ValueError):
    """A body has no orientation as seen from its reference."""


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """Poses of a body in the frame of another, in space."""

    rotations: Floats  # (snapshots, 3, 3)
    centres: Floats  # (snapshots, 3)
    weights: Floats  # (snapshots,), with sum 1
    frames: Ints  # (snapshots,), which of the ensemble these are
    runs: Ints  # snapshots of each run; 1 for each where they have no order
    turning: Floats  # (3, 3), covariance of the rotation vector from noise, in rad²
    frame: Floats  # (3, 3), the share of the reference, which turns all snapshots alike
    shift: float  # standard deviation of the centre from noise
    near: Floats  # (3,), middle of the interface
    middle: Floats  # (3,), of the reference
    cautions: tuple[str, ...]  # about the orientations


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """How a body turns about an axis and across it, and the place that stays."""

    poses: Relative
    kind: Kind
    vectors: Floats  # (snapshots, 3), rotation vectors about their mean, in rad
    basis: Floats  # (3, 3), columns: the axis and two across
    angles: Floats  # (snapshots,), about the axis, in rad
    variances: Floats  # (3,), of turning about the columns of the basis, in rad²
    noise: Floats  # (3,), what of them noise makes
    index: float  # share of the axis in all turning above noise
    pitch: float  # shift along the axis for a turn by 1 rad
    move: float  # rms displacement of the centre
    place: Floats  # (3,), of the axis; of a ball joint the single point that stays
    left: Floats  # (snapshots, 3, 6), equations of the place in the body and in the reference
    right: Floats  # (snapshots, 3)

    @property
    def axis(self) -> Floats:
        """Unit vector (3,)."""
        return self.basis[:, 0]

    def axes(self, shares: Floats) -> Floats:
        """Axes (rows, 3) with other shares (rows, snapshots) of the snapshots."""
        means = shares @ self.vectors
        products = (self.vectors[:, :, None] * self.vectors[:, None]).reshape(-1, 9)
        scatter = (shares @ products).reshape(-1, 3, 3) - means[:, :, None] * means[:, None]
        found = np.linalg.eigh(scatter)[1][:, :, -1]
        return np.where(found @ self.axis[:, None] < 0, -found, found)


def relative(
    ensemble: Ensemble,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> Relative:
    """Return the poses of a body as seen from another."""
    moving, still = fits.body_sites(ensemble, body), fits.body_sites(ensemble, reference)
    shared = np.intersect1d(moving, still)
    if len(shared):
        words = f"{len(shared)} sites are in both the body and the reference"
        raise ValueError(ensemble.prefix + words)
    given = fits.site_weights(weights, ensemble.n_sites)
    counts = np.ones(ensemble.n_snapshots) if ensemble.weights is None else ensemble.weights
    both = fits.whole_positions(ensemble.select(np.concatenate([still, moving])))
    near, far = np.split(both, [len(still)], axis=1)
    core = _shape(near, given[still], counts, "reference")
    fitted = core.poses.unique
    origin = core.poses.centres[fitted.argmax()]
    near, far = (core.poses.into(each) + origin for each in (near, far))
    frames = np.flatnonzero(fitted & (counts > 0))
    shape = _shape(far[frames], given[moving], counts[frames], "body")
    known = shape.poses.unique
    frames = frames[known]
    if len(frames) < 2:
        words = f"both have an orientation in {len(frames)} of {len(counts)} snapshots, not in 2"
        raise UndeterminedError(f"{words}: {fits.NOT_UNIQUE}")
    cautions, frame = fits.warnings_of(shape, core), _turning(core)
    turning = _turning(shape) + frame
    if fits.is_random(turning, shape, core):
        words = "orientation undetermined: noise turns it by 20° and more"
        raise UndeterminedError("; ".join([*cautions, words]))
    runs = np.ones(len(frames), np.int64)
    if not ensemble.independent:
        places = np.searchsorted(np.cumsum(ensemble.replicas), frames, side="right")
        runs = np.unique(places, return_counts=True)[1]
    # From here on all is in space, where bodies in a plane turn about the third axis.
    size = near.shape[2]
    rotations = np.tile(np.eye(3), (len(frames), 1, 1))
    rotations[:, :size, :size] = shape.poses.rotations[known]
    ours, theirs, centres = (
        np.pad(each, ((0, 0), (0, 3 - size)))
        for each in (far[frames[0]], near[frames[0]], shape.poses.centres[known])
    )
    middle = theirs.mean(axis=0)
    arm = np.cross(np.eye(3), centres.mean(axis=0) - middle)
    shift = np.trace(arm @ frame @ arm.T)
    shift += sum(size * np.nan_to_num(each.noise) ** 2 / len(each.places) for each in (shape, core))
    shares = counts[frames] / counts[frames].sum()
    series, noise = (rotations, centres, shares, frames, runs), (turning, frame, np.sqrt(shift))
    return Relative(*series, *noise, _interface(ours, theirs), middle, tuple(cautions))


def solve_joint(poses: Relative, axis: Floats | None = None) -> Joint:
    """Return how a body turns about a given axis, or else about that of most turning."""
    weights, centres = poses.weights, poses.centres
    rotations = Rotation.from_matrix(poses.rotations)
    mean = rotations.mean(weights)
    vectors = (rotations * mean.inv()).as_rotvec()
    covariance = (vectors * weights[:, None]).T @ vectors
    basis = np.linalg.eigh(covariance - poses.turning)[1][:, ::-1]
    if axis is not None:
        basis = np.linalg.qr(np.column_stack([axis, basis]))[0]
        basis[:, 0] = axis
    elif basis[:, 0] @ (vectors[-1] - vectors[0]) < 0:
        basis = -basis
    variances, noise = (
        np.einsum("ik,ij,jk->k", basis, each, basis) for each in (covariance, poses.turning)
    )
    middle = weights @ centres
    here = mean.as_matrix().T @ (poses.near - middle)  # the same point, in the body
    left = np.concatenate([poses.rotations, np.tile(-np.eye(3), (len(centres), 1, 1))], axis=2)
    right = -(poses.rotations @ here + centres - poses.near)
    line, dot = (_solve(left, right, weights[None], rank)[0] for rank in (5, 6))
    # What these points leave is along the axis and across it.
    away, loose = (left @ each - right for each in (line, dot))
    angles, along = vectors @ basis[:, 0], away @ basis[:, 0]
    across, along = away - along[:, None] * basis[:, 0], along - weights @ along
    excess = np.maximum(variances - noise, 0.0)
    index = float(excess[0] / excess.sum()) if excess.sum() > 0 else float("nan")
    turned, slid, move, across, loose = (
        _rms(each, weights) for each in (angles, along, centres - middle, across, loose)
    )
    together, shift = float(weights @ (along * angles)), 3 * poses.shift
    still = max(shift, 0.25 * move)
    kind: Kind = "ball" if index < INDEX and loose <= still else "diffuse"
    if not (variances > np.maximum(9 * noise, 1e-18)).any():
        kind = "translation" if move > max(shift, 1e-9) else "rigid"
    elif index >= INDEX and across <= still:
        least = max(0.1 * move, shift / float(np.sqrt(len(weights))), 0.7 * slid)
        kind = "screw" if abs(together) > turned * least else "hinge"
    place = poses.near + (dot if kind == "ball" else line)[3:]
    turning = vectors, basis, angles, variances, noise
    pitch = together / max(turned, 1e-150) ** 2
    return Joint(poses, kind, *turning, index, pitch, move, place, left, right)


def axis_errors(joint: Joint, *, seed: int) -> tuple[float, float, float, float]:
    """Errors of the axis and its cone in degrees, of the place, and the angle between parts."""
    poses, sides, count = joint.poses, joint.basis[:, 1:], len(joint.angles)
    spot, (across, rank) = joint.place, (joint.basis, 6) if joint.kind == "ball" else (sides, 5)
    squares = max(float(joint.variances[0]) * count, 1e-300)
    axis, point = float(joint.noise[1:].sum()) / squares, poses.shift**2 / squares
    cone = apart = float("nan")
    if count > 2:
        # Turns across the axis tilt it, the more so the further the body is turned.
        draws = _draws((joint.vectors @ sides) * joint.angles[:, None], poses, seed)
        parts, share, apart = _parts(joint)
        drawn = joint.axes(draws)
        axis = max(axis, _variance(joint.axis, drawn, joint.axes(parts), share))
        spots, other = (
            (_solve(joint.left, joint.right, each, rank)[:, 3:] + poses.near) @ across
            for each in (draws, parts)
        )
        point = max(point, _variance(spot @ across, spots, other, share))
        cone = float(np.quantile(np.linalg.norm(drawn - joint.axis, axis=1), 0.95))
    # All is seen from the reference as the first fit has laid it.
    arm = np.cross(np.eye(3), spot - poses.middle) @ across
    axis += float(np.trace(sides.T @ poses.frame @ sides))
    point += float(np.trace(arm.T @ poses.frame @ arm))
    cone = max(cone, _CONE * float(np.sqrt(axis)))
    error, cone = np.degrees(np.minimum([np.sqrt(axis), cone], np.pi / 2)).tolist()
    return error, cone, float(np.sqrt(point)), apart


def _shape(positions: Floats, weights: Floats, counts: Floats, name: str) -> Shape:
    """Mean shape of a body that has an orientation in some snapshot."""
    found = fits.shape_of(positions, fits.site_weights(weights, len(weights)), counts)
    if not found.n_fitted:
        raise UndeterminedError(f"the {name} has no orientation: {found.verdict}")
    return found


def _interface(body: Floats, reference: Floats) -> Floats:
    """Middle (3,) of the tenth of the sites of a body that are nearest to another."""
    apart, partner = (np.asarray(each) for each in cKDTree(reference).query(body))
    nearest = np.argsort(apart, kind="stable")[: max(1, len(body) // 10)]
    return np.asarray(0.5 * (body[nearest] + reference[partner[nearest]]).mean(axis=0))


def _rms(values: Floats, weights: Floats) -> float:
    """Root mean square of numbers (snapshots,) or of lengths of vectors (snapshots, 3)."""
    return float(np.sqrt(weights @ (values.reshape(len(weights), -1) ** 2).sum(axis=1)))


def _variance(whole: Floats, drawn: Floats, parts: Floats, share: float) -> float:
    """Variance of a vector: of draws about it, or of the mean of parts if that is larger."""
    found = float(((drawn - whole) ** 2).sum(axis=1).mean())
    if len(parts):
        scatter = ((parts - parts.mean(axis=0)) ** 2).sum() / (len(parts) * (len(parts) - 1))
        found = max(found, share * float(scatter))
    return found


def _draws(series: Floats, poses: Relative, seed: int) -> Floats:
    """Shares (draws, snapshots) of snapshots drawn in blocks twice as long as series remember.

    A draw of one snapshot alone, as one in nine is of three, has no axis and is left out.
    """
    n_snapshots, length = len(series), 1
    if len(poses.runs) < n_snapshots:
        time = correlation_time(series.T, replicas=poses.runs.tolist())
        length = int(np.clip(np.ceil(2 * time), 1, max(1, n_snapshots // 3)))
    drawn = draw_runs(poses.runs.tolist(), length, n_draws=_DRAWS, seed=seed, wrap=False)
    counts = count_drawn(drawn, n_snapshots)
    shares = counts[(counts > 0).sum(axis=1) > 1] * poses.weights
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _parts(joint: Joint) -> tuple[Floats, float, float]:
    """Shares (parts, snapshots) of the halves of a long run, or of several runs; none if short.

    By the second number the variance among parts is that of the whole: an angle that goes once
    through its range is spread less within each half, where white noise makes larger errors. Parts
    whose axes contradict each other are no samples of one axis, and nothing is taken off. The last
    number is the largest angle between their axes, in degrees.
    """
    poses, count, runs = joint.poses, len(joint.angles), joint.poses.runs
    if len(runs) == count or (len(runs) == 1 and count < _LONG) or runs.min() < 3:
        return np.empty((0, count)), 1.0, 0.0
    part = np.repeat(np.arange(len(runs)), runs)
    part = np.arange(count) * 2 // count if len(runs) == 1 else part
    shares = (part == np.arange(part[-1] + 1)[:, None]) * poses.weights
    shares = shares / shares.sum(axis=1, keepdims=True)
    axes = joint.axes(shares)
    apart = float(np.degrees(np.arccos(np.clip(np.abs(axes @ axes.T).min(), 0.0, 1.0))))
    spread = shares @ joint.angles**2 - (shares @ joint.angles) ** 2
    share = 1 / float((joint.variances[0] / np.maximum(spread, 1e-300)).mean())
    return shares, 1.0 if apart > _CONTRADICTION else min(1.0, share), apart


def _solve(left: Floats, right: Floats, shares: Floats, rank: int) -> Floats:
    """Shortest of the best solutions (rows, 6), the weakest directions left out."""
    squares = np.einsum("tki,tkj->tij", left, left).reshape(-1, 36)
    products = np.einsum("tki,tk->ti", left, right)
    values, vectors = np.linalg.eigh((shares @ squares).reshape(-1, 6, 6))
    values, vectors = values[:, -rank:], vectors[:, :, -rank:]
    sides = np.einsum("dik,di->dk", vectors, shares @ products)
    known = values > 1e-12 * values[:, -1:]
    sides = known * sides / np.where(known, values, 1)
    return np.asarray(np.einsum("dik,dk->di", vectors, sides))


def _turning(shape: Shape) -> Floats:
    """Covariance (3, 3) of the rotation vector of one fit: ε² I⁻¹ in rad²."""
    found = fits.inertia(shape.places, shape.weights)
    in_a_plane = np.diag([0.0, 0.0, 1 / found[2, 2]])
    inverse = np.linalg.pinv(found, hermitian=True) if shape.places.shape[1] == 3 else in_a_plane
    return np.asarray(np.nan_to_num(shape.noise) ** 2 * inverse)
