"""Several models in one file, where a reader of the format would pile them up or take the first."""

from __future__ import annotations

import re
from pathlib import Path

from timme.readers.files import kind, read_bytes

_PILED = frozenset((".pdbqt", ".pqr"))  # whose atoms are all taken, those of every model
_MODEL = re.compile(rb"^MODEL\b", re.MULTILINE)
_MOLECULE = b"@<TRIPOS>MOLECULE"


def refuse_piled_models(path: Path) -> None:
    """Refuse files whose models would be read as one, or as snapshots of another molecule.

    Parameters
    ----------
    path : Path
        A file that a library is about to read.

    Raises
    ------
    ValueError
        For PDBQT and PQR files of several models, and MOL2 files of different molecules.
    """
    if kind(path) in _PILED:
        count = len(_MODEL.findall(read_bytes(path)))
        if count > 1:
            raise ValueError(
                f"{path}: {count} models, which cannot be told apart in "
                f"{kind(path)[1:].upper()} files: give them as PDB or mmCIF, or one model alone"
            )
    elif kind(path) == ".mol2":
        _refuse_other_molecules(path)


def refuse_later_models(path: Path) -> None:
    """Refuse an mmCIF file of several models as the trajectory of a topology of another format.

    Parameters
    ----------
    path : Path
        A trajectory of which a library would read the first model only.

    Raises
    ------
    ValueError
        If it has more than one model.
    """
    if kind(path) not in {".cif", ".mmcif"}:
        return
    from timme.readers.mmcif import parse_mmcif

    count = len(parse_mmcif(path))
    if count > 1:
        raise ValueError(
            f"{path}: {count} models, of which only the first would be read after a topology of "
            "another format: give this file alone, or write its models as PDB"
        )


def _refuse_other_molecules(path: Path) -> None:
    """Compare the names of atoms: one file may list many ligands."""
    first = list[bytes]()
    for number, part in enumerate(read_bytes(path).split(_MOLECULE)[1:], start=1):
        names = _atom_names(part)
        first = first or names
        if names != first:
            raise ValueError(
                f"{path}: molecule {number} has not the atoms of the first one: snapshots are of "
                "one molecule; give a file for each molecule"
            )


def _atom_names(molecule: bytes) -> list[bytes]:
    _, _, rest = molecule.partition(b"@<TRIPOS>ATOM")
    rows = (line.split() for line in rest.partition(b"@<TRIPOS>")[0].splitlines())
    return [row[1] for row in rows if len(row) > 1]
