"""The corpus of files: what is read, and what is noted of what was read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden import load_json
from tests.golden.digests import digest, without_folders
from tests.golden.systems import SHARED, SHIPPED, TILTED, breathing, cloud, gapped, in_box, weighted

_MOST_SUMMED = 3_000_000  # coordinates of which all snapshots are summed
_SAMPLES = 5  # sites of which the coordinates are stored


@dataclass(frozen=True, slots=True)
class Entry:
    """Files that are read together, and the options of `timme.read`."""

    source: Any  # a path, an array, or a function that makes an object of another library
    trajectories: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def entries(built: Path) -> dict[str, Entry]:
    """List what is read, by name; `built` is the folder of the files that were written for it."""
    found = dict(_of_mdanalysis())
    found |= {f"object/{name}": entry for name, entry in _objects(built).items()}
    found |= {f"shared/{name}": entry for name, entry in _shared().items()}
    found |= {f"built/{name}": entry for name, entry in _built(built).items()}
    return found


def _of_mdanalysis() -> Iterator[tuple[str, Entry]]:
    from MDAnalysisTests import datafiles

    def path(name: str) -> str:
        return str(getattr(datafiles, name))

    for title in load_json("corpus"):  # a file by itself, or a topology with trajectories
        names = title.split()
        if all(hasattr(datafiles, name) for name in names):
            yield title, Entry(path(names[0]), tuple(map(path, names[1:])))
    dims, chain = ("PSF", "DCD"), ("LAMMPS_chain", "LAMMPSDUMP_chain1")
    solvated, multiple = ("GRO", "XTC"), ("PDB_multiframe",)
    for title, names, options in (
        ("PSF DCD, every tenth", dims, {"start": 5, "stop": 90, "step": 10}),
        ("PSF DCD, times", dims, {"start": "10ps", "stop": "50ps"}),
        ("PSF DCD, Cα", dims, {"select": "ca"}),
        ("PSF DCD, chosen", dims, {"select": "backbone and resid 10:20"}),
        ("PSF DCD, indices", dims, {"select": [5, 3, 100]}),
        ("PSF DCD, no bonds", dims, {"bonds": "none"}),
        ("PSF DCD, guessed bonds", dims, {"bonds": "guess"}),
        ("PSF DCD, box", dims, {"box": [80.0, 90.0, 100.0]}),
        ("GRO XTC, protein", solvated, {"select": "protein"}),
        ("GRO XTC, protein unwrapped", solvated, {"select": "protein", "unwrap": True}),
        ("GRO XTC, open", solvated, {"select": "protein", "box": False}),
        ("GRO XTC, heavy atoms of every third", solvated, {"select": "heavy", "step": 3}),
        ("chain unwrapped", chain, {"unwrap": True}),
        ("chain open", chain, {"box": False}),
        ("images unwrapped", ("LAMMPS_image_vf", "LAMMPSDUMP_image_vf"), {"unwrap": True}),
        ("dump in nm", ("LAMMPSDUMP",), {"unit": "nm"}),
        ("models 3 to 8", multiple, {"start": 2, "stop": 8}),
        ("models in a cell", multiple, {"box": "50,50,50", "step": 5}),
        ("common atoms", ("PDB_small", "PDB_xsmall"), {"common_atoms": True}),
        ("weights", multiple, {"weights": [*range(1, 25)], "start": 0, "stop": 24}),
        ("unwrapped XTC of a membrane", ("GRO_MEMPROT", "XTC_MEMPROT"), {"unwrap": True}),
        ("spheres unwrapped", ("GSD",), {"unwrap": True}),
    ):
        yield title, Entry(path(names[0]), tuple(map(path, names[1:])), options)


def _shared() -> dict[str, Entry]:
    """Files of ``../shared/data`` and those that come with the package."""
    xray = {
        name: str(SHARED / "xray" / f"{name}.pdb") for name in "1a2p 1ake 1anf 1omp 4ake".split()
    }
    water = str(SHARED / "water" / "tip3p_300K_1ATM.pdb")
    frames = (str(SHARED / "water" / "tip3p_300K_1ATM.xtc"),)
    found = {
        "1bnr": Entry(str(SHARED / "nmr" / "1bnr.pdb")),
        "1d3z": Entry(str(SHARED / "nmr" / "1d3z.pdb")),
        **{name: Entry(path) for name, path in xray.items()},
        "1omp 1anf": Entry(xray["1omp"], (xray["1anf"],)),
        "1omp 1anf, common": Entry(xray["1omp"], (xray["1anf"],), {"common_atoms": True}),
        "4ake 1ake, common": Entry(xray["4ake"], (xray["1ake"],), {"common_atoms": True}),
        "water": Entry(water, frames),
        "water unwrapped": Entry(water, frames, {"unwrap": True}),
        "water open": Entry(water, frames, {"box": False}),
        "water oxygens": Entry(water, frames, {"select": "water-oxygen"}),
        "water oxygens unwrapped": Entry(
            water, frames, {"select": "water-oxygen", "unwrap": True, "step": 4}
        ),
        "water times": Entry(water, frames, {"start": "100ps", "stop": "0.2ns", "step": "10ps"}),
        "latex": Entry(str(SHARED / "tracks" / "bulk_water_tracks.csv")),
        "latex in µm": Entry(
            str(SHARED / "tracks" / "bulk_water_tracks.csv"), (), {"unit": "µm", "stop": 100}
        ),
        "crowd": Entry(str(SHIPPED / "crowd.csv")),
        "ring road": Entry(
            str(SHIPPED / "ring_road.csv"),
            (),
            {"columns": ("frame", "particle", "along"), "box": [2950.0], "unit": "m"},
        ),
    }
    for name in "barnase_md barnase_md_dense water_drop water_drop_dense".split():
        stem = SHIPPED / name
        found[name] = Entry(f"{stem}.pdb", (f"{stem}.xtc",))
    return found


def _built(folder: Path) -> dict[str, Entry]:
    """Files that were written for the corpus, alone and with a topology."""
    found = {}
    topology, boxed = str(folder / "topology.pdb"), str(folder / "topology-cell.pdb")
    for path in sorted(folder.iterdir()):
        name, text = path.name, str(path)
        if name.startswith(("topology", "other-")):
            continue
        bare = path.suffix in {".xtc", ".trr", ".dcd", ".nc"}
        if not bare:
            found[name] = Entry(text)
        if bare or path.suffix in {".gro", ".xyz", ".dump", ".lammpstrj", ".h5md"}:
            found[f"{name} with topology"] = Entry(topology, (text,))
        if name.startswith("cut.") and path.suffix != ".csv":
            options = {"allow_truncated": True}
            found[f"{name} in part"] = Entry(topology, (text,), options)
        if name.startswith(("wrapped", "tilted", "images", "lattice", "scaled", "reset")):
            first, others = (topology, (text,)) if bare else (text, ())
            found[f"{name} unwrapped"] = Entry(first, others, {"unwrap": True})
            found[f"{name} open"] = Entry(first, others, {"box": False})
    one, gro = str(folder / "plain.xtc"), str(folder / "plain.gro")
    found |= {
        "other topology": Entry(str(folder / "other-topology.pdb"), (one,)),
        "topology with a cell": Entry(boxed, (one,)),
        "two trajectories": Entry(topology, (one, str(folder / "plain.dcd"))),
        "the same twice": Entry(topology, (one, one)),
        "every second": Entry(topology, (one,), {"step": 2}),
        "from 20 ps": Entry(gro, (), {"start": "20ps"}),
        "common atoms": Entry(str(folder / "models-fewer.pdb"), (), {"common_atoms": True}),
        "gaps": Entry(str(folder / "gaps.npy"), (), {"gaps": True}),
        "box of an array": Entry(str(folder / "plain.npy"), (), {"box": [20.0, 20.0, 0.0]}),
        "unwrapped array": Entry(
            str(folder / "plain.npy"), (), {"box": [40.0, 40.0, 40.0], "unwrap": True}
        ),
        "small box": Entry(topology, (one,), {"box": [3.0, 3.0, 3.0]}),
        "columns by number": Entry(str(folder / "bare.csv"), (), {"columns": "1,2,3,4"}),
        "columns by name": Entry(str(folder / "no-names.csv"), (), {"columns": "a,b,c,d"}),
        "particles in µm": Entry(str(folder / "particles.xyz"), (), {"unit": "µm"}),
        "dump in Å": Entry(str(folder / "images.dump"), (), {"unit": "Å"}),
        "no such file": Entry(str(folder / "none.pdb")),
    }
    return found


def _objects(folder: Path) -> dict[str, Entry]:
    """Objects of other libraries, made when they are needed, and arrays."""
    from MDAnalysisTests import datafiles

    def universe(*names: str) -> Any:
        import MDAnalysis as mda

        return mda.Universe(*(str(getattr(datafiles, name)) for name in names))

    def protein() -> Any:
        return universe("PSF", "DCD").select_atoms("name CA")

    def centred() -> Any:
        from MDAnalysis.transformations import translate

        made = universe("PSF", "DCD")
        made.trajectory.add_transformations(translate([10.0, 0.0, 0.0]))
        return made

    def of_mdtraj() -> Any:
        import mdtraj

        water = SHARED / "water" / "tip3p_300K_1ATM"
        return mdtraj.load(f"{water}.xtc", top=f"{water}.pdb")[:20]

    def of_ase() -> Any:
        import ase.io

        return ase.io.read(folder / "tilted.extxyz", ":", format="extxyz")

    def of_pandas() -> Any:
        import pandas as pd

        return pd.read_csv(folder / "trackpy.csv")

    def of_polars() -> Any:
        import polars as pl

        return pl.read_csv(folder / "trackpy.csv")

    cell, tilted = in_box([20, 18, 19]), in_box(TILTED)
    moving: dict[str, Any] = {"unwrap": True}
    rods = [(site, site + 1) for site in range(0, 120, 2)]
    return {
        "universe": Entry(lambda: universe("PSF", "DCD")),
        "universe of GRO XTC, protein": Entry(
            lambda: universe("GRO", "XTC"), (), {"select": "protein"}
        ),
        "atom group": Entry(protein),
        "universe with a transformation": Entry(centred),
        "mdtraj": Entry(of_mdtraj),
        "mdtraj unwrapped": Entry(of_mdtraj, (), moving),
        "ase": Entry(of_ase),
        "pandas": Entry(of_pandas),
        "polars": Entry(of_polars),
        "array": Entry(cell.coordinates),
        "array in a box": Entry(cell.coordinates, (), {"box": cell.box}),
        "array in a tilted box": Entry(tilted.coordinates, (), {"box": TILTED}),
        "array unwrapped": Entry(cell.coordinates, (), {"box": cell.box} | moving),
        "tilted array unwrapped": Entry(tilted.coordinates, (), {"box": TILTED} | moving),
        "tilted array, every third": Entry(
            tilted.coordinates, (), {"box": TILTED, "step": 3, "start": 10} | moving
        ),
        "array with bonds": Entry(cell.coordinates, (), {"box": cell.box, "bonds": rods}),
        "breathing array": Entry(breathing().coordinates, (), {"box": breathing().box} | moving),
        "array with gaps": Entry(gapped(cell).coordinates, (), {"gaps": True, "box": cell.box}),
        "array with weights": Entry(cell.coordinates, (), {"weights": weighted(cell).weights}),
        "array in single precision": Entry(cell.single().coordinates, (), {"box": cell.box}),
        "cloud": Entry(cloud().coordinates),
    }


# ---- what is noted -------------------------------------------------------------------------------


def describe(ensemble: Any) -> dict[str, Any]:
    """What is noted of an ensemble, by its public attributes."""
    atoms, last = ensemble.atoms, ensemble.n_snapshots - 1
    molecules = None if ensemble.images is None else ensemble.images.molecules
    noted = {
        "shape": [ensemble.n_snapshots, ensemble.n_sites, ensemble.n_dimensions],
        "unit": ensemble.unit,
        "rounding": float(f"{ensemble.rounding:.6g}"),
        "gaps": bool(ensemble.gaps),
        "independent": bool(ensemble.independent),
        "replicas": list(ensemble.replicas),
        "weights": None if ensemble.weights is None else digest(ensemble.weights),
        "site_atoms": digest(ensemble.site_atoms),
        "n_atoms": len(atoms),
        **{
            name: digest(np.asarray(getattr(atoms, name)))
            for name in "names elements resnames resids icodes chains".split()
        },
        "mass": float(f"{np.sum(atoms.masses):.6f}"),
        "first_atoms": [atoms.label(number) for number in range(min(2, len(atoms)))],
        "last_atom": atoms.label(len(atoms) - 1),
        "n_bonds": len(atoms.bonds),
        "bonds": digest(np.asarray(atoms.bonds)),
        "molecules": _canonical(ensemble.molecules),
        "whole_molecules": _canonical(molecules),
        "numbers": None if ensemble.numbers is None else digest(ensemble.numbers),
        "snapshots": {
            str(number): _snapshot(*ensemble.snapshot(number))
            for number in sorted({0, last // 2, last})
        },
    }
    if ensemble.n_snapshots * ensemble.n_sites * ensemble.n_dimensions <= _MOST_SUMMED:
        noted["sum"] = float(
            sum(np.nansum(block.coordinates, dtype=np.float64) for block in ensemble.blocks())
        )
    return noted


def _snapshot(coordinates: npt.NDArray[Any], box: npt.NDArray[Any] | None) -> dict[str, Any]:
    """Digest, sums and a few coordinates of one snapshot."""
    wide = coordinates.astype(np.float64)
    places = np.unique(np.linspace(0, len(wide) - 1, _SAMPLES).astype(np.int64))
    return {
        "dtype": str(coordinates.dtype),
        "digest": digest(wide),
        "sums": np.nansum(wide, axis=0).tolist(),
        "squares": float(np.nansum(wide**2)),
        "seen": int(np.isfinite(wide).all(axis=1).sum()),
        "sample": [[None if np.isnan(x) else x for x in wide[place].tolist()] for place in places],
        "box": None if box is None else np.asarray(box, np.float64).tolist(),
    }


def _canonical(labels: npt.NDArray[Any] | None) -> list[Any] | None:
    """Number of molecules and digest of who belongs to which, whatever their numbers."""
    if labels is None:
        return None
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return [len(first), digest(np.argsort(np.argsort(first))[inverse])]


def note(entry: Entry, read: Any) -> dict[str, Any]:
    """Read one entry by the function `read`; what is noted of it, or why it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are notes, too
        try:
            source, options = _made(entry.source), {k: _made(v) for k, v in entry.options.items()}
            ensemble = read(source, list(entry.trajectories), **options)
        except (ValueError, TypeError, OSError) as error:
            return {"error": _plain_text(error)}
        told = {"notes": [_plain_text(each) for each in ensemble.notes]}
        try:
            return describe(ensemble) | told
        except (ValueError, TypeError, OSError) as error:
            return {"later_error": _plain_text(error)} | told


def _made(value: Any) -> Any:
    """Make what is made when it is needed."""
    return value() if callable(value) else value


def _plain_text(message: object) -> str:
    return re.sub(r"timme-corpus-\w+", "", without_folders(str(message)))
