"""Say how one body moves against another over an ensemble: about which axis, how far, how surely.

Snapshots are laid onto the reference. Of the body, R̄ is the mean rotation and ω = log(R R̄ᵀ) the
rotation vector of each snapshot; the axis is the direction in which ω varies most, the covariance
that noise alone makes taken off. The place is the point of the body that stays nearest to a point
of the reference, by least squares over both: a ball joint has one, a hinge a line of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints, frozen, numbers
from timme._html import Described
from timme.motion.cautions import LOST, cautions, is_lost
from timme.motion.poses import Relative, relative
from timme.motion.screws import FAR, Screw, from_rotation, is_far
from timme.motion.slow_noise import CONE, draw_blocks, slope_errors
from timme.motion.states import two_states
from timme.motion.turns import Turns
from timme.system.ensemble import Ensemble

Kind = Literal["undefined", "rigid", "translation", "hinge", "screw", "ball", "diffuse"]

_TURNING = frozenset({"hinge", "screw", "ball", "diffuse"})  # kinds that have an axis
_INDEX = 0.9  # of a hinge, and above
_WIDE = 30.0  # degrees, and above: a cone within which the axis is as good as unknown
# How much better the best mean rotation must be: so much it is of two snapshots 179° apart.
_HALF_TURN = float(np.cos(np.radians(179 / 2)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hinge(Described):
    """How a body moves against another, in the frame of the other."""

    kind: Kind
    axis: Floats  # (3,), unit vector; NaN where there is none
    point: Floats  # (3,), of the axis, near the interface; of a ball joint, its middle
    angles: Floats  # (snapshots,), about the axis from the mean, in degrees
    shifts: Floats  # (snapshots,), along the axis
    frames: Ints  # (snapshots,), in which both bodies are whole: three quarters of each are seen
    index: float  # share of the axis in all turning, 1 for a pure hinge
    pitch: float  # shift for a turn by 1 rad
    axis_error: float  # standard deviation of the direction of the axis, in degrees
    axis_cone: float  # within which it is in 95 of 100 draws, in degrees; NaN of two snapshots
    point_error: float
    angle_error: float  # standard deviation of one angle, in degrees
    spread: Floats  # (3,), rms of the rotation vector along the axis and across it, in degrees
    rest: float  # how far the place is from staying in place, rms
    move: float  # rms way of the middle of the body
    states: Screw | None  # from one state to the other, where angles have two
    verdict: str  # what to be careful about, or nothing

    @property
    def range(self) -> float:
        """Largest angle less the smallest, in degrees."""
        return float(np.ptp(self.angles)) if len(self.angles) else float("nan")

    @property
    def range_error(self) -> float:
        """Standard deviation of the range, in degrees; NaN of two snapshots.

        Noise of both its ends, and what is lost of every angle if the axis is off by its error.
        """
        if len(self.angles) < 3:
            return float("nan")
        tilt = np.radians(0.0 if np.isnan(self.axis_error) else self.axis_error)
        return float(np.hypot(np.sqrt(2) * self.angle_error, (1 - np.cos(tilt)) * self.range))

    @property
    def rms(self) -> float:
        """Root mean square of the angles about their mean, in degrees."""
        return float(np.std(self.angles)) if len(self.angles) else float("nan")

    @property
    def in_a_plane(self) -> bool:
        """Whether snapshots lie in a plane: there, and nowhere else, the axis has no error."""
        return self.axis_error == 0

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("kind", self.kind),
            ("range", f"{self.range:.1f}°"),
            ("axis", f"{np.round(self.axis, 3).tolist()} ± {self.axis_error:.2g}°"),
            ("point", np.round(self.point, 2).tolist()),
            ("snapshots", len(self.frames)),
            *((("careful", self.verdict),) if self.verdict else ()),
        )


def hinge(
    ensemble: Ensemble,
    *,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    axis: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Hinge:
    """Say how a body moves against another over all snapshots.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; in a periodic box, molecules must be whole.
    body, reference : str or array_like
        Their sites: selections, indices, or one truth value for each; no site is of both.
    weights : array_like, shape (sites,), optional
        How much each site of the ensemble counts in fits; all alike by default.
    axis : array_like, shape (3,), optional
        Measure angles about this direction, as that of a known transition, given in the frame of
        the first snapshot; what is given has no error.
    seed : int, optional
        Of the random numbers by which snapshots are drawn anew.

    Returns
    -------
    Hinge
        In the frame of the reference in the first snapshot in which it is whole. Errors are the
        larger of those that noise within bodies makes and of those between draws of blocks.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> planted = moving((60, 40), 20, spans=[60.0])
    >>> found = hinge(planted.ensemble, body=planted.labels == 1, reference=planted.labels == 0)
    >>> found.kind, round(found.range)
    ('hinge', 60)
    """
    given = None if axis is None else _direction(axis)
    poses = relative(ensemble, body, reference, weights=weights)
    if isinstance(poses, str):
        return _undefined(poses)
    if is_lost(poses.turning, poses.body, poses.reference):
        return _undefined("; ".join([*_shape_cautions(poses), LOST]))
    mean = Rotation.from_matrix(poses.rotations).mean(poses.weights)
    vectors = (Rotation.from_matrix(poses.rotations) * mean.inv()).as_rotvec()
    noise = poses.turning
    turns = Turns.of(vectors, poses.weights, noise, given)
    place = _Place.of(poses, mean, turns)
    kind = _kind(turns, place, poses)
    runs = _runs(ensemble, poses.frames)
    errors = _errors(vectors, turns, poses, runs, seed=seed)
    known = kind in _TURNING
    nothing = np.full(3, np.nan)
    direction = place.way if kind == "translation" else turns.axis if known else nothing
    spot = nothing if not known else place.dot if kind == "ball" else place.point
    angles = np.degrees(turns.angles)
    return Hinge(
        kind=kind,
        axis=frozen(direction),
        point=frozen(spot),
        angles=frozen(angles),
        shifts=frozen(place.along if known else place.shifts),
        frames=frozen(poses.frames),
        index=turns.index,
        pitch=place.pitch if known else float("nan"),
        axis_error=errors.axis if known and given is None else float("nan"),
        axis_cone=errors.cone if known and given is None else float("nan"),
        point_error=_point_error(poses, turns, place, kind, runs, seed=seed),
        angle_error=float(np.degrees(np.sqrt(turns.noise[0]))),
        spread=frozen(np.degrees(np.sqrt(np.maximum(turns.variances, 0.0)))),
        rest=place.rest if known else float("nan"),
        move=place.move,
        states=_states(poses, angles) if known else None,
        verdict="; ".join(
            [
                *_cautions(turns, poses, angles, kind),
                *(_doubts(turns, spot, poses, errors, given) if known else ()),
            ]
        ),
    )


def _direction(axis: npt.ArrayLike) -> Floats:
    """A direction that is given, of length 1."""
    given = numbers(axis, "an axis")
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise ValueError(
            f"an axis is a direction in space, 3 numbers that are not all 0, got {given.tolist()}"
        )
    unit: Floats = given / np.abs(given).max()
    return unit / np.linalg.norm(unit)


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """How surely an axis is known, in degrees."""

    axis: float
    cone: float  # that holds 95 of 100; NaN of two snapshots
    apart: float  # axes of both halves, where these contradict each other; else 0


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the axis is, and how far the body shifts along it."""

    point: Floats  # (3,), of the axis
    dot: Floats  # (3,), the single point that stays nearest to itself, as that of a ball joint
    along: Floats  # (snapshots,), shift along the axis
    rest: float  # across the axis, rms
    loose: float  # what is left of a single fixed point, rms
    pitch: float
    corr: float  # of shift and angle
    move: float  # rms way of the middle
    shifts: Floats  # (snapshots,), of the middle along its own main direction
    way: Floats  # (3,), that direction
    across: Floats  # (snapshots, 3), how far the place is from staying in place, across the axis
    left: Floats  # (snapshots, 3, 6), equations of the place in the body and in the reference
    right: Floats  # (snapshots, 3)

    @classmethod
    def of(cls, poses: Relative, mean: Rotation, turns: Turns) -> _Place:
        weights, centres = poses.weights, poses.centres
        middle = weights @ centres
        here = mean.as_matrix().T @ (poses.near - middle)  # the same point, in the body
        left = np.concatenate([poses.rotations, np.tile(-np.eye(3), (len(centres), 1, 1))], axis=2)
        right = -(poses.rotations @ here + centres - poses.near)
        share = np.sqrt(weights)[:, None, None]
        matrix = (left * share).reshape(-1, 6)
        wanted = (right[:, :, None] * share).reshape(-1)
        line = _least_squares(matrix, wanted, 5)
        dot = _least_squares(matrix, wanted, 6)
        after = [-right + np.einsum("tij,j->ti", left, found) for found in (line, dot)]
        along = after[0] @ turns.axis
        across = after[0] - along[:, None] * turns.axis
        along = along - weights @ along
        moved = centres - middle
        scatter = (moved * weights[:, None]).T @ moved
        way = np.linalg.eigh(scatter)[1][:, -1]
        way = way if way @ (centres[-1] - centres[0]) >= 0 else -way
        squares = weights @ turns.angles**2
        strength = np.sqrt((weights @ along**2) * squares)
        product = float(weights @ (along * turns.angles))
        return cls(
            point=poses.near + line[3:],
            dot=poses.near + dot[3:],
            along=along,
            rest=float(np.sqrt(weights @ (across**2).sum(axis=1))),
            loose=float(np.sqrt(weights @ (after[1] ** 2).sum(axis=1))),
            pitch=product / float(squares) if squares > 0 else float("nan"),
            corr=product / float(strength) if strength > 0 else 0.0,
            move=float(np.sqrt(np.trace(scatter))),
            shifts=moved @ way,
            way=way,
            across=across,
            left=left,
            right=right,
        )

    def drawn(self, shares: Floats, rank: int) -> Floats:
        """Places, from their start, with other shares of the snapshots, by draw."""
        squares = np.einsum("tki,tkj->tij", self.left, self.left).reshape(-1, 36)
        products = np.einsum("tki,tk->ti", self.left, self.right)
        values, vectors = np.linalg.eigh((shares @ squares).reshape(-1, 6, 6))
        values, vectors = values[:, -rank:], vectors[:, :, -rank:]
        sides = np.einsum("dik,di->dk", vectors, shares @ products)
        known = values > 1e-12 * values[:, -1:]  # squares of what counts as nothing in one fit
        found: Floats = np.einsum("dik,dk->di", vectors, known * sides / np.where(known, values, 1))
        return found[:, 3:]


def _least_squares(matrix: Floats, wanted: Floats, rank: int) -> Floats:
    """The shortest of the best solutions, the weakest directions left out."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    used = min(rank, int((values > 1e-9 * values[0]).sum()))
    found: Floats = right[:used].T @ ((left[:, :used].T @ wanted) / values[:used])
    return found


def _kind(turns: Turns, place: _Place, poses: Relative) -> Kind:
    moves = place.move > max(3 * poses.shift, 1e-9)
    if not turns.turns:
        return "translation" if moves else "rigid"
    still = max(3 * poses.shift, 0.25 * place.move)
    if turns.index >= _INDEX and place.rest <= still:
        reach = float(np.sqrt(turns.variances[0]))
        least = max(0.1 * place.move, 3 * poses.shift / float(np.sqrt(len(poses.frames))))
        rises = abs(place.pitch) * reach > least
        return "screw" if rises and abs(place.corr) > 0.7 else "hinge"
    if turns.index < _INDEX and place.loose <= still:
        return "ball"
    return "diffuse"


def _runs(ensemble: Ensemble, frames: Ints) -> Ints:
    """Snapshots of each run that follow one another; each by itself where none does."""
    if ensemble.independent:
        return np.ones(len(frames), np.int64)
    ends = np.cumsum(ensemble.replicas)
    counts = np.bincount(np.searchsorted(ends, frames, side="right"))
    return counts[counts > 0]


def _errors(vectors: Floats, turns: Turns, poses: Relative, runs: Ints, *, seed: int) -> _Errors:
    """Error of the axis, and the cone that holds 95 of 100.

    The largest of what noise within bodies makes, of that between draws of blocks, and of what
    turns across the axis make if they are slow.
    """
    n_snapshots, sides = len(vectors), turns.basis[:, 1:]
    turned = float(np.trace(sides.T @ poses.frame @ sides))  # by the first fit
    told = float(turns.noise[1:].sum()) / max(turns.variances[0] * n_snapshots, 1e-300)
    if n_snapshots < 3:
        return _Errors(float(np.degrees(np.sqrt(told + turned))), float("nan"), 0.0)
    # What tilts the axis are turns across it, the more so the further the body is turned.
    across = vectors @ sides
    counts = draw_blocks(across * turns.angles[:, None], runs.tolist(), seed=seed)
    share = counts / counts.sum(axis=1, keepdims=True)
    means = share @ vectors
    products = (vectors[:, :, None] * vectors[:, None]).reshape(n_snapshots, 9)
    scatter = (share @ products).reshape(-1, 3, 3) - means[:, :, None] * means[:, None]
    axes = np.linalg.eigh(scatter)[1][:, :, -1]
    apart = np.arccos(np.clip(np.abs(axes @ turns.axis), 0.0, 1.0))
    slow, wide, contradiction = _slow(across, turns, poses, runs)
    error = float(np.sqrt(max(told, (apart**2).mean(), slow**2) + turned))
    cone = max(float(np.quantile(apart, 0.95)), CONE * error, wide)
    error, cone = np.degrees(np.minimum([error, cone], np.pi / 2)).tolist()
    return _Errors(error, cone, _apart(vectors) if contradiction else 0.0)


def _apart(vectors: Floats) -> float:
    """Angle between the axes of both halves of the snapshots, in degrees."""
    middle = len(vectors) // 2
    axes = [
        np.linalg.eigh(np.cov(half.T))[1][:, -1] for half in (vectors[:middle], vectors[middle:])
    ]
    return float(np.degrees(np.arccos(min(1.0, abs(float(axes[0] @ axes[1]))))))


def _slow(across: Floats, turns: Turns, poses: Relative, runs: Ints) -> tuple[float, float, bool]:
    """Error and cone of what is carried along with the angle, if it moves slowly."""
    if len(runs) == len(across):
        return 0.0, 0.0, False
    return slope_errors(turns.angles, across, weights=poses.weights, runs=runs.tolist())


def _point_error(
    poses: Relative, turns: Turns, place: _Place, kind: Kind, runs: Ints, *, seed: int
) -> float:
    """Error of a place: the largest of that of noise, between draws of blocks, and of slow shifts.

    That of an axis is across it; a ball joint has a single place, and an error in all directions.
    """
    if kind not in _TURNING:
        return float("nan")
    ball, n_snapshots = kind == "ball", len(poses.frames)
    spot, sides = (place.dot, turns.basis) if ball else (place.point, turns.basis[:, 1:])
    arm = np.cross(np.eye(3), spot - poses.middle)
    # All places are seen from the reference as the first fit has laid it.
    laid = float(np.trace(sides.T @ arm @ poses.frame @ arm.T @ sides))
    squares = float(poses.weights @ turns.angles**2)
    told = poses.shift**2 / max(squares * n_snapshots, 1e-300)
    if n_snapshots > 2:
        # A shift across the axis carries it along, the more so the further the body is turned.
        counts = draw_blocks(place.across * turns.angles[:, None], runs.tolist(), seed=seed)
        shares = counts * poses.weights
        shares = shares / shares.sum(axis=1, keepdims=True)
        away = poses.near + place.drawn(shares, 6 if ball else 5) - spot
        # What a ball joint leaves across one axis is turning about the others, and no noise.
        slow = 0.0 if ball else _slow(place.across @ sides, turns, poses, runs)[0]
        told = max(told, float(((away @ sides) ** 2).sum(axis=1).mean()), slow**2)
    return float(np.sqrt(told + laid))


def _states(poses: Relative, angles: Floats) -> Screw | None:
    """Screw from the mean of the lower state to that of the upper, where there are two."""
    upper = two_states(angles)
    if upper is None:
        return None
    means = [Rotation.from_matrix(poses.rotations[each]).mean() for each in (~upper, upper)]
    middles = [poses.centres[each].mean(axis=0) for each in (~upper, upper)]
    turn = (means[1] * means[0].inv()).as_matrix()
    share = 1 / np.count_nonzero(upper) + 1 / np.count_nonzero(~upper)  # noise of both means
    return from_rotation(
        turn,
        middles[0],
        middles[1] - middles[0],
        near=poses.near,
        noise=poses.turning * share,
        move_noise=poses.shift * np.sqrt(share),
    )


def _cautions(turns: Turns, poses: Relative, angles: Floats, kind: str) -> list[str]:
    """What to be careful about in angles, in words."""
    words = []
    if len(angles) == 2:
        words.append("two snapshots give no error bar")
    if len(angles) < poses.n_snapshots:
        words.append(f"both bodies are whole in {len(angles)} of {poses.n_snapshots} snapshots")
    words += _shape_cautions(poses)
    if np.abs(angles).max() > 170:
        words.append("it turns by about half a turn either way: angles and axis are ambiguous")
    elif _mean_is_open(poses):
        words.append("it turns by half a turn: the axis and its opposite are equally right")
    if kind in _TURNING and turns.variances[0] < 25 * turns.noise[0]:
        words.append("it turns by little more than its noise")
    return words


def _shape_cautions(poses: Relative) -> tuple[str, ...]:
    return cautions(poses.body, "the body") + cautions(poses.reference, "the reference")


def _doubts(
    turns: Turns, spot: Floats, poses: Relative, errors: _Errors, given: Floats | None
) -> list[str]:
    """What to be careful about in an axis, in words."""
    if given is not None:
        if turns.index >= _INDEX:
            return []
        return [f"{100 * turns.index:.0f} % of its turning are about the axis that was given"]
    words = []
    middle = poses.weights @ poses.centres
    away = float(np.linalg.norm(np.cross(spot - middle, turns.axis)))
    if is_far(away, spot, middle, poses.near):
        words.append(FAR)
    if errors.apart:
        words.append(f"its axis changes: those of both halves are {errors.apart:.0f}° apart")
    elif errors.cone > _WIDE:
        words.append(f"its axis is hardly known: it may be anywhere within {errors.cone:.0f}°")
    return words


def _mean_is_open(poses: Relative) -> bool:
    """Whether two mean rotations are as good, as between two snapshots half a turn apart."""
    turns = Rotation.from_matrix(poses.rotations).as_quat()
    values = np.linalg.eigvalsh((turns * poses.weights[:, None]).T @ turns)
    return bool(values[-1] - values[-2] < _HALF_TURN)


def _undefined(verdict: str) -> Hinge:
    nothing, none, empty = float("nan"), frozen(np.full(3, np.nan)), frozen(np.empty(0))
    return Hinge(
        kind="undefined", axis=none, point=none, angles=empty, shifts=empty,
        frames=frozen(np.empty(0, np.int64)), index=nothing, pitch=nothing, axis_error=nothing,
        axis_cone=nothing, point_error=nothing, angle_error=nothing, spread=none, rest=nothing,
        move=nothing, states=None, verdict=verdict,
    )  # fmt: skip
