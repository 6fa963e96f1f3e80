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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from timme_next._arrays import Floats, Ints, frozen, numbers
from timme_next._text import Described
from timme_next.ensemble import Ensemble
from timme_next.motion.fits import is_random, warnings_of
from timme_next.motion.joints import INDEX, Kind, Place, Turns, kind_of, two_states
from timme_next.motion.poses import Relative, relative
from timme_next.motion.screws import FAR, UNDETERMINED, Screw, from_rotation, is_far
from timme_next.series import correlation_time, count_drawn, draw_runs

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
    """How a body moves against another, in the frame of the other."""

    kind: Kind
    axis: Floats  # (3,), unit vector; NaN where there is none
    point: Floats  # (3,), of the axis, near the interface; the centre of a ball joint
    angles: Floats  # (snapshots,), about the axis from the mean, in degrees
    shifts: Floats  # (snapshots,), along the axis
    frames: Ints  # (snapshots,), in which both bodies are whole
    index: float  # share of the axis in all turning, 1 for a pure hinge
    pitch: float  # shift for a turn by 1 rad
    axis_error: float  # standard deviation of the direction, in degrees; 0 in a plane
    axis_cone: float  # half angle that holds the axis at 95 %, in degrees; NaN of two snapshots
    point_error: float
    angle_error: float  # standard deviation of one angle, in degrees
    spread: Floats  # (3,), rms of the rotation vector along the axis and across it, in degrees
    rest: float  # rms distance across the axis by which the place does not stay
    move: float  # rms displacement of the centre of the body
    states: Screw | None  # from one state to the other, where angles have two
    verdict: str  # warnings, "" if there are none

    @property
    def range(self) -> float:
        """Largest angle less the smallest, in degrees."""
        return float(np.ptp(self.angles)) if len(self.angles) else float("nan")

    @property
    def range_error(self) -> float:
        """Standard deviation of the range from noise and the error of the axis; NaN of two."""
        if len(self.angles) < 3:
            return float("nan")
        tilt = np.radians(np.nan_to_num(self.axis_error))
        return float(np.hypot(np.sqrt(2) * self.angle_error, (1 - np.cos(tilt)) * self.range))

    @property
    def rms(self) -> float:
        """Root mean square of the angles about their mean, in degrees."""
        return float(np.std(self.angles)) if len(self.angles) else float("nan")

    @property
    def in_a_plane(self) -> bool:
        """Whether snapshots lie in a plane: only there the axis has no error."""
        return self.axis_error == 0

    def facts(self) -> dict[str, object]:
        """Return what is worth knowing, by name."""
        axis = f"{np.round(self.axis, 3).tolist()} ± {self.axis_error:.2g}°"
        found = {"kind": self.kind, "range": f"{self.range:.1f}°", "axis": axis}
        return found | {"point": np.round(self.point, 2).tolist(), "warnings": self.verdict}


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
        In the frame of the reference in the first snapshot in which it is whole.

    Examples
    --------
    >>> from timme_next.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[60.0])
    >>> found = hinge(planted.ensemble, body=planted.labels == 1, reference=planted.labels == 0)
    >>> found.kind, round(found.range)
    ('hinge', 60)
    """
    given = None if axis is None else _direction(axis)
    poses = relative(ensemble, body, reference, weights)
    if isinstance(poses, str):
        return _undefined(poses)
    if is_random(poses.turning, poses.body, poses.reference):
        return _undefined("; ".join([*_shape_warnings(poses), UNDETERMINED]))
    mean = Rotation.from_matrix(poses.rotations).mean(poses.weights)
    vectors = (Rotation.from_matrix(poses.rotations) * mean.inv()).as_rotvec()
    turns = Turns.of(vectors, poses, given)
    place = Place.of(poses, mean.as_matrix(), turns)
    kind = kind_of(turns, place, poses)
    known, ball = kind in _TURNING, kind == "ball"
    nan, nothing = float("nan"), frozen(np.full(3, np.nan))
    spot = place.dot if ball else place.point
    error, cone, apart = _axis_error(turns, poses, seed)
    words = _warnings(turns, poses, kind)
    if known:
        words += _axis_warnings(turns, spot, poses, (cone, apart), given)
    has_error = known and given is None
    return Hinge(
        kind=kind,
        axis=frozen(place.way)
        if kind == "translation"
        else frozen(turns.axis)
        if known
        else nothing,
        point=frozen(spot) if known else nothing,
        angles=frozen(np.degrees(turns.angles)),
        shifts=frozen(place.along if known else place.shifts),
        frames=frozen(poses.frames),
        index=turns.index,
        pitch=place.pitch if known else nan,
        axis_error=error if has_error else nan,
        axis_cone=cone if has_error else nan,
        point_error=_point_error(turns, place, poses, ball=ball, seed=seed) if known else nan,
        angle_error=float(np.degrees(np.sqrt(turns.noise[0]))),
        spread=frozen(np.degrees(np.sqrt(np.maximum(turns.variances, 0.0)))),
        rest=place.rest if known else nan,
        move=place.move,
        states=_states(poses, np.degrees(turns.angles)) if known else None,
        verdict="; ".join(words),
    )


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


def _parts(poses: Relative) -> Floats:
    """Shares (parts, snapshots) of the halves of a long run, or of several runs; none if short."""
    n_snapshots, runs = len(poses.frames), poses.runs
    part = np.arange(n_snapshots) * 2 // n_snapshots
    if len(runs) == n_snapshots or (len(runs) == 1 and n_snapshots < _LONG) or runs.min() < 3:
        return np.empty((0, n_snapshots))
    if len(runs) > 1:
        part = np.repeat(np.arange(len(runs)), runs)
    shares = (part == np.arange(part[-1] + 1)[:, None]) * poses.weights
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _axis_error(turns: Turns, poses: Relative, seed: int) -> tuple[float, float, float]:
    """Error of the axis, cone that holds it at 95 %, and angle between the parts, in degrees."""
    n_snapshots, sides = len(poses.frames), turns.sides
    turned = float(np.trace(sides.T @ poses.frame @ sides))  # by the first fit
    white = float(turns.noise[1:].sum()) / max(turns.variances[0] * n_snapshots, 1e-300)
    if n_snapshots < 3:
        return float(np.degrees(np.sqrt(white + turned))), float("nan"), 0.0
    # Turns across the axis tilt it, the more so the further the body is turned.
    drawn = turns.axes(_draws((turns.vectors @ sides) * turns.angles[:, None], poses, seed))
    away = np.arccos(np.clip(np.abs(drawn @ turns.axis), 0.0, 1.0))
    parts, slow, apart = turns.axes(_parts(poses)), 0.0, _angle_between_parts(turns, poses)
    if len(parts):
        tilts = np.arccos(np.clip(np.abs(parts @ _middle(parts)), 0.0, 1.0))
        slow = _error_of_mean(tilts[:, None], turns, poses)
    error = float(np.sqrt(max(white, (away**2).mean(), slow) + turned))
    cone = max(float(np.quantile(away, 0.95)), _CONE * error)
    error, cone = np.degrees(np.minimum([error, cone], np.pi / 2)).tolist()
    return error, cone, apart


def _point_error(turns: Turns, place: Place, poses: Relative, *, ball: bool, seed: int) -> float:
    """Error of a place: of an axis across it, of a ball joint in all directions."""
    n_snapshots, rank = len(poses.frames), 6 if ball else 5
    spot, sides = (place.dot, turns.basis) if ball else (place.point, turns.sides)
    # All places are seen from the reference as the first fit has laid it.
    arm = np.cross(np.eye(3), spot - poses.middle)
    laid = float(np.trace(sides.T @ arm @ poses.frame @ arm.T @ sides))
    squares = float(poses.weights @ turns.angles**2)
    told = poses.shift**2 / max(squares * n_snapshots, 1e-300)
    if n_snapshots > 2:
        shares = _draws(place.across * turns.angles[:, None], poses, seed)
        away = (poses.near + place.places(shares, rank) - spot) @ sides
        told = max(told, float((away**2).sum(axis=1).mean()))
        parts = place.places(_parts(poses), rank) @ sides
        if len(parts):
            told = max(told, _error_of_mean(parts - parts.mean(axis=0), turns, poses))
    return float(np.sqrt(told + laid))


def _angle_between_parts(turns: Turns, poses: Relative) -> float:
    """Largest angle between the axes of two parts, in degrees; 0 without parts."""
    parts = turns.axes(_parts(poses))
    cosines = np.abs(parts @ parts.T)
    return float(np.degrees(np.arccos(np.clip(cosines.min(initial=1.0), 0.0, 1.0))))


def _middle(axes: Floats) -> Floats:
    """Mean direction (3,) of axes, whatever their signs."""
    found: Floats = np.linalg.eigh(axes.T @ axes)[1][:, -1]
    return found


def _error_of_mean(away: Floats, turns: Turns, poses: Relative) -> float:
    """Variance of a number of the whole, from what parts (parts, dimensions) differ by.

    An angle that goes once through its range is spread less within each half, where white noise
    makes larger errors: by so much those of the whole are smaller. Parts whose axes contradict each
    other are no samples of one axis, and nothing is taken off.
    """
    shares, n_parts = _parts(poses), len(away)
    scatter = float((away**2).sum()) / (n_parts * (n_parts - 1))
    if _angle_between_parts(turns, poses) > _CONTRADICTION:
        return scatter
    spread = shares @ turns.angles**2 - (shares @ turns.angles) ** 2
    counts = (shares > 0).sum(axis=1)
    ours = 1 / (turns.variances[0] * len(turns.angles))
    theirs = float((1 / np.maximum(spread * counts, 1e-300)).mean()) / n_parts
    return scatter * float(min(1.0, ours / theirs))


def _states(poses: Relative, angles: Floats) -> Screw | None:
    """Screw from the mean of the lower state to that of the upper, where there are two."""
    upper = two_states(angles)
    if upper is None:
        return None
    means = [Rotation.from_matrix(poses.rotations[each]).mean() for each in (~upper, upper)]
    start, end = (poses.centres[each].mean(axis=0) for each in (~upper, upper))
    share = 1 / np.count_nonzero(upper) + 1 / np.count_nonzero(~upper)  # noise of both means
    noise = poses.turning * share, poses.shift * float(np.sqrt(share))
    turn = (means[1] * means[0].inv()).as_matrix()
    return from_rotation(turn, start, end - start, poses.near, noise)


def _warnings(turns: Turns, poses: Relative, kind: str) -> list[str]:
    """Warnings about the angles."""
    words, count = list[str](), len(turns.angles)
    if count == 2:
        words.append("two snapshots give no error bar")
    if count < poses.n_snapshots:
        words.append(f"both bodies are whole in {count} of {poses.n_snapshots} snapshots")
    words += _shape_warnings(poses)
    quaternions = Rotation.from_matrix(poses.rotations).as_quat()
    values = np.linalg.eigvalsh((quaternions * poses.weights[:, None]).T @ quaternions)
    if np.abs(turns.angles).max() > np.radians(170):
        words.append("it turns by about half a turn either way: angles and axis are ambiguous")
    elif values[-1] - values[-2] < _HALF_TURN:  # two mean rotations are as good
        words.append("it turns by half a turn: the axis and its opposite are equally right")
    if kind in _TURNING and turns.variances[0] < 25 * turns.noise[0]:
        words.append("it turns by little more than its noise")
    return words


def _axis_warnings(
    turns: Turns,
    spot: Floats,
    poses: Relative,
    spread: tuple[float, float],
    given: Floats | None,
) -> list[str]:
    """Warnings about the axis; ``spread`` is its cone, and the angle between parts."""
    if given is not None:
        share = f"{100 * turns.index:.0f} % of its turning is about the given axis"
        return [] if turns.index >= INDEX else [share]
    words, (cone, apart) = list[str](), spread
    middle = poses.weights @ poses.centres
    away = float(np.linalg.norm(np.cross(spot - middle, turns.axis)))
    if is_far(away, spot, middle, poses.near):
        words.append(FAR)
    if apart > _WIDE:
        parts = "both halves" if len(poses.runs) == 1 else "the runs"
        words.append(f"the axis changes: those of {parts} are {apart:.0f}° apart")
    elif cone > _WIDE:
        words.append(f"axis uncertain (±{cone:.0f}°)")
    return words


def _shape_warnings(poses: Relative) -> list[str]:
    return [*warnings_of(poses.body, "the body"), *warnings_of(poses.reference, "the reference")]


def _direction(axis: npt.ArrayLike) -> Floats:
    given = numbers(axis, "an axis")
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise ValueError(
            f"an axis is a direction in space, 3 numbers that are not all 0, got {given.tolist()}"
        )
    unit: Floats = given / np.abs(given).max()
    return unit / np.linalg.norm(unit)


def _undefined(verdict: str) -> Hinge:
    nan, none, empty = float("nan"), frozen(np.full(3, np.nan)), frozen(np.empty(0))
    frames = frozen(np.empty(0, np.int64))
    return Hinge(
        "undefined", none, none, empty, empty, frames, nan, nan, nan, nan, nan, nan, none, nan,
        nan, None, verdict,
    )  # fmt: skip
