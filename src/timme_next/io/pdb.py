"""PDB and mmCIF files: all their models, atoms in file order, and the links that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gemmi import cif

from timme_next._arrays import Bools, Floats, Ints, Strings
from timme_next._text import one_line
from timme_next.ensemble.atoms import (
    Atoms,
    covalent_radii,
    element_masses,
    guess_elements,
    is_coarse_grained,
    is_element,
    sorted_bonds,
)
from timme_next.ensemble.residues import NUCLEIC, PROTEIN, WATER, is_named
from timme_next.io.files import kind, read_bytes
from timme_next.io.structures import Cell, Model, StructureFile

_COMMON = ("C", "N", "O", "H", "S", "P", "D", "Se")  # elements of polymers
_AXES = ["Cartn_x", "Cartn_y", "Cartn_z"]
_CUT = "its last line is cut off: copy or download the file again"
_NO_END = "the file has no END: check that it is complete"
_QUOTES = [ord(sign) for sign in "'\";.?"]  # first letters of values that are not plain text
# Columns of PDB files.
_COLUMNS, _END_OF_COORDINATES = 80, 54
_CELL = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
_LONGEST_LINK = 3.5  # Å: atoms farther apart are not bonded, whatever the file says
_LAST = (b"END   ", b"CONECT", b"MASTER")  # records that end a whole file
_NO_NUMBER = np.iinfo(np.int64).min

Bytes = npt.NDArray[np.bytes_]


def read_structure(path: Path) -> StructureFile:
    """Read all models of a PDB or mmCIF file."""
    return read_mmcif(path) if kind(path) == ".cif" else read_pdb(path)


def read_pdb(path: Path) -> StructureFile:
    """Read all models of a PDB file by its columns."""
    data = read_bytes(path)
    lines = _Lines.of(data, path)
    words = lines.field(0, 6)
    is_atom = np.isin(words, (b"ATOM  ", b"HETATM"))
    if not is_atom.any():
        raise ValueError(f"{path}: no atoms were found: a PDB file with ATOM records is needed")
    if is_atom[-1] and len(data) - data.rfind(b"\n") <= _END_OF_COORDINATES:
        raise ValueError(f"{path}: {_CUT}")
    atoms = lines.take(is_atom)
    ends = np.cumsum(np.isin(words, (b"MODEL ", b"ENDMDL", b"END   ")))[is_atom]
    bounds = [0, *(1 + np.flatnonzero(np.diff(ends))).tolist(), len(ends)]
    coordinates = np.stack([atoms.real(k, k + 8) for k in (30, 38, 46)], axis=1)
    occupancies = _occupancies(atoms.field(54, 60).tolist())
    # Programs of simulations write segments in place of chains.
    chain = (21, 22) if atoms.text(21, 22).any() else (72, 76)
    cells = _cells(lines.take(words == b"CRYST1"))
    cells = cells * (len(bounds) - 1) if len(cells) == 1 else cells
    conect = list(_read_conect(lines.take(words == b"CONECT")))
    models, first = list[Model](), atoms
    for number, (start, stop) in enumerate(pairwise(bounds)):
        own, places = atoms.take(slice(start, stop)), coordinates[start:stop]
        if not models or not own.has_names_of(first):
            first, (names, altlocs) = own, _read_names(own, chain)
            serials = own.field(6, 11).tolist()
            place = {serial: k for k, serial in enumerate(serials)}
            known = conect if len(place) == len(serials) else []  # else numbers began again
            pairs = [(place[a], place[b]) for a, b in known if a in place and b in place]
            names = _with_links(names, places, pairs)
        cell = cells[number] if len(cells) == len(bounds) - 1 else None
        label = f"{path}: model {number + 1}"
        models.append(Model(label, names, altlocs, occupancies[start:stop], places, cell))
    last = words[words != b"      "][-1]
    whole = last in _LAST or (last == b"ENDMDL" and len(models) == 1)
    return StructureFile(path, models, "" if whole else f"{path}: {_NO_END}")


def read_mmcif(path: Path) -> StructureFile:
    """Read all models of an mmCIF file; names of its authors come before those of the PDB."""
    block, note = _block_with_atoms(path)
    n_atoms = len(block.find_values("_atom_site.Cartn_x"))

    def values(*tags: str) -> list[str]:
        """Fields of the first of these columns that is there, none if there is none."""
        found = (list(block.find_values(f"_atom_site.{tag}")) for tag in tags)
        return next(filter(None, found), [])

    def column(*tags: str) -> Strings:
        fields = np.array(values(*tags) or [""] * n_atoms, np.str_)
        odd = np.isin(fields.astype("U1").view(np.uint32), _QUOTES)
        fields[odd] = [cif.as_string(field) for field in fields[odd].tolist()]  # "" for . and ?
        return fields

    names = column("auth_atom_id", "label_atom_id")
    resnames = column("auth_comp_id", "label_comp_id")
    resids = column("auth_seq_id", "label_seq_id")
    try:
        numbers = resids.astype(np.int64)
    except ValueError as error:
        raise ValueError(
            f"{path}: every atom needs a whole residue number (auth_seq_id): {one_line(error)}"
        ) from None
    icodes, chains = column("pdbx_PDB_ins_code"), column("auth_asym_id", "label_asym_id")
    atoms = _named_atoms(names, column("type_symbol"), resnames, numbers, icodes, chains)
    coordinates = np.stack([_reals(values(axis)) for axis in _AXES], axis=1)
    for bad in np.flatnonzero(~np.isfinite(coordinates).all(axis=1)).tolist():
        raise ValueError(
            f"{path}: atom {bad + 1} ({atoms.label(bad)}): Cartn_x, Cartn_y and Cartn_z must be "
            "numbers: repair that row or leave out its model"
        )
    altlocs = column("label_alt_id")
    occupancies = _occupancies(values("occupancy") or ["1"] * n_atoms)
    number, cell, models = column("pdbx_PDB_model_num"), _cell_of_block(block), list[Model]()
    _, first, of_atom = np.unique(number, return_index=True, return_inverse=True)
    for which in np.argsort(first).tolist():
        own = np.flatnonzero(of_atom == which)
        named, places = atoms.take(own), coordinates[own]
        named = _with_links(named, places, list(_read_links(block, named)))
        label = f"{path}: model {len(models) + 1}"
        models.append(Model(label, named, altlocs[own], occupancies[own], places, cell))
    return StructureFile(path, models, note)


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Lines of a PDB file, cut or filled up with blanks to 80 columns."""

    path: Path
    numbers: Ints  # (lines,), from 1 on
    rows: npt.NDArray[np.uint8]  # (lines, 80)

    @classmethod
    def of(cls, data: bytes, path: Path) -> _Lines:
        place = data.find(b"\0")
        if place >= 0:
            line = data.count(b"\n", 0, place) + 1
            raise ValueError(f"{path}: line {line} holds zero bytes: copy the file again")
        raw = np.frombuffer(data + b"\n".ljust(_COLUMNS), np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1])
        rows = np.lib.stride_tricks.sliding_window_view(raw, _COLUMNS)[starts]
        short = np.flatnonzero(ends - starts < _COLUMNS)
        beyond = np.arange(_COLUMNS) >= (ends - starts)[short, None]
        rows[short] = np.where(beyond, ord(" "), rows[short])
        return cls(path, np.arange(1, len(rows) + 1), rows)

    def take(self, which: Bools | Ints | slice) -> _Lines:
        return _Lines(self.path, self.numbers[which], self.rows[which])

    def has_names_of(self, other: _Lines) -> bool:
        """Whether names, residues, segments and elements are those of other lines."""
        columns = np.r_[12:27, 72:80]
        return np.array_equal(self.rows[:, columns], other.rows[:, columns])

    def field(self, start: int, stop: int) -> Bytes:
        return np.ascontiguousarray(self.rows[:, start:stop]).view(f"S{stop - start}")[:, 0]

    def text(self, start: int, stop: int) -> Strings:
        """Columns without blanks around them."""
        for bad in np.flatnonzero((self.rows[:, start:stop] > 127).any(axis=1)).tolist():
            raise self.error(bad, start, stop, "only ASCII letters are read")
        fields = self.field(start, stop)
        stripped = (
            np.strings.strip(fields) if stop - start > 1 else np.where(fields == b" ", b"", fields)
        )
        return stripped.astype(np.str_)

    def real(self, start: int, stop: int) -> Floats:
        values = _reals(self.field(start, stop).tolist())
        for bad in np.flatnonzero(~np.isfinite(values)).tolist():
            raise self.error(bad, start, stop, "coordinates must be numbers")
        return values

    def residues(self, start: int) -> tuple[Ints, Strings]:
        """Residue numbers, also in hybrid base 36 or of five digits, and insertion codes."""
        fields, icodes = self.field(start, start + 4), self.text(start + 4, start + 5)
        try:
            resids = fields.astype(np.int64)
        except ValueError:
            resids = np.array([_in_base_36(field) for field in fields.tolist()])
            for bad in np.flatnonzero(resids == _NO_NUMBER).tolist():
                raise self.error(bad, start, start + 4, "residue numbers must be whole") from None
        five = (resids >= 1000) & np.strings.isdigit(icodes)
        last = np.where(five, icodes, "0").astype(np.int64)
        return np.where(five, 10 * resids + last, resids), np.where(five, "", icodes)

    def error(self, row: int, start: int, stop: int, need: str) -> ValueError:
        line = self.rows[row].tobytes().decode("latin-1")
        atom = " ".join(line[12:27].split())
        return ValueError(
            f"{self.path}: line {self.numbers[row]} ({atom}): {need}, got "
            f"{line[start:stop].strip()!r}: repair that line or leave out its model"
        )


def _read_names(lines: _Lines, chain: tuple[int, int]) -> tuple[Atoms, Strings]:
    """Names of atoms, and the letters of their locations."""
    columns = (lines.text(12, 16), lines.text(76, 78), lines.text(17, 21))
    resids, icodes = lines.residues(22)
    return _named_atoms(*columns, resids, icodes, lines.text(*chain)), lines.text(16, 17)


def _named_atoms(
    names: Strings,
    symbols: Strings,
    resnames: Strings,
    resids: Ints,
    icodes: Strings,
    chains: Strings,
) -> Atoms:
    """Atoms with their elements, guessed from names where they are missing or cannot be."""
    distinct, of_atom = np.unique(symbols, return_inverse=True)
    known = [symbol.capitalize() for symbol in distinct.tolist()]
    elements = np.array([symbol if is_element(symbol) else "" for symbol in known])[of_atom]
    # Names that are not in their columns make metals of carbons: CA, CD and HG of amino acids.
    polymer = is_named(resnames, PROTEIN | NUCLEIC | WATER)
    unknown = (elements == "") | (polymer & ~np.isin(elements, _COMMON))
    if unknown.any():
        elements = np.where(unknown, guess_elements(names, resnames), elements)
    if is_coarse_grained(names, resnames):
        elements = np.full(len(names), "")
    masses = element_masses(elements)
    return Atoms(names, elements, resnames, resids, icodes, chains, masses, sorted_bonds(()))


def _cells(lines: _Lines) -> list[Cell | None]:
    """Cells of CRYST1 records."""
    symmetries = lines.text(55, 66).tolist()
    sizes = np.stack([_reals(lines.field(*columns).tolist()) for columns in _CELL], axis=1).tolist()
    return [
        Cell(tuple(each), symmetry) if np.isfinite(each).all() else None
        for each, symmetry in zip(sizes, symmetries, strict=True)
    ]


def _read_conect(lines: _Lines) -> Iterator[tuple[bytes, bytes]]:
    """Serials of linked atoms."""
    first = lines.field(6, 11)
    for start in (11, 16, 21, 26):
        other = lines.field(start, start + 5)
        there = other != b" " * 5
        yield from zip(first[there].tolist(), other[there].tolist(), strict=True)


def _with_links(atoms: Atoms, coordinates: Floats, pairs: list[tuple[int, int]]) -> Atoms:
    """Atoms with those links that are covalent bonds, by their elements and lengths."""
    bonds = sorted_bonds(pairs)
    first, second = bonds.T
    lengths = np.linalg.norm(coordinates[first] - coordinates[second], axis=1)
    binds = covalent_radii(atoms.elements) > 0
    kept = binds[first] & binds[second] & (first != second) & (lengths < _LONGEST_LINK)
    return replace(atoms, bonds=bonds[kept])


def _reals(fields: Sequence[str | bytes]) -> Floats:
    """Numbers of texts, NaN for those that are none."""
    try:
        return np.array(list(map(float, fields)))
    except ValueError:
        return np.array(list(map(_number, fields)))


def _number(field: str | bytes) -> float:
    try:
        return float(field)
    except ValueError:
        return np.nan


def _occupancies(fields: Sequence[str | bytes]) -> Floats:
    """Occupancies, which only count where an atom has several locations; 1 where unknown."""
    found = _reals(fields)
    return np.where(np.isfinite(found), found, 1.0)


def _in_base_36(field: str | bytes) -> int:
    """Residue number of four columns, from 10,000 on A000 to ZZZZ and then a000 to zzzz."""
    try:
        if not field[:1].isalpha():
            return int(field)
        least = 10_000 + (26 * 36**3 if field.islower() else 0) - 10 * 36**3
        return least + int(field, 36) if len(field) == 4 else _NO_NUMBER
    except ValueError:
        return _NO_NUMBER


def _block_with_atoms(path: Path) -> tuple[cif.Block, str]:
    """Block of an mmCIF file that has atoms, and a note where the file seems to be cut off."""
    data = read_bytes(path)
    try:
        document = cif.read_string(data)
    except (RuntimeError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a valid mmCIF file: {one_line(error)}") from None
    blocks = [block for block in document if len(block.find("_atom_site.", _AXES))]
    if len(blocks) != 1:
        raise ValueError(
            f"{path}: one data block with coordinates (_atom_site) is needed, got {len(blocks)}: "
            "write each structure into a file of its own"
        )
    *_, last = blocks[0]
    tags = getattr(last.loop, "tags", [])
    inside = "_atom_site.Cartn_x" in tags and not data.rstrip().endswith(b"#")
    if inside and not data.endswith(b"\n"):
        raise ValueError(f"{path}: {_CUT}")
    return blocks[0], f"{path}: {_NO_END}" if inside else ""


def _cell_of_block(block: cif.Block) -> Cell | None:
    names = [f"length_{axis}" for axis in "abc"] + [
        f"angle_{x}" for x in ("alpha", "beta", "gamma")
    ]
    sizes = [cif.as_number(str(block.find_value(f"_cell.{name}"))) for name in names]
    symmetry = cif.as_string(str(block.find_value("_symmetry.space_group_name_H-M")))
    return Cell(tuple(sizes), symmetry) if np.isfinite(sizes).all() else None


def _read_links(block: cif.Block, atoms: Atoms) -> Iterator[tuple[int, int]]:
    """Places of linked atoms, without links to copies by symmetry."""
    tags = ["?ptnr{}_auth_asym_id", "?ptnr{}_auth_seq_id", "?pdbx_ptnr{}_PDB_ins_code"]
    tags = [tag.format(end) for end in "12" for tag in (*tags, "?ptnr{}_label_atom_id")]
    symmetries = ["?ptnr1_symmetry", "?ptnr2_symmetry"]
    rows = block.find("_struct_conn.", ["conn_type_id", *symmetries, *tags])
    keys = (atoms.chains, atoms.resids.astype(np.str_), atoms.icodes, atoms.names)
    names = list(zip(*(key.tolist() for key in keys), strict=True)) if len(rows) else []
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    for row in rows:
        link, here, there, *ends = (row.str(k) if row.has(k) else "" for k in range(len(row)))
        one, other = places.get(tuple(ends[:4])), places.get(tuple(ends[4:]))
        if (
            link.lower().startswith(("covale", "disulf"))
            and (here == there or "" in {here, there})
            and one is not None
            and other is not None
        ):
            yield one, other
