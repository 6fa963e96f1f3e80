"""Make rigid bodies that move against one another in known ways, with their axes and angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme._html import Described
from timme.synthetic.directions import directions
from timme.synthetic.packing import ball
from timme.synthetic.relaxing import relaxing
from timme.system.ensemble import Ensemble

Kind = Literal["rigid", "translation", "hinge", "screw", "ball", "diffuse"]

_PITCH = 3.0  # Å along the axis for a turn by 1 rad


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlantedMotion(Described):
    """An ensemble, the bodies that were put into it, and how each moves against the first."""

    ensemble: Ensemble
    labels: Ints  # (sites,), body of each
    places: Floats  # (sites, 3), all bodies at angle 0, in the frame of the first
    axes: Floats  # (bodies, 3), unit vectors in the frame of the first; NaN where there is none
    points: Floats  # (bodies, 3), a place on each axis
    angles: Floats  # (snapshots, bodies), in rad
    shifts: Floats  # (snapshots, bodies), along the axes


def moving(
    sizes: Sequence[int] = (60, 40),
    n_snapshots: int = 20,
    *,
    kind: Kind = "hinge",
    spans: Sequence[float] = (30.0,),
    noise: float = 0.1,
    memory: float | None = None,
    seed: int = 0,
) -> PlantedMotion:
    """Make balls that touch a first one, and move against it.

    Parameters
    ----------
    sizes : sequence of int, optional
        Sites of each body, the first being the one that the others move against.
    n_snapshots : int, optional
        Number of snapshots.
    kind : {"rigid", "translation", "hinge", "screw", "ball", "diffuse"}, optional
        How they move. Hinges and screws turn about an axis in the interface, the latter by 3 Å a
        radian along it; a ball turns about a point there; what is diffuse turns and shifts at
        random.
    spans : sequence of float, optional
        Range of the angle of every body but the first, in degrees; of the shift, in Å, where it
        translates.
    noise : float, optional
        Standard deviation of every coordinate, in Å.
    memory : float, optional
        Snapshots after which angles are forgotten, with the span as four standard deviations. By
        default they go through the span from one end to the other.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    PlantedMotion
        In Å; every snapshot is turned and shifted as a whole at random.

    Examples
    --------
    >>> moving((60, 40), 5, spans=[60.0]).angles[:, 1]
    array([-0.52359878, -0.26179939,  0.        ,  0.26179939,  0.52359878])
    """
    if len(spans) != len(sizes) - 1:
        raise ValueError(f"{len(sizes)} bodies need {len(sizes) - 1} spans, got {len(spans)}")
    rng = np.random.default_rng(seed)
    shapes, middles, joints = _arrange(sizes, rng)
    n_bodies = len(sizes)
    turns = np.zeros((n_snapshots, n_bodies, 3))
    moves = np.zeros((n_snapshots, n_bodies, 3))
    axes, points = np.full((2, n_bodies, 3), np.nan)
    angles, shifts = np.zeros((2, n_snapshots, n_bodies))
    for body in range(1, n_bodies):
        path = _path(n_snapshots, spans[body - 1], memory, rng)
        axis = _across(middles[body], rng)
        if kind in {"hinge", "screw"}:
            axes[body], points[body] = axis, joints[body]
            angles[:, body] = np.radians(path)
            shifts[:, body] = _PITCH * angles[:, body] if kind == "screw" else 0.0
            turns[:, body] = angles[:, body, None] * axis
            moves[:, body] = shifts[:, body, None] * axis
        elif kind == "translation":
            shifts[:, body], axes[body] = path, axis
            moves[:, body] = path[:, None] * axis
        elif kind in {"ball", "diffuse"}:
            points[body] = joints[body]
            wide = np.radians(spans[body - 1]) / 4
            turns[:, body] = wide * relaxing((3,), memory or 0.0, rng, n_snapshots=n_snapshots)
            if kind == "diffuse":
                far = wide * float(np.linalg.norm(middles[body]))
                moves[:, body] = far * relaxing((3,), memory or 0.0, rng, n_snapshots=n_snapshots)
    snapshots = np.concatenate(
        [
            _turn(shapes[body] + middles[body], turns[:, body], joints[body]) + moves[:, body, None]
            for body in range(n_bodies)
        ],
        axis=1,
    )
    labels = np.repeat(np.arange(n_bodies), sizes)
    places = np.concatenate([shapes[body] + middles[body] for body in range(n_bodies)])
    snapshots += rng.normal(0.0, noise, snapshots.shape)
    ensemble = Ensemble.from_array(tumble(snapshots, rng), unit="Å")
    return PlantedMotion(ensemble, labels, places, axes, points, angles, shifts)


def tumble(snapshots: Floats, rng: np.random.Generator) -> Floats:
    """Turn and shift every snapshot but the first as a whole, at random.

    Parameters
    ----------
    snapshots : ndarray, shape (snapshots, sites, 3)
        Positions.
    rng : Generator
        Random numbers.

    Returns
    -------
    ndarray, shape (snapshots, sites, 3)
        The same shapes elsewhere.
    """
    turns = Rotation.random(len(snapshots), rng=rng).as_matrix()
    shifts = rng.normal(0.0, 10.0, (len(snapshots), 1, 3))
    turns[0], shifts[0] = np.eye(3), 0.0
    moved: Floats = snapshots @ turns + shifts
    return moved


def _arrange(sizes: Sequence[int], rng: np.random.Generator) -> tuple[list[Floats], Floats, Floats]:
    """Bodies about their middles, these middles, and where each touches the first."""
    shapes = [ball(size, rng) for size in sizes]
    radii = np.array([np.linalg.norm(shape, axis=1).max() for shape in shapes])
    middles = np.zeros((len(sizes), 3))
    for body in range(1, len(sizes)):
        while True:  # until it is clear of those placed before it
            direction = directions((1,), rng)[0]
            middles[body] = direction * (radii[0] + radii[body] + 2.0)
            apart = np.linalg.norm(middles[1:body] - middles[body], axis=1)
            if (apart > radii[1:body] + radii[body]).all():
                break
    joints = np.zeros_like(middles)
    for body in range(1, len(sizes)):
        unit = middles[body] / np.linalg.norm(middles[body])
        joints[body] = unit * (radii[0] + 1.0) + 0.5 * radii[body] * _across(unit, rng)
    return shapes, middles, joints


def _path(n_snapshots: int, span: float, memory: float | None, rng: np.random.Generator) -> Floats:
    if memory is None:
        return span * np.linspace(-0.5, 0.5, n_snapshots)
    return span / 4 * relaxing((), memory, rng, n_snapshots=n_snapshots)


def _across(vector: Floats, rng: np.random.Generator) -> Floats:
    """A random unit vector at a right angle to another."""
    found = np.cross(vector, directions((1,), rng)[0])
    unit: Floats = found / np.linalg.norm(found)
    return unit


def _turn(places: Floats, turns: Floats, joint: Floats) -> Floats:
    """Places in every snapshot, turned about a joint by rotation vectors."""
    matrices = Rotation.from_rotvec(turns).as_matrix()
    moved: Floats = (places - joint) @ matrices.swapaxes(1, 2) + joint
    return moved
