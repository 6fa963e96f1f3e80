"""The network of a structure: bonds, bars, tethers, metals, and what is said of bad input."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import timme
from tests.readers.builders import atom, peptide, write_pdb
from tests.rigidity.oracle import FOLDER, needs_oracle
from tests.rigidity.structures import (
    METHANE,
    barnase,
    barnase_in_water,
    bck,
    joined,
    listed,
    molecule,
    moved,
    pairs_of,
    ring,
)
from timme.rigidity.network import Network, network
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

# Published (see test_published_numbers.py), not read from the source.
BARS = {
    "covalent": 5,
    "locked": 6,
    "disulfide": 5,
    "hydrogen bond": 5,
    "salt bridge": 5,
    "tether": 2,
}
METHANE_BONDS = "C-H1 C-H2 C-H3 C-H4"
THIOL = {"S": (2.3, 0.0, 0.0), "C": (3.0, 1.6, 0.0), "H": (4.0, 1.6, 0.0)}
HYDROXYL = {"O": (0.0, 0.0, 0.0), "C": (-0.5, 1.3, 0.0), "H": (0.96, 0.0, 0.0)}


def counted(found: Network) -> Counter[str]:
    return Counter(found.kinds.tolist())


def ion(symbol: str, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Ensemble:
    one = molecule({symbol: place}, "", resname=symbol.upper())
    return replace(one, atoms=replace(one.atoms, elements=np.array([symbol])))


# ---- another program's lists ---------------------------------------------------------------------


@needs_oracle
def test_at_its_cutoff_1bck_has_the_hydrogen_bonds_of_the_other_program() -> None:
    """All of its 99 below -2.3 kcal/mol, and no other."""
    numbers = (FOLDER / "1bck_withH_h-bonds_SEfilt.0001").read_text().split()
    theirs = {tuple(listed().bonds[int(number) - 1, 1:].tolist()) for number in numbers}
    found = network(bck(), cutoff=-2.3)
    mine = found.bonds[found.of_kind("hydrogen bond", "salt bridge")]
    assert {tuple(pair) for pair in mine.tolist()} == theirs
    assert len(theirs) == 99


@needs_oracle
def test_all_tethers_of_1bck_are_those_of_the_other_program() -> None:
    found = network(bck(), tethers="all")
    assert pairs_of(found.bonds[found.of_kind("tether")]) == listed().tethers
    assert len(listed().tethers) == 121


def assert_shortest_are_kept(ensemble: Ensemble, every: set[tuple[int, int]]) -> None:
    """Of all tethers, those are left out whose atoms both have a shorter one to that residue."""
    found = network(ensemble)
    kept = pairs_of(found.bonds[found.of_kind("tether")])
    places, residues = ensemble.snapshot()[0], ensemble.atoms.resids
    lengths = {pair: np.linalg.norm(np.subtract(*places[list(pair)])) for pair in every}
    for pair in every:
        shortest = [
            min(
                lengths[other]
                for other in lengths
                if one in other and residues[sum(other) - one] == residues[sum(pair) - one]
            )
            for one in pair
        ]
        assert (pair in kept) == (lengths[pair] in shortest)
    assert 0 < len(kept) < len(every)


@needs_oracle
def test_a_tether_of_1bck_is_left_out_only_where_both_atoms_have_a_shorter_one() -> None:
    """That program keeps all 121, FIRST the shortest of each atom to each residue: 118."""
    assert_shortest_are_kept(bck(), listed().tethers)
    assert network(bck()).of_kind("tether").sum() == 118


# ---- the same and more on barnase, simulated: for these no list is needed ------------------------


def test_a_tether_is_left_out_only_where_both_atoms_have_a_shorter_one() -> None:
    every = network(barnase(), tethers="all")
    assert_shortest_are_kept(barnase(), pairs_of(every.bonds[every.of_kind("tether")]))


def test_all_tethers_of_barnase_are_those_of_the_rule() -> None:
    """C or S bonded to C, S and H only, in other residues, four bonds apart, within radii + 0.5."""
    atoms, places = barnase().atoms, barnase().snapshot()[0]
    neighbours = [set[int]() for _ in range(len(atoms))]
    for one, other in atoms.bonds.tolist():
        neighbours[one].add(other)
        neighbours[other].add(one)
    elements = atoms.elements
    greasy = [
        k
        for k in range(len(atoms))
        if elements[k] in {"C", "S"} and {elements[n] for n in neighbours[k]} <= {"C", "S", "H"}
    ]
    radii = {"C": 1.7, "S": 1.8}

    def within_three(start: int) -> set[int]:
        reached = {start}
        for _ in range(3):
            reached |= {n for one in reached for n in neighbours[one]}
        return reached

    expected = {
        (one, other)
        for one, other in itertools.combinations(greasy, 2)
        if atoms.resids[one] != atoms.resids[other]
        and np.linalg.norm(places[one] - places[other])
        < radii[elements[one]] + radii[elements[other]] + 0.5
        and other not in within_three(one)
    }
    every = network(barnase(), tethers="all")
    assert pairs_of(every.bonds[every.of_kind("tether")]) == expected
    assert len(expected) > 50


def test_every_kind_of_bond_has_its_bars() -> None:
    found = network(barnase_in_water(), waters=True)
    for kind, bars in zip(found.kinds.tolist(), found.bars.tolist(), strict=True):
        assert bars == BARS[kind]
    noncovalent = found.of_kind("hydrogen bond", "salt bridge")
    assert np.isfinite(found.energies[noncovalent]).all()
    assert np.isnan(found.energies[~noncovalent]).all()
    light = barnase_in_water().atoms.elements[found.bonds[noncovalent]]
    assert (light[:, 0] == "H").all()


@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_the_network_does_not_depend_on_where_and_in_which_order_atoms_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = barnase()
    order = np.lexsort((rng.random(before.n_sites), before.atoms.resids))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    places = before.snapshot()[0][order] @ turn + rng.normal(size=3)
    atoms = before.select(order)
    renamed = replace(
        before.atoms,
        **{
            name: getattr(before.atoms, name)[order]
            for name in ("names", "elements", "resnames", "resids", "icodes", "chains", "masses")
        },
        bonds=np.sort(np.argsort(order)[before.atoms.bonds], axis=1),
    )
    after = Ensemble.from_array(places[None], atoms=renamed, unit="Å")
    one, other, selected = (network(ensemble) for ensemble in (before, after, atoms))
    for found in (other, selected):
        assert counted(one) == counted(found)
        for kind in BARS:
            pairs = order[found.bonds[found.of_kind(kind)]]
            assert pairs_of(one.bonds[one.of_kind(kind)]) == pairs_of(pairs)
        weak = found.of_kind("hydrogen bond", "salt bridge")
        np.testing.assert_allclose(found.energies[weak], one.energies[weak], rtol=1e-5, atol=1e-8)


def test_nanometres_give_the_same_network() -> None:
    places = barnase().snapshot()[0][None] / 10
    small = Ensemble.from_array(places, atoms=barnase().atoms, unit="nm")
    one, other = network(barnase()), network(small)
    assert (one.bonds == other.bonds).all()
    np.testing.assert_allclose(one.energies, other.energies, atol=1e-9)


def test_waters_are_bodies_and_make_hydrogen_bonds_only_if_asked_to() -> None:
    watered = barnase_in_water()
    without, with_them = network(watered), network(watered, waters=True)
    water = np.flatnonzero(watered.atoms.resnames == "HOH")
    weak = without.of_kind("hydrogen bond", "salt bridge")
    assert without.n_bodies == watered.n_sites
    assert not np.isin(without.bonds[weak], water).any()
    bonded = with_them.bonds[with_them.of_kind("hydrogen bond")]
    assert np.isin(water[watered.atoms.names[water] == "H1"], bonded).all()
    assert any("12 waters" in note for note in without.notes)
    assert not any("water" in note for note in with_them.notes)


def test_disulphides_have_a_kind_of_their_own() -> None:
    bridge = molecule(
        {"C1": (0.0, 0.0, 0.0), "S1": (1.8, 0.0, 0.0), "S2": (2.5, 1.9, 0.0), "C2": (4.3, 1.9, 0.0),
         "H": (-1.0, 0.0, 0.0)},
        "C1-S1 S1-S2 S2-C2 C1-H",
    )  # fmt: skip
    assert counted(network(bridge)) == {"covalent": 3, "disulfide": 1}


@pytest.mark.parametrize(("gap", "tied"), [(3.5, True), (3.89, True), (3.9, False), (4.5, False)])
def test_carbons_nearer_than_their_radii_and_half_an_angstrom_are_tethered(
    gap: float, tied: bool
) -> None:
    methane = molecule(METHANE, METHANE_BONDS)
    found = network(joined(methane, moved(methane, (gap, 0.0, 0.0))))
    assert counted(found)["tether"] == int(tied)


def test_carbons_beside_oxygen_or_in_one_residue_are_not_tethered() -> None:
    methane = molecule(METHANE, METHANE_BONDS)
    methanol = molecule(
        {**METHANE, "O": (0.83, 0.83, 0.83), "H": (1.6, 0.4, 0.5)},
        "C-O O-H C-H2 C-H3 C-H4 C-H1",
    )
    beside = joined(methane, moved(methanol, (-3.6, 0.0, 0.0)))
    one = joined(methane, moved(methane, (3.6, 0.0, 0.0)))
    together = replace(one, atoms=replace(one.atoms, resids=np.ones(len(one.atoms), np.int64)))
    assert counted(network(beside))["tether"] == 0
    assert counted(network(together))["tether"] == 0
    assert counted(network(one))["tether"] == 1
    assert counted(network(one, tethers="none"))["tether"] == 0


def four_thiols() -> list[Ensemble]:
    thiol = molecule(THIOL, "S-C C-H")
    turns = [np.eye(3), np.diag([-1.0, -1.0, 1.0]), np.diag([-1.0, 1.0, -1.0])]
    swaps = [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]]
    places = [
        (thiol.snapshot()[0] @ turn)[:, swap] for turn, swap in zip(turns, swaps, strict=False)
    ]
    return [Ensemble.from_array(place[None], atoms=thiol.atoms, unit="Å") for place in places]


@pytest.mark.parametrize(("symbol", "bonds"), [("Zn", 3), ("Fe", 3), ("Na", 0), ("Cl", 0)])
def test_metals_are_bound_to_what_is_around_them_and_alkali_ions_are_not(
    symbol: str, bonds: int
) -> None:
    site = joined(*four_thiols(), ion(symbol))
    found = network(site)
    metal = site.n_sites - 1
    assert np.count_nonzero(found.bonds == metal) == bonds
    assert any("metal ion" in note for note in found.notes) == (bonds > 0)


def test_waters_coordinate_a_metal_only_if_asked_to() -> None:
    water = molecule(
        {"O": (2.1, 0.0, 0.0), "H1": (2.7, 0.75, 0.0), "H2": (2.7, -0.75, 0.0)},
        "O-H1 O-H2",
        resname="HOH",
    )
    site = joined(water, ion("Mg"))
    assert counted(network(site)) == {"covalent": 2}
    assert counted(network(site, waters=True)) == {"covalent": 3}


def test_an_unknown_ligand_is_judged_by_its_geometry() -> None:
    letters = "C1 C2 C3 C4 C5 C6".split()
    places = dict(zip(letters, ring(6, 1.39), strict=True))
    bonds = " ".join(f"{a}-{b}" for a, b in zip(letters, [*letters[1:], "C1"], strict=True))
    assert counted(network(molecule(places, bonds, resname="XYZ"))) == {"locked": 6}


def test_a_bond_through_the_wall_of_a_box_is_found() -> None:
    one = molecule(HYDROXYL, "O-C O-H")
    pair = joined(one, moved(one, (2.8, 0.0, 0.0)))
    places = pair.snapshot()[0][None]
    cut = np.where(places[..., :1] > 1.5, places - [20.0, 0.0, 0.0], places)
    whole = network(pair)
    boxed = network(Ensemble.from_array(cut, atoms=pair.atoms, unit="Å", boxes=[20.0] * 3))
    assert counted(whole)["hydrogen bond"] == 1
    assert (whole.bonds == boxed.bonds).all()
    np.testing.assert_allclose(whole.energies, boxed.energies)


def test_the_cutoff_leaves_out_weaker_bonds() -> None:
    one = molecule(HYDROXYL, "O-C O-H")
    pair = joined(one, moved(one, (2.8, 0.0, 0.0)))
    (energy,) = (found := network(pair)).energies[found.of_kind("hydrogen bond")]
    assert counted(network(pair, cutoff=energy))["hydrogen bond"] == 1
    assert counted(network(pair, cutoff=energy - 0.01))["hydrogen bond"] == 0


# ---- bad input -----------------------------------------------------------------------------------


def test_a_structure_without_hydrogens_is_refused_with_the_remedy(tmp_path: Path) -> None:
    bare = timme.read(write_pdb(tmp_path / "bare.pdb", [peptide()]))
    with pytest.raises(ValueError, match=r"bare.pdb: hydrogen bonds need hydrogens.*rigidity\]"):
        network(bare)


def test_waters_without_hydrogens_need_none() -> None:
    water = molecule({"O": (9.0, 0.0, 0.0)}, "", resname="HOH")
    site = joined(molecule(METHANE, METHANE_BONDS), water)
    assert network(site).n_bodies == 6
    assert network(site, waters=True).notes == (
        "there are no hydrogen bonds at 1 water without hydrogens",
    )


def test_atoms_without_any_bond_are_refused(tmp_path: Path) -> None:
    alphas = [atom("CA", number, (3.8 * number, 0.0, 0.0)) for number in range(1, 4)]
    path = write_pdb(tmp_path / "alphas.pdb", [alphas])
    with pytest.raises(ValueError, match="needs covalent bonds, and there are none between the 3"):
        network(timme.read(path))


def test_one_atom_alone_is_a_network_of_one_body() -> None:
    found = network(ion("Ar"))
    assert (found.n_bodies, len(found.bonds)) == (1, 0)


def test_particles_in_a_plane_are_refused() -> None:
    with pytest.raises(ValueError, match="atoms in space is needed, got 2 dimensions"):
        network(Ensemble.from_array(np.zeros((1, 3, 2))))
    with pytest.raises(ValueError, match=r"in 'µm': .* the unit where that is wrong \(unit='Å'\)$"):
        network(Ensemble.from_array(np.zeros((1, 3, 3)), unit="µm"))


def test_atoms_that_are_not_seen_are_refused() -> None:
    places = np.array([[[0.0, 0.0, 0.0], [np.nan] * 3]])
    pair = Ensemble.from_array(places, atoms=Atoms.unnamed(2, bonds=[(0, 1)]), gaps=True)
    with pytest.raises(ValueError, match="atom 2 is not seen in snapshot 1"):
        network(pair)


def test_the_first_of_several_models_is_taken_or_the_one_asked_for() -> None:
    one = molecule(HYDROXYL, "O-C O-H")
    near, far = (joined(one, moved(one, (x, 0.0, 0.0))) for x in (2.8, 9.0))
    both = Ensemble.from_array(
        np.stack([near.snapshot()[0], far.snapshot()[0]]), atoms=near.atoms, unit="Å"
    )
    assert counted(network(both))["hydrogen bond"] == 1
    assert counted(network(both, 1))["hydrogen bond"] == 0
    with pytest.raises(ValueError, match="model 2 is not there: there are 2, counted from 0"):
        network(both, 2)


def test_of_alternative_locations_the_most_occupied_is_in_the_network(tmp_path: Path) -> None:
    records = [
        atom("C", 1, (0.0, 0.0, 0.0), resname="LIG"),
        atom("O", 1, (1.4, 0.0, 0.0), resname="LIG", altloc="A", occupancy=0.4),
        atom("O", 1, (0.0, 1.4, 0.0), resname="LIG", altloc="B", occupancy=0.6),
        atom("H", 1, (0.9, 1.7, 0.0), resname="LIG"),
    ]
    read = timme.read(write_pdb(tmp_path / "alternatives.pdb", [records]))
    assert any("highest occupancy" in note for note in read.notes)
    assert network(read).bonds.tolist() == [[0, 1], [1, 2]]


def test_gaps_missing_atoms_and_missing_hydrogens_are_named(tmp_path: Path) -> None:
    records = [
        record
        for record in peptide(n_residues=5)
        if record[4] != 3 and (record[0], record[4]) != ("CB", 5)
    ]
    records.insert(5, atom("H", 1, (-0.6, 0.8, 0.0)))
    notes = network(timme.read(write_pdb(tmp_path / "broken.pdb", [records]))).notes
    assert any(note.startswith("chains are broken after A/ALA 2:") for note in notes)
    assert any(note.startswith("atoms are missing in 1 residue (A/ALA 5)") for note in notes)
    assert any("no hydrogen at 2 amides (A/ALA 2/N, A/ALA 5/N)" in note for note in notes)


def test_clashes_are_named() -> None:
    methane = molecule(METHANE, METHANE_BONDS)
    near = network(joined(methane, moved(methane, (2.0, 0.0, 0.0)))).notes
    assert any("clash of 1 pair of atoms, such as A/LIG 1/C and A/LIG 2/C" in note for note in near)
    pair = joined(methane, moved(methane, (1.8, 0.0, 0.0)))
    bonds = np.concatenate([pair.atoms.bonds, [[0, 5]]])
    fused = network(replace(pair, atoms=replace(pair.atoms, bonds=bonds))).notes
    assert any("too many covalent bonds at 2 atoms" in note for note in fused)
    assert any("may be a clash, such as A/LIG 1/C and A/LIG 2/C, 1.80 Å" in note for note in fused)


def test_tethers_of_an_unknown_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="tethers= is one of shortest, all, none, got 'some'"):
        network(molecule(METHANE, METHANE_BONDS), tethers="some")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bonds", "bars", "message"),
    [
        ([[0, 3]], [5], "bodies from 0 to 2, got 0 to 3"),
        ([[1, 1]], [5], "from a body to itself"),
        ([[0, 1]], [7], "1 to 6 bars, got 7 to 7"),
        ([[0, 1]], [5, 5], "for each of 1 bonds"),
    ],
)
def test_networks_that_cannot_be_are_refused(
    bonds: list[list[int]], bars: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Network(3, np.array(bonds), np.array(bars), np.array(["covalent"]), np.array([np.nan]))


def test_another_order_of_atoms_is_neither_a_gap_nor_a_missing_atom(tmp_path: Path) -> None:
    whole = [*peptide(n_residues=3), atom("H", 1, (-0.6, 0.8, 0.0))]
    by_name = sorted(whole, key=lambda record: (record[4], record[0]))
    for name, records in (("late.pdb", whole), ("sorted.pdb", by_name)):
        notes = network(timme.read(write_pdb(tmp_path / name, [records]))).notes
        assert not any("broken" in note or "atoms are missing" in note for note in notes)
