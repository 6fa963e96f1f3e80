"""Systems of the golden files as plain arrays: from seeds, or read by other libraries.

Nothing here uses the package under test. Each function of `SYSTEMS` returns a `Plain`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Coordinates = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Strings = npt.NDArray[np.str_]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared" / "data"
SHIPPED = ROOT / "src" / "timme" / "data" / "files"

_MASSES = {"H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999, "P": 30.974, "S": 32.06}  # IUPAC


class Names(NamedTuple):
    """What is known of each atom."""

    names: Strings
    elements: Strings
    resnames: Strings
    resids: Ints
    chains: Strings

    def take(self, sites: Ints) -> Names:
        """Keep some of the atoms."""
        names, elements, resnames, resids, chains = self
        return Names(names[sites], elements[sites], resnames[sites], resids[sites], chains[sites])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plain:
    """One system as arrays: what an ensemble of sites is made of."""

    coordinates: Coordinates  # (snapshots, sites, dimensions), NaN where a site is not seen
    box: Floats | None = None  # (d,), (d, d) or (snapshots, d, d), row vectors; 0 is open
    bonds: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))
    atoms: Names | None = None
    weights: Floats | None = None  # (snapshots,)
    unit: str = ""
    gaps: bool = False

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return int(self.coordinates.shape[1])

    @property
    def masses(self) -> Floats:
        """Mass of each site, 1 where the element is unknown."""
        if self.atoms is None:
            return np.ones(self.n_sites)
        return np.array([_MASSES.get(element, 1.0) for element in self.atoms.elements.tolist()])

    def single(self) -> Plain:
        """Return the same in single precision."""
        return replace(self, coordinates=self.coordinates.astype(np.float32))

    def double(self) -> Plain:
        """Return the same in double precision."""
        return replace(self, coordinates=self.coordinates.astype(np.float64))

    def take(self, sites: Ints) -> Plain:
        """Return some of the sites, with the bonds between them."""
        place = np.full(self.n_sites, -1)
        place[sites] = np.arange(len(sites))
        bonds = place[self.bonds]
        atoms = None if self.atoms is None else self.atoms.take(sites)
        kept = bonds[(bonds >= 0).all(axis=1)]
        return replace(self, coordinates=self.coordinates[:, sites], bonds=kept, atoms=atoms)


# ---- generated -----------------------------------------------------------------------------------


def chain(n_links: int = 80, n_snapshots: int = 300) -> Plain:
    """Freely jointed chain of links of length 1, whose links turn by small steps."""
    rng = np.random.default_rng(1)
    links = rng.normal(size=(n_links, 3))
    steps = 0.15 * rng.normal(size=(n_snapshots, n_links, 3))
    turned = links / np.linalg.norm(links, axis=1, keepdims=True) + np.cumsum(steps, axis=0)
    turned /= np.linalg.norm(turned, axis=2, keepdims=True)
    joints = np.concatenate([np.zeros((n_snapshots, 1, 3)), np.cumsum(turned, axis=1)], axis=1)
    bonds = np.column_stack([np.arange(n_links), np.arange(1, n_links + 1)])
    return Plain(coordinates=joints, bonds=bonds)


def clusters(n_snapshots: int = 300, dimensions: int = 3) -> Plain:
    """Four clusters of 30 sites that drift apart in open space, each looser than the last."""
    rng = np.random.default_rng(2 + dimensions)
    owner = np.repeat(np.arange(4), 30)
    shape = (n_snapshots, 4, dimensions)
    centres = 20 * rng.random((1, 4, dimensions)) + np.cumsum(0.1 * rng.normal(size=shape), axis=0)
    rest = 2 * rng.normal(size=(120, dimensions))
    noise = rng.normal(size=(n_snapshots, 120, dimensions)) * (0.1 * 2.0**owner)[:, None]
    return Plain(coordinates=centres[:, owner] + rest + noise)


def in_box(box: Sequence[Any], dimensions: int = 3, n_snapshots: int = 300) -> Plain:
    """The four clusters, with every site put back into a periodic box (row vectors)."""
    open_space = clusters(n_snapshots, dimensions)
    vectors = np.array(box, np.float64)
    matrices = np.diag(vectors) if vectors.ndim == 1 else vectors
    periodic = np.linalg.norm(matrices, axis=1) > 0
    filled = matrices + np.diag(np.where(periodic, 0.0, 1.0))
    cells = np.floor(open_space.coordinates @ np.linalg.inv(filled)) * periodic
    return Plain(coordinates=open_space.coordinates - cells @ matrices, box=vectors)


def breathing() -> Plain:
    """The four clusters in a tilted box of which every snapshot has its own size."""
    made = in_box([[20, 0, 0], [6, 18, 0], [-4, 5, 19]])
    assert made.box is not None
    scale = 1 + 0.02 * np.sin(np.arange(len(made.coordinates)) / 10)
    coordinates = made.coordinates * scale[:, None, None]
    return Plain(coordinates=coordinates, box=made.box * scale[:, None, None])


def hinged(n_snapshots: int = 200) -> Plain:
    """Three rigid balls of 30 sites that turn on two hinges and tumble, each site trembling."""
    rng = np.random.default_rng(11)
    balls = rng.normal(size=(3, 30, 3))
    balls *= 6 * rng.random((3, 30, 1)) ** (1 / 3) / np.linalg.norm(balls, axis=2, keepdims=True)
    balls += np.array([[-11.0, 0, 0], [0, 0, 0], [11.0, 0, 0]])[:, None]
    time = np.arange(n_snapshots)
    angles = 0.4 * np.sin(time / 9), 0.3 * np.sin(time / 13 + 1)
    points = np.array([[-5.5, 0, 0], [5.5, 0, 0]])
    first = (balls[0] - points[0]) @ _turns(angles[0], np.array([0.0, 0.0, 1.0])) + points[0]
    third = (balls[2] - points[1]) @ _turns(angles[1], np.array([0.0, 0.6, 0.8])) + points[1]
    middle = np.broadcast_to(balls[1], first.shape)
    places = np.concatenate([first, middle, third], axis=1)
    tumbling = _turns(np.cumsum(0.1 * rng.normal(size=n_snapshots)), np.array([0.48, 0.6, 0.64]))
    return Plain(coordinates=places @ tumbling + 0.1 * rng.normal(size=places.shape), unit="Å")


def _turns(angles: Floats, axis: Floats) -> Floats:
    """Rotation matrices about an axis, for row vectors."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    turned: Floats = np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross)
    return np.swapaxes(turned, 1, 2)


def weighted(made: Plain) -> Plain:
    """Give snapshots weights, every seventh of them 0."""
    count = len(made.coordinates)
    weights = np.random.default_rng(3).random(count)
    weights[::7] = 0
    return replace(made, weights=weights)


def gapped(made: Plain) -> Plain:
    """Hide sites now and then; of the last cluster no site is seen for long."""
    rng = np.random.default_rng(4)
    count, n_sites, _ = made.coordinates.shape
    hidden = rng.random((count, n_sites)) < 0.2
    first = rng.integers(0, count // 2, n_sites - 90)
    time = np.arange(count)[:, None]
    hidden[:, 90:] |= (time < first) | (time > first + count // 3)
    coordinates = np.where(hidden[:, :, None], np.nan, made.coordinates)
    return replace(made, coordinates=coordinates, gaps=True)


def crowd(n_parties: int = 40, n_snapshots: int = 150) -> Plain:
    """People who cross a square in parties of one to five, and are seen while they are on it."""
    rng = np.random.default_rng(5)
    party = np.repeat(np.arange(n_parties), rng.integers(1, 6, n_parties))
    start = rng.uniform(-60, 60, n_parties)
    angle = rng.uniform(0, 2 * np.pi, n_parties)
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    across = along[:, ::-1] * [-1, 1] * rng.uniform(-10, 10, (n_parties, 1))
    wander = np.cumsum(0.05 * rng.normal(size=(n_snapshots, n_parties, 2)), axis=0)
    way = start + 0.8 * np.arange(n_snapshots)[:, None] - 60
    centres = way[:, :, None] * along + across + wander
    beside = rng.normal(size=(len(party), 2))
    sway = 0.1 * rng.normal(size=(n_snapshots, len(party), 2))
    places = np.round(centres[:, party] + beside + sway, 2)
    seen = (np.abs(places) < 30).all(axis=2)
    kept = np.flatnonzero(seen.sum(axis=0) >= 2)
    coordinates = np.where(seen[:, kept, None], places[:, kept], np.nan)
    return Plain(coordinates=coordinates, unit="m", gaps=True)


def cloud(n_sites: int = 150, n_snapshots: int = 70) -> Plain:
    """Points of ten positive coordinates in five groups that move together."""
    rng = np.random.default_rng(6)
    owner = np.repeat(np.arange(5), n_sites // 5)
    centres = 5 + np.cumsum(0.1 * rng.normal(size=(n_snapshots, 5, 10)), axis=0)
    places = centres[:, owner] + rng.normal(size=(n_sites, 10))
    return Plain(coordinates=np.abs(places + 0.05 * rng.normal(size=(n_snapshots, n_sites, 10))))


def coarse_cloud() -> Plain:
    """The same points with whole numbers as coordinates."""
    return Plain(coordinates=np.rint(cloud().coordinates))


def sphere_tracks(n_tracks: int = 60, n_snapshots: int = 120) -> Plain:
    """Latitude and longitude, in degrees, of six flocks that cross the date line."""
    rng = np.random.default_rng(7)
    owner = np.repeat(np.arange(6), n_tracks // 6)
    steps = rng.normal([0.0, 0.5], [0.2, 0.2], (n_snapshots, 6, 2))
    flocks = np.column_stack([rng.uniform(-50, 50, 6), rng.uniform(120, 170, 6)])
    places = (flocks + np.cumsum(steps, axis=0))[:, owner]
    places = places + rng.normal(size=(n_tracks, 2)) + 0.05 * rng.normal(size=places.shape)
    places[..., 0] = np.clip(places[..., 0], -89, 89)
    places[..., 1] = (places[..., 1] + 180) % 360 - 180
    return Plain(coordinates=places)


def aligned_errors(n_residues: int = 90) -> Floats:
    """Predicted aligned error of three domains: a square matrix that is not symmetric, in Å."""
    rng = np.random.default_rng(8)
    domain = np.repeat(np.arange(3), [40, 30, 20])
    apart = np.abs(np.subtract.outer(np.arange(n_residues), np.arange(n_residues)))
    level = np.where(domain[:, None] == domain, 1 + 0.05 * apart, 12 + 0.1 * apart)
    errors = np.round(level * rng.uniform(0.7, 1.3, level.shape), 1)
    np.fill_diagonal(errors, 0.2)
    return errors


def worst_errors() -> Floats:
    """The larger error of the two directions of each pair, as a symmetric matrix."""
    errors = aligned_errors()
    worst = np.maximum(errors, errors.T)
    np.fill_diagonal(worst, 0.0)
    return worst


# ---- read by other libraries ---------------------------------------------------------------------


@cache
def frozen_bonds() -> dict[str, Ints]:
    """Bonds of the systems whose files have none; see `golden.make`."""
    with np.load(HERE / "bonds.npz") as kept:
        return {name: kept[name].astype(np.int64) for name in kept.files}


def _bonds(name: str) -> Ints:
    return frozen_bonds().get(name, np.empty((0, 2), np.int64))


def ca(made: Plain) -> Plain:
    """Keep the Cα."""
    assert made.atoms is not None
    return made.take(np.flatnonzero(made.atoms.names == "CA"))


@cache
def barnase_nmr() -> Plain:
    """1bnr, all atoms of 20 models."""
    import gemmi

    models = gemmi.read_structure(str(SHARED / "nmr" / "1bnr.pdb"))
    places = [[atom.atom.pos.tolist() for atom in model.all()] for model in models]
    return Plain(
        coordinates=np.array(places),
        atoms=_names_of([(each.chain, each.residue, each.atom) for each in models[0].all()]),
        bonds=_bonds("1bnr"),
        unit="Å",
    )


def _names_of(atoms: Sequence[tuple[Any, Any, Any]]) -> Names:
    """Names of atoms of gemmi, each with its chain and residue."""
    return Names(
        names=np.array([atom.name for _, _, atom in atoms]),
        elements=np.array([atom.element.name for _, _, atom in atoms]),
        resnames=np.array([residue.name for _, residue, _ in atoms]),
        resids=np.array([residue.seqid.num for _, residue, _ in atoms], np.int64),
        chains=np.array([chain.name for chain, _, _ in atoms]),
    )


def _two_structures(one: str, other: str) -> Plain:
    """Atoms of chain A's polymer that two entries share, altloc A where there are several."""
    import gemmi

    found = []
    for entry in (one, other):
        structure = gemmi.read_structure(str(SHARED / "xray" / f"{entry}.pdb"))
        chosen = dict[tuple[Any, ...], tuple[Any, Any, Any]]()
        first = structure[0]["A"]
        for residue in first:
            if residue.het_flag != "A":
                continue
            for atom in residue:
                if atom.altloc in {"\0", "A"}:
                    key = (residue.seqid.num, residue.seqid.icode, residue.name, atom.name)
                    chosen[key] = (first, residue, atom)
        found.append((structure, chosen))
    shared = [key for key in found[0][1] if key in found[1][1]]
    places = [[chosen[key][2].pos.tolist() for key in shared] for _, chosen in found]
    return Plain(
        coordinates=np.array(places),
        atoms=_names_of([found[0][1][key] for key in shared]),
        bonds=_bonds(f"{one}-{other}"),
        unit="Å",
    )


@cache
def maltose_binding() -> Plain:
    """1omp and 1anf, chain A."""
    return _two_structures("1omp", "1anf")


@cache
def adenylate_xray() -> Plain:
    """4ake and 1ake, chain A."""
    return _two_structures("4ake", "1ake")


def _universe(topology: Path | str, trajectory: Path | str) -> tuple[Coordinates, Names, Ints]:
    """Coordinates, names and bonds by MDAnalysis, in single precision as its files have them."""
    import warnings

    import MDAnalysis as mda

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what these files leave out
        atoms = mda.Universe(str(topology)).atoms
        guessed = [str(name).lstrip("0123456789")[:1] for name in atoms.names]
        segments = [str(name) for name in atoms.segids]
        bonds = atoms.bonds.indices if hasattr(atoms, "bonds") else np.empty((0, 2))
    names = Names(
        names=np.array([str(name) for name in atoms.names]),
        elements=np.array(guessed),
        resnames=np.array([str(name) for name in atoms.resnames]),
        resids=np.array(atoms.resids, np.int64),
        chains=np.array(segments),
    )
    return (
        _frames(str(trajectory)),
        names,
        np.unique(np.sort(bonds.astype(np.int64), axis=1), axis=0),
    )


def _frames(path: str) -> Coordinates:
    """All frames of a DCD or XTC file in Å, without the index that MDAnalysis writes beside it."""
    from MDAnalysis.lib.formats.libdcd import DCDFile
    from MDAnalysis.lib.formats.libmdaxdr import XTCFile

    if path.endswith(".dcd"):
        with DCDFile(path) as file:
            return np.array(file.readframes().xyz, np.float32)
    with XTCFile(path) as file:
        return np.array([frame.x for frame in file], np.float32) * np.float32(10)


@cache
def adenylate_dims() -> Plain:
    """Adenylate kinase closing, all 3,341 atoms of 98 snapshots, bonds of the PSF file."""
    from MDAnalysisTests.datafiles import DCD, PSF

    coordinates, atoms, bonds = _universe(PSF, DCD)
    return Plain(coordinates=coordinates, atoms=atoms, bonds=bonds, unit="Å")


@cache
def barnase_md() -> Plain:
    """Barnase simulated in water, all atoms of 250 snapshots."""
    coordinates, atoms, _ = _universe(SHIPPED / "barnase_md.pdb", SHIPPED / "barnase_md.xtc")
    return Plain(coordinates=coordinates, atoms=atoms, bonds=_bonds("barnase-md"), unit="Å")


def _water_bonds(n_molecules: int) -> Ints:
    """Bonds of waters whose atoms are O, H, H."""
    oxygen = 3 * np.arange(n_molecules)
    bonds = np.concatenate([[oxygen, oxygen + 1], [oxygen, oxygen + 2]], axis=1).T
    return bonds[np.lexsort((bonds[:, 1], bonds[:, 0]))]


@cache
def water_box() -> Plain:
    """258 waters in a periodic box of 20 Å, as the file has them: molecules may be cut."""
    folder = SHARED / "water"
    coordinates, atoms, _ = _universe(
        folder / "tip3p_300K_1ATM.pdb", folder / "tip3p_300K_1ATM.xtc"
    )
    bonds = _water_bonds(coordinates.shape[1] // 3)
    box = np.full(3, 20.0)
    return Plain(coordinates=coordinates, atoms=atoms, bonds=bonds, box=box, unit="Å")


@cache
def water_drop() -> Plain:
    """Oxygens of a drop of 1,000 waters in open space, 200 snapshots."""
    coordinates, atoms, _ = _universe(SHIPPED / "water_drop.pdb", SHIPPED / "water_drop.xtc")
    return Plain(coordinates=coordinates, atoms=atoms, unit="Å")


@cache
def water_drop_dense() -> Plain:
    """All atoms of the drop, 100 snapshots."""
    stem = SHIPPED / "water_drop_dense"
    coordinates, atoms, _ = _universe(stem.with_suffix(".pdb"), stem.with_suffix(".xtc"))
    bonds = _water_bonds(coordinates.shape[1] // 3)
    return Plain(coordinates=coordinates, atoms=atoms, bonds=bonds, unit="Å")


@cache
def spheres(name: str = "spheres") -> Plain:
    """991 spheres between two walls, 46 snapshots; periodic along the walls."""
    with np.load(SHIPPED / f"{name}.npz") as kept:
        return Plain(coordinates=kept["positions"], box=kept["box"], unit="µm")


def _tracks(path: Path, columns: list[str], particle: str = "particle") -> Coordinates:
    """Tracks as (snapshots, particles, dimensions), particles by number, NaN where not seen."""
    import pandas as pd

    table = pd.read_csv(path)
    frames = table["frame"].to_numpy() - table["frame"].min()
    tracks, place = np.unique(table[particle].to_numpy(), return_inverse=True)
    places = np.full((int(frames.max()) + 1, len(tracks), len(columns)), np.nan)
    places[frames.astype(np.int64), place] = table[columns].to_numpy(np.float64)
    return places


@cache
def latex() -> Plain:
    """1,505 tracks of latex beads over 300 frames, most of them gapped or short."""
    path = SHARED / "tracks" / "bulk_water_tracks.csv"
    return Plain(coordinates=_tracks(path, ["x", "y"]), gaps=True)


@cache
def people() -> Plain:
    """The shipped crowd: people who come and go."""
    return Plain(coordinates=_tracks(SHIPPED / "crowd.csv", ["x", "y"]), unit="m", gaps=True)


@cache
def ring_road() -> Plain:
    """Cars on a ring road of which each place is a length along it, periodic in one dimension."""
    import json

    length = json.loads((SHIPPED / "ring_road.json").read_text("utf-8"))["measured"]["length_m"]
    places = _tracks(SHIPPED / "ring_road.csv", ["along"])
    return Plain(coordinates=places, box=np.array([float(length)]), unit="m", gaps=True)


TILTED = [[20, 0, 0], [6, 18, 0], [-4, 5, 19]]
STEEP = [[20, 0, 0], [9.5, 18, 0], [9, -8.5, 17]]

SYSTEMS: dict[str, Callable[[], Plain]] = {
    "chain": chain,
    "open": clusters,
    "short": lambda: clusters(40),
    "straight": lambda: in_box([20, 18, 19]),
    "tilted": lambda: in_box(TILTED),
    "steep": lambda: in_box(STEEP),
    "slab": lambda: in_box([20, 18, 0]),
    "tilted-slab": lambda: in_box([[20, 0, 0], [6, 18, 0], [0, 0, 0]]),
    "plane": lambda: in_box([[20, 0], [7, 18]], 2),
    "ring": lambda: in_box([50], 1),
    "breathing": breathing,
    "weighted": lambda: weighted(clusters()),
    "weighted-tilted": lambda: weighted(in_box(TILTED)),
    "gapped": lambda: gapped(clusters()),
    "gapped-straight": lambda: gapped(in_box([20, 18, 19])),
    "gapped-tilted": lambda: gapped(in_box(TILTED)),
    "gapped-weighted": lambda: weighted(gapped(clusters())),
    "crowd": crowd,
    "cloud": cloud,
    "coarse-cloud": coarse_cloud,
    "sphere-tracks": sphere_tracks,
    "hinged": hinged,
    "hinged-weighted": lambda: weighted(hinged()),
    "1bnr": barnase_nmr,
    "1bnr-ca": lambda: ca(barnase_nmr()),
    "1omp-1anf": maltose_binding,
    "4ake-1ake": adenylate_xray,
    "1omp-1anf-ca": lambda: ca(maltose_binding()),
    "4ake-1ake-ca": lambda: ca(adenylate_xray()),
    "adk": adenylate_dims,
    "adk-ca": lambda: ca(adenylate_dims()),
    "barnase-md": barnase_md,
    "barnase-md-ca": lambda: ca(barnase_md()),
    "water-box": water_box,
    "water-drop": water_drop,
    "water-drop-dense": water_drop_dense,
    "spheres": spheres,
    "spheres-fluid": lambda: spheres("spheres_fluid"),
    "latex": latex,
    "people": people,
    "ring-road": ring_road,
}
