from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import timme
from tests import naive
from tests.strategies import bond_graphs
from timme import objects, pairs
from timme.fluctuations import measure
from timme.settings.values import Centre
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

SNAPSHOTS = np.random.default_rng(0).normal(size=(5, 6, 3))
BONDS = [(0, 1), (1, 2), (2, 3), (4, 5)]
ENSEMBLE = Ensemble.from_array(SNAPSHOTS, atoms=Atoms.unnamed(6, bonds=BONDS))


def sets_of(made: objects.Objects) -> list[list[int]]:
    return [made.sites(index).tolist() for index in range(len(made))]


def test_points_are_the_sites() -> None:
    made = objects.points(ENSEMBLE)
    assert sets_of(made) == [[0], [1], [2], [3], [4], [5]]
    assert made.are_points
    assert made.centres() is ENSEMBLE


def test_links_are_the_bonds_in_their_order() -> None:
    assert sets_of(objects.links(ENSEMBLE)) == [list(bond) for bond in BONDS]
    assert sets_of(objects.links(ENSEMBLE, [(5, 0), (1, 0)])) == [[5, 0], [1, 0]]


def test_links_that_share_a_joint_are_compared_by_their_far_ends() -> None:
    """The joint of 0–1 and 1–2 moves, and with it the lengths of both links; 0 and 2 do not."""
    places = np.zeros((4, 3, 2))
    places[:, 1] = [(1.0, 0.0), (1.0, 0.5), (1.3, 1.0), (0.8, 2.0)]
    places[:, 2] = (2.0, 0.0)
    chain = objects.links(Ensemble.from_array(places), [(0, 1), (1, 2)])
    assert measure(chain, pairs.sharing(chain)).sigma.tolist() == [0.0]


@given(bond_graphs())
def test_bodies_reach_as_many_bonds_as_asked(graph: tuple[int, list[tuple[int, int]]]) -> None:
    n_sites, bonds = graph
    atoms = Atoms.unnamed(n_sites, bonds=bonds)
    ensemble = Ensemble.from_array(np.zeros((2, n_sites, 1)), atoms=atoms)
    separation = naive.bond_separation(n_sites, bonds)
    for reach in (0, 1, 2, 3):
        made = objects.bodies(ensemble, reach=reach)
        assert made.anchors.tolist() == list(range(n_sites))
        for site, body in enumerate(sets_of(made)):
            assert body[0] == site
            assert sorted(body) == np.flatnonzero(separation[site] <= reach).tolist()


def test_molecules_are_the_pieces_that_bonds_hold_together() -> None:
    assert sets_of(objects.molecules(ENSEMBLE)) == [[0, 1, 2, 3], [4, 5]]
    assert sets_of(objects.molecules(ENSEMBLE.select([5, 3, 0]))) == [[0], [1, 2]]


def test_residues_of_one_number_in_two_chains_are_two() -> None:
    atoms = replace(
        Atoms.unnamed(6),
        resids=np.array([1, 1, 1, 1, 2, 1]),
        chains=np.array(["A", "A", "B", "B", "A", "A"]),
        icodes=np.array(["", "", "", "", "", "X"]),
    )
    made = objects.residues(Ensemble.from_array(SNAPSHOTS, atoms=atoms))
    assert sets_of(made) == [[0, 1], [2, 3], [4], [5]]


@pytest.mark.parametrize("named", [True, False])
def test_residues_of_two_chains_without_names_are_not_one(named: bool) -> None:
    resname = "GLY" if named else ""
    atoms = replace(
        Atoms.unnamed(6),
        names=np.array(["N", "CA", "N", "CA", "H", "N"]),
        resids=np.array([1, 1, 2, 1, 1, 1]),
        resnames=np.full(6, resname),
    )
    made = objects.residues(Ensemble.from_array(SNAPSHOTS, atoms=atoms))
    # A hydrogen that is written later belongs to its residue, a second CA to another one.
    expected = [[0, 1], [2], [3, 4, 5]] if named else [[0, 1, 3, 4, 5], [2]]
    assert sets_of(made) == expected


@pytest.mark.parametrize("centre", ["geometry", "mass"])
def test_centres_are_those_of_geometry_or_mass(centre: Centre) -> None:
    masses = np.array([1.0, 2, 3, 4, 5, 6])
    ensemble = Ensemble.from_array(SNAPSHOTS, atoms=replace(Atoms.unnamed(6), masses=masses))
    sets = [[0, 2, 4], [5, 2]]
    made = objects.groups(ensemble, sets, centre=centre)
    weights = masses if centre == "mass" else np.ones(6)
    for index, members in enumerate(sets):
        expected = np.average(SNAPSHOTS[:, members], axis=1, weights=weights[members])
        found = made.centres().block(0).coordinates[:, index]
        assert found == pytest.approx(expected, abs=1e-14)


def test_centres_are_found_through_the_walls_of_a_box() -> None:
    rng = np.random.default_rng(4)
    whole = rng.uniform(0, 0.4, (4, 6, 3)) + rng.uniform(0, 10, (4, 1, 3))
    box = np.array([[2.0, 0, 0], [0.7, 2.0, 0], [0.1, 0.5, 2.0]])
    torn = whole + rng.integers(-2, 3, whole.shape) @ box
    sets = [[0, 1, 2, 3], [4, 5]]
    found = objects.groups(Ensemble.from_array(torn, boxes=box), sets).centres().block(0)
    for index, members in enumerate(sets):
        for frame in range(4):
            expected = whole[frame, members].mean(axis=0)
            apart = naive.distance(expected, found.coordinates[frame, index], box)
            assert apart == pytest.approx(0, abs=1e-12)


def test_an_unseen_member_hides_its_own_group_only() -> None:
    gapped = SNAPSHOTS.copy()
    gapped[0, 0] = gapped[1, 1] = gapped[2, 4] = np.nan
    ensemble = Ensemble.from_array(gapped, gaps=True)
    centres = objects.groups(ensemble, [[0, 1, 2], [3, 2], [4, 5]]).centres().block(0)
    unseen = np.isnan(centres.coordinates).any(axis=2)
    assert unseen.tolist() == [
        [True, False, False],
        [True, False, False],
        [False, False, True],
        [False, False, False],
        [False, False, False],
    ]
    expected = gapped[1, [3, 2]].mean(axis=0)
    assert centres.coordinates[1, 1] == pytest.approx(expected, abs=1e-14)


def test_groups_are_read_only_and_leave_their_arguments_alone() -> None:
    sets = [np.array([2, 1]), np.array([0])]
    made = objects.groups(ENSEMBLE, sets)
    assert sets[0].tolist() == [2, 1]
    assert sets[0].flags.writeable
    for array in (made.members, made.offsets, made.centre_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_membership_says_who_is_where() -> None:
    made = objects.groups(ENSEMBLE, [[2, 1], [5]])
    assert made.membership().toarray().astype(int).tolist() == [
        [0, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 1],
    ]


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "at least 1 object"),
        ([[0], []], "group 2"),
        ([[0, 1], [2, 3, 2]], "group 2"),
        ([[0, 6]], "from 0 to 5, got 0 to 6"),
        ([[-1, 2]], "from 0 to 5, got -1 to 2"),
        ([[0.5]], "whole numbers"),
        ([["CA"]], "whole numbers"),
        ([[True, False]], "whole numbers"),
    ],
)
def test_groups_that_are_none_are_refused(sets: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        objects.groups(ENSEMBLE, sets)


@pytest.mark.parametrize(
    "bonds", [[(0, 0)], [(0, 1), (1, 0)], [0, 1, 2], [(0, 9)], [(0, 1.5)]], ids=str
)
def test_bonds_that_are_no_links_are_refused(bonds: Any) -> None:
    with pytest.raises(ValueError, match=r"site|link|bond"):
        objects.links(ENSEMBLE, bonds)


def test_choices_that_are_none_are_refused() -> None:
    wrong: Any = "mean"
    with pytest.raises(ValueError, match="rms"):
        objects.groups(ENSEMBLE, [[0], [1]], reduction=wrong)
    with pytest.raises(ValueError, match="rms"):
        objects.links(ENSEMBLE, reduction=wrong)
    with pytest.raises(ValueError, match="rms"):
        objects.bodies(ENSEMBLE, reduction=wrong)
    with pytest.raises(ValueError, match="mass"):
        objects.groups(ENSEMBLE, [[0], [1]], centre=wrong)
    with pytest.raises(ValueError, match="names"):
        objects.groups(ENSEMBLE, [[0], [1]], names=["one"])
    with pytest.raises(ValueError, match="at least 0 bonds, got -1"):
        objects.bodies(ENSEMBLE, reach=-1)


def test_objects_of_bonds_need_bonds() -> None:
    bare = Ensemble.from_array(SNAPSHOTS)
    with pytest.raises(ValueError, match="links need bonds"):
        objects.links(bare)
    with pytest.raises(ValueError, match="molecules need covalent bonds"):
        objects.molecules(bare)


def test_a_group_without_mass_has_no_centre_of_mass() -> None:
    atoms = replace(Atoms.unnamed(6), masses=np.zeros(6))
    with pytest.raises(ValueError, match="mass"):
        objects.groups(Ensemble.from_array(SNAPSHOTS, atoms=atoms), [[0, 1]], centre="mass")


def test_groups_are_named_by_a_dict_of_sites_or_selections() -> None:
    made = objects.groups(ENSEMBLE, {"head": [1, 0], "tail": "resid 5:6"})
    assert made.names.tolist() == ["head", "tail"]
    assert sets_of(made) == [[1, 0], [4, 5]]


def test_groups_come_from_labels_and_some_sites_are_in_none() -> None:
    made = objects.groups(ENSEMBLE, np.array([2, 0, 0, -1, 2, 0]))
    assert made.names.tolist() == ["group 0", "group 2"]
    assert sets_of(made) == [[1, 2, 5], [0, 4]]
    texts = objects.groups(ENSEMBLE, ["b", "a", "", "a", "b", "a"])
    assert texts.names.tolist() == ["a", "b"]
    assert sets_of(texts) == [[1, 3, 5], [0, 4]]
    unseen = objects.groups(ENSEMBLE, [1.0, np.nan, 1.0, None, 2.0, 2.0])
    assert sets_of(unseen) == [[0, 2], [4, 5]]


def test_groups_of_a_cut_are_its_clusters() -> None:
    points = objects.points(ENSEMBLE)
    clusters = timme.link(measure(points, pairs.all(points))).cut(0.5)
    made = objects.groups(ENSEMBLE, clusters.labels)
    assert sets_of(made) == [sites.tolist() for sites in clusters]


def test_labels_for_other_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="need one for each of 6 sites, got 2: to name the sites"):
        objects.groups(ENSEMBLE, [0, 1])
    with pytest.raises(TypeError, match="groups are several, got 'all': pass a dict"):
        objects.groups(ENSEMBLE, "all")
