"""Make two pieces that are rigid to one another, with nothing rigid between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.synthetic.answers import Planted
from timme.system.ensemble import Ensemble

_LEGS = 6  # as many as two bodies have ways to move against one another
_KICK, _KICKS = 0.2, 3  # of every joint, and how many from one snapshot to the next
_EXACT, _MOST_STEPS = 1e-10, 30  # of the lengths of bars
_ROOM, _CLEAR, _STRIDE = 4.5, 0.6, 0.3  # of the fluid: radius, from any site, of a move


@dataclass(frozen=True, slots=True, eq=False)
class Framework:
    """Joints in space, and bars between them that keep their lengths."""

    joints: Floats  # (joints, 3)
    bars: Ints  # (bars, 2)
    pieces: tuple[Ints, Ints]  # the sites of each, its tips left out
    legs: Ints  # (legs, 3), the joints around the middle of each


def noncontiguous(
    n_snapshots: int = 100,
    n_fluid: int = 60,
    *,
    sites_per_piece: int = 10,
    n_legs: int = 6,
    jitter: float = 0.01,
    seed: int = 0,
) -> Planted:
    """Make a rigid cluster of two pieces that do not touch, with a fluid between and around them.

    The last remark of the paper: in space a rigid cluster need not be contiguous. A framework of
    bars and joints carries two rigid pieces, 4 apart, on six legs. A leg is three joints, joined
    to one another, to a tip of the upper piece and to a tip of the lower one (five joints and nine
    bars, known as a banana). No bar joins its tips, yet their distance is fixed, and the leg turns
    freely about the line through them. Six such distances fix two bodies against one another.
    So the two pieces are one rigid cluster, while all that is between them moves against both:
    legs turn, and free sites drift.

    The framework is moved as a whole: every joint is kicked by itself, and all are brought back to
    where all bars have their lengths. Nothing else keeps the pieces together, and with one leg
    less they come loose.

    Tips are joints of two rigid parts at once, and are no sites: single linkage would join all
    that meets in them, turning or not.

    Parameters
    ----------
    n_snapshots, n_fluid : int, optional
        Numbers of snapshots and of free sites.
    sites_per_piece : int, optional
        At least 3.
    n_legs : int, optional
        Six hold the pieces. Each leg less leaves them one more way to move against one another.
    jitter : float, optional
        Standard deviation of the noise on every coordinate; neighbours in a piece are about 1
        apart.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        Sites of the upper piece, of the lower one, of the legs, and free ones; one level, in which
        the pieces are one cluster (two, on fewer legs), each leg is one, and free sites are single.
        Every snapshot is turned and moved as a whole at random.

    Examples
    --------
    All pairs show the two pieces as one cluster; contacts, of 1.5 at most, show each by itself.

    >>> import timme
    >>> points = timme.objects.points(noncontiguous().ensemble)
    >>> timme.cluster(points, timme.pairs.all(points)).cut(0.03).sizes[:3]
    array([20, 3, 3])
    >>> timme.cluster(points, timme.pairs.within(points, 1.5)).cut(0.03).sizes[:3]
    array([10, 10, 3])
    """
    if n_snapshots < 1 or n_fluid < 0 or sites_per_piece < 3:
        raise ValueError(
            "two pieces need at least 1 snapshot, 0 free sites and 3 sites each, "
            f"got {n_snapshots}, {n_fluid} and {sites_per_piece}"
        )
    if not 1 <= n_legs <= _LEGS:
        raise ValueError(f"two pieces stand on 1 to {_LEGS} legs, got n_legs={n_legs}")
    rng = np.random.default_rng(seed)
    framework = build(sites_per_piece, n_legs, rng)
    sites = np.concatenate([*framework.pieces, framework.legs.ravel()])
    motion = move(framework, n_snapshots, rng)
    fluid = _drift(motion, n_fluid, rng)
    snapshots = np.concatenate([motion[:, sites], fluid], axis=1)
    turns = Rotation.random(n_snapshots, rng=rng).as_matrix()
    snapshots = snapshots @ turns + rng.normal(size=(n_snapshots, 1, 3))
    snapshots += rng.normal(0.0, jitter, snapshots.shape)
    return Planted(Ensemble.from_array(snapshots), _answer(framework, n_fluid)[None])


def build(sites_per_piece: int, n_legs: int, rng: np.random.Generator) -> Framework:
    """Build the framework at rest.

    Parameters
    ----------
    sites_per_piece : int
        Joints of a piece that are no tips.
    n_legs : int
        At most six.
    rng : numpy.random.Generator
        For the places of sites.

    Returns
    -------
    Framework
        Of no more bars than are needed: each takes one way to move away.
    """
    upper, lower = _piece(sites_per_piece, 0.0, rng), _piece(sites_per_piece, np.pi / 3, rng)
    lower[:, 2] *= -1
    size = len(upper)
    tips = np.arange(size - _LEGS, size)[:n_legs]
    partners = size + np.roll(np.arange(size - _LEGS, size), 1)[:n_legs]
    joints = np.concatenate([upper, lower])
    legs = len(joints) + np.arange(3 * n_legs).reshape(-1, 3)
    joints = np.concatenate([joints, *map(_waist, joints[tips], joints[partners])])
    bars = [_brace(np.arange(size)), _brace(np.arange(size, 2 * size))]
    for waist, tip, partner in zip(legs, tips, partners, strict=True):
        bars.append(np.column_stack([waist, np.roll(waist, 1)]))
        bars.extend(np.column_stack([waist, np.full(3, end)]) for end in (tip, partner))
    pieces = np.arange(sites_per_piece), np.arange(size, size + sites_per_piece)
    return Framework(joints, np.concatenate(bars), pieces, legs)


def move(framework: Framework, n_snapshots: int, rng: np.random.Generator) -> Floats:
    """Kick all joints again and again, and bring all bars back to their lengths each time.

    Parameters
    ----------
    framework : Framework
        At rest.
    n_snapshots : int
        Number of snapshots.
    rng : numpy.random.Generator
        For the kicks.

    Returns
    -------
    ndarray, shape (snapshots, joints, 3)
        Places of all joints, around their centre.
    """
    joints, bars = framework.joints, framework.bars
    lengths = _lengths(joints, bars)
    snapshots = np.empty((n_snapshots, *joints.shape))
    for frame in range(n_snapshots):
        for _ in range(_KICKS):
            kick = rng.normal(0.0, _KICK, joints.shape)
            joints = _restore(joints + _project(kick, joints, bars), bars, lengths)
        joints = joints - joints.mean(axis=0)
        snapshots[frame] = joints
    return snapshots


def _piece(n_sites: int, turned: float, rng: np.random.Generator) -> Floats:
    """A triangle above, which braces the rest; other sites beneath it; six tips around them."""
    corners = turned + np.arange(3) * 2 * np.pi / 3
    triangle = np.column_stack([np.cos(corners), np.sin(corners), np.full(3, 3.0)])
    around = np.sqrt(rng.uniform(0, 1, n_sites - 3)), rng.uniform(0, 2 * np.pi, n_sites - 3)
    height = rng.uniform(2.2, 2.6, n_sites - 3)
    rest = np.column_stack([around[0] * np.cos(around[1]), around[0] * np.sin(around[1]), height])
    ends = turned + np.repeat(np.arange(3) * 2 * np.pi / 3, 2) + np.tile([-0.3, 0.3], 3)
    tips = np.column_stack([2 * np.cos(ends), 2 * np.sin(ends), np.full(6, 2.0)])
    return np.concatenate([triangle, rest, tips])


def _waist(tip: Floats, partner: Floats) -> Floats:
    """Three joints around the middle of a leg."""
    along = (partner - tip) / np.linalg.norm(partner - tip)
    across = np.cross(along, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    angles = np.arange(3)[:, None] * 2 * np.pi / 3
    around = np.cos(angles) * across + np.sin(angles) * np.cross(along, across)
    waist: Floats = (tip + partner) / 2 + 0.6 * around
    return waist


def _brace(joints: Ints) -> Ints:
    """Bars of a rigid piece: a triangle, and three bars from it to each other joint."""
    corners = joints[:3]
    others = np.column_stack([np.repeat(joints[3:], 3), np.tile(corners, len(joints) - 3)])
    return np.concatenate([np.column_stack([corners, np.roll(corners, 1)]), others])


def _project(kick: Floats, joints: Floats, bars: Ints) -> Floats:
    """Take off a kick what would stretch or shorten bars."""
    slopes = _slopes(joints, bars)
    return kick - _least(slopes, slopes @ kick.ravel()).reshape(kick.shape)


def _restore(joints: Floats, bars: Ints, lengths: Floats) -> Floats:
    """Move joints as little as need be until all bars have their lengths, by Newton's method."""
    for _ in range(_MOST_STEPS):
        excess = _lengths(joints, bars) - lengths
        if np.abs(excess).max() < _EXACT:
            return joints
        joints = joints - _least(_slopes(joints, bars), excess).reshape(joints.shape)
    raise RuntimeError("the bars of a framework could not be brought back to their lengths")


def _least(slopes: sparse.csr_array, excess: Floats) -> Floats:
    """The least change of all coordinates that changes the lengths of bars by so much."""
    change: Floats = slopes.T @ spsolve((slopes @ slopes.T).tocsc(), excess)
    return change


def _lengths(joints: Floats, bars: Ints) -> Floats:
    length: Floats = np.linalg.norm(joints[bars[:, 0]] - joints[bars[:, 1]], axis=1)
    return length


def _slopes(joints: Floats, bars: Ints) -> sparse.csr_array:
    """How the length of each bar changes with each coordinate of the joints."""
    along = joints[bars[:, 0]] - joints[bars[:, 1]]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    values = np.concatenate([along, -along], axis=1)
    columns = (3 * bars[:, :, None] + np.arange(3)).reshape(len(bars), 6)
    rows = np.repeat(np.arange(len(bars)), 6)
    shape = len(bars), joints.size
    return sparse.csr_array((values.ravel(), (rows, columns.ravel())), shape=shape)


def _drift(motion: Floats, n_fluid: int, rng: np.random.Generator) -> Floats:
    """Free sites that wander around the framework, apart from it and from one another."""
    fluid = np.empty((len(motion), n_fluid, 3))
    places = np.empty((0, 3))
    while len(places) < n_fluid:
        place = rng.uniform(-_ROOM, _ROOM, 3)
        if _is_clear(place, np.concatenate([motion[0], places])):
            places = np.concatenate([places, [place]])
    for frame, joints in enumerate(motion):
        for site in range(n_fluid):
            others = np.concatenate([joints, np.delete(places, site, axis=0)])
            tries = places[site] + rng.normal(0.0, _STRIDE, (10, 3))
            places[site] = next((p for p in tries if _is_clear(p, others)), places[site])
        fluid[frame] = places
    return fluid


def _is_clear(place: Floats, others: Floats) -> bool:
    """Whether a free site may be at a place."""
    apart = ((others - place) ** 2).sum(axis=1).min()
    return bool(apart > _CLEAR**2 and place @ place < _ROOM**2)


def _answer(framework: Framework, n_fluid: int) -> Ints:
    """Clusters: the pieces, as one or two; each leg; each free site."""
    upper, lower = map(len, framework.pieces)
    n_legs = len(framework.legs)
    pieces = [upper + lower] if n_legs == _LEGS else [upper, lower]
    sizes = [*pieces, *[3] * n_legs, *[1] * n_fluid]
    return np.repeat(np.arange(len(sizes)), sizes)
