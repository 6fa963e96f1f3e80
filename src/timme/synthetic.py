"""Ensembles with known answers, for tests, examples and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme._html import Described
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Planted(Described):
    """An ensemble and the clusters that were put into it."""

    ensemble: Ensemble
    labels: Ints  # (levels, sites), from the coarsest to the finest clusters


def chain(
    n_links: int = 10_000, n_snapshots: int = 2, *, link_length: float = 1.0, seed: int = 0
) -> Ensemble:
    """Make a freely-jointed chain: every link points anywhere, independently in each snapshot.

    Parameters
    ----------
    n_links : int, optional
        Number of links; there is one joint more.
    n_snapshots : int, optional
        Number of independent realisations.
    link_length : float, optional
        Length a of each link.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        Of the joints, with the links as bonds.

    Examples
    --------
    >>> chain(5, 3).n_sites
    6
    """
    if n_links < 1 or n_snapshots < 1 or not link_length > 0:
        raise ValueError(
            f"a chain needs at least 1 link, 1 snapshot and a length above 0, "
            f"got {n_links}, {n_snapshots} and {link_length}"
        )
    steps = link_length * _directions((n_snapshots, n_links), np.random.default_rng(seed))
    start = np.zeros((n_snapshots, 1, 3))
    joints = np.concatenate([start, np.cumsum(steps, axis=1)], axis=1)
    bonds = np.column_stack([np.arange(n_links), np.arange(1, n_links + 1)])
    return Ensemble.from_array(joints, atoms=Atoms.unnamed(n_links + 1, bonds=bonds))


def hinged(
    n_bodies: int = 3,
    sites_per_body: int = 30,
    n_snapshots: int = 100,
    *,
    swing: float = 0.5,
    jitter: float = 0.02,
    seed: int = 0,
) -> Planted:
    """Make rigid bodies in a row, each swinging about the hinge that joins it to the one before.

    Parameters
    ----------
    n_bodies, sites_per_body, n_snapshots : int, optional
        Sizes.
    swing : float, optional
        Standard deviation of each hinge's angle, in radians.
    jitter : float, optional
        Standard deviation of the noise on every coordinate; a body has size 1.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        One level: the bodies. Every snapshot is turned and moved as a whole at random.
    """
    rng = np.random.default_rng(seed)
    # A body of size 1 stands in the middle of an arm of length 2, clear of both of its hinges.
    shape = rng.uniform(-0.5, 0.5, (n_bodies, sites_per_body, 3)) + np.array([1.0, 0, 0])
    angles = rng.normal(0.0, swing, (n_snapshots, n_bodies))
    around = rng.uniform(0.0, 2 * np.pi, n_bodies)  # hinges turn across the arm, never along it
    axes = np.column_stack([np.zeros(n_bodies), np.cos(around), np.sin(around)])
    snapshots = np.empty((n_snapshots, n_bodies, sites_per_body, 3))
    for frame in range(n_snapshots):
        turn, joint = Rotation.random(rng=rng), rng.normal(size=3)
        for body in range(n_bodies):
            turn = turn * Rotation.from_rotvec(angles[frame, body] * axes[body])
            snapshots[frame, body] = joint + turn.apply(shape[body])
            joint = joint + turn.apply([2.0, 0.0, 0.0])
    snapshots += rng.normal(0.0, jitter, snapshots.shape)
    labels = np.repeat(np.arange(n_bodies), sites_per_body)[None]
    return Planted(Ensemble.from_array(snapshots.reshape(n_snapshots, -1, 3)), labels)


def planted(
    branching: tuple[int, ...] = (3, 3, 10),
    n_snapshots: int = 100,
    *,
    motions: tuple[float, ...] = (1.0, 0.3, 0.05),
    n_dimensions: int = 3,
    seed: int = 0,
) -> Planted:
    """Make clusters within clusters that are displaced by less and less at each level.

    Parameters
    ----------
    branching : tuple of int, optional
        Parts of the whole, parts of each of these, …, and last the sites of each.
    n_snapshots : int, optional
        Number of snapshots.
    motions : tuple of float, optional
        Standard deviation of the displacement of the parts of each level, largest first.
    n_dimensions : int, optional
        Dimensions of space.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Planted
        A level for each but the last, from the coarsest.
    """
    if len(branching) != len(motions):
        raise ValueError(f"{len(branching)} levels need as many motions, got {len(motions)}")
    rng = np.random.default_rng(seed)
    n_sites = int(np.prod(branching))
    snapshots = np.zeros((n_snapshots, n_sites, n_dimensions))
    snapshots += rng.uniform(0, n_sites ** (1 / n_dimensions), (n_sites, n_dimensions))
    labels = []
    for level, motion in enumerate(motions):
        parts = int(np.prod(branching[: level + 1]))
        label = np.repeat(np.arange(parts), n_sites // parts)
        snapshots += rng.normal(0.0, motion, (n_snapshots, parts, n_dimensions))[:, label]
        labels.append(label)
    return Planted(Ensemble.from_array(snapshots), np.array(labels[:-1]).reshape(-1, n_sites))


def spheres(
    n_spheres: int = 991,
    n_snapshots: int = 46,
    *,
    diameter: float = 1.3,
    packing: float = 0.2,
    attraction: float = 4.0,
    seed: int = 0,
) -> Ensemble:
    """Let spheres with a weak, short-ranged attraction drift in a periodic box.

    Overdamped (Brownian) motion of soft-cored spheres, a model of the colloids of the paper:
    some jam into networks, others stay free.

    Parameters
    ----------
    n_spheres, n_snapshots : int, optional
        Sizes, by default those of the experiment of the paper.
    diameter : float, optional
        Of a sphere, in µm.
    packing : float, optional
        Fraction of space that spheres fill.
    attraction : float, optional
        Depth of the attraction, in units of k_B T.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In µm, with its periodic box.
    """
    rng = np.random.default_rng(seed)
    edge = (n_spheres * np.pi / 6 / packing) ** (1 / 3)  # in diameters
    per_axis = int(np.ceil(n_spheres ** (1 / 3)))
    lattice = np.stack(np.meshgrid(*[np.arange(per_axis)] * 3), axis=-1).reshape(-1, 3)
    positions = (lattice[rng.permutation(len(lattice))[:n_spheres]] + 0.5) * edge / per_axis
    unwrapped = positions.copy()
    warm_up, steps = 400, 30
    snapshots = []
    for step in range(warm_up + steps * n_snapshots):
        move = _brownian_step(unwrapped % edge, edge, attraction, rng)
        unwrapped = unwrapped + move
        if step >= warm_up and (step - warm_up) % steps == 0:
            snapshots.append(unwrapped % edge)
    return Ensemble.from_array(
        diameter * np.array(snapshots), boxes=np.full(3, diameter * edge), unit="µm"
    )


def elastic(
    n_sites: int = 1_000,
    n_snapshots: int = 100,
    *,
    density: float = 0.05,
    motion: float = 1.0,
    jitter: float = 0.1,
    seed: int = 0,
) -> Ensemble:
    """Make a soft solid in open space: a few slow waves bend it, and every site trembles.

    Sites near one another move together as in a protein: the waves are longer than half of
    the cube, and change little from one snapshot to the next.

    Parameters
    ----------
    n_sites, n_snapshots : int, optional
        Sizes.
    density : float, optional
        Sites per volume; by default about that of the heavy atoms of a protein, in Å.
    motion : float, optional
        Standard deviation of each coordinate under all waves together.
    jitter : float, optional
        Standard deviation of the independent noise on every coordinate.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Ensemble
        In single precision, sites in the order of a lattice.

    Examples
    --------
    >>> elastic(100, 5).n_sites
    100
    """
    if n_sites < 1 or n_snapshots < 1 or not density > 0:
        raise ValueError(
            f"an elastic solid needs at least 1 site, 1 snapshot and a density above 0, "
            f"got {n_sites}, {n_snapshots} and {density}"
        )
    rng = np.random.default_rng(seed)
    n_waves, memory = 12, 0.95  # what is left of a wave in the next snapshot
    per_axis = int(np.ceil(n_sites ** (1 / 3)))
    lattice = np.column_stack(np.unravel_index(np.arange(n_sites), (per_axis,) * 3))
    spacing = density ** (-1 / 3)
    places = (spacing * (lattice + rng.uniform(0.1, 0.9, lattice.shape))).astype(np.float32)
    lengths = per_axis * spacing / rng.uniform(0.25, 2.0, n_waves)
    vectors = 2 * np.pi * _directions((n_waves,), rng) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, n_waves)
    # Isotropic in the mean: a unit vector has components of 1/3 square, a cosine one of 1/2.
    waves = np.cos(vectors @ places.T + phases[:, None])[:, :, None]
    waves = waves * _directions((n_waves,), rng)[:, None] * np.sqrt(6 / n_waves) * motion
    waves = waves.reshape(n_waves, -1).astype(np.float32)
    strengths = rng.normal(size=(n_snapshots, n_waves))
    strengths[1:] *= np.sqrt(1 - memory**2)
    for frame in range(1, n_snapshots):
        strengths[frame] += memory * strengths[frame - 1]
    snapshots = (strengths.astype(np.float32) @ waves).reshape(n_snapshots, n_sites, 3)
    for frame in range(n_snapshots):
        noise = np.float32(jitter) * rng.standard_normal(places.shape, np.float32)
        snapshots[frame] += places + noise
    return Ensemble.from_array(snapshots)


def _brownian_step(
    positions: Floats, edge: float, attraction: float, rng: np.random.Generator
) -> Floats:
    """Displacement of one time step, in diameters, under a Morse force of short range."""
    sharpness, time_step, range_ = 12.0, 2e-4, 1.4
    tree = cKDTree(positions % edge, boxsize=np.full(3, edge))
    first, second = tree.query_pairs(range_, output_type="ndarray").T
    vectors = positions[first] - positions[second]
    vectors -= edge * np.rint(vectors / edge)
    distance = np.maximum(np.linalg.norm(vectors, axis=1), 0.7)
    well = np.exp(-sharpness * (distance - 1.0))
    strength = 2 * sharpness * attraction * well * (well - 1) / distance
    push = vectors * np.minimum(strength, 1e3)[:, None]
    force = np.zeros_like(positions)
    for axis in range(3):
        force[:, axis] = np.bincount(first, push[:, axis], len(positions))
        force[:, axis] -= np.bincount(second, push[:, axis], len(positions))
    return force * time_step + rng.normal(0.0, np.sqrt(2 * time_step), positions.shape)


def _directions(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Unit vectors spread evenly over the sphere."""
    vectors = rng.normal(size=(*shape, 3))
    unit: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit
