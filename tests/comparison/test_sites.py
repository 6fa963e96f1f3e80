"""Tests on hand-made systems of which site is which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.ensemble.builders import joined
from timme.comparison import common_sites
from timme.ensemble.atoms import Atoms

LETTERS = "ALA GLY SER THR VAL LEU ILE PRO PHE TYR TRP LYS ARG ASP GLU ASN GLN HIS MET CYS".split()


def protein(numbers: range, *, chain: str = "A", seed: int = 0, start: int = 0) -> Atoms:
    """Cα of residues with a random sequence, which begins at ``start`` of that of the seed."""
    names = np.random.default_rng(seed).choice(LETTERS, start + len(numbers))[start:]
    count = len(numbers)
    return replace(
        Atoms.unnamed(count),
        names=np.full(count, "CA"),
        elements=np.full(count, "C"),
        resnames=names.astype(str),
        resids=np.array(numbers, np.int64),
        chains=np.full(count, chain),
    )


def test_residues_of_the_same_number_belong_together() -> None:
    found = common_sites(protein(range(1, 61)), protein(range(5, 71), start=4))
    assert_array_equal(found.first, np.arange(4, 60))
    assert_array_equal(found.second, np.arange(56))


def test_shifted_numbers_are_aligned_by_sequence() -> None:
    found = common_sites(protein(range(1, 61)), protein(range(101, 157), start=4))
    assert_array_equal(found.first - found.second, 4)
    assert len(found.first) == 56
    assert "100.0% of 56" in found.notes[-1]


def test_a_loop_of_other_length_and_mutations_are_aligned() -> None:
    first = protein(range(1, 161))
    names = first.resnames
    swapped = np.where(np.arange(160) % 3 == 0, "UNK", names)  # two thirds are the same
    loop = np.concatenate([swapped[:70], protein(range(12), seed=5).resnames, swapped[70:]])
    second = replace(protein(range(1, 173)), resnames=loop)
    found = common_sites(first, second)
    expected = np.arange(160) + 12 * (np.arange(160) >= 70)
    assert np.count_nonzero(found.second == expected[found.first]) > 155  # edges of the loop vary


@pytest.mark.parametrize("lengths", [(60, 60), (110, 76), (214, 76), (370, 110)])
def test_unrelated_sequences_are_refused(lengths: tuple[int, int]) -> None:
    for seed in range(20):
        one, other = (protein(range(n), seed=2 * seed + k) for k, n in enumerate(lengths))
        with pytest.raises(ValueError, match="less than 30%"):
            common_sites(one, other)


def test_different_molecules_are_matched_by_number_where_that_is_chosen() -> None:
    found = common_sites(protein(range(1, 61)), protein(range(21, 81), seed=9), align="number")
    assert_array_equal(found.first - found.second, 20)
    assert len(found.first) == 40


def test_chains_of_other_names_are_paired() -> None:
    first = joined(protein(range(1, 41), seed=1), protein(range(1, 41), chain="B", seed=2))
    second = joined(
        protein(range(1, 41), chain="X", seed=2), protein(range(1, 41), chain="Y", seed=1)
    )
    found = common_sites(first, second)
    assert_array_equal(found.second, (np.arange(80) + 40) % 80)
    assert "A is Y, B is X" in found.notes[-1]


def test_chosen_chains_are_compared_alone() -> None:
    dimer = joined(protein(range(1, 31)), protein(range(1, 31), chain="B"))
    found = common_sites(dimer, dimer, chains={"A": "B"})
    assert_array_equal(found.first, np.arange(30))
    assert_array_equal(found.second, np.arange(30, 60))


def test_atoms_are_matched_by_name_within_residues() -> None:
    names = np.array(["CA", "CA", "CB", "CB"])
    both = replace(joined(protein(range(1, 3)), protein(range(1, 3))), names=names)
    found = common_sites(both, replace(both, names=names[[2, 3, 0, 1]]))
    assert_array_equal(found.second, [2, 3, 0, 1])


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (protein(range(1, 61)), protein(range(1, 61), seed=9), {}, "different molecules"),
        (protein(range(1, 61)), Atoms.unnamed(60), {}, "less than 30%"),
        (protein(range(9)), protein(range(8)), {"chains": {"Z": "A"}}, "no chain 'Z': its chains"),
        (protein(range(9)), protein(range(8)), {"chains": {"A": "Q"}}, "second has no chain 'Q'"),
        (protein(range(1, 9)), protein(range(11, 19)), {"align": "number"}, "no site is in both"),
        (protein(range(60)), protein(range(60), seed=9), {"chains": {"A": "A"}}, "align='number'"),
    ],
)
def test_systems_without_common_sites_are_refused(
    first: Atoms, second: Atoms, options: dict[str, dict[str, str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        common_sites(first, second, **options)  # type: ignore[arg-type]
