"""Make cars on a ring road that follow one another."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats, Ints
from timme.synthetic.answers import Planted
from timme.system.ensemble import Ensemble

_STEP, _INTERVAL = 0.1, 1.0  # s, of the simulation and between snapshots
_LEAD, _SPREAD = 20.0, 1.0  # m/s, speed of those in front, and its standard deviation
_MEMORY = 10.0  # s, after which those in front want another speed
_FREE = 33.0  # m/s, that all others would drive
_CAR, _STANDSTILL, _HEADWAY = 4.5, 2.0, 1.5  # m, m and s: length, and gap to the car in front
_ACCELERATION, _BRAKING = 1.5, 2.0  # m/s²
_APART = 300.0  # m, between platoons


def ring_road(
    platoons: tuple[int, ...] = (9, 7, 5, 4, 3),
    n_alone: int = 4,
    *,
    n_snapshots: int = 120,
    seed: int = 0,
) -> Planted:
    """Let cars drive on a ring road, in platoons behind those that do not hurry.

    A car-following model, the intelligent driver: each car comes up to the one in front, as it
    cannot overtake, and keeps a gap that grows with the speed. The first car of a platoon drives
    at about 20 m/s, by a mood that changes within 10 s; the others would drive at 33 m/s, and so
    stay behind it. Snapshots are 1 s apart.

    Parameters
    ----------
    platoons : tuple of int, optional
        Number of cars in each platoon.
    n_alone : int, optional
        Number of cars that nobody follows, spread between the platoons.
    n_snapshots : int, optional
        Number of snapshots. Platoons start 300 m apart, and may meet after some minutes.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        Places along the road in m, of one dimension in a periodic box as long as the road; one
        level: the platoons. Compare cars that come within 400 m or so of one another: those half
        a round apart are seen now the one way, now the other.

    Examples
    --------
    >>> made = ring_road((3, 2), 1, n_snapshots=5)
    >>> made.ensemble.n_sites, made.ensemble.n_dimensions
    (6, 1)
    """
    sizes = (*platoons, *[1] * n_alone)
    if not sizes or min(sizes) < 1 or n_snapshots < 1:
        raise ValueError(
            f"a ring road needs platoons of at least 1 car and 1 snapshot, got {sizes} "
            f"and {n_snapshots}"
        )
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    order = np.concatenate([np.flatnonzero(labels == k) for k in rng.permutation(len(sizes))])
    places, length = _line_up(labels[order])
    driven = _drive(places, length, labels[order], n_snapshots, rng)
    snapshots = np.empty((n_snapshots, len(labels), 1))
    snapshots[:, order, 0] = driven % length
    return Planted(Ensemble.from_array(snapshots, boxes=[length], unit="m"), labels[None])


def _line_up(platoon: Ints) -> tuple[Floats, float]:
    """Place cars one behind the other, each first of its platoon after a long gap."""
    close = _CAR + _STANDSTILL + _HEADWAY * _LEAD
    first = np.diff(platoon, prepend=-1) != 0
    back = np.cumsum(np.where(first, _APART, close))
    return -back, float(back[-1])


def _drive(
    places: Floats, length: float, platoon: Ints, n_snapshots: int, rng: np.random.Generator
) -> Floats:
    """Follow all cars; each but the first of a platoon wants to be faster than it can."""
    first = np.diff(platoon, prepend=-1) != 0
    wishes = np.where(first, _LEAD, _FREE)
    speeds = np.full(len(places), _LEAD)
    kept = np.exp(-_STEP / _MEMORY)
    mood = rng.normal(0.0, _SPREAD, len(places))
    every = round(_INTERVAL / _STEP)
    snapshots = np.empty((n_snapshots, len(places)))
    for step in range(n_snapshots * every):
        if step % every == 0:
            snapshots[step // every] = places
        mood = kept * mood + np.sqrt(1 - kept**2) * rng.normal(0.0, _SPREAD, len(places))
        gain = _acceleration(places, speeds, np.where(first, wishes + mood, wishes), length)
        speeds = np.maximum(0.0, speeds + _STEP * gain)
        places = places + _STEP * speeds
    return snapshots


def _acceleration(places: Floats, speeds: Floats, wishes: Floats, length: float) -> Floats:
    """What a driver does: come up to the speed wanted, but not to the car in front."""
    ahead = np.roll(places, 1)
    ahead[0] += length
    gaps = ahead - places - _CAR
    closing = speeds - np.roll(speeds, 1)
    wanted = _STANDSTILL + np.maximum(
        0.0, speeds * _HEADWAY + speeds * closing / (2 * np.sqrt(_ACCELERATION * _BRAKING))
    )
    gain: Floats = _ACCELERATION * (1 - (speeds / wishes) ** 4 - (wanted / gaps) ** 2)
    return gain
