"""mmCIF: the table of atoms, with the names of the authors or, without them, those of the PDB."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from timme.readers.files import one_line, read_bytes

_TABLE = "_atom_site."
_FILLED = {
    "group_PDB": "ATOM",
    "type_symbol": "?",
    "label_alt_id": ".",
    "occupancy": "1.0",
    "B_iso_or_equiv": "0.0",
}


def parse_mmcif(path: Path) -> Any:
    """Read the structure of an mmCIF file.

    Parameters
    ----------
    path : Path
        The file, maybe compressed.

    Returns
    -------
    gemmi.Structure
        Chains and residues as the authors number them, where the file says so.
    """
    import gemmi

    block = _block(path)
    try:
        return gemmi.make_structure_from_block(block)
    except (RuntimeError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a valid mmCIF file: {one_line(error)}") from None


def complete_mmcif(path: Path) -> str:
    """Write the table of atoms of an mmCIF file with all columns that parsers look for.

    Parameters
    ----------
    path : Path
        The file, maybe compressed.

    Returns
    -------
    str
        The same block with the columns that were missing.
    """
    return str(_block(path).as_string())


def _block(path: Path) -> Any:
    import gemmi

    data = read_bytes(path)
    try:
        document = gemmi.cif.read_string(data)
    except (RuntimeError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a valid mmCIF file: {one_line(error)}") from None
    blocks = [block for block in document if block.find_loop(f"{_TABLE}Cartn_x")]
    if not blocks:
        raise ValueError(
            f"{path}: not a valid mmCIF file: it has no _atom_site table with coordinates"
        )
    if len(blocks) > 1:
        names = ", ".join(str(block.name) for block in blocks[:3])
        raise ValueError(
            f"{path}: one structure is needed, and {len(blocks)} data blocks have atoms ({names}): "
            "write each into a file of its own, and give all of them if they are snapshots"
        )
    _name_by_label(blocks[0])
    _fill_in(blocks[0])
    return blocks[0]


def _name_by_label(block: Any) -> None:
    """Give the authors' chains and residue numbers where a file leaves them out."""
    tags = block.find_loop(f"{_TABLE}Cartn_x").get_loop().tags
    for name in ("asym_id", "seq_id"):
        label, author = f"label_{name}", f"auth_{name}"
        if f"{_TABLE}{author}" not in tags and f"{_TABLE}{label}" in tags:
            values = list(block.find_loop(f"{_TABLE}{label}"))
            _add_column(block, author, _number_atoms(block, values) if name == "seq_id" else values)


def _fill_in(block: Any) -> None:
    """Add the columns without which the parser would find no atoms."""
    loop = block.find_loop(f"{_TABLE}Cartn_x").get_loop()
    if f"{_TABLE}id" not in loop.tags:
        _add_column(block, "id", [str(row + 1) for row in range(loop.length())])
    if f"{_TABLE}label_asym_id" not in loop.tags and f"{_TABLE}auth_asym_id" in loop.tags:
        _add_column(block, "label_asym_id", list(block.find_loop(f"{_TABLE}auth_asym_id")))
    for name, value in _FILLED.items():
        if f"{_TABLE}{name}" not in loop.tags:
            loop.add_columns([f"{_TABLE}{name}"], value)


def _add_column(block: Any, name: str, values: list[str]) -> None:
    block.find_loop(f"{_TABLE}Cartn_x").get_loop().add_columns([f"{_TABLE}{name}"], ".")
    column = block.find_loop(f"{_TABLE}{name}")
    for row, value in enumerate(values):
        column[row] = value


def _number_atoms(block: Any, numbers: list[str]) -> list[str]:
    """Count molecules that have no number, as waters, in their chain.

    The next one begins where its name changes, or with an atom that the last one has already; but
    places of one atom with different letters are one after the other.
    """
    tags = ("label_alt_id", "label_atom_id", "label_comp_id", "label_asym_id", "pdbx_PDB_model_num")
    columns = [list(block.find_loop(f"{_TABLE}{tag}")) or [""] * len(numbers) for tag in tags]
    counts = Counter[tuple[str, ...]]()
    last: dict[tuple[str, ...], tuple[str, dict[str, set[str]]]] = {}  # its name, atoms and letters
    found = list[str]()
    for number, row in zip(numbers, zip(*columns, strict=True), strict=True):
        letter, atom, name, *chain = row
        if number not in {".", "?"}:
            found.append(number)
            continue
        place, plain = tuple(chain), letter in {".", "?", ""}
        known, atoms = last.get(place, ("", {}))
        letters = atoms.get(atom)
        there = letters is not None and (plain or not letters or letter in letters)
        if there or name != known or not counts[place]:
            counts[place] += 1
            atoms = {}
            last[place] = name, atoms
        atoms.setdefault(atom, set()).update(() if plain else (letter,))
        found.append(str(counts[place]))
    return found
