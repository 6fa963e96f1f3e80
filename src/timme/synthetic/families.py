"""Make families of bodies on hinges, and of what only looks like them, to test what is believed.

Sites are packed like residues (about 130 Å³ each, at least 4 Å apart), and everything that moves
wanders and relaxes (Ornstein–Uhlenbeck). Tails, loops and free particles belong to no body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.synthetic.answers import Planted
from timme.synthetic.directions import directions
from timme.synthetic.packing import APART, ball, radius_of, rod, smooth_between
from timme.synthetic.relaxing import relaxing
from timme.system.ensemble import Ensemble

Jitter = float | tuple[float, float]  # rms, Å, of all sites; or from … to, smooth over space

_JITTER_TIME = 2.0
_TAIL, _TAIL_STEP, _TAIL_TIME = 15, 0.8, 5.0
_AROUND = 5  # balls, the one in the middle included


def domains(  # noqa: PLR0913, what is planted, and how it moves
    sizes: Sequence[int] = (40, 40),
    angles: Sequence[float] = (15.0,),
    n_snapshots: int = 100,
    *,
    time: float = 10.0,
    jitter: Jitter = 0.15,
    tail: bool = True,
    low: float = 1.0,
    scale: float = 1.0,
    seed: int = 0,
) -> Planted:
    """Make balls that touch the first of them, each swinging about a hinge low in the interface.

    Parameters
    ----------
    sizes : sequence of int, optional
        Sites of each body.
    angles : sequence of float, optional
        Standard deviation of each hinge's angle, in degrees; one fewer than bodies.
    n_snapshots : int, optional
        Number of snapshots.
    time : float, optional
        Correlation time of the hinges, in snapshots.
    jitter : float or tuple of float, optional
        Root mean square displacement of sites by which they tremble, or its least and largest.
    tail : bool, optional
        Whether a floppy tail of 15 sites, which belongs to no body, hangs on the first.
    low : float, optional
        How far below the middle of the interface hinges lie, in its radius: 1 is its rim.
    scale : float, optional
        By which the jitter is multiplied.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the bodies.
    """
    if len(angles) != len(sizes) - 1:
        raise ValueError(f"{len(sizes)} bodies have {len(sizes) - 1} hinges, got {len(angles)}")
    if len(sizes) > _AROUND:
        raise ValueError(f"{_AROUND} bodies find room, one in the middle, got {len(sizes)}")
    rng = np.random.default_rng(seed)
    shapes = [ball(size, rng) for size in sizes]
    where = _spread(len(angles), rng)
    places = [shapes[0]]
    hinges = []
    for shape, toward in zip(shapes[1:], where, strict=True):
        reach = radius_of(sizes[0]) + radius_of(len(shape))
        places.append(_clear(shape + reach * toward, places, toward))
        axis = np.cross(toward, directions((), rng))
        axis /= np.linalg.norm(axis)
        below = low * min(radius_of(sizes[0]), radius_of(len(shape))) * np.cross(axis, toward)
        hinges.append((radius_of(sizes[0]) * toward - below, axis))
    still = np.concatenate(places)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    snapshots = np.tile(still, (n_snapshots, 1, 1))
    for body, ((point, axis), angle) in enumerate(zip(hinges, angles, strict=True), start=1):
        theta = np.radians(angle) * relaxing((), time, rng, n_snapshots=n_snapshots)
        _turn(snapshots, labels == body, point, theta[:, None] * axis)
    if tail:
        snapshots = np.concatenate([snapshots, _tail(still, places[0], n_snapshots, rng)], axis=1)
        labels = np.append(labels, np.full(_TAIL, -1))
    return _trembling(snapshots, labels, jitter, rng, scale=scale)


def soft_chain(
    n_bodies: int = 6, size: int = 25, n_snapshots: int = 100, *, scale: float = 1.0, seed: int = 0
) -> Planted:
    """Make a chain of soft balls that turn about two axes at each joint, and are strained.

    Parameters
    ----------
    n_bodies, size, n_snapshots : int, optional
        Sizes.
    scale : float, optional
        By which the jitter is multiplied.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the balls.
    """
    rng = np.random.default_rng(seed)
    along = np.array([1.0, 0.0, 0.0])
    places = [ball(size, rng)]
    for _ in range(1, n_bodies):
        start = places[-1].mean(axis=0) + 2 * radius_of(size) * along
        places.append(_clear(ball(size, rng) + start, places, along))
    snapshots = np.empty((n_snapshots, n_bodies * size, 3))
    turn = Rotation.identity(n_snapshots)
    joint = old_joint = np.zeros((n_snapshots, 3))
    for body, shape in enumerate(places):
        middle = shape.mean(axis=0)
        if body:  # joints are midway between two balls
            new = (middle + places[body - 1].mean(axis=0)) / 2
            joint = joint + np.einsum("tij,tj->ti", turn.as_matrix(), new - old_joint)
            old_joint = np.broadcast_to(new, joint.shape)
        angles = np.radians(10.0) * relaxing((2,), 15.0, rng, n_snapshots=n_snapshots)
        turn = turn * Rotation.from_rotvec(np.column_stack([np.zeros(n_snapshots), angles]))
        strain = 0.02 * relaxing((3, 3), 10.0, rng, n_snapshots=n_snapshots)
        strain = (strain + strain.transpose(0, 2, 1)) / 2
        strained = shape - old_joint[:, None] + np.einsum("tij,nj->tni", strain, shape - middle)
        sites = slice(body * size, (body + 1) * size)
        moved = np.einsum("tij,tnj->tni", turn.as_matrix(), strained)
        snapshots[:, sites] = joint[:, None] + moved
    return _trembling(snapshots, np.repeat(np.arange(n_bodies), size), 0.3, rng, scale=scale)


def drifting_clusters(
    n_clusters: int = 5,
    size: int = 20,
    n_free: int = 80,
    n_snapshots: int = 100,
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> Planted:
    """Make clusters of touching spheres that drift and turn among free ones that diffuse.

    Parameters
    ----------
    n_clusters, size, n_free, n_snapshots : int, optional
        Sizes. Spheres have diameter 1.
    scale : float, optional
        By which the jitter is multiplied.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the clusters; free spheres are -1.
    """
    rng = np.random.default_rng(seed)
    edge = ((n_clusters * size + n_free) * np.pi / 6 / 0.2) ** (1 / 3)
    shapes = [_touching(size, rng) for _ in range(n_clusters)]
    places = np.empty((0, 3))
    for shape in shapes:
        places = np.concatenate([places, _put(shape, places, edge, rng)])
    for _ in range(n_free):
        places = np.concatenate([places, _put(np.zeros((1, 3)), places, edge, rng)])
    labels = np.append(np.repeat(np.arange(n_clusters), size), np.full(n_free, -1))
    snapshots = np.tile(places, (n_snapshots, 1, 1))
    for cluster in range(n_clusters):
        own = labels == cluster
        middle = places[own].mean(axis=0)
        turns = np.zeros((n_snapshots, 3))
        turn = Rotation.identity()
        for snapshot in range(1, n_snapshots):
            turn = Rotation.from_rotvec(rng.normal(0, 0.03, 3)) * turn
            turns[snapshot] = turn.as_rotvec()
        _turn(snapshots, own, middle, turns)
        snapshots[:, own] += _walk((1, 3), 0.02, n_snapshots, rng)
    snapshots[:, labels < 0] += _walk((n_free, 3), 0.06, n_snapshots, rng)
    return _trembling(snapshots, labels, 0.03, rng, scale=scale)


def barrel(n_snapshots: int = 100, *, scale: float = 1.0, seed: int = 0) -> Planted:
    """Make one body of 100 sites with a loop of 12 that moves, and belongs to no body.

    Parameters
    ----------
    n_snapshots : int, optional
        Number of snapshots.
    scale : float, optional
        By which the jitter is multiplied.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the body.
    """
    rng = np.random.default_rng(seed)
    still = rod(100, 11.0, rng)
    along = np.linspace(0, np.pi, 12)
    top = still[:, 0].max() + APART
    loop = np.column_stack([top + 9 * np.sin(along), 9 * np.cos(along), np.zeros(12)])
    sway = 4.0 * relaxing((1, 3), 10.0, rng, n_snapshots=n_snapshots) * np.sin(along)[:, None]
    snapshots = np.concatenate([np.tile(still, (n_snapshots, 1, 1)), loop + sway], axis=1)
    labels = np.append(np.zeros(100, np.int64), np.full(12, -1))
    return _trembling(snapshots, labels, 0.15, rng, scale=scale)


def one_body(
    kind: str = "uniform",
    n_snapshots: int = 100,
    *,
    radius: float = 7.0,
    scale: float = 1.0,
    seed: int = 0,
) -> Planted:
    """Make one body that is no more than that, however its sites tremble.

    Parameters
    ----------
    kind : str, optional
        ``gradient`` (a rod whose jitter rises along it), ``patchy`` (a third of the sites tremble
        four times as much), ``slow`` and ``uniform`` (a ball, of other correlation times), or
        ``bending`` (a rod that bends smoothly).
    n_snapshots : int, optional
        Number of snapshots.
    radius : float, optional
        Of rods, Å; the thicker, the shorter.
    scale : float, optional
        By which the jitter is multiplied.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the body.
    """
    rng = np.random.default_rng(seed)
    long = kind in ("gradient", "patchy", "bending")
    still = rod(120, radius, rng) if long else ball(100, rng)
    snapshots = np.tile(still, (n_snapshots, 1, 1))
    labels = np.zeros(len(still), np.int64)
    if kind == "gradient":
        rank = np.argsort(np.argsort(still[:, 0])) / (len(still) - 1)
        return _trembling(snapshots, labels, 0.1 + 0.5 * rank, rng, scale=scale)
    if kind == "patchy":
        field = smooth_between(0.0, 1.0, still, rng)
        return _trembling(snapshots, labels, np.where(field > 2 / 3, 0.6, 0.15), rng, scale=scale)
    if kind == "bending":
        u = still[:, 0] / np.abs(still[:, 0]).max()
        waves = np.stack([3 * u**2, 2 * u**2, 1 * u**3])
        strength = relaxing((3,), 50.0, rng, n_snapshots=n_snapshots)
        snapshots[:, :, 1] += strength[:, [0]] * waves[0] + strength[:, [2]] * waves[2]
        snapshots[:, :, 2] += strength[:, [1]] * waves[1]
        return _trembling(snapshots, labels, 0.15, rng, scale=scale)
    if kind not in ("slow", "uniform"):
        raise ValueError(f"one body is gradient, patchy, slow, uniform or bending, got {kind!r}")
    time = 20.0 if kind == "slow" else _JITTER_TIME
    return _trembling(snapshots, labels, 0.2, rng, scale=scale, time=time)


def families(
    *, low: float = 1.0, scale: float = 1.0, radius: float = 7.0
) -> dict[str, Callable[[int, int], Planted]]:
    """List the families, as they are or read in another way.

    Parameters
    ----------
    low : float, optional
        Where hinges lie, as for :func:`domains`.
    scale : float, optional
        By which all jitter is multiplied: √3 where it is told for each axis.
    radius : float, optional
        Of long bodies, Å.

    Returns
    -------
    dict
        What makes each of a number of snapshots and a seed, by name.
    """
    swinging = partial(domains, low=low, scale=scale)
    single = partial(one_body, radius=radius, scale=scale)
    return {
        "hinge 15° + tail": lambda n, s: swinging(angles=(15.0,), n_snapshots=n, seed=s),
        "hinge 5° + tail": lambda n, s: swinging(angles=(5.0,), n_snapshots=n, seed=s),
        "hinge 5°, slow": lambda n, s: swinging(angles=(5.0,), n_snapshots=n, time=100.0, seed=s),
        "hinge 15°, unequal jitter": lambda n, s: swinging(
            angles=(15.0,), n_snapshots=n, jitter=(0.1, 0.5), seed=s
        ),
        "hinge 5°, unequal jitter": lambda n, s: swinging(
            angles=(5.0,), n_snapshots=n, jitter=(0.1, 0.5), seed=s
        ),
        "three domains": lambda n, s: swinging(
            (90, 40, 30), (20.0, 8.0), n, time=20.0, jitter=(0.12, 0.35), tail=False, seed=s
        ),
        "four domains": lambda n, s: swinging(
            *((120, 80, 60, 40), (12.0, 9.0, 15.0), n),
            time=20.0,
            jitter=(0.12, 0.4),
            tail=False,
            seed=s,
        ),
        "six soft bodies": lambda n, s: soft_chain(n_snapshots=n, scale=scale, seed=s),
        "colloids + free particles": lambda n, s: drifting_clusters(
            n_snapshots=n, scale=scale, seed=s
        ),
        "no hinge: two balls": lambda n, s: _as_one(swinging(angles=(0.0,), n_snapshots=n, seed=s)),
        "no hinge: barrel": lambda n, s: barrel(n, scale=scale, seed=s),
        "no hinge: gradient": lambda n, s: single("gradient", n, seed=s),
        "no hinge: patchy": lambda n, s: single("patchy", n, seed=s),
        "no hinge: slow": lambda n, s: single("slow", n, seed=s),
        "no hinge: uniform": lambda n, s: single("uniform", n, seed=s),
        "smooth bending": lambda n, s: single("bending", n, seed=s),
    }


FAMILIES = families()
"""Made of a number of snapshots and a seed, by name."""


def _as_one(made: Planted) -> Planted:
    """The same, told as one body."""
    return Planted(made.ensemble, np.minimum(made.labels, 0))


def _spread(count: int, rng: np.random.Generator) -> Floats:
    """Directions from the middle of a body to others that do not meet there."""
    while True:
        toward = directions((count,), rng)
        cosine = toward @ toward.T - 2 * np.eye(count)
        if cosine.max() < -0.2 or count < 2:  # 102 degrees apart, as four can be and five cannot
            return toward


def _clear(body: Floats, others: list[Floats], toward: Floats) -> Floats:
    """Move a body outward until it is no nearer to others than sites are within one."""
    placed = np.concatenate(others)
    while np.linalg.norm(body[:, None] - placed, axis=2).min() < APART:
        body = body + 0.1 * toward
    return body


def _turn(snapshots: Floats, own: Ints, point: Floats, turns: Floats) -> None:
    """Turn some of the sites about a point, by a rotation vector in each snapshot."""
    matrices = Rotation.from_rotvec(turns).as_matrix()
    snapshots[:, own] = point + np.einsum("tij,tnj->tni", matrices, snapshots[:, own] - point)


def _tail(still: Floats, body: Floats, n_snapshots: int, rng: np.random.Generator) -> Floats:
    """A chain that leaves the first body, away from all else; its noise adds up along it."""
    away = body.mean(axis=0) - still.mean(axis=0)
    away = away / max(np.linalg.norm(away), 1e-9)
    start = body[np.argmax(body @ away)]
    places = start + 3.8 * np.arange(1, _TAIL + 1)[:, None] * away
    noise = _TAIL_STEP * relaxing((_TAIL, 3), _TAIL_TIME, rng, n_snapshots=n_snapshots)
    return np.asarray(places + np.cumsum(noise, axis=1))


def _touching(size: int, rng: np.random.Generator) -> Floats:
    """Spheres of diameter 1, each touching one before it, as near to the middle as one of 20 is."""
    placed = np.zeros((1, 3))
    while len(placed) < size:
        tried = placed[rng.integers(len(placed), size=20)] + directions((20,), rng)
        free = np.linalg.norm(tried[:, None] - placed, axis=2).min(axis=1) >= 1 - 1e-9
        if free.any():
            kept = tried[free]
            middle = placed.mean(axis=0)
            best = kept[np.argmin(np.linalg.norm(kept - middle, axis=1))]
            placed = np.concatenate([placed, best[None]])
    return np.asarray(placed - placed.mean(axis=0))


def _put(shape: Floats, placed: Floats, edge: float, rng: np.random.Generator) -> Floats:
    """Put a shape into a cube, clear of all that is placed; the cube grows if nothing fits."""
    tries = 0
    while True:
        put: Floats = shape + rng.uniform(0, edge * (1 + tries / 2000), 3)
        apart = np.linalg.norm(put[:, None] - placed, axis=2)
        if apart.min(initial=np.inf) >= 1.0:
            return put
        tries += 1


def _walk(shape: tuple[int, ...], step: float, n: int, rng: np.random.Generator) -> Floats:
    """Random walks that start at 0."""
    steps = step * rng.normal(size=(n, *shape))
    steps[0] = 0.0
    walked: Floats = np.cumsum(steps, axis=0)
    return walked


def _trembling(
    snapshots: Floats,
    labels: Ints,
    jitter: Jitter | Floats,
    rng: np.random.Generator,
    *,
    scale: float = 1.0,
    time: float = _JITTER_TIME,
) -> Planted:
    """Let sites tremble: by one root mean square displacement, or by one for each."""
    if isinstance(jitter, tuple):
        jitter = smooth_between(*jitter, snapshots[0], rng)
    noise = relaxing(snapshots.shape[1:], time, rng, n_snapshots=len(snapshots))
    noise = scale / np.sqrt(3) * noise
    moved = snapshots + np.broadcast_to(jitter, snapshots.shape[1])[:, None] * noise
    return Planted(Ensemble.from_array(moved, unit="Å"), labels[None])
