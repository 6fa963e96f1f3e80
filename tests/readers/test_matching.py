"""Matching of atoms by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timme.readers.matching import match_models
from timme.readers.models import Model, label

NAMES = ("N", "CA", "C", "O")


def model(order: list[int], *, n_residues: int = 4) -> Model:
    """Atoms of residues in two chains with insertion codes, in any order, numbered by place."""
    count = 2 * n_residues * len(NAMES)
    atoms = np.array(order) if order else np.arange(count)
    residue = atoms // len(NAMES) % n_residues
    return Model(
        label="model",
        names=np.array(NAMES)[atoms % len(NAMES)],
        elements=np.full(len(atoms), "C"),
        resnames=np.full(len(atoms), "ALA"),
        resids=1 + residue // 2,
        icodes=np.array(["", "A"])[residue % 2],
        chains=np.array(["A", "B"])[atoms // (len(NAMES) * n_residues)],
        altlocs=np.full(len(atoms), ""),
        occupancies=np.ones(len(atoms)),
        serials=atoms,
        coordinates=np.repeat(atoms[:, None], 3, axis=1).astype(float),
    )


@given(st.permutations(range(32)), st.permutations(range(32)))
def test_any_order_is_brought_in_line(first: list[int], second: list[int]) -> None:
    models = [model(first), model(second)]
    one, two = match_models(models).orders
    np.testing.assert_array_equal(models[0].serials[one], models[1].serials[two])
    np.testing.assert_array_equal(one, np.arange(32))


@given(st.sets(st.integers(0, 31), min_size=1), st.sets(st.integers(0, 31), min_size=1))
def test_common_atoms_are_the_intersection(first: set[int], second: set[int]) -> None:
    models = [model(sorted(first)), model(sorted(second, reverse=True))]
    shared = first & second
    if first == second:
        assert len(match_models(models).orders[0]) == len(first)
        return
    with pytest.raises(ValueError, match="is not there"):
        match_models(models)
    if not shared:
        with pytest.raises(ValueError, match="share no atoms"):
            match_models(models, common_atoms=True)
        return
    found = match_models(models, common_atoms=True)
    assert models[0].serials[found.orders[0]].tolist() == sorted(shared)
    assert models[1].serials[found.orders[1]].tolist() == sorted(shared)
    assert f"{len(first | second) - len(shared)} were left out" in found.notes[0]


def test_a_chain_without_a_name_is_the_only_one() -> None:
    first, second = model(list(range(16))), model(list(range(15, -1, -1)))
    blank = replace(second, chains=np.full(16, ""))
    for models in ([first, blank], [blank, first], [first, blank, first]):
        found = match_models(models)
        for other, order in zip(models, found.orders, strict=True):
            np.testing.assert_array_equal(other.serials[order], models[0].serials[found.orders[0]])
        assert "does not name its chain" in found.notes[0]
    others = replace(second, chains=np.full(16, "B"))
    with pytest.raises(ValueError, match="is not there"):
        match_models([first, others])
    with pytest.raises(ValueError, match="is not there"):
        match_models([model([]), replace(model([]), chains=np.full(32, ""), resids=np.arange(32))])


def test_labels_are_what_people_write() -> None:
    assert label(("A", 35, "B", "CA"), "GLY") == "A/GLY 35B/CA"
    assert label(("", 100_035, "", "CA")) == "35/CA"
    assert label(("", -3, "", "CA")) == "-3/CA"
