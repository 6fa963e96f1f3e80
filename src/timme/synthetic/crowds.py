"""Make people who cross a square, some together, some alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.synthetic.answers import Planted
from timme.system.ensemble import Ensemble

_STEP = 0.1  # s, of the simulation
_INTERVAL = 0.5  # s, from one snapshot to the next
_RELAXATION = 0.5  # s, in which people come back to the velocity they want
_SPEED, _SPREAD, _SLOWEST = 1.34, 0.26, 0.8  # m/s: mean and standard deviation of free walkers
_SIDE_BY_SIDE = 0.8  # m, between people who walk together
_COHESION = 6.0  # 1/s², towards one's place beside the others
_DISTASTE, _SIZE, _FADING = 5.0, 0.5, 0.4  # m/s², m, m: people step aside for strangers
_UNREST = 0.1  # m/s^1.5, of each on their own


@dataclass(frozen=True, slots=True, eq=False)
class _Walks:
    """Where people want to go, and with whom."""

    party: Ints  # (people,)
    entries: Floats  # (people,), s
    starts: Floats  # (people, 2), m
    wishes: Floats  # (people, 2), m/s
    places: Floats  # (people, 2), m, from the middle of their party


def crowd(
    parties: tuple[int, ...] = (5, 4, 4, 3, 3, 3, 2, 2, 2, 2),
    n_alone: int = 30,
    *,
    n_snapshots: int = 120,
    width: float = 30.0,
    missed: float = 0.02,
    seed: int = 0,
) -> Planted:
    """Let people come into a square, cross it and leave, some in parties and some alone.

    They are driven by social forces: each wants to keep a velocity, steps aside for strangers, and
    keeps a place beside those of the own party, who walk abreast. Snapshots are half a second
    apart. Nobody is seen outside of the square, nor in a few snapshots within it.

    Parameters
    ----------
    parties : tuple of int, optional
        How many people walk together in each party.
    n_alone : int, optional
        How many walk alone.
    n_snapshots : int, optional
        Number of snapshots.
    width : float, optional
        Of the square, in m.
    missed : float, optional
        Fraction of the snapshots in which somebody in the square is not seen.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        In m, with gaps; one level, in which each party is a cluster and so is everybody alone.

    Notes
    -----
    Compare those who come near one another, within 2.5 m or so. Among all pairs there are
    strangers, far apart, who keep their distance by chance for as long as both are there.

    Examples
    --------
    >>> made = crowd((3, 2), 4, n_snapshots=60)
    >>> made.labels
    array([[0, 0, 0, 1, 1, 2, 3, 4, 5]])
    >>> made.ensemble.gaps
    True
    """
    sizes = (*parties, *[1] * n_alone)
    if not sizes or min(sizes) < 1 or n_snapshots < 1 or not width > 0 or not 0 <= missed < 1:
        raise ValueError(
            "a crowd needs parties of at least 1, 1 snapshot, a width above 0 and a fraction "
            f"missed from 0 to below 1, got {sizes}, {n_snapshots}, {width} and {missed}"
        )
    rng = np.random.default_rng(seed)
    walks = _plan(sizes, n_snapshots * _INTERVAL, width, rng)
    snapshots = _walk(walks, n_snapshots, width, rng)
    snapshots[rng.random(snapshots.shape[:2]) < missed] = np.nan
    return Planted(Ensemble.from_array(snapshots, unit="m", gaps=True), walks.party[None])


def _plan(
    sizes: tuple[int, ...], duration: float, width: float, rng: np.random.Generator
) -> _Walks:
    """Choose for each party when it comes, from where, and where it goes."""
    n_parties = len(sizes)
    party = np.repeat(np.arange(n_parties), sizes)
    crossing = width / _SPEED
    # The square is not empty at first, and nobody comes too late to be seen for a while.
    entries = rng.uniform(-0.3 * crossing, max(0.0, duration - 0.7 * crossing), n_parties)
    side = rng.integers(4, size=n_parties)
    starts = _on_the_edge(side, rng.uniform(0.1, 0.9, n_parties), width)
    ends = _on_the_edge((side + 2) % 4, rng.uniform(0.1, 0.9, n_parties), width)
    ahead = (ends - starts) / np.linalg.norm(ends - starts, axis=1, keepdims=True)
    speeds = np.maximum(rng.normal(_SPEED, _SPREAD, n_parties), _SLOWEST)
    rank = np.concatenate([np.arange(size) - (size - 1) / 2 for size in sizes])
    beside = np.column_stack([-ahead[:, 1], ahead[:, 0]])[party]
    places = _SIDE_BY_SIDE * rank[:, None] * beside
    wishes = (ahead * speeds[:, None])[party]
    return _Walks(party, entries[party], starts[party] + places, wishes, places)


def _on_the_edge(side: Ints, along: Floats, width: float) -> Floats:
    """Points on the four sides of the square."""
    turned = side % 2 == 1
    beyond = np.where(side < 2, 0.0, width)
    return np.column_stack(
        [np.where(turned, width * along, beyond), np.where(turned, beyond, width * along)]
    )


def _walk(walks: _Walks, n_snapshots: int, width: float, rng: np.random.Generator) -> Floats:
    """Follow everybody from the first entry to the last snapshot."""
    places, velocities = walks.starts.copy(), walks.wishes.copy()
    snapshots = np.full((n_snapshots, *places.shape), np.nan)
    every = round(_INTERVAL / _STEP)
    for step in range(round(walks.entries.min() / _STEP), (n_snapshots - 1) * every + 1):
        here = walks.entries <= step * _STEP
        pushes = _pushes(places, velocities, walks, here)
        pushes += rng.normal(0.0, _UNREST / np.sqrt(_STEP), places.shape)
        velocities[here] += _STEP * pushes[here]
        places[here] += _STEP * velocities[here]
        if step >= 0 and step % every == 0:
            inside = ((places >= 0) & (places <= width)).all(axis=1) & here
            snapshots[step // every, inside] = places[inside]
    return snapshots


def _pushes(places: Floats, velocities: Floats, walks: _Walks, here: Bools) -> Floats:
    """Social forces: one's own will, one's party, and strangers."""
    pushes = (walks.wishes - velocities) / _RELAXATION
    sums = np.column_stack([np.bincount(walks.party, axis) for axis in places.T])
    middles = (sums / np.bincount(walks.party)[:, None])[walks.party]
    pushes += _COHESION * (middles + walks.places - places)
    apart = places[:, None] - places[None]
    distance = np.linalg.norm(apart, axis=2)
    strangers = (walks.party[:, None] != walks.party) & here[:, None] & here
    strength = np.where(strangers, _DISTASTE * np.exp((_SIZE - distance) / _FADING), 0.0)
    pushes += (apart * (strength / np.maximum(distance, 1e-9))[:, :, None]).sum(axis=1)
    return pushes
