"""Atoms that a trajectory names are those of its topology, in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import Record, atom, gro_text, pdb_text
from tests.readers.test_several import as_mol2
from timme.readers import read

NAMES = "N CA C O CB CG CD NE2 OE1 H HA HB1 HB2".split()
PLACES = np.round(np.random.default_rng(1).uniform(0, 30, (3, 2 * len(NAMES), 3)), 2)
Frames = Sequence[Sequence[Record]]


def frame(places: np.ndarray) -> list[Record]:
    named = [(name, resid) for resid in (7, 8) for name in NAMES]
    return [
        atom(name, resid, place, resname="GLN")
        for (name, resid), place in zip(named, places.tolist(), strict=True)
    ]


FRAMES = [frame(places) for places in PLACES]


def as_pqr(frames: Frames) -> str:
    lines = pdb_text(frames[:1]).split("\n")[1:-3]
    return "".join(f"{line[:54]} 0.1 1.5\n" for line in lines)


def as_xyz(frames: Frames) -> str:
    texts = list[str]()
    for records in frames:
        rows = [f"{r[10]} {r[6]} {r[7]} {r[8]}" for r in records]
        texts.append("\n".join([str(len(rows)), "", *rows, ""]))
    return "".join(texts)


def as_arc(frames: Frames) -> str:
    lines = list[str]()
    for records in frames:
        lines.append(f"{len(records)} made")
        lines += [f"{k} {r[0]} {r[6]} {r[7]} {r[8]} 1" for k, r in enumerate(records, start=1)]
    return "\n".join([*lines, ""])


def as_config(frames: Frames) -> str:
    lines = ["made", "0 0"]
    for k, record in enumerate(frames[0], start=1):
        lines += [f"{record[0]} {k}", " ".join(map(str, record[6:9]))]
    return "\n".join([*lines, ""])


FORMATS: dict[str, Callable[[Frames], str]] = {
    "a.pdb": pdb_text,
    "a.gro": gro_text,
    "a.xyz": as_xyz,
    "a.mol2": as_mol2,
    "a.arc": as_arc,
    "a.pqr": as_pqr,
    "CONFIG": as_config,
}
ONE = {"a.pqr", "CONFIG"}  # formats of a single frame


def topology(folder: Path, name: str) -> Path:
    """Write one of another kind."""
    path = folder / ("top.pqr" if name == "a.gro" else "top.gro")
    path.write_text(as_pqr(FRAMES) if name == "a.gro" else gro_text(FRAMES[:1]))
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_atoms_in_another_order_than_in_the_topology_are_refused(tmp_path: Path, name: str) -> None:
    path, top = tmp_path / name, topology(tmp_path, name)
    path.write_text(FORMATS[name](FRAMES))
    found = read(top, path, bonds="none", box=False).coordinates()
    np.testing.assert_allclose(found, PLACES[: 1 if name in ONE else 3], atol=0.01)
    order = np.random.default_rng(3).permutation(len(FRAMES[0])).tolist()
    path.write_text(FORMATS[name]([[records[k] for k in order] for records in FRAMES]))
    said = rf"{name}: its atoms are not in the order of .*top.*: atom . is .* here and .* there"
    with pytest.raises(ValueError, match=said):
        read(top, path, bonds="none")


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ONE])
def test_atoms_of_a_later_frame_in_another_order_are_refused(tmp_path: Path, name: str) -> None:
    path, top = tmp_path / name, topology(tmp_path, name)
    path.write_text(FORMATS[name]([*FRAMES[:2], FRAMES[2][::-1]]))
    with pytest.raises(ValueError, match=rf"{name}: (frame|molecule) 3 .*first"):
        read(top, path, bonds="none", box=False).coordinates()


@pytest.mark.parametrize("name", ["a.pdb", "a.gro"])
def test_residues_in_another_order_are_told_by_their_numbers(tmp_path: Path, name: str) -> None:
    alphas = [atom("CA", k + 5, place) for k, place in enumerate(PLACES[0, :6].tolist())]
    path, top = tmp_path / name, tmp_path / "top.pqr"
    top.write_text(as_pqr([alphas]))
    path.write_text(FORMATS[name]([[alphas[k] for k in (0, 2, 1, 3, 4, 5)]] * 2))
    with pytest.raises(ValueError, match=r"atom 2 is CA 7 here and CA 6 there: write it in"):
        read(top, path)


def renamed(**names: str) -> Callable[[Record], Record]:
    return lambda record: (names.get(record[0], record[0]), *record[1:])


OTHERWISE: dict[str, Callable[[Record], Record]] = {
    "another residue": lambda record: (*record[:2], "GLH", *record[3:]),
    "other hydrogens": renamed(HB1="HB2", HB2="HB3", H="HN"),
    "hydrogens the other way": renamed(HB1="HB2", HB2="HB1"),
    "other heavy atoms": renamed(CD="CD1", O="OT1", OE1="OT2"),
    "numbered from 1 on": lambda record: (*record[:4], record[4] - 6, *record[5:]),
    "small letters": lambda record: (record[0].lower(), *record[1:]),
    "another chain": lambda record: (*record[:3], "X", *record[4:]),
}


@pytest.mark.parametrize("spelling", OTHERWISE)
@pytest.mark.parametrize("name", ["a.pdb", "a.gro"])
def test_names_that_are_spelled_otherwise_are_no_other_order(
    tmp_path: Path, name: str, spelling: str
) -> None:
    path, top = tmp_path / name, topology(tmp_path, name)
    frames = [[OTHERWISE[spelling](record) for record in records] for records in FRAMES]
    path.write_text(FORMATS[name](frames))
    found = read(top, path, bonds="none", box=False).coordinates()
    np.testing.assert_allclose(found, PLACES, atol=0.01)


ALIKE = {
    "ASP": ("OD1", "OD2"),
    "GLU": ("OE1", "OE2"),
    "ARG": ("NH1", "NH2"),
    "TYR": ("CD1", "CD2"),
    "VAL": ("CG1", "CG2"),
    "ALA": ("O", "OXT"),
    "SER": ("HB2", "HB3"),
}


def swapped(one: str, other: str, resname: str) -> tuple[list[Record], list[Record]]:
    """A residue in which two atoms have the names of one another."""
    names = ["N", "CA", "C", one, other, "CB"]
    places = PLACES[0].tolist()
    records = [atom(name, 7, places[k], resname=resname) for k, name in enumerate(names)]
    exchange = renamed(**{one: other, other: one})
    return records, [exchange(record) for record in records]


@pytest.mark.parametrize("resname", ALIKE)
def test_names_of_atoms_that_are_alike_may_be_exchanged_and_are_told(
    tmp_path: Path, resname: str
) -> None:
    one, other = ALIKE[resname]
    ours, theirs = swapped(one, other, resname)
    top, path = tmp_path / "top.gro", tmp_path / "a.pdb"
    top.write_text(gro_text([ours]))
    path.write_text(pdb_text([theirs, theirs]))
    ensemble = read(top, path, bonds="none", box=False)
    np.testing.assert_allclose(ensemble.coordinates()[0], PLACES[0, :6], atol=0.01)
    assert ensemble.atoms.names.tolist() == [record[0] for record in ours]
    told = f"names of 2 atoms are those of others that are like them, such as {other} 7"
    assert any(told in note for note in ensemble.notes)


@pytest.mark.parametrize(
    ("resname", "one", "other"),
    [("ILE", "CG1", "CG2"), ("TRP", "CD1", "CD2"), ("LIG", "C1", "C2"), ("SER", "HA", "HB2")],
)
def test_names_of_atoms_that_differ_may_not_be_exchanged(
    tmp_path: Path, resname: str, one: str, other: str
) -> None:
    ours, theirs = swapped(one, other, resname)
    top, path = tmp_path / "top.gro", tmp_path / "a.pdb"
    top.write_text(gro_text([ours]))
    path.write_text(pdb_text([theirs]))
    with pytest.raises(ValueError, match=r"a\.pdb: its atoms are not in the order of"):
        read(top, path, bonds="none")


@pytest.mark.parametrize("name", ["a.pdb", "a.gro"])
def test_atoms_of_a_universe_in_another_order_are_told(tmp_path: Path, name: str) -> None:
    import MDAnalysis as mda

    path, top = tmp_path / name, topology(tmp_path, name)
    told = f"{name}: its atoms are not in the order of"
    for order, count in ((1, 0), (-1, 1)):
        path.write_text(FORMATS[name]([records[::order] for records in FRAMES]))
        ensemble = read(mda.Universe(str(top), str(path)), bonds="none", box=False)
        assert sum(told in note for note in ensemble.notes) == count
        shown = PLACES[: ensemble.n_snapshots]  # of a GRO file, the library shows the first frame
        np.testing.assert_allclose(ensemble.coordinates()[:, ::order], shown, atol=0.01)
