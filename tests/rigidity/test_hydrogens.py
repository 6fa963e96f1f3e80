"""Hydrogens for structures without them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import timme
from tests.readers.builders import atom, peptide, write_pdb
from tests.rigidity.structures import barnase, late_barnase
from timme._arrays import Bools, Floats
from timme.rigidity.chemistry import chemistry
from timme.rigidity.hydrogens import add_hydrogens
from timme.rigidity.network import network
from timme.rigidity.structure import structure
from timme.system.ensemble import Ensemble


@pytest.fixture
def library() -> None:
    pytest.importorskip("hydride", reason="needs the extra 'rigidity'")


def directions(ensemble: Ensemble) -> tuple[Floats, Floats]:
    """Of every amide, where its hydrogen is and where it would be best, as unit vectors."""
    atoms, places = ensemble.atoms, ensemble.snapshot()[0]
    found, best = [], []
    for nitrogen in np.flatnonzero(atoms.names == "N"):
        bonds = atoms.bonds[(atoms.bonds == nitrogen).any(axis=1)]
        near = bonds.sum(axis=1) - nitrogen
        arms = places[near] - places[nitrogen]
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        light = atoms.elements[near] == "H"
        if light.sum() == 1 and len(near) == 3:
            found.append(arms[light][0])
            best.append(-arms[~light].sum(axis=0))
    ideal = np.array(best)
    return np.array(found), ideal / np.linalg.norm(ideal, axis=1, keepdims=True)


def test_without_the_library_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hydride", None)
    bare = timme.read(write_pdb(tmp_path / "bare.pdb", [peptide()]))
    with pytest.raises(ImportError, match=r'`pip install "pytimme\[rigidity\]"`'):
        add_hydrogens(bare)


def test_a_structure_with_hydrogens_is_refused(tmp_path: Path) -> None:
    records = [*peptide(), atom("H", 2, (3.8, 0.0, 1.0))]
    with pytest.raises(ValueError, match="there are 1 hydrogens already: use them, or leave them"):
        add_hydrogens(timme.read(write_pdb(tmp_path / "one.pdb", [records])))


@pytest.mark.usefixtures("library")
def test_a_peptide_gets_the_hydrogens_that_chemistry_wants(tmp_path: Path) -> None:
    """Three at the first nitrogen, one at the others, one at each Cα and three at each Cβ."""
    bare = timme.read(write_pdb(tmp_path / "bare.pdb", [peptide(n_residues=3)]))
    whole = add_hydrogens(bare)
    atoms = whole.atoms
    heavy = atoms.elements != "H"
    assert np.count_nonzero(~heavy) == 3 + 2 + 3 * (1 + 3)
    np.testing.assert_array_equal(whole.snapshot()[0][heavy], bare.snapshot()[0])
    for name in ("names", "elements", "resids", "chains"):
        assert (getattr(atoms, name)[heavy] == getattr(bare.atoms, name)).all()
    degrees = np.bincount(atoms.bonds.ravel(), minlength=len(atoms))
    assert (degrees[~heavy] == 1).all()
    assert len(atoms.bonds) == len(bare.atoms.bonds) + np.count_nonzero(~heavy)
    assert "17 hydrogens were added by hydride for pH 7" in whole.notes
    assert names_of(whole, chemistry(structure(whole)).positive) == {"N"}


def names_of(ensemble: Ensemble, chosen: Bools) -> set[str]:
    return set(ensemble.atoms.names[chosen].tolist())


@pytest.mark.usefixtures("library")
def test_no_hydrogen_is_put_where_an_amino_acid_is_missing(tmp_path: Path) -> None:
    records = [record for record in peptide(n_residues=4) if record[4] != 2]
    whole = add_hydrogens(timme.read(write_pdb(tmp_path / "gap.pdb", [records])))
    third = whole.atoms.resids == 3
    assert set(whole.atoms.names[third]) == {"N", "CA", "C", "O", "CB", "HA", "HB1", "HB2", "HB3"}


@pytest.mark.usefixtures("library")
def test_molecules_without_an_entry_get_none_and_are_named(tmp_path: Path) -> None:
    ligand = [
        atom("C9X", 9, (30.0, 0.0, 0.0), resname="LIG"),
        atom("O9X", 9, (31.4, 0.0, 0.0), resname="LIG"),
    ]
    water = [atom("O", 10, (40.0, 0.0, 0.0), resname="HOH")]
    path = write_pdb(tmp_path / "ligand.pdb", [[*peptide(), *ligand, *water]])
    whole = add_hydrogens(timme.read(path))
    assert (whole.atoms.resnames[whole.atoms.elements == "H"] == "ALA").all()
    assert any(note.startswith("no hydrogens were added to A/LIG 9: ") for note in whole.notes)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("names", [("O", "OXT"), ("OT1", "OT2"), ("O1", "O2")])
def test_the_end_of_a_chain_is_known_by_any_of_its_names(
    names: tuple[str, str], tmp_path: Path
) -> None:
    records = [record for record in peptide() if (record[0], record[4]) != ("O", 2)]
    ends = [(6.0, -0.45, 0.85), (7.3, 0.3, -0.75)]
    records += [atom(name, 2, place) for name, place in zip(names, ends, strict=True)]
    whole = add_hydrogens(timme.read(write_pdb(tmp_path / "end.pdb", [records])))
    assert np.count_nonzero(whole.atoms.elements == "H") == 3 + 1 + 2 * (1 + 3)
    assert names_of(whole, chemistry(structure(whole)).negative) == set(names)


@pytest.mark.usefixtures("library")
def test_phosphates_lose_their_protons(tmp_path: Path) -> None:
    records = [
        atom("P", 1, (0.0, 0.0, 0.0), resname="PO4"),
        *(
            atom(f"O{number + 1}", 1, place, resname="PO4")
            for number, place in enumerate(
                [
                    (0.89, 0.89, 0.89),
                    (-0.89, -0.89, 0.89),
                    (-0.89, 0.89, -0.89),
                    (0.89, -0.89, -0.89),
                ]
            )
        ),
    ]
    path = write_pdb(tmp_path / "phosphate.pdb", [[*records, *peptide(20.0)]])
    whole = add_hydrogens(timme.read(path))
    assert "PO4" not in whole.atoms.resnames[whole.atoms.elements == "H"]


@pytest.mark.usefixtures("library")
def test_barnase_gets_hydrogens_in_place_and_the_same_every_time() -> None:
    """As many as OpenMM gave it for the same pH."""
    given = timme.read(timme.data.path("barnase_md.pdb"))
    bare = given.select(np.flatnonzero(given.atoms.elements != "H"))
    whole = add_hydrogens(bare)
    assert whole.n_sites == given.n_sites
    found, best = directions(whole)
    off = np.rad2deg(np.arccos(np.clip((found * best).sum(axis=1), -1, 1)))
    assert len(off) == 104  # 108 residues, less 3 prolines and the first
    assert off.max() < 2.0
    np.testing.assert_array_equal(whole.snapshot()[0], add_hydrogens(bare).snapshot()[0])
    assert network(whole).n_bodies == whole.n_sites


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("given", [barnase, late_barnase])
def test_most_strong_bonds_come_back_when_hydrogens_are_placed_anew(
    given: Callable[[], Ensemble],
) -> None:
    """Turns of hydroxyls and forms of histidine are not in the heavy atoms, so a few may differ."""
    dry = given().atoms.resnames != "HOH"
    heavy = np.flatnonzero((given().atoms.elements != "H") & dry)
    anew = add_hydrogens(given().select(heavy))
    before, after = (strong_bonds(one) for one in (given(), anew))
    assert len(before & after) >= 0.9 * len(before)
    assert len(after - before) <= 0.1 * len(before)


def strong_bonds(ensemble: Ensemble) -> set[tuple[str, str]]:
    """Donors and acceptors of bonds below -1 kcal/mol, by their names."""
    found = network(ensemble, cutoff=-1.0)
    atoms = ensemble.atoms
    donors = {
        int(hydrogen): int(heavy)
        for one, other in atoms.bonds
        for hydrogen, heavy in ((one, other), (other, one))
        if atoms.elements[hydrogen] == "H"
    }
    return {
        (ensemble.site_label(donors[int(hydrogen)]), ensemble.site_label(int(acceptor)))
        for hydrogen, acceptor in found.bonds[found.of_kind("hydrogen bond", "salt bridge")]
    }
