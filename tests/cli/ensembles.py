"""Small ensembles in files, for tests of the command line and of the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from tests.readers.builders import Record, atom, peptide, write_pdb
from timme._arrays import Coordinates, Floats


def places(records: Sequence[Record]) -> Coordinates:
    return np.array([record[6:9] for record in records])


def moved(records: Sequence[Record], positions: Iterable[Iterable[float]]) -> list[Record]:
    """The same atoms elsewhere, on the grid of a PDB file."""
    made = list[Record]()
    for record, position in zip(records, positions, strict=True):
        x, y, z = (round(float(value), 3) for value in position)
        made.append((*record[:6], x, y, z, *record[9:]))
    return made


def shaken(
    records: Sequence[Record], n_models: int = 5, *, scale: float = 0.1, seed: int = 0
) -> list[list[Record]]:
    """Models in which every atom trembles."""
    rng = np.random.default_rng(seed)
    rest = places(records)
    return [
        moved(records, rest + rng.normal(scale=scale, size=rest.shape)) for _ in range(n_models)
    ]


def swinging(n_residues: int = 24, n_models: int = 8, *, seed: int = 0) -> list[list[Record]]:
    """Models of a peptide of two stiff halves, the second of which swings on the first."""
    rng = np.random.default_rng(seed)
    records = peptide(n_residues=n_residues)
    half = np.array([record[4] > n_residues // 2 for record in records])
    rest = places(records)
    # The hinge stands beside the chain, so that nothing near it belongs to both halves.
    hinge = rest[half][0] + np.array([0.0, 8.0, 0.0])
    angles = rng.normal(scale=0.3, size=n_models)
    angles[0] = 0.0  # bonds are found in the first model
    models = []
    for angle in angles:
        turned = Rotation.from_rotvec([0.0, 0.0, angle]).apply(rest - hinge) + hinge
        noise = rng.normal(scale=0.02, size=rest.shape)
        models.append(moved(records, np.where(half[:, None], turned, rest) + noise))
    return models


def helix(n_residues: int = 14) -> list[Record]:
    """An α-helix of alanines without hydrogens, from bond lengths, angles and torsions."""
    n, ca, c = np.array([[0.0, 0.0, 0.0], [1.458, 0.0, 0.0], [2.0, 1.42, 0.0]])
    records = list[Record]()
    for resid in range(1, n_residues + 1):
        o = _beyond(n, ca, c, 1.231, 120.5, 133.0)
        cb = _beyond(c, n, ca, 1.53, 110.1, -122.6)
        named = zip(("N", "CA", "C", "O", "CB"), (n, ca, c, o, cb), strict=True)
        records += [atom(name, resid, place.round(3).tolist()) for name, place in named]
        following = _beyond(n, ca, c, 1.329, 116.6, -47.0)
        after = _beyond(ca, c, following, 1.458, 121.7, 180.0)
        n, ca, c = following, after, _beyond(c, following, after, 1.525, 111.0, -57.0)
    return records


def _beyond(
    first: Floats, second: Floats, third: Floats, length: float, angle: float, torsion: float
) -> Floats:
    """Where the fourth atom of a row is: its distance from the third, angle and torsion."""
    bend, turn = np.radians([angle, torsion])
    along = (third - second) / np.linalg.norm(third - second)
    normal = np.cross(second - first, along)
    normal /= np.linalg.norm(normal)
    across = np.cross(normal, along)
    sideways = np.cos(turn) * across + np.sin(turn) * normal
    return np.asarray(third + length * (np.sin(bend) * sideways - np.cos(bend) * along))


def nucleotides(n_residues: int = 4) -> list[Record]:
    """A strand of DNA, sugars and phosphates only; the first nucleotide has no phosphate."""
    names = ["P", "O5'", "C5'", "C4'", "C3'", "O3'", "O4'", "C1'"]
    shape = {
        "P": (0.0, 0.0, 0.0),
        "O5'": (1.2, 1.0, 0.0),
        "C5'": (2.4, 0.2, 0.0),
        "C4'": (3.6, 1.1, 0.0),
        "C3'": (4.8, 0.2, 0.0),
        "O3'": (6.0, 1.0, 0.0),
        "O4'": (3.6, 2.0, 1.1),
        "C1'": (3.6, 3.3, 0.6),
    }
    return [
        atom(name, residue + 1, _shifted(shape[name], 7.2 * residue, 0.0), resname="DA")
        for residue in range(n_residues)
        for name in names
        if residue or name != "P"
    ]


def ligand(first: Sequence[float], resid: int = 90) -> list[Record]:
    """Four carbons in a row."""
    return [
        atom(f"C{k + 1}", resid, _shifted(first, 1.2 * k, 0.8 * (k % 2)), resname="LIG")
        for k in range(4)
    ]


def _shifted(place: Sequence[float], x: float, y: float) -> tuple[float, float, float]:
    return place[0] + x, place[1] + y, place[2]


def write_ensemble(path: Path, records: Sequence[Record], n_models: int = 5) -> Path:
    return write_pdb(path, shaken(records, n_models))


def write_tracks(
    path: Path, positions: Coordinates, *, unseen: Sequence[tuple[int, int]] = ()
) -> Path:
    """Write a table of particles numbered from 0, leaving out some (frame, particle)."""
    n_frames, n_particles, dimensions = positions.shape
    lines = [",".join(["frame", "particle", *"xyz"[:dimensions]])]
    for frame in range(n_frames):
        for particle in range(n_particles):
            if (frame, particle) not in unseen:
                numbers = ",".join(f"{value:.4f}" for value in positions[frame, particle])
                lines.append(f"{frame},{particle},{numbers}")
    path.write_text("\n".join(lines) + "\n")
    return path


def wandering(
    n_frames: int = 6, n_sites: int = 8, dimensions: int = 3, *, seed: int = 0
) -> Coordinates:
    """Particles at random places, trembling more the higher their number."""
    rng = np.random.default_rng(seed)
    rest = rng.uniform(0.0, 10.0, (n_sites, dimensions))
    strength = np.linspace(0.05, 0.5, n_sites)[:, None]
    return rest + strength * rng.normal(size=(n_frames, n_sites, dimensions))
