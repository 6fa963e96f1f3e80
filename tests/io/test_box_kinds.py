"""Reference: σ of files of every format and kind of box, against brute force over all images."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import naive
from tests.golden.built_files import dump_text, gro_text, xyz_text
from tests.io.builders import line
from timme import fluctuations, objects, pairs
from timme.ensemble import Ensemble
from timme.io import read

Floats = np.ndarray[Any, np.dtype[np.float64]]
N_FRAMES, N_SITES = 6, 12

STRAIGHT, TILTED = np.diag([20.0, 22, 24]), np.array([[20.0, 0, 0], [7, 21, 0], [-5, 4, 22]])
GROWING = np.array([(1 + 0.02 * k) * TILTED for k in range(N_FRAMES)])
KINDS = {
    "orthorhombic": np.tile(STRAIGHT, (N_FRAMES, 1, 1)),
    "triclinic": np.tile(TILTED, (N_FRAMES, 1, 1)),
    "changing": GROWING,
    "slab": np.tile(np.diag([20.0, 22, 0]), (N_FRAMES, 1, 1)),
    "none": np.zeros((N_FRAMES, 3, 3)),
    "dummy": np.tile(np.eye(3), (N_FRAMES, 1, 1)),
}


def positions(boxes: Floats) -> Floats:
    """Walks on the grid of GRO files, each atom in any image where there is a box."""
    rng = np.random.default_rng(1)
    start = rng.uniform(0, 20, (N_SITES, 3))
    walk = start + 0.6 * rng.normal(size=(N_FRAMES, N_SITES, 3)).cumsum(axis=0)
    if boxes.max() > 1.5:
        walk = walk + rng.integers(-1, 2, walk.shape) @ boxes
    return np.round(walk, 2)


def write(path: Path, places: Floats, boxes: Floats) -> None:
    names, box = ["P"] * N_SITES, boxes / 10
    tilts = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    if path.suffix == ".gro":
        each = [" ".join(f"{one[at]:.6f}" for at in tilts) for one in box]
        texts = [gro_text(p[None], b) for p, b in zip(places, each, strict=True)]
    elif path.suffix == ".xyz":
        pbc = " ".join("FT"[int(row.any())] for row in boxes[0])
        titles = [f'Lattice="{" ".join(map(str, b.ravel()))}" pbc="{pbc}"' for b in boxes]
        texts = [xyz_text(p[None], t, names) for p, t in zip(places, titles, strict=True)]
    else:
        filled = [np.where(np.eye(3) * (b == 0), 90.0, b) for b in boxes]
        bounds = " ".join("fp"[int(row.any())] * 2 for row in boxes[0])
        texts = [
            dump_text(p[None], box=b, bounds=bounds, step=k)
            for k, (p, b) in enumerate(zip(places, filled, strict=True))
        ]
    path.write_text("".join(texts).replace("id mol", "id group"))  # of single atoms


def write_pdb(path: Path, places: Floats, boxes: Floats) -> None:
    lines = list[str]()
    for frame, box in zip(places, boxes, strict=True):
        sides = "".join(f"{side:9.3f}" for side in np.diag(box))
        lines += ["MODEL"] + [f"CRYST1{sides}  90.00  90.00  90.00 P 1"] * bool(box.any())
        lines += [*(line("P", k, place) for k, place in enumerate(frame, start=1)), "ENDMDL"]
    path.write_text("\n".join([*lines, "END", ""]))


def write_h5md(path: Path, places: Floats, boxes: Floats) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_group("h5md")
        group = file.create_group("particles/all")
        group["position/value"], group["box/edges/value"] = places, boxes
        group["position/value"].attrs["unit"] = "Angstrom"
        periodic = ["periodic" if row.any() else "none" for row in boxes[0]]
        group["box"].attrs["boundary"] = periodic


def write_gsd(path: Path, places: Floats, boxes: Floats) -> None:
    import gsd.hoomd

    with gsd.hoomd.open(str(path), "w") as file:
        for place, box in zip(places, boxes, strict=True):
            made, (x, y, z) = gsd.hoomd.Frame(), np.diag(box)
            tilts = [box[1, 0] / (y or 1), box[2, 0] / (z or 1), box[2, 1] / (z or 1)]
            made.configuration.box, made.particles.N = [x, y, z, *tilts], N_SITES
            made.particles.position = place
            file.append(made)


def universe(places: Floats, boxes: Floats) -> Any:
    import MDAnalysis as mda
    from MDAnalysis.lib.mdamath import triclinic_box

    cells = np.array([triclinic_box(*box) for box in boxes]) if boxes.any() else None
    made = mda.Universe.empty(N_SITES, trajectory=True)
    made.load_new(places.astype(np.float32), order="fac", dimensions=cells)
    return made


def write_binary(path: Path, places: Floats, boxes: Floats) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe(places, boxes).atoms.write(str(path), frames="all")


def atoms_of_ase(places: Floats, boxes: Floats) -> Any:
    import ase

    frames = zip(places, boxes, strict=True)
    return [ase.Atoms(f"P{N_SITES}", p, cell=b, pbc=b.any(axis=1)) for p, b in frames]


def of_mdtraj(places: Floats, boxes: Floats) -> Any:
    import mdtraj

    made = mdtraj.Trajectory(places / 10, topology=None)
    made.unitcell_vectors = (boxes / 10).astype(np.float32) if boxes.any() else None
    return made


WRITERS = {
    **dict.fromkeys(("gro", "xyz", "dump"), write),
    **dict.fromkeys(("xtc", "trr", "dcd", "nc"), write_binary),
    "h5md": write_h5md,
    "gsd": write_gsd,
}
OBJECTS = {"universe": universe, "ase": atoms_of_ase, "mdtraj": of_mdtraj}
WITHOUT_SLABS = {"xtc", "trr", "dcd", "nc", "gro", "universe", "mdtraj"}  # or other open directions
CELLS = [
    *((name, kind) for name in (*WRITERS, *OBJECTS) for kind in KINDS),
    *(("array", kind) for kind in ("orthorhombic", "triclinic", "changing", "slab")),
    *(("pdb", kind) for kind in ("orthorhombic", "none", "dummy")),  # angles have 2 decimals
]
CELLS = [cell for cell in CELLS if cell != ("dump", "dummy")]
CELLS = [cell for cell in CELLS if cell[1] != "slab" or cell[0] not in WITHOUT_SLABS]


def ensemble_of(name: str, folder: Path, places: Floats, boxes: Floats) -> Ensemble:
    path = folder / f"a.{name}"
    if name in OBJECTS:
        return read(OBJECTS[name](places, boxes), bonds="none")
    if name == "array":
        return read(places, box=boxes)
    if name == "pdb":
        topology = folder / "top.gro"
        write(topology, places[:1], boxes[:1])
        write_pdb(path, places, boxes)
        return read(topology, path, bonds="none")
    WRITERS[name](path, places, boxes)
    return read(path, bonds="none", unit=None if name in {"gro", "xtc", "trr"} else "Å")


@pytest.mark.filterwarnings("ignore:.*half the periodic box:UserWarning")
@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_sigma_is_that_of_brute_force_over_images(name: str, kind: str, tmp_path: Path) -> None:
    boxes = KINDS[kind]
    places = positions(boxes)
    ensemble = ensemble_of(name, tmp_path, places, boxes)
    if kind == "dummy" and name != "pdb":  # cells of 1 Å are none there, without a note
        assert any("counts as none" in note for note in ensemble.notes)
    sites = objects.points(ensemble)
    found = fluctuations.measure(sites, pairs.all(sites))
    true = boxes if boxes.max() > 1.5 else [None] * N_FRAMES
    for (one, other), sigma in zip(found.pairs.tolist(), found.sigma.tolist(), strict=True):
        far = [
            naive.distance(place[one], place[other], box)
            for place, box in zip(places, true, strict=True)
        ]
        assert sigma * (10 if name == "mdtraj" else 1) == pytest.approx(naive.sigma(far), abs=1e-5)
