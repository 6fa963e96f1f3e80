"""Ensembles with known answers: jointed chains, nested clusters, moving bodies, a soft solid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme._text import Described
from timme.ensemble import Atoms, Ensemble

_VOLUME, _APART = 130.0, 4.0  # Å³ of each residue, and Å between two of them at least
_PITCH = 3.0  # Å along the axis of a screw for a turn by 1 rad
_KINDS = ("rigid", "translation", "hinge", "screw", "ball", "diffuse")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Planted(Described):
    """An ensemble and the clusters within clusters that it was made of."""

    ensemble: Ensemble
    labels: Ints  # (levels, sites), from the coarsest to the finest clusters


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlantedBodies(Described):
    """An ensemble, the rigid bodies it was made of, and how each moves against the first."""

    ensemble: Ensemble
    labels: Ints  # (sites,), body of each site
    places: Floats  # (sites, 3), at angle 0, in the frame of the first body
    axes: Floats  # (bodies, 3), unit vectors in the frame of the first body; NaN without an axis
    points: Floats  # (bodies, 3), on each axis, or about which a body turns; NaN for the first
    angles: Floats  # (snapshots, bodies), in rad
    shifts: Floats  # (snapshots, bodies), along the axes, in Å


def chain(
    n_links: int = 10_000, n_snapshots: int = 2, *, link_length: float = 1.0, seed: int = 0
) -> Ensemble:
    """Return a freely-jointed chain: the directions of all links are random and independent.

    Parameters
    ----------
    n_links : int, optional
        Number of links; there is one more joint.
    n_snapshots : int, optional
        Number of independent conformations.
    link_length : float, optional
        Length a of each link.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    Ensemble
        The joints, with the links as bonds.

    Examples
    --------
    >>> chain(5, 3).n_sites
    6
    """
    steps = link_length * directions((n_snapshots, n_links), np.random.default_rng(seed))
    joints = np.cumsum(np.pad(steps, ((0, 0), (1, 0), (0, 0))), axis=1)
    bonds = np.column_stack([np.arange(n_links), np.arange(1, n_links + 1)])
    return Ensemble.from_array(joints, atoms=Atoms.unnamed(n_links + 1, bonds=bonds))


def planted(
    branching: Sequence[int] = (3, 3, 10),
    n_snapshots: int = 100,
    *,
    motions: Sequence[float] = (1.0, 0.3, 0.05),
    n_dimensions: int = 3,
    seed: int = 0,
) -> Planted:
    """Return clusters within clusters that move less and less from level to level.

    Parameters
    ----------
    branching : sequence of int, optional
        Parts of the whole, parts of each of these, …, and sites of each of the last.
    n_snapshots : int, optional
        Number of snapshots.
    motions : sequence of float, optional
        Standard deviation of the displacement of the parts of each level.
    n_dimensions : int, optional
        Dimensions of space.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    Planted
        Labels for each level but that of the sites.

    Examples
    --------
    >>> planted((2, 3), motions=(1.0, 0.1)).labels
    array([[0, 0, 0, 1, 1, 1]])
    """
    if len(branching) != len(motions):
        raise ValueError(f"{len(branching)} levels need as many motions, got {len(motions)}")
    rng = np.random.default_rng(seed)
    n_sites = int(np.prod(branching))
    snapshots = np.zeros((n_snapshots, n_sites, n_dimensions))
    snapshots += rng.uniform(0, n_sites ** (1 / n_dimensions), (n_sites, n_dimensions))
    labels = np.empty((len(branching), n_sites), np.int64)
    for level, motion in enumerate(motions):
        n_parts = int(np.prod(branching[: level + 1]))
        labels[level] = np.repeat(np.arange(n_parts), n_sites // n_parts)
        moves = rng.normal(0.0, motion, (n_snapshots, n_parts, n_dimensions))
        snapshots += moves[:, labels[level]]
    return Planted(Ensemble.from_array(snapshots), labels[:-1])


def bodies(
    sizes: Sequence[int] = (60, 40),
    n_snapshots: int = 20,
    *,
    kind: str = "hinge",
    spans: Sequence[float] = (30.0,),
    jitter: float = 0.1,
    seed: int = 0,
) -> PlantedBodies:
    """Return rigid balls that touch a first one and move against it.

    Parameters
    ----------
    sizes : sequence of int, optional
        Sites of each body.
    n_snapshots : int, optional
        Number of snapshots.
    kind : {"hinge", "screw", "translation", "ball", "diffuse", "rigid"}, optional
        How bodies move: hinges turn about an axis in the interface, screws also shift along it by
        3 Å per radian; ball joints turn about a point in any direction; diffuse bodies shift as
        well.
    spans : sequence of float, optional
        For each body but the first, the range of its angle in degrees, or of its shift in Å where
        it translates; of random motions, four standard deviations.
    jitter : float, optional
        Standard deviation of the noise on every coordinate, in Å.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    PlantedBodies
        In Å; every snapshot but the first is turned and shifted as a whole at random.

    Examples
    --------
    >>> np.degrees(bodies((60, 40), 5, spans=[60.0]).angles[:, 1]).round(1)
    array([-30., -15.,   0.,  15.,  30.])
    """
    if len(spans) != len(sizes) - 1 or kind not in _KINDS:
        needed = f"bodies need one of {', '.join(_KINDS)} and a span for each body but the first"
        raise ValueError(f"{needed}, got {kind!r} and {len(spans)} spans for {len(sizes)} bodies")
    rng = np.random.default_rng(seed)
    shapes, joints = _arrange(sizes, rng)
    axes, points = np.full((2, len(sizes), 3), np.nan)
    angles, shifts = np.zeros((2, n_snapshots, len(sizes)))
    placed = [np.tile(shapes[0], (n_snapshots, 1, 1))]
    for body, span in enumerate(spans, start=1):
        path = span * np.linspace(-0.5, 0.5, n_snapshots)
        axis = _across(shapes[body].mean(axis=0), rng)
        points[body] = joints[body]
        if kind in ("hinge", "screw", "translation"):
            axes[body] = axis
        angles[:, body] = np.radians(path) * (kind in ("hinge", "screw"))
        shifts[:, body] = {"translation": path, "screw": _PITCH * angles[:, body]}.get(kind, 0.0)
        turns, moves = (values[:, body, None] * axis for values in (angles, shifts))
        reach = np.radians(span) / 4
        if kind in ("ball", "diffuse"):
            turns = reach * rng.normal(size=(n_snapshots, 3))
        if kind == "diffuse":
            reach *= np.linalg.norm(shapes[body].mean(axis=0))
            moves = reach * rng.normal(size=(n_snapshots, 3))
        matrices = Rotation.from_rotvec(turns).as_matrix().swapaxes(1, 2)
        moves = moves[:, None] + joints[body]
        placed.append((shapes[body] - joints[body]) @ matrices + moves)
    snapshots = np.concatenate(placed, axis=1)
    snapshots += rng.normal(0.0, jitter, snapshots.shape)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    ensemble = Ensemble.from_array(tumble(snapshots, rng), unit="Å")
    return PlantedBodies(ensemble, labels, np.concatenate(shapes), axes, points, angles, shifts)


def elastic(
    n_sites: int = 1_000,
    n_snapshots: int = 100,
    *,
    density: float = 0.05,
    jitter: float = 0.1,
    seed: int = 0,
) -> Ensemble:
    """Return a soft solid in open space, bent by a few slow waves.

    Neighbouring sites move together as in a protein: the waves are longer than half of the cube,
    and change little from one snapshot to the next. Each coordinate has a standard deviation of 1.

    Parameters
    ----------
    n_sites, n_snapshots : int, optional
        Sizes.
    density : float, optional
        Sites per volume; by default about that of the heavy atoms of a protein, in Å.
    jitter : float, optional
        Standard deviation of the independent noise on every coordinate.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    Ensemble
        In single precision, sites in the order of a lattice.

    Examples
    --------
    >>> elastic(100, 5).n_sites
    100
    """
    rng = np.random.default_rng(seed)
    n_waves, per_axis = 12, int(np.ceil(n_sites ** (1 / 3)))
    lattice = np.column_stack(np.unravel_index(np.arange(n_sites), (per_axis,) * 3))
    spacing = density ** (-1 / 3)
    places = (spacing * (lattice + rng.uniform(0.1, 0.9, lattice.shape))).astype(np.float32)
    lengths = per_axis * spacing / rng.uniform(0.25, 2.0, n_waves)
    vectors = 2 * np.pi * directions((n_waves,), rng) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, n_waves)
    # The mean square is 1/3 for a component of a unit vector, and 1/2 for a cosine.
    waves = np.cos(vectors @ places.T + phases[:, None])[:, :, None]
    waves = waves * directions((n_waves,), rng)[:, None] * np.sqrt(6 / n_waves)
    strengths = relaxing((n_snapshots, n_waves), -1 / np.log(0.95), rng).astype(np.float32)
    snapshots = np.tensordot(strengths, waves.astype(np.float32), 1)
    snapshots += np.float32(jitter) * rng.standard_normal(snapshots.shape, np.float32) + places
    return Ensemble.from_array(snapshots)


def directions(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Random unit vectors of shape ``(*shape, 3)``, spread evenly over the sphere."""
    vectors = rng.normal(size=(*shape, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def relaxing(shape: tuple[int, ...], time: float, rng: np.random.Generator) -> Floats:
    """Ornstein–Uhlenbeck series (snapshots, …) of variance 1, stationary from the start.

    The correlation falls off as exp(−t / time); at time 0, values are independent.
    """
    values = rng.normal(size=shape)
    kept = np.exp(-1 / time) if time > 0 else 0.0
    values[1:] *= np.sqrt(1 - kept**2)
    for snapshot in range(1, len(values)):
        values[snapshot] += kept * values[snapshot - 1]
    return values


def ball(n_sites: int, rng: np.random.Generator) -> Floats:
    """Sites (sites, 3) packed at random into a ball, as densely as the residues of a protein."""
    radius = (3 * _VOLUME * n_sites / (4 * np.pi)) ** (1 / 3)
    placed, apart, n_tries = np.empty((0, 3)), _APART, 0
    while len(placed) < n_sites:
        tried = rng.uniform(-radius, radius, 3)
        nearest = ((placed - tried) ** 2).sum(axis=1).min(initial=np.inf)
        if tried @ tried <= radius**2 and nearest > apart**2:
            placed = np.concatenate([placed, tried[None]])
        n_tries += 1
        if n_tries % 20_000 == 0:
            apart *= 0.98  # the last sites of a small ball may not fit otherwise
    return placed


def tumble(snapshots: Floats, rng: np.random.Generator) -> Floats:
    """Snapshots of which each but the first is turned and shifted as a whole at random."""
    turns = Rotation.random(len(snapshots), rng=rng).as_matrix()
    shifts = rng.normal(0.0, 10.0, (len(snapshots), 1, 3))
    turns[0], shifts[0] = np.eye(3), 0.0
    return np.asarray(snapshots @ turns + shifts)


def _arrange(sizes: Sequence[int], rng: np.random.Generator) -> tuple[list[Floats], Floats]:
    """Balls that touch the first without overlap, and a joint in the interface of each."""
    shapes = [ball(size, rng) for size in sizes]
    radii = np.array([np.linalg.norm(shape, axis=1).max() for shape in shapes])
    middles, joints = np.zeros((2, len(sizes), 3))
    for body in range(1, len(sizes)):
        toward = directions((1_000,), rng)
        away = radii[0] + radii[body] + 2.0
        apart = np.linalg.norm(away * toward[:, None] - middles[1:body], axis=2)
        free = (apart > radii[body] + radii[1:body]).all(axis=1)
        if not free.any():
            raise ValueError(f"body {body} finds no room around the first: use fewer bodies")
        middles[body] = away * toward[free.argmax()]
        joints[body] = (radii[0] + 1.0) / away * middles[body]
        joints[body] += 0.5 * radii[body] * _across(middles[body], rng)
    return [shape + middle for shape, middle in zip(shapes, middles, strict=True)], joints


def _across(vector: Floats, rng: np.random.Generator) -> Floats:
    """Random unit vector at a right angle to another."""
    found = np.cross(vector, directions((), rng))
    return np.asarray(found / np.linalg.norm(found))
