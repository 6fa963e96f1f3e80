"""Golden tests: files of the corpus are read as they were, or differ by a decision.

Decisions are numbered as in the design of the readers: 2.1 formats read by MDAnalysis or refused,
2.3 image flags that begin again, 2.6 odd PDB files, 2.11 cut binary files, 5.3 the rules by which
units, elements and boxes are judged, 6 models keep the order of their file, 7 defects of the
reference.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import sparse

from tests.golden import load_json
from tests.golden.built_files import write_files
from tests.golden.corpus import Entry, entries, note
from tests.golden.digests import digest
from timme.io import read, read_matrix

ATOMS = {"first_atoms", "last_atom"}
# Coordinates in single precision, as MDAnalysis has them.
BY_MDANALYSIS = {"coordinates", "box"}
REFUSED_NOW = {
    **dict.fromkeys(
        ("DLP_CONFIG", "DLP_HISTORY", "DLP_CONFIG DLP_HISTORY", "INPCRD", "PRM7_ala2 RST7_ala2"),
        "2.1",
    ),
    **dict.fromkeys(("built/reset.dump unwrapped", "built/reset.dump open"), "2.3"),
    # Three atoms CA of one residue without elements are carbons, and not calcium.
    **dict.fromkeys(("PDB_conect2TER", "PDB_singleconect"), "2.6"),
    "built/cut.nc in part": "2.11",
    "built/nanometres.pdb": "5.3",
}
READ_NOW = {"ARC": "2.1", "MMTF": "2.1"}
CHANGED: dict[str, tuple[str, set[str]]] = {
    **dict.fromkeys(
        ("PRM TRJ", "PRM TRJ_bz2", "PRMncdf TRJncdf", "PRMpbc TRJpbc_bz2"), ("2.1", BY_MDANALYSIS)
    ),
    # A box that was taken for a placeholder by statistics is believed.
    "PRM12 TRJ12_bz2": ("2.2", BY_MDANALYSIS | {"whole_molecules"}),
    # Columns without elements: names of residues tell ions, and not columns.
    **dict.fromkeys(("PDB", "PDB_sub_sol", "PDBQT_querypdb"), ("2.6", {"elements", "mass"})),
    # Names of residues with four letters are no longer cut.
    **dict.fromkeys(
        (
            *("XPDB_small", "PDB_cm", "PDB_mc", "PDB_xlserial", "PDB_sameresid_diffresname"),
            *("RNA_PDB", "TRC_PDB_SOLV", "TRC_PDB_VAC"),
        ),
        ("7.1", ATOMS | {"resnames", "chains", "elements", "mass"}),
    ),
    # CONECT records are not read: bonds are those that distances tell.
    **dict.fromkeys(("shared/1ake", "PDB_multipole"), ("1 links", {"bonds", "n_bonds"})),
    # Atoms keep the order of their file.
    "ALIGN_BOUND": ("6", ATOMS | {"resnames", "resids", "chains", "coordinates"}),
    # Residues after 9999 have the numbers of the file.
    "PDB XTC": ("2.6", {"last_atom", "resids"}),
    **dict.fromkeys(
        (
            *("XYZ", "XYZ_bz2", "COORDINATES_XYZ", "COORDINATES_XYZ_BZ2", "XYZ_five", "XYZ_mini"),
            *("built/lattice.xyz", "built/lattice.xyz open", "built/lattice.xyz unwrapped"),
            *("built/plain.xyz", "built/plain.xyz.gz", "built/slab.xyz", "built/tilted.extxyz"),
            *("built/tilted.extxyz open", "built/tilted.extxyz unwrapped"),
        ),
        ("5.3", {"unit", "elements", "mass"}),
    ),
    # Frames behind a structure have its names, and its unit.
    **dict.fromkeys(
        (
            *(f"built/{x}.xyz with topology" for x in ("plain", "lattice", "particles", "slab")),
            *("COORDINATES_TOPOLOGY COORDINATES_XYZ", "built/cut.xyz in part"),
        ),
        ("5.3", {"unit"}),
    ),
}
LOCAL = ("built/", "object/", "shared/")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Entry]:
    folder = tmp_path_factory.mktemp("timme-corpus-")
    write_files(folder)
    return entries(folder)


def differences(found: dict[str, Any], expected: dict[str, Any]) -> set[str]:
    """Names of what differs; messages and sums that follow from coordinates left out."""
    names = {name for name in expected if found.get(name) != expected[name]}
    for number, each in expected.get("snapshots", {}).items():
        other = found.get("snapshots", {}).get(number, {})
        names |= {"coordinates"} if other.get("digest") != each["digest"] else set()
        names |= {"box"} if other.get("box") != each["box"] else set()
    return names - {"snapshots", "sum", "notes", "error", "later_error"}


def refused(noted: dict[str, Any]) -> str:
    return str(noted.get("error") or noted.get("later_error") or "")


@pytest.mark.parametrize("local", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_corpus_is_read_as_it_was_or_differs_by_a_decision(
    corpus: dict[str, Entry], *, local: bool
) -> None:
    golden, wrong = load_json("corpus"), list[str]()
    for name, entry in corpus.items():
        if name.startswith(LOCAL) != local:
            continue
        given, expected = entry.source, golden[name]
        if isinstance(given, str) and not Path(given).exists() and "none." not in given:
            continue  # data that is not at hand
        found = note(entry, read)
        error = refused(found)
        if error and ("\n" in error or not (refused(expected) or name in REFUSED_NOW)):
            wrong.append(f"{name} is refused: {error}")
        elif not error and refused(expected) and name not in READ_NOW:
            wrong.append(f"{name} is read")
        elif not error and not refused(expected):
            more = differences(found, expected) - CHANGED.get(name, ("", set()))[1]
            wrong += [f"{name}: {', '.join(sorted(more))} differ"] if more else []
    assert not wrong, "\n".join(wrong)


def test_matrices_of_the_corpus_have_the_entries_they_had(corpus: dict[str, Entry]) -> None:
    golden = load_json("corpus")
    for name in ("errors.json", "matrix.npy", "matrix.mtx"):
        values = read_matrix(corpus[f"built/{name}"].source).values
        dense = values.toarray() if isinstance(values, sparse.csr_array) else values
        assert digest(dense) == golden[f"matrix/{name}"]["digest"], name
