from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timme.compare import common_sites
from timme.system.atoms import Atoms


def atoms(*names: str) -> Atoms:
    """Atoms from words such as A/GLY/35/CA; 35X has the insertion code X."""
    chains, resnames, numbers, own = zip(*(name.split("/") for name in names), strict=True)
    digits = [number.rstrip("XYZ") for number in numbers]
    return replace(
        Atoms.unnamed(len(names)),
        names=np.array(own),
        resnames=np.array(resnames),
        resids=np.array([int(number) for number in digits]),
        icodes=np.array([n[len(d) :] for n, d in zip(numbers, digits, strict=True)]),
        chains=np.array(chains),
    )


def matches(first: Atoms, second: Atoms, **choices: Any) -> list[tuple[int, int]]:
    found = common_sites(first, second, **choices)
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True))


def notes(first: Atoms, second: Atoms, **choices: Any) -> str:
    return "; ".join(common_sites(first, second, **choices).notes)


def test_atoms_of_one_are_found_among_the_alpha_carbons_of_the_other() -> None:
    every = atoms(*(f"A/ALA/{k}/{name}" for k in range(1, 5) for name in ("N", "CA", "C")))
    alpha = atoms(*(f"A/ALA/{k}/CA" for k in (3, 2, 9)))
    assert matches(every, alpha) == [(4, 1), (7, 0)]
    assert matches(alpha, every) == [(0, 7), (1, 4)]
    assert notes(every, alpha) == "2 sites are in both: 2 of 12 in the first, 2 of 3 in the second"


def test_insertion_codes_and_chains_tell_sites_apart() -> None:
    one = atoms("A/GLY/1/CA", "A/GLY/1X/CA", "B/GLY/1/CA")
    other = atoms("B/GLY/1/CA", "A/GLY/1X/CA")
    assert matches(one, other) == [(1, 1), (2, 0)]


def test_the_same_names_in_the_same_order_need_no_search() -> None:
    one = atoms("A/HOH/1/O", "A/HOH/1/O", "A/HOH/2/O")
    assert matches(one, one) == [(0, 0), (1, 1), (2, 2)]
    assert notes(one, one) == ""


def test_names_that_are_there_twice_are_left_out() -> None:
    one = atoms("A/HOH/1/O", "A/HOH/1/O", "A/HOH/2/O", "A/HOH/3/O")
    other = atoms("A/HOH/1/O", "A/HOH/2/O", "A/HOH/3/O", "A/HOH/3/O")
    assert matches(one, other) == [(2, 1)]
    assert "3 sites were left out: another has the same name" in notes(one, other)


@pytest.mark.parametrize("name", ["", "P"])
def test_a_chain_of_another_name_is_found_and_said(name: str) -> None:
    one = atoms(*(f"A/ALA/{k}/CA" for k in range(5)), *(f"B/ALA/{k}/CA" for k in range(3)))
    other = atoms(*(f"{name}/ALA/{k}/CA" for k in range(1, 6)))
    assert matches(one, other) == [(k, k - 1) for k in range(1, 5)]
    said = f"chains of the first have other names in the second: A is {name or '(blank)'}"
    assert said in notes(one, other)
    assert matches(other, one) == [(k - 1, k) for k in range(1, 5)]


def test_chains_of_other_names_are_paired_one_to_one() -> None:
    dimer = [f"{chain}/ALA/{k}/CA" for chain in "AB" for k in range(4)]
    other = atoms(*(name.replace("A/ALA", "X/ALA").replace("B/", "Y/") for name in dimer))
    assert matches(atoms(*dimer), other) == [(k, k) for k in range(8)]
    assert "A is X, B is Y" in notes(atoms(*dimer), other)


def test_a_small_overlap_of_other_chains_is_no_match() -> None:
    one = atoms(*(f"A/ALA/{k}/CA" for k in range(10)))
    other = atoms(*(f"B/ALA/{k}/CA" for k in range(7, 17)))
    with pytest.raises(ValueError, match="no site is in both"):
        common_sites(one, other)
    assert len(matches(one, other, chains={"A": "B"})) == 3


def test_chains_can_be_chosen() -> None:
    one = atoms("A/ALA/1/CA", "B/ALA/1/CA")
    other = atoms("A/ALA/1/CA", "C/ALA/1/CA")
    assert matches(one, other) == [(0, 0)]
    assert matches(one, other, chains={"B": "C"}) == [(1, 1)]
    assert matches(one, other, chains={"B": "C", "A": "A"}) == [(0, 0), (1, 1)]
    with pytest.raises(ValueError, match="the second has no chain 'B': its chains are 'A', 'C'"):
        common_sites(one, other, chains={"A": "B"})
    with pytest.raises(ValueError, match="one partner"):
        common_sites(one, other, chains={"A": "C", "B": "C"})


def test_residues_are_matched_where_no_atom_is() -> None:
    one = atoms(*(f"A/DA/{k}/P" for k in range(1, 4)))
    other = atoms(*(f"A/DA/{k}/C4'" for k in range(2, 6)))
    assert matches(one, other) == [(1, 0), (2, 1)]
    assert "no atom names are shared: sites were matched by residue" in notes(one, other)


def test_other_residues_at_the_same_place_are_said() -> None:
    one = atoms(*(f"A/ALA/{k}/CA" for k in range(5)))
    other = atoms(*(f"A/{'GLY' if k == 2 else 'ALA'}/{k}/CA" for k in range(5)))
    said = (
        "1 of 5 common sites are in residues of another name, the first A/ALA 2/CA and A/GLY 2/CA"
    )
    assert said == notes(one, other)
    shifted = atoms(*(f"A/{'GLY' if k else 'ALA'}/{k}/CA" for k in range(6)))
    assert notes(one, shifted).endswith("A/GLY 1/CA: check the residue numbers")
    assert notes(one, Atoms.unnamed(4)).count("another name") == 0


def test_nothing_in_common_is_refused_with_the_remedy() -> None:
    one = atoms("A/ALA/1/CA", "A/ALA/2/CA")
    with pytest.raises(
        ValueError, match=r"has A/ALA 1/CA to A/ALA 2/CA, .* 9/CA: .*chains=\{'A': 'B'\}"
    ):
        common_sites(one, atoms("A/ALA/9/CA"))


def test_particles_are_matched_by_number() -> None:
    assert matches(Atoms.unnamed(4), Atoms.unnamed(2)) == [(0, 0), (1, 1)]


@given(st.lists(st.integers(0, 9), unique=True, min_size=1), st.permutations(range(10)))
def test_swapping_systems_finds_the_same_sites(some: list[int], order: list[int]) -> None:
    one = atoms(*(f"A/ALA/{k}/CA" for k in some))
    other = atoms(*(f"A/ALA/{k}/CA" for k in order))
    expected = {(place, order.index(k)) for place, k in enumerate(some)}
    assert set(matches(one, other)) == expected
    assert {(i, j) for j, i in matches(other, one)} == expected
