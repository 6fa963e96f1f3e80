"""Invariants and references of objects: members, names, centres and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme import objects
from timme.ensemble import Atoms, Ensemble, Images
from timme.ensemble.frames import OpenSpace

SNAPSHOTS = np.random.default_rng(0).normal(size=(5, 6, 3))
BONDS = [(0, 1), (1, 2), (2, 3), (4, 5)]
ENSEMBLE = Ensemble.from_array(SNAPSHOTS, atoms=Atoms.unnamed(6, bonds=BONDS))


def sets_of(made: objects.Objects) -> list[list[int]]:
    return [made.sites(index).tolist() for index in range(len(made))]


def named(**columns: Any) -> Ensemble:
    atoms = replace(Atoms.unnamed(6), **{name: np.array(value) for name, value in columns.items()})
    return Ensemble.from_array(SNAPSHOTS, atoms=atoms)


def test_points_are_the_sites() -> None:
    made = objects.points(ENSEMBLE)
    assert sets_of(made) == [[0], [1], [2], [3], [4], [5]]
    assert made.are_points
    assert made.names.tolist() == ["1", "2", "3", "4", "5", "6"]
    assert made.centres() is ENSEMBLE


def test_links_are_the_bonds_in_their_order() -> None:
    assert sets_of(objects.links(ENSEMBLE)) == [list(bond) for bond in BONDS]
    made = objects.links(ENSEMBLE, [(5, 0), (1, 0)])
    assert sets_of(made) == [[5, 0], [1, 0]]
    assert made.names.tolist() == ["6–1", "2–1"]
    assert sorted(made.rigid.tolist()) == [[0, 1], [0, 5]]


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_bodies_reach_as_many_bonds_as_asked(seed: int, reach: int) -> None:
    rng = np.random.default_rng(seed)
    n_sites = int(rng.integers(2, 9))
    bonds = rng.integers(0, n_sites, (int(rng.integers(1, 10)), 2))
    bonds = bonds[bonds[:, 0] != bonds[:, 1]]
    atoms = Atoms.unnamed(n_sites, bonds=bonds)
    made = objects.bodies(Ensemble.from_array(np.zeros((2, n_sites, 1)), atoms=atoms), reach=reach)
    separation = naive.bond_separation(n_sites, bonds)
    assert made.anchors.tolist() == list(range(n_sites))
    for site, body in enumerate(sets_of(made)):
        assert body[0] == site
        assert sorted(body) == np.flatnonzero(separation[site] <= reach).tolist()


def test_molecules_are_the_pieces_that_bonds_connect() -> None:
    assert sets_of(objects.molecules(ENSEMBLE)) == [[0, 1, 2, 3], [4, 5]]
    assert sets_of(objects.molecules(ENSEMBLE.select([5, 3, 0]))) == [[0], [1, 2]]
    traced = replace(ENSEMBLE, traces=np.array([[3, 4, 3]]))
    assert sets_of(objects.molecules(traced)) == [[0, 1, 2, 3, 4, 5]]


def test_molecules_without_bonds_are_those_that_the_file_numbers() -> None:
    numbered = replace(Ensemble.from_array(SNAPSHOTS), molecules=np.array([3, 0, 3, 7, 0, 7]))
    assert sets_of(objects.molecules(numbered)) == [[0, 2], [1], [3, 5], [4]]


def test_residues_of_one_number_in_two_chains_are_two() -> None:
    ensemble = named(
        resids=[1, 1, 1, 1, 2, 1], chains=list("AABBAA"), icodes=["", "", "", "", "", "X"]
    )
    made = objects.residues(ensemble)
    assert sets_of(made) == [[0, 1], [2, 3], [4], [5]]
    assert made.names.tolist() == ["A", "B", "A", "A"]  # without names of atoms, the chain


def test_a_hydrogen_written_later_belongs_to_its_residue() -> None:
    ensemble = named(
        names=["N", "CA", "N", "CA", "H", "N"], resids=[1, 1, 2, 1, 1, 1], resnames=["GLY"] * 6
    )
    assert sets_of(objects.residues(ensemble)) == [[0, 1], [2], [3, 4, 5]]


@pytest.mark.parametrize("centre", ["geometry", "mass"])
def test_centres_are_weighted_means_of_members(centre: Any) -> None:
    masses = np.arange(1.0, 7.0)
    ensemble = named(masses=masses)
    sets = [[0, 2, 4], [5, 2]]
    made = objects.groups(ensemble, sets, centre=centre)
    found = made.centres()
    picked = found.select([1])  # what needs two sites of six
    weights = masses if centre == "mass" else np.ones(6)
    for place, members in enumerate(sets):
        expected = np.average(SNAPSHOTS[:, members], axis=1, weights=weights[members])
        assert found.coordinates()[:, place] == pytest.approx(expected, abs=1e-14)
    assert picked.coordinates()[:, 0] == pytest.approx(found.coordinates()[:, 1], abs=1e-14)
    assert found.frames.shape == (5, 2, 3)


BOX = np.array([[2.0, 0, 0], [0.7, 2.0, 0], [0.1, 0.5, 2.0]])


def test_centres_do_not_depend_on_images_of_members() -> None:
    rng = np.random.default_rng(4)
    whole = rng.uniform(0, 0.4, (4, 6, 3)) + rng.uniform(0, 10, (4, 1, 3))
    torn = whole + rng.integers(-2, 3, whole.shape) @ BOX
    sets = [[0, 1, 2, 3], [4, 5]]
    found = objects.groups(Ensemble.from_array(torn, boxes=BOX), sets).centres().coordinates()
    for place, members in enumerate(sets):
        for frame in range(4):
            expected = whole[frame, members].mean(axis=0)
            apart = naive.distance(expected, found[frame, place], BOX)
            assert apart == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("whole", ["one molecule", "open frames"])
def test_members_far_apart_are_not_moved_where_images_do_not_count(whole: str) -> None:
    ensemble = Ensemble.from_array(SNAPSHOTS * 3, boxes=BOX)
    if whole == "one molecule":
        ensemble = replace(ensemble, images=Images(np.zeros(6, np.int64)))
    else:
        ensemble = replace(ensemble, frames=ensemble.frames.then(OpenSpace()))
    found = objects.groups(ensemble, [[0, 1, 2, 3, 4, 5]]).centres().coordinates()[:, 0]
    assert found == pytest.approx(3 * SNAPSHOTS.mean(axis=1), abs=1e-13)


def test_an_unseen_member_hides_its_own_group_only() -> None:
    gapped = SNAPSHOTS.copy()
    gapped[0, 0] = gapped[1, 1] = gapped[2, 4] = np.nan
    ensemble = Ensemble.from_array(gapped, gaps=True)
    centres = objects.groups(ensemble, [[0, 1, 2], [3, 2], [4, 5]]).centres().coordinates()
    unseen = np.isnan(centres).any(axis=2)
    assert np.argwhere(unseen).tolist() == [[0, 0], [1, 0], [2, 2]]
    assert centres[1, 1] == pytest.approx(gapped[1, [3, 2]].mean(axis=0), abs=1e-14)


def test_groups_are_named_by_a_dict_of_sites_or_selections() -> None:
    made = objects.groups(ENSEMBLE, {"head": [1, 0], "tail": "resid 5:6"})
    assert made.names.tolist() == ["head", "tail"]
    assert sets_of(made) == [[1, 0], [4, 5]]


@pytest.mark.parametrize(
    ("labels", "names", "sets"),
    [
        (np.array([2, 0, 0, -1, 2, 0]), ["group 0", "group 2"], [[1, 2, 5], [0, 4]]),
        (["b", "a", "", "a", None, "a"], ["a", "b"], [[1, 3, 5], [0]]),
        ([1.0, np.nan, 1.0, None, 2.0, 2.0], ["group 1.0", "group 2.0"], [[0, 2], [4, 5]]),
    ],
    ids=["numbers", "texts", "missing"],
)
def test_sites_of_one_label_are_one_group(
    labels: Any, names: list[str], sets: list[list[int]]
) -> None:
    made = objects.groups(ENSEMBLE, labels)
    assert made.names.tolist() == names
    assert sets_of(made) == sets


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "at least 1 group"),
        ([[0], []], "at least 1 site in each"),
        ([[0, 1], [2, 3, 2]], "group 2"),
        ([[0, 6]], "from 0 to 5, got 0 to 6"),
        ([[0.5]], "whole numbers"),
        ([["CA"]], "whole numbers"),
        ([0, 1], "need one for each of 6 sites, got 2: to name"),
    ],
)
def test_sets_that_are_not_groups_are_refused(sets: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        objects.groups(ENSEMBLE, sets)
    with pytest.raises(TypeError, match="pass a dict"):
        objects.groups(ENSEMBLE, "all")


@pytest.mark.parametrize(
    "bonds", [[(0, 0)], [(0, 1), (1, 0)], [0, 1, 2], [(0, 9)], [(0, 1.5)]], ids=str
)
def test_bonds_that_are_not_links_are_refused(bonds: Any) -> None:
    with pytest.raises(ValueError, match="links"):
        objects.links(ENSEMBLE, bonds)


def test_choices_that_do_not_exist_are_refused() -> None:
    wrong: Any = "mean"
    for make in (objects.links, objects.bodies, objects.residues, objects.molecules):
        with pytest.raises(ValueError, match="rms, max or centre, got 'mean'"):
            make(ENSEMBLE, reduction=wrong)
    with pytest.raises(ValueError, match="mass"):
        objects.groups(ENSEMBLE, [[0], [1]], centre=wrong)
    with pytest.raises(ValueError, match="needs 2 names, got 1"):
        objects.groups(ENSEMBLE, [[0], [1]], names=["one"])
    with pytest.raises(ValueError, match="of at least 0, got -1"):
        objects.bodies(ENSEMBLE, reach=-1)
    with pytest.raises(ValueError, match="masses above 0"):
        objects.groups(named(masses=np.zeros(6)), [[0, 1]], centre="mass")
    with pytest.raises(TypeError, match="needs Ensemble, got list"):
        objects.points([[0.0]])  # type: ignore[arg-type]


def test_objects_of_bonds_need_bonds() -> None:
    bare = Ensemble.from_array(SNAPSHOTS)
    with pytest.raises(ValueError, match="links need at least 1 bond"):
        objects.links(bare)
    with pytest.raises(ValueError, match="molecules need bonds"):
        objects.molecules(bare)
