"""All models of a PDB file, however they are parted, alone and behind a topology."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import Record, gro_text, pdb_line, pdb_text, peptide, waters
from timme.readers import read, read_model

NOISE = np.round(np.random.default_rng(0).normal(scale=0.1, size=(5, 10, 3)), 3)
MODELS = [
    [
        (*record[:6], *(np.array(record[6:9]) + shift).tolist(), *record[9:])
        for record, shift in zip(peptide(), shifts, strict=True)
    ]
    for shifts in NOISE
]
PLACES = np.array([[record[6:9] for record in model] for model in MODELS])
CELL = "CRYST1{0:9.3f}{0:9.3f}{0:9.3f}  90.00  90.00  90.00 P 1           1\n"


def atoms(model: Sequence[Record]) -> str:
    return "".join(f"{pdb_line(record, k)}\n" for k, record in enumerate(model, start=1))


def joined(before: str, after: str) -> str:
    """Write every model between the same lines."""
    return "".join(f"{before}{atoms(model)}{after}" for model in MODELS)


LAYOUTS: dict[str, str] = {
    "two ensembles": pdb_text(MODELS[:3]) + pdb_text(MODELS[3:]),
    "an ensemble and a structure": pdb_text(MODELS[:4]) + atoms(MODELS[4]),
    "a structure and an ensemble": f"{atoms(MODELS[0])}END\n{pdb_text(MODELS[1:])}",
    "headers before both": "".join(
        f"HEADER    HYDROLASE\nREMARK   1 ATOM  of it\n{pdb_text(models)}REMARK   1 END\n"
        for models in (MODELS[:3], MODELS[3:])
    ),
    "files of one model": "".join(pdb_text([model]) for model in MODELS),
    "END between": joined("", "END\n").removesuffix("END\n"),
    "END of old files": joined("", f"{'END':<72}1ABC  99\n"),
    "ENDMDL alone": joined("", "ENDMDL\n"),
    "MODEL alone": joined("MODEL        1\n", ""),
    "MODEL without a number": joined("MODEL\n", ""),
    "MODEL and END": joined("MODEL        1\n", "TER\nEND\n"),
    "one without ENDMDL": pdb_text(MODELS).replace("ENDMDL\n", "", 1),
    "words after END": pdb_text(MODELS) + "REMARK ATOM  was here\nCONECT    1    2\nEND\n",
    "small letters": joined("MODEL        1\n", "ENDMDL\nEND\n").lower(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packed", [False, True], ids=["", "gz"])
def test_every_model_is_read(tmp_path: Path, layout: str, packed: bool) -> None:
    text = LAYOUTS[layout].encode()
    path = tmp_path / ("a.pdb.gz" if packed else "a.pdb")
    path.write_bytes(gzip.compress(text) if packed else text)
    alone = read(path, bonds="none")
    np.testing.assert_allclose(alone.coordinates(), PLACES, rtol=0, atol=1e-9)
    topology = tmp_path / "top.pqr"
    topology.write_text("".join(f"{line[:54]} 0.1 1.5\n" for line in atoms(MODELS[0]).split("\n")))
    behind = read(topology, path, bonds="none")
    np.testing.assert_allclose(behind.coordinates(), PLACES, rtol=0, atol=1e-9)
    one, count = read_model(path, model=5)
    assert count == 5
    np.testing.assert_allclose(one.coordinates()[0], PLACES[4], rtol=0, atol=1e-9)


def topology_of(folder: Path, model: Sequence[Record]) -> Path:
    path = folder / "top.gro"
    path.write_text(gro_text([model]))
    return path


def test_every_part_has_its_own_cell(tmp_path: Path) -> None:
    lengths = np.array([16.0, 16.0, 16.0, 16.5, 16.5])
    models = [
        [(*r[:6], (r[6] + shift) % length, *r[7:]) for r in waters(4)]
        for shift, length in zip((2.5, 3.2, 7.1, 2.6, 3.1), lengths, strict=True)
    ]
    path = tmp_path / "a.pdb"
    first, second = pdb_text(models[:3]), pdb_text(models[3:])
    path.write_text(CELL.format(16.0) + first + CELL.format(16.5) + second)
    found = read(path)
    bonds = np.diff(found.coordinates()[:, found.atoms.bonds], axis=2)
    np.testing.assert_allclose(np.linalg.norm(bonds, axis=-1), 0.96, atol=0.01)
    boxes = read(topology_of(tmp_path, models[0]), path).frames.read(0, 5)[1]
    assert boxes is not None
    np.testing.assert_allclose(boxes, lengths[:, None, None] * np.eye(3))
    for k in (4, 0):  # in any order
        boxes = read(tmp_path / "top.gro", path).frames.read(k, k + 1)[1]
        assert boxes is not None
        np.testing.assert_allclose(boxes[0], lengths[k] * np.eye(3))


def test_a_bad_line_after_an_end_is_named_by_its_number(tmp_path: Path) -> None:
    text = LAYOUTS["two ensembles"].split("\n")
    number = 3 * 12 + 1 + 5  # three models, END, MODEL and four atoms
    text[number - 1] = text[number - 1][:30] + "   x.000" + text[number - 1][38:]
    (tmp_path / "a.pdb").write_text("\n".join(text))
    with pytest.raises(ValueError, match=rf"line {number}, .*coordinates must be numbers"):
        read(tmp_path / "a.pdb")


def test_other_atoms_after_an_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb_text(MODELS[:2]) + pdb_text([MODELS[2][:9]]))
    with pytest.raises(ValueError, match=r"model 3: atom A/ALA 2/CB .* is not there"):
        read(path)


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "an atom less": (lambda text: text.replace(f"{pdb_line(MODELS[3][4], 5)}\n", ""), "9 atoms"),
    "cut off": (lambda text: text[: text.rindex("ATOM") + 50], "ends before the coordinates"),
    "old line ends": (lambda text: text.replace("\n", "\r"), "carriage returns alone"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_behind_a_topology_is_refused(tmp_path: Path, damage: str) -> None:
    spoil, said = DAMAGES[damage]
    path = tmp_path / "a.pdb"
    path.write_bytes(spoil(pdb_text(MODELS)).encode())
    topology = topology_of(tmp_path, MODELS[0])
    with pytest.raises(ValueError, match=rf"a\.pdb: .*{said}"):
        read(topology, path)
    if damage != "old line ends":
        whole = read(topology, path, bonds="none", allow_truncated=True).coordinates()
        np.testing.assert_allclose(whole, PLACES[: len(whole)], rtol=0, atol=1e-9)
        assert len(whole) == (3 if damage == "an atom less" else 4)
