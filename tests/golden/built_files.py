"""Small files in many formats, written for the corpus from formulas and seeds."""

from __future__ import annotations

import bz2
import gzip
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tests.golden.systems import Floats, aligned_errors, worst_errors

N_FRAMES = 5
BOX = np.diag([30.0, 31.0, 32.0])
TILTED = np.array([[30.0, 0, 0], [7.0, 31, 0], [-5.0, 4.0, 32]])

Record = tuple[str, str, str, str, int, str, float, str]  # name, altloc, residue, chain, number, …
Model = list[tuple[Record, Floats]]


# ---- molecules -----------------------------------------------------------------------------------


def _record(name: str, residue: int, resname: str = "ALA", chain: str = "A") -> Record:
    return name, " ", resname, chain, residue, " ", 1.0, name[0]


def peptide(n_residues: int = 3, shift: float = 0.0, chain: str = "A") -> Model:
    """Alanines without hydrogens, in a row with bond lengths near real ones."""
    made: Model = []
    for number in range(n_residues):
        x, up = 3.8 * number + shift, 1.0 if number % 2 else -1.0
        places = {
            "N": (x, 0.0, 0.0),
            "CA": (x + 1.2, 0.8 * up, 0.0),
            "C": (x + 2.45, 0.4 * up, 0.0),
            "O": (x + 2.2, -0.45 * up, 0.85),
            "CB": (x + 1.2, 1.6 * up, -1.3),
        }
        made += [
            (_record(name, number + 1, chain=chain), np.array(place))
            for name, place in places.items()
        ]
    return made


def waters(n_molecules: int = 4, spacing: float = 4.0) -> Model:
    """Water molecules in a row."""
    made: Model = []
    for number in range(n_molecules):
        corner = np.array([spacing * number + 1.0, 1.0, 1.0])
        for name, offset in (("O", (0, 0, 0)), ("H1", (0.96, 0, 0)), ("H2", (-0.24, 0.93, 0))):
            made.append((_record(name, number + 1, "HOH"), corner + offset))
    return made


def moved(model: Model, number: int, scale: float = 0.1) -> Model:
    """Shake a model a little, each number in its own way."""
    rng = np.random.default_rng(number)
    return [(each, place + np.round(scale * rng.normal(size=3), 3)) for each, place in model]


def models(model: Model, count: int = 3) -> list[Model]:
    """Shaken models of the same atoms."""
    return [moved(model, number) for number in range(count)]


def pdb_line(record: Record, place: Floats, serial: str) -> str:
    """One ATOM record."""
    name, altloc, resname, chain, number, icode, occupancy, element = record
    padded = name if len(name) == 4 else f" {name}"
    x, y, z = place
    return (
        f"ATOM  {serial:>5} {padded:<4}{altloc}{resname:<4}{chain}{number:4d}{icode}   "
        f"{x:8.3f}{y:8.3f}{z:8.3f}{occupancy:6.2f}{0:6.2f}          {element:>2}  "
    )


def pdb_text(
    many: Iterable[Model], *, head: Sequence[str] = (), end: str = "ENDMDL", model: bool = True
) -> str:
    """PDB text of models."""
    lines = list(head)
    for number, atoms in enumerate(many, start=1):
        lines += [f"MODEL     {number:4d}"] * model
        lines += [pdb_line(*atom, str(serial)) for serial, atom in enumerate(atoms, start=1)]
        lines += [end] * bool(end)
    return "\n".join([*lines, "END", ""])


def mmcif_text(many: Iterable[Model], leave_out: Sequence[str] = ()) -> str:
    """Text of an mmCIF file with the columns of atoms alone."""
    columns = (
        "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
        "label_seq_id auth_asym_id auth_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z "
        "occupancy B_iso_or_equiv pdbx_PDB_model_num"
    ).split()
    rows = []
    for number, atoms in enumerate(many, start=1):
        for serial, ((name, alt, resname, chain, resid, code, share, element), place) in enumerate(
            atoms, start=1
        ):
            values = [
                *("ATOM", serial, element, name, alt.strip() or ".", resname, chain, resid),
                *(chain, resid, code.strip() or "?", *(f"{x:.3f}" for x in place)),
                *(share, 0.0, number),
            ]
            named = dict(zip(columns, values, strict=True))
            rows.append(" ".join(str(named[key]) for key in columns if key not in leave_out))
    kept = [f"_atom_site.{key}" for key in columns if key not in leave_out]
    return "\n".join(["data_made", "loop_", *kept, *rows, "#", ""])


def alternates() -> Model:
    """A peptide whose second residue has two places, the second of them likelier."""
    made: Model = []
    for record, place in peptide():
        if record[4] != 2:
            made.append((record, place))
            continue
        for altloc, occupancy, shift in (("A", 0.4, 0.0), ("B", 0.6, 0.5)):
            named = (record[0], altloc, *record[2:6], occupancy, record[7])
            made.append((named, place + np.array([0.0, shift, 0.0])))
    return made


def _structures(folder: Path) -> None:
    """PDB and mmCIF files."""
    rows = peptide()
    two = [*peptide(), *peptide(2, shift=20.0, chain="B")]
    crystal = "CRYST1   30.000   31.000   32.000  90.00  90.00  90.00 P 1           1"
    nameless = [((*each[:3], " ", *each[4:]), place) for each, place in rows]
    repeated = [*rows, *peptide(2, shift=20.0)]
    inserted = [((*each[:4], 1, " AB"[each[4] - 1], *each[6:]), place) for each, place in rows]
    shuffled = [rows, [moved(rows, 1)[place] for place in np.random.default_rng(0).permutation(15)]]
    fewer = [rows, moved(rows, 1)[:-1]]
    text = pdb_text(models(rows))
    texts = {
        "models.pdb": text,
        "models-cell.pdb": pdb_text(models(rows), head=[crystal]),
        "models-end.pdb": pdb_text(models(rows), end="END", model=False),
        "models-no-endmdl.pdb": pdb_text(models(rows), end=""),
        "models-two-chains.pdb": pdb_text(models(two)),
        "models-no-chain.pdb": pdb_text(models(nameless)),
        "models-repeated-chain.pdb": pdb_text(models(repeated)),
        "models-insertions.pdb": pdb_text(models(inserted)),
        "models-shuffled.pdb": pdb_text(shuffled),
        "models-fewer.pdb": pdb_text(fewer),
        "models-altlocs.pdb": pdb_text(models(alternates())),
        "models-cut.pdb": text[: text.rindex("ATOM") + 40],
        "models-bad-number.pdb": text[:51] + "x" + text[52:],
        "waters.pdb": pdb_text(models(waters())),
        "piled.pdb": pdb_text([[atom for each in models(rows, 4) for atom in each]]),
        "nanometres.pdb": pdb_text(
            [[(each, place / 10) for each, place in m] for m in models(rows)]
        ),
        "models.cif": mmcif_text(models(two)),
        "models-altlocs.cif": mmcif_text(models(alternates())),
        "models-few-columns.cif": mmcif_text(
            models(rows), ["label_alt_id", "pdbx_PDB_ins_code", "occupancy", "B_iso_or_equiv"]
        ),
        "models-shuffled.cif": mmcif_text(shuffled),
    }
    serials = ["99999", *(f"A{number:04d}" for number in range(14))]
    hybrid = [pdb_line(*atom, serial) for atom, serial in zip(rows, serials, strict=True)]
    texts["hybrid-serials.pdb"] = "\n".join(
        ["MODEL 1", *hybrid, "ENDMDL", "MODEL 2", *hybrid, "END", ""]
    )
    for name, content in texts.items():
        (folder / name).write_text(content)
    (folder / "models.pdb.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (folder / "models.pdb.bz2").write_bytes(bz2.compress(text.encode()))
    (folder / "topology.pdb").write_text(pdb_text([waters()]))
    (folder / "topology-cell.pdb").write_text(pdb_text([waters()], head=[crystal]))
    (folder / "other-topology.pdb").write_text(pdb_text([rows]))


# ---- trajectories --------------------------------------------------------------------------------


def places(n_frames: int = N_FRAMES) -> Floats:
    """Four waters that move as wholes, on the grid that every format keeps."""
    rest = np.array([place for _, place in waters()])
    steps = np.random.default_rng(9).normal(scale=1.5, size=(n_frames, 4, 3)).cumsum(axis=0)
    moving: Floats = np.round(rest + 5 + np.repeat(steps, 3, axis=1), 2)
    return moving


def wrapped(box: Floats = BOX) -> tuple[Floats, Floats]:
    """The same atoms each put into a box, and the number of the image of each."""
    whole = places() + np.array([-3.0, 26.0, 27.0])
    images: Floats = np.floor(whole @ np.linalg.inv(box))
    inside: Floats = np.round(whole - images @ box, 2)
    return inside, images


def gro_text(frames: Floats, box: str = "3.0 3.1 3.2", times: Sequence[float] | None = None) -> str:
    """GRO text of the waters."""
    lines = []
    for number, frame in enumerate(frames):
        time = "" if times is None else f" t= {times[number]:.5f}"
        lines += [f"waters{time}", f"{len(frame):5d}"]
        for serial, ((record, _), place) in enumerate(zip(waters(), frame, strict=True), start=1):
            columns = "".join(f"{x / 10:8.3f}" for x in place)
            lines.append(f"{record[4]:5d}{'SOL':<5}{record[0]:>5}{serial:5d}{columns}")
        lines.append(box)
    return "\n".join([*lines, ""])


def xyz_text(frames: Floats, title: str = "", names: Sequence[str] | None = None) -> str:
    """XYZ text; names are the elements of waters unless given."""
    named = names or ["O", "H", "H"] * (frames.shape[1] // 3)
    lines = []
    for frame in frames:
        lines += [str(len(frame)), title]
        lines += [
            f"{name} {x:.3f} {y:.3f} {z:.3f}" for name, (x, y, z) in zip(named, frame, strict=True)
        ]
    return "\n".join([*lines, ""])


def dump_text(
    frames: Floats,
    *,
    columns: str = "x y z",
    box: Floats = BOX,
    bounds: str = "pp pp pp",
    images: Floats | None = None,
    head: Sequence[str] = (),
    shuffled: bool = False,
    step: int = 10,
) -> str:
    """Text of a LAMMPS dump of waters, its origin at (-5, 2, 0.5)."""
    origin = np.array([-5.0, 2.0, 0.5])
    xy, xz, yz = box[1, 0], box[2, 0], box[2, 1]
    low, high = origin.copy(), origin + np.diag(box)
    low[:2] += min(0, xy, xz, xy + xz), min(0, yz)
    high[:2] += max(0, xy, xz, xy + xz), max(0, yz)
    tilts = [xy, xz, yz] if any((xy, xz, yz)) else []
    lines = []
    for number, frame in enumerate(frames):
        lines += [*head, "ITEM: TIMESTEP", str(step * number)]
        lines += ["ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += [f"ITEM: BOX BOUNDS {'xy xz yz ' if tilts else ''}{bounds}"]
        lines += [
            " ".join(map(str, [low[axis], high[axis], *tilts[axis : axis + 1]]))
            for axis in range(3)
        ]
        told = frame @ np.linalg.inv(box) if columns.startswith("xs") else frame + origin
        extra = " ix iy iz" if images is not None else ""
        lines += [f"ITEM: ATOMS id mol type {columns}{extra}"]
        order = np.arange(len(frame))
        if shuffled:
            order = np.random.default_rng(number).permutation(order)
        for atom in order.tolist():
            place = " ".join(f"{x:.6f}" for x in told[atom])
            counts = () if images is None else images[number, atom].tolist()
            image = "".join(f" {x:.0f}" for x in counts)
            lines.append(f"{10 * atom + 1} {atom // 3 + 1} {1 + (atom % 3 > 0)} {place}{image}")
    return "\n".join([*lines, ""])


def data_text(style: str = "full") -> str:
    """LAMMPS data file of the waters, with bonds."""
    frame = places(1)[0]
    lines = ["waters", "", "12 atoms", "8 bonds", "2 atom types", "1 bond types", ""]
    lines += [f"-5 {25 + axis} {name}lo {name}hi" for axis, name in enumerate("xyz")]
    lines += ["", "Masses", "", "1 15.999", "2 1.008", ""]
    lines += [f"Atoms # {style}".removesuffix(" # "), ""]
    for atom, place in enumerate(frame):
        kind = 1 + (atom % 3 > 0)
        charge = {"full": " 0.0", "charge": " 0.0"}.get(style, "")
        molecule = "" if style in {"atomic", "charge"} else f" {atom // 3 + 1}"
        words = " ".join(f"{x:.3f}" for x in place)
        lines.append(f"{10 * atom + 1}{molecule} {kind}{charge} {words}")
    lines += ["", "Bonds", ""]
    pairs = [(30 * number + 1, 30 * number + 10 * k + 1) for number in range(4) for k in (1, 2)]
    lines += [f"{n} 1 {one} {other}" for n, (one, other) in enumerate(pairs, start=1)]
    return "\n".join([*lines, ""])


def _texts(folder: Path) -> None:
    """GRO, XYZ and LAMMPS files."""
    inside, images = wrapped()
    tilted, tilted_images = wrapped(TILTED)
    lattice = 'Lattice="30 0 0 0 31 0 0 0 32"'
    tilt = 'Lattice="30 0 0 7 31 0 -5 4 32" Properties=species:S:1:pos:R:3'
    vectors = "3.0 3.1 3.2 0.0 0.0 0.7 0.0 -0.5 0.4"
    gro = gro_text(places(), times=range(0, 50, 10))
    xyz = xyz_text(places())
    dump = dump_text(inside, images=images)
    texts = {
        "plain.gro": gro,
        "wrapped.gro": gro_text(inside),
        "tilted.gro": gro_text(tilted, vectors),
        "cut.gro": gro[: int(0.9 * len(gro))],
        "repeated.gro": gro_text(places()[[0, 1, 2, 2, 3, 4]], times=[0, 10, 20, 20, 30, 40]),
        "runs.gro": gro_text(places()[[0, 1, 2, 0, 3, 4]], times=[0, 10, 20, 0, 10, 20]),
        "plain.xyz": xyz,
        "particles.xyz": xyz_text(places(), names=["P1"] * 12),
        "lattice.xyz": xyz_text(inside, lattice),
        "slab.xyz": xyz_text(places(), f'{lattice} pbc="T T F"'),
        "tilted.extxyz": xyz_text(tilted, tilt),
        "cut.xyz": xyz[: int(0.9 * len(xyz))],
        "plain.dump": dump_text(places()),
        "scaled.dump": dump_text(tilted, columns="xs ys zs", box=TILTED),
        "unwrapped.dump": dump_text(places(), columns="xu yu zu"),
        "images.dump": dump,
        "tilted-images.dump": dump_text(tilted, box=TILTED, images=tilted_images, shuffled=True),
        "slab.dump": dump_text(places(), bounds="pp pp ff"),
        "lj.dump": dump_text(places(), head=["ITEM: UNITS", "lj"]),
        "shuffled.lammpstrj": dump_text(places(), shuffled=True),
        "cut.dump": dump[: int(0.9 * len(dump))],
        "reset.dump": dump_text(
            inside, images=np.where(np.arange(5)[:, None, None] < 2, images, 0)
        ),
        "full.data": data_text(),
        "atomic.data": data_text("atomic"),
        "charge.data": data_text("charge"),
        "unnamed.data": data_text("full").replace("Atoms # full", "Atoms"),
    }
    for name, content in texts.items():
        (folder / name).write_text(content)
    (folder / "plain.xyz.gz").write_bytes(gzip.compress(xyz.encode(), mtime=0))
    np.save(folder / "plain.npy", places())
    np.save(folder / "gaps.npy", np.where(np.arange(12)[None, :, None] == 3, np.nan, places()))


def _binaries(folder: Path) -> None:
    """XTC, TRR, DCD, NetCDF and H5MD by MDAnalysis, GSD by its own library."""
    import MDAnalysis as mda
    from MDAnalysis.lib.mdamath import triclinic_box

    inside, images = wrapped()
    universe = mda.Universe.empty(
        12, trajectory=True, n_residues=4, atom_resindex=np.repeat(range(4), 3)
    )
    universe.add_TopologyAttr("names", ["O", "H1", "H2"] * 4)
    universe.add_TopologyAttr("masses", [16.0, 1.0, 1.0] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what these bare files leave out
        for name, frames, box in (
            ("plain", places(), None),
            ("wrapped", inside, triclinic_box(*BOX)),
            ("tilted", wrapped(TILTED)[0], triclinic_box(*TILTED)),
        ):
            boxes = None if box is None else np.tile(box, (len(frames), 1))
            universe.load_new(frames.astype(np.float32), order="fac", dt=10.0, dimensions=boxes)
            for suffix in ("xtc", "trr", "dcd", "nc"):
                with mda.Writer(str(folder / f"{name}.{suffix}"), n_atoms=12) as writer:
                    for _ in universe.trajectory:
                        writer.write(universe.atoms)
    for suffix in ("xtc", "trr", "dcd", "nc"):
        whole = (folder / f"plain.{suffix}").read_bytes()
        (folder / f"cut.{suffix}").write_bytes(whole[: int(0.9 * len(whole))])
    _gsd(folder / "images.gsd", inside, images)
    _h5md(folder / "images.h5md", inside, images)


def _gsd(path: Path, inside: Floats, images: Floats) -> None:
    import gsd.hoomd

    with gsd.hoomd.open(str(path), "w") as file:
        for step, (frame, image) in enumerate(zip(inside, images, strict=True)):
            made = gsd.hoomd.Frame()
            made.configuration.step = step
            made.configuration.box = [30, 31, 32, 0, 0, 0]
            made.particles.N = 12
            made.particles.types = ["A", "B"]
            made.particles.typeid = [0, 1, 1] * 4
            made.particles.position = frame - np.diag(BOX) / 2
            made.particles.image = image.astype(np.int32)
            made.bonds.N = 8
            made.bonds.types = ["bond"]
            made.bonds.typeid = [0] * 8
            made.bonds.group = [(3 * k, 3 * k + j) for k in range(4) for j in (1, 2)]
            file.append(made)


def _h5md(path: Path, inside: Floats, images: Floats) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
        group = file.create_group("particles/all")
        for name, values in (("position", inside), ("image", images.astype(np.int32))):
            group[f"{name}/value"] = values
            group[f"{name}/step"] = np.arange(len(values))
            group[f"{name}/time"] = 10.0 * np.arange(len(values))
        group["position/value"].attrs["unit"] = "Angstrom"
        group["position/time"].attrs["unit"] = "ps"
        box = group.create_group("box")
        box.attrs["dimension"] = 3
        box.attrs["boundary"] = ["periodic"] * 3
        box["edges/value"] = np.tile(np.diag(BOX), (len(inside), 1))


# ---- tables and matrices -------------------------------------------------------------------------


def tracks() -> list[tuple[int, int, float, float]]:
    """Rows of three particles over five frames, the third of them not always seen."""
    rng = np.random.default_rng(10)
    start = np.array([[10, 20], [30, 40], [50, 60]])
    drift = start + rng.normal(size=(N_FRAMES, 3, 2)).cumsum(axis=0)
    return [
        (frame, particle + 5, round(float(x), 2), round(float(y), 2))
        for frame in range(N_FRAMES)
        for particle, (x, y) in enumerate(drift[frame])
        if particle < 2 or frame % 2
    ]


def _table(names: str, line: str, separator: str = ",", shift: int = 0) -> str:
    """Text of a table: a line of names, and one for each row."""
    rows = [
        line.format(frame=frame + shift, particle=particle, x=x, y=y, row=row)
        for row, (frame, particle, x, y) in enumerate(tracks(), start=1)
    ]
    return "\n".join([*([names] if names else []), *rows, ""]).replace("|", separator)


def _tables(folder: Path) -> None:
    """Tables of tracks as several programs write them, and matrices."""
    plain = "{frame}|{particle}|{x}|{y}"
    basic = _table("frame|particle|x|y", plain)
    spots = (
        "LABEL,ID,TRACK_ID,POSITION_X,POSITION_Y,POSITION_Z,FRAME\n"
        "Label,Spot ID,Track ID,X,Y,Z,Frame\nLabel,Spot ID,Track ID,X,Y,Z,Frame\n"
        ",,,(micron),(micron),(micron),"
    )
    imaris = "Position X,Position Y,Position Z,Unit,Category,Collection,Time,TrackID,ID,"
    manual = " |Track n°|Slice n°|X|Y|Distance|Velocity"
    texts = {
        "trackpy.csv": basic,
        "tabs.tsv": _table("frame|particle|x|y", plain, "\t"),
        "blanks.txt": _table("frame|particle|x|y", plain, "  "),
        "commas.csv": _table("frame|particle|x|y", plain, ";").replace(".", ","),
        "bare.csv": _table("", plain),
        "flat.csv": _table("frame|particle|x|y|z", "{frame}|{particle}|{x}|{y}|0"),
        "empty-z.csv": _table("frame|particle|x|y|z", "{frame}|{particle}|{x}|{y}|"),
        "units.csv": _table("frame|particle|x [µm]|y [µm]", plain),
        "named.csv": _table("frame|particle|x|y", "{frame}|cell {particle}|{x}|{y}"),
        "line.csv": _table("frame|particle|x", "{frame}|{particle}|{x}"),
        "missing.csv": basic.replace(f",{tracks()[1][2]},", ",nan,"),
        "trackmate.csv": _table(spots, "ID{row}|{row}|{particle}|{x}|{y}|0.0|{frame}"),
        "mosaic.csv": _table(
            ",Trajectory,Frame,x,y,z,m0", "{row}|{particle}|{frame}|{x}|{y}|0.0|3.5"
        ),
        "imaris.csv": _table(
            imaris, "{x}|{y}|0|um|Spot|Position|{frame}|{particle}|{row}|", shift=1
        ),
        "manual.txt": _table(manual, "{row}|{particle}|{frame}|{x}|{y}|-1.0|-1.0", "\t", 1),
        "twice.csv": basic + basic.splitlines()[1] + "\n",
        "cut.csv": basic[: basic.rindex(",")],
        "uneven.csv": basic.replace("\n1,5,", "\n1,5,7,", 1),
        "no-names.csv": _table("a|b|c|d", plain),
        "skipping.csv": _table("frame|particle|x|y", plain).replace("\n4,", "\n9,"),
    }
    for name, content in texts.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "errors.json").write_text(
        json.dumps([{"predicted_aligned_error": aligned_errors()[:20, :20].tolist()}])
    )


def _matrices(folder: Path) -> None:
    """A symmetric matrix, the same with few of its entries, and one as text."""
    from scipy import io, sparse

    values = worst_errors()[:30, :30]
    io.mmwrite(folder / "matrix.mtx", sparse.coo_array(np.where(values < 5, values, 0)))
    np.save(folder / "matrix.npy", values)
    np.savetxt(folder / "matrix.csv", values, fmt="%.3f", delimiter=",")


def write_files(folder: Path) -> None:
    """Write all files into a folder."""
    _structures(folder)
    _texts(folder)
    _binaries(folder)
    _tables(folder)
    _matrices(folder)
