"""Selections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import atom, peptide, waters, write_pdb
from timme.readers import read, select_atoms
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [
        *peptide(),
        atom("H", 1, (0.0, 0.9, 0.4)),
        *peptide(30.0, chain="B"),
        *[
            (*water[:4], water[4] + 100, *water[5:8], water[8] + 40.0, *water[9:])
            for water in waters(2)
        ],
        atom("CA", 201, (60.0, 0.0, 0.0), resname="CA", element="CA"),
    ]
    return write_pdb(tmp_path / "a.pdb", [records, records])


def labels(ensemble: Ensemble) -> list[str]:
    return [ensemble.site_label(site) for site in range(ensemble.n_sites)]


def test_presets(path: Path) -> None:
    assert labels(read(path, select="ca")) == [
        "A/ALA 1/CA",
        "A/ALA 2/CA",
        "B/ALA 1/CA",
        "B/ALA 2/CA",
    ]
    assert set(
        read(path, select="backbone").atoms.names[read(path, select="backbone").site_atoms]
    ) == {
        "N",
        "CA",
        "C",
        "O",
    }
    assert labels(read(path, select="water-oxygen")) == ["A/HOH 101/O", "A/HOH 102/O"]
    heavy = read(path, select="heavy")
    assert "H" not in heavy.atoms.elements[heavy.site_atoms]
    assert heavy.n_sites == 20 + 2 + 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("protein and name CA", 4),
        ("segid A and name N", 2),
        ("chainID B and name N", 2),
        ("element Ca", 1),
        ("resid 1:2 and not protein", 0),
        ("resname HOH and around 2.0 name O", 4),
        ("bonded (resid 1 and name C and chainID A)", 3),
        ("resname ALA and prop x > 20", 10),
    ],
)
def test_the_language_of_mdanalysis(path: Path, text: str, count: int) -> None:
    if count:
        assert read(path, select=text).n_sites == count
    else:
        with pytest.raises(ValueError, match="matches none of the 28 atoms"):
            read(path, select=text)


def test_a_selection_that_matches_nothing_says_what_is_there(path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"'name XX' matches none .*residues ALA, CA, HOH; chains A, B"
    ):
        read(path, select="name XX")
    with pytest.raises(ValueError, match="'water-oxygen' matches none"):
        read(np.zeros((2, 3, 3)), select="water-oxygen")


@pytest.mark.parametrize("text", ["name CA and", "nonsense", "(name CA", "resid a:b", ""])
def test_a_selection_that_is_not_understood_gives_one_line(path: Path, text: str) -> None:
    with pytest.raises(
        ValueError, match=r"the selection .* (is not understood|matches none)"
    ) as caught:
        read(path, select=text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_points_of_any_dimension_are_selected(dimensions: int) -> None:
    places = np.arange(4.0 * dimensions).reshape(4, dimensions)
    atoms = Atoms.unnamed(4)
    assert select_atoms(atoms, places, "all").tolist() == [0, 1, 2, 3]
    if dimensions <= 3:
        assert select_atoms(atoms, places, f"prop x > {dimensions}").tolist() == [2, 3]
    else:
        with pytest.raises(ValueError, match="is not understood"):
            select_atoms(atoms, places, "prop x > 1")


def test_indices_and_truth_values() -> None:
    atoms = Atoms.unnamed(4)
    assert select_atoms(atoms, None, [3, 0]).tolist() == [3, 0]
    assert select_atoms(atoms, None, [-1]).tolist() == [3]
    assert select_atoms(atoms, None, np.array([True, False, True, False])).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([4], "indices from 0 to 3, got 4"),
        ([], "needs a text, a list of indices"),
        ([0.5], "needs a text, a list of indices"),
        ([1, 1], "every atom once"),
        ([[0, 1]], "needs a text, a list of indices"),
    ],
)
def test_bad_indices_are_refused(given: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select_atoms(Atoms.unnamed(4), None, given)
