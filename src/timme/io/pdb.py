"""PDB and mmCIF files: all their models, atoms in file order, and the links that they name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gemmi import cif

from timme._arrays import Floats, Ints, Strings
from timme._text import is_number, one_line
from timme.ensemble.atoms import Atoms, element_masses, guess_elements, is_element, sorted_bonds
from timme.ensemble.residues import NUCLEIC, PROTEIN, WATER, is_named
from timme.io.files import cell_box, kind, read_bytes
from timme.io.structures import Model, StructureFile

_COMMON = ("C", "N", "O", "H", "S", "P", "D", "Se")  # elements of polymers
_CUT = "its last line is cut off: copy or download the file again"
_NO_END = "the file has no END: check that it is complete"
_WIDTH, _END_OF_COORDINATES = 80, 54  # columns of lines of PDB files
_FIELDS = {
    "names": (12, 16), "altlocs": (16, 17), "resnames": (17, 21),
    "chains": (21, 22), "resids": (22, 26), "icodes": (26, 27), "x": (30, 38), "y": (38, 46),
    "z": (46, 54), "occupancies": (54, 60), "segments": (72, 76), "elements": (76, 78),
}  # fmt: skip
_NO_SYMMETRY, _SHORTEST = ("P 1", "P1"), 3.0  # Å: no cell of molecules is narrower
_CELL = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
# Columns of mmCIF files: names of authors come before those of the PDB.
_TAGS = {
    "names": ("auth_atom_id", "label_atom_id"), "elements": ("type_symbol",),
    "resnames": ("auth_comp_id", "label_comp_id"), "resids": ("auth_seq_id", "label_seq_id"),
    "icodes": ("pdbx_PDB_ins_code",), "chains": ("auth_asym_id", "label_asym_id"),
    "altlocs": ("label_alt_id",), "models": ("pdbx_PDB_model_num",),
}  # fmt: skip
_NAMES = ("names", "elements", "resnames", "resids", "icodes", "chains", "altlocs")
_LAST = ("END", "CONECT", "MASTER")  # records that end a whole file

Lines = npt.NDArray[np.uint8]  # (lines, 80), characters of Latin-1
Texts = dict[str, Any]  # by name, (atoms,) each, as a file has them


def read_structure(path: Path) -> StructureFile:
    """Read all models of a PDB or mmCIF file."""
    return read_mmcif(path) if kind(path) == ".cif" else read_pdb(path)


def read_pdb(path: Path) -> StructureFile:
    """Read all models of a PDB file by its columns."""
    data = read_bytes(path)
    lines = _lines(data)
    words = np.strings.strip(_field(lines, 0, 6))
    is_atom = np.isin(words, ("ATOM", "HETATM"))
    if not is_atom.any():
        raise ValueError(f"{path}: no atoms were found: a PDB file with ATOM records is needed")
    if is_atom[-1] and len(data) - data.rfind(b"\n") <= _END_OF_COORDINATES:
        raise ValueError(f"{path}: {_CUT}")
    atoms = lines[is_atom]
    texts: Texts = {name: _field(atoms, *columns) for name, columns in _FIELDS.items()}
    five = np.strings.isdigit(_field(atoms, 22, 27))
    texts["resids"] = np.where(five, _field(atoms, 22, 27), texts["resids"])
    texts["icodes"] = np.where(five, "", texts["icodes"])
    if (texts["chains"] == " ").all():
        texts["chains"] = texts["segments"]  # of programs of simulations
    texts["models"] = np.cumsum(np.isin(words, ("MODEL", "ENDMDL", "END")))[is_atom]
    texts["places"] = np.flatnonzero(is_atom) + 1
    cells = [
        _cell([line[start:stop] for start, stop in _CELL], line[55:66].strip())
        for line in _field(lines[words == "CRYST1"], 0, _WIDTH).tolist()
    ]
    models = _read_models(path, texts, cells)
    last = words[words != ""][-1]
    whole = last in _LAST or (last == "ENDMDL" and len(models) == 1)
    return StructureFile(path, models, "" if whole else f"{path}: {_NO_END}")


def read_mmcif(path: Path) -> StructureFile:
    """Read all models of an mmCIF file."""
    block, note = _find_atoms(path)
    names = ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma")
    sizes = [cif.as_string(str(block.find_value(f"_cell.{name}"))) for name in names]
    group = cif.as_string(str(block.find_value("_symmetry.space_group_name_H-M")))
    cell = _cell([size.partition("(")[0] for size in sizes], group)
    texts: Texts = {axis: _column(block, f"Cartn_{axis}") for axis in "xyz"}
    for name, choices in _TAGS.items():
        column = _column(block, *choices)
        places = defaultdict[str, int](count().__next__)
        codes = np.fromiter(map(places.__getitem__, column), np.int64, len(column))
        meanings = np.array([cif.as_string(field) for field in places], np.str_)  # "" for . and ?
        texts[name] = meanings[codes]
    occupancies = _column(block, "occupancy") if texts["altlocs"].any() else np.ones(len(codes))
    texts |= {"occupancies": occupancies, "places": np.arange(len(codes)) + 1}
    del block, column  # larger than what was read
    return StructureFile(path, _read_models(path, texts, [cell]), note)


def _column(block: cif.Block, *names: str) -> list[str]:
    """Fields of all atoms in the first of these columns that is there."""
    n_atoms = len(block.find_values("_atom_site.Cartn_x"))
    columns = (block.find_values(f"_atom_site.{name}") for name in names)
    return next((list(each) for each in columns if len(each) == n_atoms), [""] * n_atoms)


def _read_models(path: Path, texts: Texts, cells: Sequence[Floats | None]) -> list[Model]:
    """Models of a file, each with its cell, or all with the same one."""
    coordinates = np.stack([_reals(texts[axis]) for axis in "xyz"], axis=1)
    for bad in np.flatnonzero(~np.isfinite(coordinates).all(axis=1)).tolist():
        got = " ".join(texts[axis][bad].strip() for axis in "xyz")
        raise _error(path, texts, bad, f"coordinates must be numbers, got {got!r}")
    # Occupancies only count where an atom has several locations; they are 1 where unknown.
    occupancies = np.nan_to_num(_reals(texts["occupancies"]), nan=1.0, posinf=1.0, neginf=1.0)
    resids, numbers = _residue_numbers(path, texts), texts["models"]
    groups = np.split(np.arange(len(resids)), 1 + np.flatnonzero(numbers[1:] != numbers[:-1]))
    cells = [*cells] * len(groups) if len(cells) == 1 else cells
    cells = cells if len(cells) == len(groups) else [None] * len(groups)
    models, first = list[Model](), dict[str, Strings]()
    for number, (own, cell) in enumerate(zip(groups, cells, strict=True), start=1):
        names = {name: texts[name][own] for name in _NAMES}
        if not models or not all(np.array_equal(first[name], names[name]) for name in names):
            first = names
            atoms = _named_atoms(names, resids[own])
            altlocs = np.strings.strip(names["altlocs"])
        label = f"{path}: model {number}"
        models.append(Model(label, atoms, altlocs, occupancies[own], coordinates[own], cell))
    return models


def _error(path: Path, texts: Texts, row: int, fault: str) -> ValueError:
    columns = (str(texts[name][row]) for name in ("names", "resnames", "chains", "resids"))
    place = f"{'atom' if kind(path) == '.cif' else 'line'} {texts['places'][row]}"
    atom = " ".join(" ".join(columns).split())
    return ValueError(f"{path}: {place} ({atom}): {fault}: repair it or leave out its model")


def _residue_numbers(path: Path, texts: Texts) -> Ints:
    """Residue numbers; in four columns A000 to ZZZZ follow on 9999, and then a000 to zzzz."""
    fields: Strings = texts["resids"]
    try:
        return fields.astype(np.int64)
    except ValueError:
        numbers = list[int]()
    for row, field in enumerate(fields.tolist()):
        least = 10_000 + (26 * 36**3 if field.islower() else 0) - 10 * 36**3
        hybrid = field[:1].isalpha() and len(field) == 4
        try:
            numbers.append(least + int(field, 36) if hybrid else int(field))
        except ValueError:
            fault = f"residue numbers must be whole, got {field.strip()!r}"
            raise _error(path, texts, row, fault) from None
    return np.array(numbers)


def _named_atoms(texts: Texts, resids: Ints) -> Atoms:
    """Atoms with their elements, guessed from names where they are missing or cannot be."""
    columns = ("names", "elements", "resnames", "icodes", "chains")
    names, symbols, resnames, icodes, chains = (np.strings.strip(texts[each]) for each in columns)
    elements = np.strings.capitalize(symbols).astype("U2")
    wrong = [symbol for symbol in set(symbols.tolist()) if not is_element(symbol.capitalize())]
    # Names that are not in their columns make metals of carbons: CA, CD and HG of amino acids.
    polymer = is_named(resnames, PROTEIN | NUCLEIC | WATER)
    unknown = np.isin(symbols, wrong) | (polymer & ~np.isin(elements, _COMMON))
    elements[unknown] = guess_elements(names[unknown], resnames[unknown])
    masses = element_masses(elements)
    return Atoms(names, elements, resnames, resids, icodes, chains, masses, sorted_bonds(()))


def _reals(fields: Sequence[str]) -> Floats:
    """Numbers of texts, NaN for those that are none."""
    try:
        return np.array(fields, np.float64)
    except ValueError:
        return np.array([float(field) if is_number(field) else np.nan for field in fields])


def _cell(fields: Sequence[str], symmetry: str) -> Floats | None:
    """Vectors of a cell without symmetry, as those of simulations; None for others.

    In a crystal, a molecule that leaves the cell is continued by a copy that symmetry makes.
    """
    sizes = _reals(fields)
    if symmetry not in _NO_SYMMETRY or not np.isfinite(sizes).all() or sizes.min() < _SHORTEST:
        return None
    vectors = cell_box(sizes[:3], sizes[3:])
    return vectors if np.isfinite(vectors).all() else None


def _lines(data: bytes) -> Lines:
    """Lines of a PDB file, cut or filled up with blanks to 80 columns."""
    with suppress(UnicodeDecodeError):  # of files in Latin-1
        data = data.decode().encode("latin-1", "replace")  # as columns count characters
    padded = b"".join(line[:_WIDTH].ljust(_WIDTH) for line in data.split(b"\n"))
    return np.frombuffer(padded, np.uint8).reshape(-1, _WIDTH)


def _field(lines: Lines, start: int, stop: int) -> Strings:
    """Columns of lines as text."""
    return lines[:, start:stop].astype(np.uint32, order="C").view(f"U{stop - start}")[:, 0]


def _find_atoms(path: Path) -> tuple[cif.Block, str]:
    """Block of an mmCIF file that has atoms, and a note if it seems to be cut off."""
    data = read_bytes(path)
    try:
        document = cif.read_string(data)
    except (RuntimeError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a valid mmCIF file: {one_line(error)}") from None
    found = [block for block in document if len(block.find_values("_atom_site.Cartn_x"))]
    if len(found) != 1:
        raise ValueError(
            f"{path}: one data block with coordinates (_atom_site) is needed, got {len(found)}: "
            "write each structure into a file of its own"
        )
    *_, last = found[0]
    inside = "_atom_site.Cartn_x" in getattr(last.loop, "tags", [])
    inside = inside and not data.rstrip().endswith(b"#")
    if inside and not data.endswith(b"\n"):
        raise ValueError(f"{path}: {_CUT}")
    return found[0], f"{path}: {_NO_END}" if inside else ""
