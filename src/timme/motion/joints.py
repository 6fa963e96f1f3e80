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
_UNDETERMINED = "orientation undetermined: noise turns it by 20° and more"


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
    body: Shape
    reference: Shape
    n_snapshots: int  # of the ensemble that count

    def undetermined(self) -> str:
        """Return why noise leaves the orientation undetermined, or nothing."""
        shapes = self.body, self.reference
        random = fits.is_random(self.turning, *shapes)
        return "; ".join([*fits.warnings_of(*shapes), _UNDETERMINED]) if random else ""


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Rotation vectors, taken apart along their axis and across it."""

    vectors: Floats  # (snapshots, 3), about their mean, in rad
    angles: Floats  # (snapshots,), in rad
    variances: Floats  # (3,), along the axis first, in rad²
    noise: Floats  # (3,), what of them noise makes
    basis: Floats  # (3, 3), columns: the axis and two across

    @classmethod
    def of(cls, vectors: Floats, poses: Relative, given: Floats | None) -> Turns:
        """Take vectors apart; the axis points from the first snapshot to the last."""
        covariance = (vectors * poses.weights[:, None]).T @ vectors
        values, basis = np.linalg.eigh(covariance - poses.turning)
        basis = basis[:, np.argsort(-values)]
        if given is not None:
            basis = np.linalg.qr(np.column_stack([given, basis]))[0]
            basis[:, 0] = given
        elif basis[:, 0] @ (vectors[-1] - vectors[0]) < 0:
            basis = -basis
        variances, noise = (
            np.einsum("ik,ij,jk->k", basis, each, basis) for each in (covariance, poses.turning)
        )
        return cls(vectors, vectors @ basis[:, 0], variances, noise, basis)

    @property
    def axis(self) -> Floats:
        """Unit vector (3,)."""
        return self.basis[:, 0]

    @property
    def index(self) -> float:
        """Share of the axis in all turning above noise."""
        excess = np.maximum(self.variances - self.noise, 0.0)
        return float(excess[0] / excess.sum()) if excess.sum() > 0 else float("nan")

    def axes(self, shares: Floats) -> Floats:
        """Axes (rows, 3) with other shares (rows, snapshots) of the snapshots."""
        means = shares @ self.vectors
        products = (self.vectors[:, :, None] * self.vectors[:, None]).reshape(-1, 9)
        scatter = (shares @ products).reshape(-1, 3, 3) - means[:, :, None] * means[:, None]
        found = np.linalg.eigh(scatter)[1][:, :, -1]
        return np.where(found @ self.axis[:, None] < 0, -found, found)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where the axis is, and how far the body shifts along it."""

    point: Floats  # (3,), of the axis
    dot: Floats  # (3,), the single point that stays nearest to itself
    along: Floats  # (snapshots,), shift along the axis
    across: Floats  # (snapshots, 3), how far the place is from staying, across the axis
    loose: float  # what a single fixed point leaves, rms
    way: Floats  # (3,), main direction of the centre
    move: float  # rms displacement of the centre
    left: Floats  # (snapshots, 3, 6), equations of the place in the body and in the reference
    right: Floats  # (snapshots, 3)

    @classmethod
    def of(cls, poses: Relative, mean: Floats, turns: Turns) -> Place:
        """Solve for the place that stays, beside a mean rotation (3, 3)."""
        weights, centres = poses.weights, poses.centres
        middle = weights @ centres
        here = mean.T @ (poses.near - middle)  # the same point, in the body
        left = np.concatenate([poses.rotations, np.tile(-np.eye(3), (len(centres), 1, 1))], axis=2)
        right = -(poses.rotations @ here + centres - poses.near)
        line, dot = (_solve(left, right, weights[None], rank)[0] for rank in (5, 6))
        away, loose = (left @ each - right for each in (line, dot))
        along = away @ turns.axis
        across, along = away - along[:, None] * turns.axis, along - weights @ along
        moved = centres - middle
        way = np.linalg.eigh((moved * weights[:, None]).T @ moved)[1][:, -1]
        way = way if way @ (centres[-1] - centres[0]) >= 0 else -way
        move, loose = (np.sqrt(weights @ (each**2).sum(axis=1)) for each in (moved, loose))
        point, dot = poses.near + line[3:], poses.near + dot[3:]
        return cls(point, dot, along, across, loose, way, move, left, right)

    def places(self, shares: Floats, rank: int) -> Floats:
        """Places (rows, 3) from the interface, with other shares (rows, snapshots)."""
        return _solve(self.left, self.right, shares, rank)[:, 3:]


def relative(
    ensemble: Ensemble,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None,
) -> Relative | str:
    """Poses of a body as seen from another, or why there are none."""
    fits.require_dimensions(ensemble, "hinges")
    moving, still = fits.body_sites(ensemble, body), fits.body_sites(ensemble, reference)
    shared = np.intersect1d(moving, still)
    if len(shared):
        raise ValueError(
            f"{ensemble.prefix}{len(shared)} sites are in both the body and the reference, the "
            f"first of them {ensemble.site_label(int(shared[0]))}: give each site to one of them"
        )
    given = fits.site_weights(weights, ensemble.n_sites)
    counts = np.ones(ensemble.n_snapshots) if ensemble.weights is None else ensemble.weights
    both = fits.whole_positions(ensemble.select(np.concatenate([still, moving])))
    near, far = np.split(both, [len(still)], axis=1)
    core = fits.shape_of(near, fits.site_weights(given[still], len(still)), counts)
    if not core.n_fitted:
        return f"the reference has no orientation: {core.verdict}"
    frames = np.flatnonzero(core.poses.unique & (counts > 0))
    near, far = ((core.poses.into(each) + _origin(core))[frames] for each in (near, far))
    shape = fits.shape_of(far, fits.site_weights(given[moving], len(moving)), counts[frames])
    if not shape.n_fitted:
        return f"the body has no orientation: {shape.verdict}"
    known = shape.poses.unique
    near, far, frames = near[known], far[known], frames[known]
    if len(frames) < 2:
        words = f"both bodies have an orientation in {len(frames)} of {len(counts)} snapshots, not"
        ties = int(shape.poses.ties.sum() + core.poses.ties.sum())
        return f"{words} in 2; in {ties} {fits.MIRROR}" if ties else f"{words} in 2"
    middle = near[0].mean(axis=0)
    spots = np.array([interface_middle(far[0], near[0]), middle])
    centres = np.concatenate([shape.poses.centres[known], spots])
    rotations, centres = in_space(shape.poses.rotations[known], centres)
    noise = precision(shape, core, centres[:-2].mean(axis=0) - centres[-1])
    runs = np.ones(len(frames), np.int64)
    if not ensemble.independent:
        places = np.searchsorted(np.cumsum(ensemble.replicas), frames, side="right")
        runs = np.unique(places, return_counts=True)[1]
    series = rotations, centres[:-2], counts[frames] / counts[frames].sum(), frames, runs
    return Relative(*series, *noise, centres[-2], centres[-1], shape, core, ensemble.n_counting)


def interface_middle(body: Floats, reference: Floats) -> Floats:
    """Middle (dimensions,) of the tenth of the sites of a body that are nearest to another."""
    apart, partner = (np.asarray(each) for each in cKDTree(reference).query(body))
    nearest = np.argsort(apart, kind="stable")[: max(1, len(body) // 10)]
    return np.asarray(0.5 * (body[nearest] + reference[partner[nearest]]).mean(axis=0))


def precision(body: Shape, reference: Shape, away: Floats) -> tuple[Floats, Floats, float]:
    """Noise of one pose of a body as seen from another, whose centre is ``away`` (3,).

    Returned are the covariance (3, 3) of the rotation vector in rad², the share of the other body
    in it, and the standard deviation of the centre.
    """
    turned, cross = _turning(reference), np.cross(np.eye(3), away)
    shift = float(np.trace(cross @ turned @ cross.T))
    for shape in (body, reference):
        shift += shape.places.shape[1] * np.nan_to_num(shape.noise) ** 2 / len(shape.places)
    return _turning(body) + turned, turned, float(np.sqrt(shift))


def kind_of(turns: Turns, place: Place, poses: Relative) -> Kind:
    """Kind of a motion."""
    if not (turns.variances > np.maximum(9 * turns.noise, 1e-18)).any():
        return "translation" if place.move > max(3 * poses.shift, 1e-9) else "rigid"
    still = max(3 * poses.shift, 0.25 * place.move)
    rest = np.sqrt(poses.weights @ (place.across**2).sum(axis=1))
    if turns.index >= INDEX and rest <= still:
        covariance = abs(float(poses.weights @ (place.along * turns.angles)))
        turned, slid = np.sqrt(poses.weights @ np.array([turns.angles, place.along]).T ** 2)
        least = max(0.1 * place.move, 3 * poses.shift / float(np.sqrt(len(poses.frames))))
        return "screw" if covariance > turned * max(least, 0.7 * slid) else "hinge"
    return "ball" if turns.index < INDEX and place.loose <= still else "diffuse"


def axis_errors(
    turns: Turns, place: Place, poses: Relative, *, ball: bool, seed: int
) -> tuple[float, float, float, float]:
    """Errors of the axis and its cone in degrees, of the place, and the angle between parts."""
    sides, count = turns.basis[:, 1:], len(turns.angles)
    spot, across, rank = (place.dot, turns.basis, 6) if ball else (place.point, sides, 5)
    squares = max(float(turns.variances[0]) * count, 1e-300)
    axis, point = float(turns.noise[1:].sum()) / squares, poses.shift**2 / squares
    cone = apart = float("nan")
    if count > 2:
        # Turns across the axis tilt it, the more so the further the body is turned.
        draws = _draws((turns.vectors @ sides) * turns.angles[:, None], poses, seed)
        parts, share, apart = _parts(turns, poses)
        drawn = turns.axes(draws)
        axis = max(axis, _variance(turns.axis, drawn, turns.axes(parts), share))
        here = (spot - poses.near) @ across
        drawn_places, places = (place.places(each, rank) @ across for each in (draws, parts))
        point = max(point, _variance(here, drawn_places, places, share))
        cone = float(np.quantile(np.linalg.norm(drawn - turns.axis, axis=1), 0.95))
    # All is seen from the reference as the first fit has laid it.
    arm = np.cross(np.eye(3), spot - poses.middle) @ across
    axis += float(np.trace(sides.T @ poses.frame @ sides))
    point += float(np.trace(arm.T @ poses.frame @ arm))
    cone = max(cone, _CONE * float(np.sqrt(axis)))
    error, cone = np.degrees(np.minimum([np.sqrt(axis), cone], np.pi / 2)).tolist()
    return error, cone, float(np.sqrt(point)), apart


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


def _parts(turns: Turns, poses: Relative) -> tuple[Floats, float, float]:
    """Shares (parts, snapshots) of the halves of a long run, or of several runs; none if short.

    By the second number the variance among parts is that of the whole: an angle that goes once
    through its range is spread less within each half, where white noise makes larger errors. Parts
    whose axes contradict each other are no samples of one axis, and nothing is taken off. The last
    number is the largest angle between their axes, in degrees.
    """
    count, runs = len(poses.frames), poses.runs
    if len(runs) == count or (len(runs) == 1 and count < _LONG) or runs.min() < 3:
        return np.empty((0, count)), 1.0, 0.0
    part = np.repeat(np.arange(len(runs)), runs)
    part = np.arange(count) * 2 // count if len(runs) == 1 else part
    shares = (part == np.arange(part[-1] + 1)[:, None]) * poses.weights
    shares = shares / shares.sum(axis=1, keepdims=True)
    axes = turns.axes(shares)
    apart = float(np.degrees(np.arccos(np.clip(np.abs(axes @ axes.T).min(), 0.0, 1.0))))
    spread = shares @ turns.angles**2 - (shares @ turns.angles) ** 2
    share = 1 / float((turns.variances[0] / np.maximum(spread, 1e-300)).mean())
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


def in_space(rotations: Floats, centres: Floats) -> tuple[Floats, Floats]:
    """Poses in a plane as poses in space, turned about the third axis."""
    size = rotations.shape[1]
    turned = np.tile(np.eye(3), (len(rotations), 1, 1))
    turned[:, :size, :size] = rotations
    moved = np.zeros((len(centres), 3))
    moved[:, :size] = centres
    return turned, moved


def _origin(core: Shape) -> Floats:
    """Centre of the reference in the first snapshot in which it has an orientation."""
    return np.asarray(core.poses.centres[core.poses.unique.argmax()])
