"""Hinges: about which axis a body moves against another over an ensemble, how far, how surely.

Snapshots are laid onto the reference. Of the body, R̄ is the mean rotation and ω = log(R R̄ᵀ) the
rotation vector of each snapshot; the axis is the direction in which ω varies most, the covariance
of noise subtracted. The place is the point of the body that stays nearest to a point of the
reference, by least squares over both: a ball joint has one, a hinge a line of them.

The error of an axis is the largest of three: what noise within the bodies makes, the spread of
draws of blocks of snapshots, and what the axes of both halves of a run (from 50 snapshots), or of
several runs, differ by. The first is exact for white noise, and far too small where turns across
the axis are slow. The same three are compared for the place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints, frozen, numbers
from timme._text import Described
from timme.ensemble import Ensemble
from timme.motion.fits import warnings_of
from timme.motion.joints import INDEX, Kind, Place, Relative, Turns, kind_of, relative
from timme.motion.screws import FAR, is_far, nowhere
from timme.series import correlation_time, count_drawn, draw_runs

_TURNING = {"hinge", "screw", "ball", "diffuse"}  # kinds that have an axis
_WIDE = 30.0  # degrees: axes this far apart are worth a warning
_CONTRADICTION = 40.0  # degrees: axes of parts farther apart are no samples of one axis
_CONE = 1.73  # √ln 20: standard deviations that hold 95 % in two directions
_DRAWS = 200
_LONG = 50  # snapshots of a run whose halves are compared
# Eigenvalues of the mean rotation that two snapshots 179° apart leave.
_HALF_TURN = float(np.cos(np.radians(179 / 2)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hinge(Described):
    """How a body moves against another, in the frame of the other; NaN where undefined."""

    kind: Kind = "undefined"
    axis: Floats = field(default_factory=nowhere)  # (3,), unit vector
    point: Floats = field(default_factory=nowhere)  # (3,), near the interface; of a ball joint
    angles: Floats = field(default_factory=lambda: frozen(np.empty(0)))  # from the mean, in degrees
    frames: Ints = field(default_factory=lambda: frozen(np.empty(0, np.int64)))  # of the angles
    index: float = np.nan  # share of the axis in all turning, 1 for a pure hinge
    pitch: float = np.nan  # shift for a turn by 1 rad
    axis_error: float = np.nan  # standard deviation of the direction, in degrees; 0 in a plane
    axis_cone: float = np.nan  # half angle that holds it at 95 %, in degrees; not of two snapshots
    point_error: float = np.nan
    move: float = np.nan  # rms displacement of the centre of the body
    verdict: str = ""  # warnings

    @property
    def range(self) -> float:
        """Largest angle less the smallest, in degrees."""
        return float(np.ptp(self.angles)) if len(self.angles) else float("nan")

    @property
    def rms(self) -> float:
        """Root mean square of the angles about their mean, in degrees."""
        return float(np.std(self.angles)) if len(self.angles) else float("nan")


def hinge(
    ensemble: Ensemble,
    *,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    axis: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Hinge:
    """Return how a body moves against another over all snapshots.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; in a periodic box, molecules must be whole.
    body, reference : str or array_like
        Their sites: selections, indices, or one truth value for each; no site is in both.
    weights : array_like, shape (sites,), optional
        Weights of the sites of the ensemble in fits; equal by default.
    axis : array_like, shape (3,), optional
        Direction about which angles are measured, such as that of a known transition, in the frame
        of the first snapshot; it has no error.
    seed : int, optional
        Seed of the draws of snapshots.

    Returns
    -------
    Hinge
        In the frame of the reference in the first snapshot in which it has an orientation.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[60.0])
    >>> found = hinge(planted.ensemble, body=planted.labels == 1, reference=planted.labels == 0)
    >>> found.kind, round(found.range)
    ('hinge', 60)
    """
    given = None if axis is None else _direction(axis)
    poses = relative(ensemble, body, reference, weights)
    if isinstance(poses, str):
        return Hinge(verdict=poses)
    if why := poses.undetermined():
        return Hinge(verdict=why)
    mean = Rotation.from_matrix(poses.rotations).mean(poses.weights)
    vectors = (Rotation.from_matrix(poses.rotations) * mean.inv()).as_rotvec()
    turns = Turns.of(vectors, poses, given)
    place = Place.of(poses, mean.as_matrix(), turns)
    kind = kind_of(turns, place, poses)
    found = Hinge(
        kind=kind,
        axis=frozen(place.way) if kind == "translation" else nowhere(),
        angles=frozen(np.degrees(turns.angles)),
        frames=frozen(poses.frames),
        index=turns.index,
        move=place.move,
    )
    words = _warnings(turns, poses) + warnings_of(poses.body, poses.reference)
    if kind not in _TURNING:
        return replace(found, verdict="; ".join(words))
    if turns.variances[0] < 25 * turns.noise[0]:
        words.append("it turns by little more than its noise")
    found, about = _with_axis(found, turns, place, poses, seed)
    if given is not None:
        found = replace(found, axis_error=np.nan, axis_cone=np.nan)
        share = f"{100 * turns.index:.0f} % of its turning is about the given axis"
        about = [share] if turns.index < INDEX else []
    return replace(found, verdict="; ".join(words + about))


def _with_axis(
    found: Hinge, turns: Turns, place: Place, poses: Relative, seed: int
) -> tuple[Hinge, list[str]]:
    """Add the axis, its place and errors; warnings about it come second."""
    ball = found.kind == "ball"
    spot = place.dot if ball else place.point
    error, cone, point_error, apart = _errors(turns, place, poses, ball=ball, seed=seed)
    slid = poses.weights @ (place.along * turns.angles)
    found = replace(
        found,
        axis=frozen(turns.axis),
        point=frozen(spot),
        pitch=float(slid / (poses.weights @ turns.angles**2)),
        axis_error=error,
        axis_cone=cone,
        point_error=point_error,
    )
    return found, _axis_warnings(turns, spot, poses, (cone, apart))


def _errors(
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


def _warnings(turns: Turns, poses: Relative) -> list[str]:
    """Warnings about the angles."""
    words, count = list[str](), len(turns.angles)
    if count == 2:
        words.append("two snapshots give no error bar")
    if count < poses.n_snapshots:
        words.append(f"both have an orientation in {count} of {poses.n_snapshots} snapshots")
    quaternions = Rotation.from_matrix(poses.rotations).as_quat()
    values = np.linalg.eigvalsh((quaternions * poses.weights[:, None]).T @ quaternions)
    # Near half a turn, two mean rotations are as good.
    if np.abs(turns.angles).max() > np.radians(170) or values[-1] - values[-2] < _HALF_TURN:
        words.append("it turns by half a turn: angles, and the sense of the axis, are ambiguous")
    return words


def _axis_warnings(
    turns: Turns, spot: Floats, poses: Relative, spread: tuple[float, float]
) -> list[str]:
    """Warnings about the axis; ``spread`` is its cone, and the angle between parts."""
    middle, (cone, apart) = poses.weights @ poses.centres, spread
    away = float(np.linalg.norm(np.cross(spot - middle, turns.axis)))
    words = [FAR] if is_far(away, spot, middle, poses.near) else []
    if apart > _WIDE:
        parts = "first and second half" if len(poses.runs) == 1 else "the runs"
        words.append(f"its axis moves: {parts} differ by {apart:.0f}°")
    elif cone > _WIDE:
        words.append(f"axis known to ±{cone:.0f}° (95 %)")
    return words


def _direction(axis: npt.ArrayLike) -> Floats:
    given = numbers(axis, "an axis")
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise ValueError(
            f"an axis is a direction in space, 3 numbers that are not all 0, got {given.tolist()}"
        )
    unit = given / np.abs(given).max()
    return np.asarray(unit / np.linalg.norm(unit))
