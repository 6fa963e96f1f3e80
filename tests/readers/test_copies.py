"""Atoms that a structure file gives one name: copies of chains, and atoms called by elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import Record, atom, write_pdb
from timme._arrays import Floats
from timme.readers import read, read_model

SHIFT = np.array([30.0, 0.0, 0.0])


def peptide(chain: str, place: Floats) -> list[Record]:
    """Three residues of a backbone, atoms 1.4 Å apart."""
    names = [(name, 1 + number) for number in range(3) for name in ("N", "CA", "C", "O")]
    return [
        atom(name, resid, (place + np.array([1.4 * number, 0.0, 0.0])).tolist(), chain=chain)
        for number, (name, resid) in enumerate(names)
    ]


def dimers(chains: str) -> list[list[Record]]:
    places = np.random.default_rng(3).normal(scale=0.3, size=(4, 2, 3))
    return [
        [
            record
            for copy, chain in enumerate(chains)
            for record in peptide(chain.strip(), shift[copy] + copy * SHIFT)
        ]
        for shift in places
    ]


@pytest.mark.parametrize(("chains", "named"), [("  ", "AB"), ("AA", "AB"), ("BB", "BA")])
def test_copies_of_a_chain_are_told_apart(tmp_path: Path, chains: str, named: str) -> None:
    ensemble = read(write_pdb(tmp_path / "dimer.pdb", dimers(chains)))
    apart = read(write_pdb(tmp_path / "apart.pdb", dimers("AB")))
    np.testing.assert_array_equal(ensemble.coordinates(), apart.coordinates())
    assert ensemble.atoms.chains.tolist() == [named[0]] * 12 + [named[1]] * 12
    which = f"chain {chains[0]}" if chains.strip() else "the chain without a name"
    assert f"{which} is there 2 times, now called {named[0]}, {named[1]}" in ensemble.notes


def test_one_structure_of_copies_is_read(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "dimer.pdb", dimers("AA")[:1])
    ensemble, count = read_model(path)
    assert (ensemble.n_sites, count) == (24, 1)


def test_files_of_copies_are_snapshots(tmp_path: Path) -> None:
    models = dimers("  ")
    paths = [write_pdb(tmp_path / f"{k}.pdb", [model]) for k, model in enumerate(models)]
    ensemble = read(paths)
    assert (ensemble.n_snapshots, ensemble.n_sites) == (4, 24)
    assert sum("2 times" in note for note in ensemble.notes) == 1


def test_waters_whose_numbers_begin_anew_are_all_there(tmp_path: Path) -> None:
    waters = [
        atom("O", number % 5 + 1, (4.0 * number, 20.0, 0.0), resname="HOH", chain="W")
        for number in range(12)
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [waters, waters[:]]), select="all")
    assert ensemble.n_sites == 12
    assert "chain W is there 3 times, now called W, A, B" in ensemble.notes


def test_hydrogens_that_are_written_apart_begin_no_copy(tmp_path: Path) -> None:
    heavy = peptide("A", np.zeros(3))
    light = [atom("H", resid, (5.6 * resid - 5.6, 1.0, 0.0)) for resid in (1, 2, 3)]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [heavy + light] * 2))
    assert set(ensemble.atoms.chains.tolist()) == {"A"}
    assert not any("times" in note for note in ensemble.notes)


def molecule(shift: float) -> list[Record]:
    """Six atoms of one residue that are called by their elements, as ASE writes them."""
    symbols = ("C", "C", "O", "H", "H", "H")
    return [
        atom(name, 1, (1.3 * number, shift * number, 0.0), resname="MOL", chain="", element=name)
        for number, name in enumerate(symbols)
    ]


def test_atoms_that_are_called_by_their_element_are_matched_by_order(tmp_path: Path) -> None:
    models = [molecule(shift) for shift in (0.0, 0.1, 0.3)]
    ensemble = read(write_pdb(tmp_path / "ase.pdb", models))
    expected = [[record[6:9] for record in model] for model in models]
    np.testing.assert_allclose(ensemble.coordinates(), expected, atol=1e-9)
    assert ensemble.atoms.names.tolist() == ["C", "C", "O", "H", "H", "H"]
    assert any("told apart by their order" in note for note in ensemble.notes)


def test_atoms_called_by_their_element_in_another_order_are_refused(tmp_path: Path) -> None:
    first, second = molecule(0.0), molecule(0.1)
    path = write_pdb(tmp_path / "ase.pdb", [first, second[::-1]])
    with pytest.raises(ValueError, match="C is there twice"):
        read(path)


def test_two_atoms_of_one_name_in_a_residue_stay_a_fault(tmp_path: Path) -> None:
    model = [atom("CA", 2, (9.0, 0.0, 0.0)), atom("CA", 2, (9.0, 2.0, 0.0))]
    with pytest.raises(ValueError, match="CA is there twice"):
        read(write_pdb(tmp_path / "a.pdb", [model, model]))
