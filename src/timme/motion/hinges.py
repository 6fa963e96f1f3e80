"""Hinges: about which axis a body moves against another over an ensemble, how far, how surely.

Snapshots are laid onto the reference. Of the body, R̄ is the mean rotation and ω = log(R R̄ᵀ) the
rotation vector of each snapshot; the axis is the direction in which ω varies most, the covariance
of noise subtracted. The place is the point of the body that stays nearest to a point of the
reference, by least squares over both: a ball joint has one, a hinge a line of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from timme._arrays import Floats, Ints, frozen, numbers
from timme._text import Described
from timme.ensemble import Ensemble
from timme.motion.fits import fit, rmsf, superpose
from timme.motion.joints import (
    INDEX,
    Joint,
    Kind,
    UndeterminedError,
    axis_errors,
    relative,
    solve_joint,
)
from timme.motion.rigid_bodies import Bodies, bodies
from timme.motion.screws import FAR, Screw, bending_residues, is_far, nowhere, screw
from timme.motion.variance import Explained, explained_variance

_TURNING = {"hinge", "screw", "ball", "diffuse"}  # kinds that have an axis
_WIDE = 30.0  # degrees: axes this far apart are worth a warning
_HALF_TURN = np.radians(170)  # range from which on two mean rotations may be as good


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hinge(Described):
    """How a body moves against another, in the frame of the other; NaN where undefined."""

    kind: Kind = "undefined"
    axis: Floats = field(default_factory=nowhere)  # (3,), unit vector, about which it turns
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Motions(Described):
    """The rigid bodies of an ensemble, and how they move."""

    bodies: Bodies
    reference: int  # body that is held still for the fluctuation
    moving: tuple[int, ...]  # all others
    relative_to: tuple[int, ...]  # body against which each of these moves
    hinges: tuple[Hinge, ...]  # how each of these moves
    explained: Explained  # by the bodies of every level
    fluctuation: Floats  # (sites,), rms distance from the mean position
    screws: tuple[Screw, ...]  # of each moving body, from the first snapshot to the last
    bending: Ints  # sites of chains that bend between bodies on that way
    known: tuple[Screw, ...] = ()  # of a known transition, one for each moving body


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
    try:
        poses = relative(ensemble, body, reference, weights)
    except UndeterminedError as why:
        return Hinge(verdict=str(why))
    joint, cone, apart = solve_joint(poses, given), 0.0, 0.0
    angles, frames = frozen(np.degrees(joint.angles)), frozen(poses.frames)
    found = Hinge(joint.kind, angles=angles, frames=frames, index=joint.index, move=joint.move)
    if joint.kind in _TURNING:
        error, cone, point_error, apart = axis_errors(joint, seed=seed)
        axis_error, axis_cone = (error, cone) if given is None else (np.nan, np.nan)
        axis, point = frozen(joint.axis), frozen(joint.place)
        found = replace(found, axis=axis, point=point, pitch=joint.pitch, point_error=point_error)
        found = replace(found, axis_error=axis_error, axis_cone=axis_cone)
    words = _warnings(joint, ensemble.n_counting, cone, apart, given=given is not None)
    return replace(found, verdict="; ".join(words))


def describe_motion(
    ensemble: Ensemble,
    *,
    n_bodies: int | None = None,
    reference: npt.ArrayLike | None = None,
    transition: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Motions:
    """Find the bodies of an ensemble, and how each moves against one of them.

    In an assembly each body moves against the largest body of its chain, and the largest bodies of
    other chains against the largest of all.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; of a protein, select Cα first.
    n_bodies : int, optional
        Number of bodies; by default as many as stand out.
    reference : array_like of int, optional
        The body that holds most of these sites is the reference of all others.
    transition : array_like, shape (2, sites, 3), optional
        Positions before and after a known transition, NaN where unknown: the angles of each body
        are measured about the axis about which it turns there.
    seed : int, optional
        Seed of the draws of snapshots.

    Returns
    -------
    Motions
        Without hinges where there is one body.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> found = describe_motion(bodies((60, 40), spans=[60.0]).ensemble)
    >>> found.hinges[0].kind, round(found.hinges[0].range)
    ('hinge', 60)
    """
    with threadpool_limits(1, "blas"):  # products are small: more threads wait for one another
        found = bodies(ensemble, n_bodies=n_bodies)
        still = 0 if reference is None else _body_of(found, np.asarray(reference))
        moving = tuple(body for body in range(found.n_bodies) if body != still)
        fixed = (still,) * len(moving)
        if reference is None:
            fixed = tuple(_largest_of_chain(ensemble, found, body) for body in moving)
        known, hinges, screws = list[Screw](), list[Hinge](), list[Screw]()
        before, after = (np.asarray(ensemble.snapshot(k)[0], np.float64) for k in (0, -1))
        for body, core in zip(map(found.members, moving), map(found.members, fixed), strict=True):
            axis = None
            if transition is not None:
                known.append(_known_screw(np.asarray(transition, np.float64), ensemble, body, core))
                axis = known[-1].axis
            hinges.append(hinge(ensemble, body=body, reference=core, axis=axis, seed=seed))
            screws.append(screw(before, after, body=body, reference=core))
        explained = explained_variance(ensemble, [level.labels for level in found.levels])
        fluctuation = frozen(rmsf(superpose(ensemble, found.members(still)).ensemble))
        bending = _bending_sites(ensemble, before, after, found.labels)
    motions = tuple(hinges), explained, fluctuation, tuple(screws), bending, tuple(known)
    return Motions(found, still, moving, fixed, *motions)


def _warnings(
    joint: Joint, n_snapshots: int, cone: float, apart: float, *, given: bool
) -> list[str]:
    """Warnings about the angles, the axis, its cone, and the angle between the axes of parts."""
    poses, count, turns = joint.poses, len(joint.angles), joint.kind in _TURNING
    middle, free = poses.weights @ poses.centres, turns and not given
    away = float(np.linalg.norm(np.cross(joint.place - middle, joint.axis)))
    parts = "first and second half" if len(poses.runs) == 1 else "the runs"
    found = {
        "two snapshots give no error bar": count == 2,
        f"both have an orientation in {count} of {n_snapshots} snapshots": count < n_snapshots,
        "it turns by half a turn: angles, and the sense of the axis, are ambiguous": (
            np.ptp(joint.angles) > _HALF_TURN
        ),
        **dict.fromkeys(poses.cautions, True),
        "it turns by little more than its noise": (
            turns and joint.variances[0] < 25 * joint.noise[0]
        ),
        f"{100 * joint.index:.0f} % of its turning is about the given axis": (
            turns and given and joint.index < INDEX
        ),
        FAR: free and is_far(away, joint.place, middle, poses.near),
        f"its axis moves: {parts} differ by {apart:.0f}°": free and apart > _WIDE,
        f"axis known to ±{cone:.0f}° (95 %)": free and cone > _WIDE and not apart > _WIDE,
    }
    return [words for words, holds in found.items() if holds]


def _direction(axis: npt.ArrayLike) -> Floats:
    given = numbers(axis, "an axis")
    if given.shape != (3,) or not 0 < np.linalg.norm(given) < np.inf:
        raise ValueError(f"an axis is 3 finite numbers that are not all 0, got {given.tolist()}")
    return np.asarray(given / np.linalg.norm(given))


def _body_of(found: Bodies, sites: Ints) -> int:
    labels = found.labels[sites]
    if not (labels >= 0).any():
        raise ValueError("the reference sites belong to no body: choose others, or none")
    return int(np.bincount(labels[labels >= 0]).argmax())


def _largest_of_chain(ensemble: Ensemble, found: Bodies, body: int) -> int:
    """Body with most sites of the chain of another, or the largest of all if it is that one."""
    in_chain = (ensemble.sites.chains == found.chains[body]) & (found.labels >= 0)
    largest = int(np.bincount(found.labels[in_chain]).argmax())
    return largest if largest != body else 0


def _bending_sites(ensemble: Ensemble, before: Floats, after: Floats, labels: Ints) -> Ints:
    """Sites, such as one for each residue, that bend between bodies of one chain in space."""
    chains = ensemble.sites.chains
    found = [np.empty(0, np.int64)]
    for name in dict.fromkeys(chains.tolist()):
        own = np.flatnonzero(chains == name)
        if ensemble.n_dimensions == 3 and len(np.unique(labels[own])) > 1:
            each = np.arange(len(own))
            found.append(own[bending_residues(before[own], after[own], each, labels[own])])
    return frozen(np.concatenate(found))


def _known_screw(pair: Floats, ensemble: Ensemble, body: Ints, core: Ints) -> Screw:
    """Screw of a body in a known transition, brought into the frame in which hinges are."""
    if pair.shape != (2, ensemble.n_sites, 3) or ensemble.n_dimensions != 3:
        words = f"a known transition needs positions of shape (2, {ensemble.n_sites}, 3)"
        raise ValueError(f"{words}, got {pair.shape}")
    found = screw(*pair, body=body, reference=core)
    if found.kind not in {"hinge", "screw"}:
        raise ValueError(
            f"the body of {len(body)} sites turns about no axis in the known transition "
            f"({found.verdict or found.kind}): choose structures in which it does"
        )
    seen = core[np.isfinite(pair[0, core, 0])]
    laid = superpose(ensemble, core).ensemble.snapshot()[0].astype(np.float64)
    here = fit(pair[0, seen], laid[None, seen])
    turn, centre = here.rotations[0], here.centres[0]
    axis, point = frozen(turn @ found.axis), frozen(turn @ found.point + centre)
    return replace(found, axis=axis, point=point, move=frozen(turn @ found.move))
