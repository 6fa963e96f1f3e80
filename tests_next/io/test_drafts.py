"""Golden tests: files of the corpus have the atoms and coordinates that they had.

Only what a file says: bonds are guessed, and boxes and units judged, where drafts are read.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import pytest
from scipy import sparse

from tests_next.golden import load_json
from tests_next.golden.built_files import write_files
from tests_next.golden.corpus import Entry, entries
from tests_next.golden.digests import digest
from timme_next.ensemble import Ensemble
from timme_next.io.files import STRUCTURES, TABLES, kind
from timme_next.io.matrices import read_matrix
from timme_next.io.pdb import read_structure
from timme_next.io.structures import from_structures
from timme_next.io.tables import read_table

NAMES = ("names", "elements", "resnames", "resids", "icodes", "chains")

# What differs by decision.
FOUR_LETTERS = frozenset(
    ("resnames", "chains")
)  # names of residues with four letters are no longer cut
NAMED_IONS = frozenset(
    ("elements",)
)  # where columns are empty, names of residues tell ions, and not columns
DECIDED: dict[str, AbstractSet[str]] = {
    **dict.fromkeys(("XPDB_small", "PDB_cm", "PDB_mc", "PDB_xlserial"), FOUR_LETTERS),
    "PDB_sameresid_diffresname": FOUR_LETTERS,
    **dict.fromkeys(("PDB", "PDB_sub_sol", "PDBQT_querypdb"), NAMED_IONS),
    **dict.fromkeys(("RNA_PDB", "TRC_PDB_SOLV", "TRC_PDB_VAC"), FOUR_LETTERS | NAMED_IONS),
    "ALIGN_BOUND": {"resnames", "resids", "chains", "coordinates"},  # atoms keep their file order
    # Three atoms CA of one residue without elements: they are carbons, and not calcium.
    "PDB_conect2TER": {"refused"},
    "PDB_singleconect": {"refused"},
}
# Refused for what atoms are, and not for what the file says.
CLASHES = {"NUCLsel", "built/piled.pdb", "PDB_chainidrepeat"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Entry]:
    folder = tmp_path_factory.mktemp("built")
    write_files(folder)
    return {
        name: entry
        for name, entry in entries(folder).items()
        if isinstance(entry.source, str) and Path(entry.source).exists()
    }


def read(entry: Entry) -> Ensemble | None:
    """Draft of an entry, None where it is not one of structures or a table alone."""
    files = [Path(entry.source), *map(Path, entry.trajectories)]
    kinds, options = {kind(file) for file in files}, set(entry.options)
    if kinds <= STRUCTURES and options <= {"common_atoms"}:
        return from_structures([read_structure(file) for file in files], **entry.options)
    if kinds <= TABLES and options <= {"columns", "unit", "box"}:
        return read_table(files[0], entry.options.get("columns"))
    return None


def differences(draft: Ensemble, golden: dict[str, Any]) -> set[str]:
    found = {name for name in NAMES if digest(getattr(draft.atoms, name)) != golden[name]}
    places = {
        number: draft.frames.read(int(number), int(number) + 1)[0][0]
        for number, each in golden["snapshots"].items()
        if not each["box"]
    }
    if any(digest(x) != golden["snapshots"][number]["digest"] for number, x in places.items()):
        found.add("coordinates")
    own = {
        "shape": list(draft.frames.shape),
        "gaps": draft.gaps,
        "rounding": draft.rounding,
        "independent": draft.independent,
        "numbers": None if draft.numbers is None else digest(draft.numbers),
    }
    return found | {name for name, value in own.items() if value != golden[name]}


def test_drafts_of_the_corpus_have_the_atoms_and_coordinates_they_had(
    corpus: dict[str, Entry],
) -> None:
    golden, count = load_json("corpus"), 0
    for name, entry in corpus.items():
        expected = golden[name]
        if name.startswith("matrix/"):
            continue
        try:
            draft = read(entry)
        except ValueError:
            assert "error" in expected or DECIDED.get(name) == {"refused"}, name
            continue
        if draft is None:
            continue
        count += 1
        if "error" in expected:
            assert name in CLASHES, name
        else:
            assert differences(draft, expected) == DECIDED.get(name, set()), name
    assert count > 90


def test_matrices_of_the_corpus_have_the_entries_they_had(corpus: dict[str, Entry]) -> None:
    golden = load_json("corpus")
    for name in ("errors.json", "matrix.npy", "matrix.mtx"):
        values = read_matrix(corpus[f"built/{name}"].source).values
        dense = values.toarray() if isinstance(values, sparse.csr_array) else values
        assert digest(dense) == golden[f"matrix/{name}"]["digest"], name
