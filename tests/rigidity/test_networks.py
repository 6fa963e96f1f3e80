"""References for networks: published bars and limits, rules tried on all pairs, another list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.rigidity.structures import (
    METHANE,
    METHANE_BONDS,
    PROFLEX,
    Floats,
    chain,
    hydroxyl,
    ion,
    joined,
    listed,
    methane,
    molecule,
    moved,
    needs_lists,
    pairs_of,
    ring,
    structure,
    taken,
    without_hydrogens,
)
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.bonds import guess_bonds
from timme.rigidity import Network, network

EDGE = 1e-6  # Å and degrees, far above rounding

AMMONIUM = {
    "N": (0.0, 0.0, 0.0),
    "H1": (1.0, 0.0, 0.0),
    "H2": (-0.33, 0.94, 0.0),
    "H3": (-0.33, -0.47, 0.82),
    "H4": (-0.33, -0.47, -0.82),
}
FORMATE = {"O1": (2.8, 0.0, 0.0), "C": (3.4, 1.1, 0.0), "O2": (4.6, 1.1, 0.0)}
DISULPHIDE = {
    "C1": (0.0, 0.0, 0.0),
    "S1": (1.8, 0.0, 0.0),
    "S2": (2.5, 1.9, 0.0),
    "C2": (4.3, 1.9, 0.0),
    "H": (-1.0, 0.0, 0.0),
}


def counted(found: Network) -> Counter[str]:
    return Counter(found.kinds.tolist())


def weak(found: Network) -> Network:
    chosen = found.of_kind("hydrogen bond", "salt bridge")
    columns = (found.bonds, found.bars, found.kinds, found.energies)
    return Network(found.n_bodies, *(column[chosen] for column in columns))  # type: ignore[arg-type]


def sulphane() -> Ensemble:
    places = {"S": (0.0, 0.0, 0.0), "H1": (0.0, 0.97, 0.93), "H2": (0.0, -0.97, 0.93)}
    return molecule(places, "S-H1 S-H2")


def benzene() -> Ensemble:
    names = "C1 C2 C3 C4 C5 C6".split()
    return molecule(dict(zip(names, ring(6, 1.39), strict=True)), chain([*names, "C1"]))


def salt() -> Ensemble:
    return joined(
        molecule(AMMONIUM, "N-H1 N-H2 N-H3 N-H4"), molecule(FORMATE, "C-O1 C-O2", resname="FMT")
    )


def meeting(
    donor_hydrogen: float = 1.0, hydrogen_acceptor: float = 1.9, angle: float = 180.0
) -> Ensemble:
    """A hydroxyl that meets an oxygen: lengths in Å, the angle at the hydrogen in degrees."""
    theta = np.deg2rad(angle)
    hydrogen = np.array([donor_hydrogen, 0.0, 0.0])
    way = np.array([-np.cos(theta), np.sin(theta), 0.0])
    acceptor = hydrogen + hydrogen_acceptor * way
    base = acceptor + 1.43 * turned(-way, 109.5)
    donor = {"O": [0.0, 0.0, 0.0], "C": [-0.5, -1.3, 0.0], "H": hydrogen.tolist()}
    other = {"O": acceptor.tolist(), "C": base.tolist()}
    return joined(molecule(donor, "O-C O-H"), molecule(other, "O-C"))


def turned(vector: Floats, degrees: float) -> Floats:
    """The vector, turned in the plane of x and y."""
    return Rotation.from_rotvec([0, 0, degrees], degrees=True).apply(vector)


def beside(one: Ensemble, other: Ensemble, gap: float) -> Ensemble:
    """Two molecules, the second moved along x."""
    return joined(one, moved(other, (gap, 0.0, 0.0)))


def looped(n_carbons: int) -> Ensemble:
    """A hydroxyl that meets an oxygen of its own molecule, as many bonds away as carbons and 1."""
    carbons = {f"C{number}": (0.9 * number, 2.5 + number, 3.0) for number in range(n_carbons)}
    carbons[f"C{n_carbons - 1}"] = (3.4, 1.35, 0.0)
    atoms = {"O1": (0.0, 0.0, 0.0), **carbons, "O2": (2.9, 0.0, 0.0), "H": (1.0, 0.0, 0.0)}
    return molecule(atoms, f"{chain(['O1', *carbons, 'O2'])} O1-H")


def curled(n_atoms: int) -> Ensemble:
    """A chain far wider than bonds are, whose ends meet, the first in a residue of its own."""
    names = [f"C{number}" for number in range(n_atoms)]
    places = ring(n_atoms, 10.0)
    places[-1] = places[0] + [0.0, 0.0, 3.5]
    whole = molecule(dict(zip(names, places, strict=True)), chain(names))
    return replace(whole, atoms=replace(whole.atoms, resids=1 + (np.arange(n_atoms) > 0)))


def ethanes(*resids: int) -> Ensemble:
    """Two methanes near one another, in these residues."""
    one = beside(methane(), methane(), 3.6)
    return replace(one, atoms=replace(one.atoms, resids=np.repeat(resids, 5)))


def methanol() -> Ensemble:
    places = {**METHANE, "O": (0.83, 0.83, 0.83), "H": (1.6, 0.4, 0.5)}
    return molecule(places, f"{METHANE_BONDS} C-O O-H")


def stack(rise: float, slide: float = 0.0, tilt: float = 0.0, name: str = "U") -> Ensemble:
    """Two rings of uracil, the second moved along its normal, sideways, and tilted (degrees)."""
    names = "N1 C2 N3 C4 C5 C6 H3".split()
    bonds = f"{chain([*names[:6], 'N1'])} N3-H3"
    flat = np.vstack([ring(6, 1.37), [0.0, 0.0, 2.4]])[:, [1, 2, 0]]
    places = [dict(zip(names, each, strict=True)) for each in
              (flat, np.array([turned(atom, -tilt) for atom in flat]))]  # fmt: skip
    one, other = (molecule(each, bonds, resname=name) for each in places)
    return joined(one, moved(other, (0.0, rise, slide)))


# ---- published numbers, never read from the source -----------------------------------------------
#
# Bars and degrees of freedom: Jacobs, Rader, Kuhn and Thorpe, Proteins 44, 150 (2001), with the
# bodies and bars of Hespenheide, Jacobs and Thorpe, J. Phys.: Condens. Matter 16, S5055 (2004).
# Energies: Dahiyat, Gordon and Mayo, Protein Science 6, 1333 (1997). Tethers: Rader, Hespenheide,
# Kuhn and Thorpe, PNAS 99, 3540 (2002). Covalent radii: Cordero et al., Dalton Trans. 2832 (2008).


@pytest.mark.parametrize(
    ("kind", "bars", "example"),
    [
        ("covalent", 5, methane),
        ("locked", 6, benzene),
        ("disulfide", 5, lambda: molecule(DISULPHIDE, "C1-S1 S1-S2 S2-C2 C1-H")),
        ("hydrogen bond", 5, meeting),
        ("salt bridge", 5, salt),
        ("tether", 2, lambda: joined(methane(), moved(methane(), (3.6, 0.0, 0.0)))),
        ("metal", 5, lambda: joined(ion("Zn"), moved(sulphane(), (2.3, 0.0, 0.0)))),
    ],
)
def test_every_kind_of_bond_has_its_published_bars(
    kind: str, bars: int, example: Callable[[], Ensemble]
) -> None:
    found = network(example())
    assert set(found.bars[found.of_kind(kind)].tolist()) == {bars}
    with_energy = found.of_kind("hydrogen bond", "salt bridge")
    assert (np.isfinite(found.energies) == with_energy).all()


@pytest.mark.parametrize(
    ("kind", "example", "count"),
    [
        # lengths at their limits, 4 Å from hydrogen to acceptor and 5 Å from donor; 100° at least
        ("hydrogen bond", lambda: meeting(1.0, 4.0), 1),
        ("hydrogen bond", lambda: meeting(0.96, 4.0 + EDGE), 0),
        ("hydrogen bond", lambda: meeting(1.04, 3.96 - EDGE), 1),
        ("hydrogen bond", lambda: meeting(1.04, 3.96 + EDGE), 0),
        ("hydrogen bond", lambda: meeting(1.0, 2.6, 100.0), 1),
        ("hydrogen bond", lambda: meeting(1.0, 2.6, 100.0 - EDGE), 0),
        # more than three bonds apart
        ("hydrogen bond", lambda: looped(2), 0),
        ("hydrogen bond", lambda: looped(3), 1),
        ("tether", lambda: curled(4), 0),
        ("tether", lambda: curled(5), 1),
        # radii of 1.7 and 1.8 Å, and 0.5 Å between
        ("tether", lambda: beside(methane(), methane(), 3.9 - EDGE), 1),
        ("tether", lambda: beside(methane(), methane(), 3.9 + EDGE), 0),
        ("tether", lambda: beside(sulphane(), sulphane(), 4.1 - EDGE), 1),
        ("tether", lambda: beside(sulphane(), sulphane(), 4.1 + EDGE), 0),
        # of carbons in different residues that are not bound to oxygen
        ("tether", lambda: ethanes(1, 2), 1),
        ("tether", lambda: ethanes(1, 1), 0),
        ("tether", lambda: beside(methane(), methanol(), -3.6), 0),
        # covalent radii of 1.05 Å for sulphur, and of the metal, and 0.4 Å; none of alkali metals
        ("metal", lambda: beside(ion("Zn"), sulphane(), 1.22 + 1.45 - 0.001), 1),
        ("metal", lambda: beside(ion("Zn"), sulphane(), 1.22 + 1.45 + 0.001), 0),
        ("metal", lambda: beside(ion("Fe"), sulphane(), 1.32 + 1.45 - 0.001), 1),
        ("metal", lambda: beside(ion("Mg"), sulphane(), 1.41 + 1.45 + 0.001), 0),
        ("metal", lambda: beside(ion("Na"), sulphane(), 2.3), 0),
        ("metal", lambda: beside(ion("Cl"), sulphane(), 2.3), 0),
        # nucleic bases 2.8 to 4.2 Å apart along normals within 32°, centres within 5.5 Å
        ("stacking", lambda: stack(3.4), 1),
        ("stacking", lambda: stack(2.8 - EDGE), 0),
        ("stacking", lambda: stack(4.2 - EDGE), 1),
        ("stacking", lambda: stack(4.2 + EDGE), 0),
        ("stacking", lambda: stack(3.4, 4.3), 1),  # centres are 5.48 Å apart
        ("stacking", lambda: stack(3.4, 4.4), 0),
        ("stacking", lambda: stack(3.4, tilt=31.0), 1),
        ("stacking", lambda: stack(3.4, tilt=32.5), 0),
        ("stacking", lambda: stack(3.4, name="PHE"), 0),
    ],
)
def test_constraints_end_at_their_published_limits(
    kind: str, example: Callable[[], Ensemble], count: int
) -> None:
    assert counted(network(example()))[kind] == count
    without = network(example(), tethers="none", stacking=False)
    assert set(counted(without)).isdisjoint({"tether", "stacking"})


# ---- another program's lists, and rules tried on all pairs ---------------------------------------


@needs_lists
def test_1bck_has_the_hydrogen_bonds_and_tethers_of_the_other_program() -> None:
    """All of its 99 below -2.3 kcal/mol and no other; all 121 tethers, of which FIRST keeps 118."""
    numbers = (PROFLEX / "1bck_withH_h-bonds_SEfilt.0001").read_text().split()
    theirs = {tuple(listed().bonds[int(number) - 1, 1:].tolist()) for number in numbers}
    found = network(structure("1bck"), cutoff=-2.3, tethers="all")
    assert {tuple(pair) for pair in weak(found).bonds.tolist()} == theirs
    assert len(theirs) == 99
    assert pairs_of(found.bonds[found.of_kind("tether")]) == listed().tethers
    assert len(listed().tethers) == 121
    assert counted(network(structure("1bck")))["tether"] == 118


# ---- invariance ----------------------------------------------------------------------------------


def test_the_network_does_not_depend_on_where_and_in_which_order_atoms_are() -> None:
    rng = np.random.default_rng(3)
    before = structure("1bnr")
    order = np.lexsort((rng.random(before.n_sites), before.atoms.resids))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    places = before.snapshot()[0][order] @ turn + rng.normal(size=3)
    atoms = before.atoms.take(order)
    after = Ensemble.from_array(places[None], atoms=atoms, unit="Å")
    in_nm = Ensemble.from_array(places[None] / 10, atoms=atoms, unit="nm")
    one = network(before)
    for found in map(network, (after, before.select(order), in_nm)):
        assert counted(one) == counted(found)
        for kind in counted(one):
            pairs = order[found.bonds[found.of_kind(kind)]]
            assert pairs_of(one.bonds[one.of_kind(kind)]) == pairs_of(pairs)
        np.testing.assert_allclose(weak(found).energies, weak(one).energies, 1e-5, 1e-8)


# ---- options -------------------------------------------------------------------------------------


def test_waters_are_bodies_and_bind_only_if_asked_to() -> None:
    water = molecule(
        {"O": (2.1, 0.0, 0.0), "H1": (2.7, 0.75, 0.0), "H2": (2.7, -0.75, 0.0)},
        "O-H1 O-H2",
        resname="HOH",
    )
    site = joined(water, ion("Mg"), moved(hydroxyl(), (3.85, 2.19, 0.0)))
    without, with_them = network(site), network(site, waters=True)
    assert without.n_bodies == with_them.n_bodies == 7
    assert set(counted(without)) == {"covalent"}
    assert {"metal", "hydrogen bond"} < set(counted(with_them))
    assert [note for note in without.notes if "waters make no hydrogen bonds" in note]
    assert [note for note in with_them.notes if "metal" in note]


def test_the_chosen_model_is_taken() -> None:
    near, far = (joined(hydroxyl(), moved(hydroxyl(), (x, 0.0, 0.0))) for x in (2.8, 9.0))
    places = np.stack([near.snapshot()[0], far.snapshot()[0]])
    both = Ensemble.from_array(places, atoms=near.atoms, unit="Å")
    assert [counted(network(both, model))["hydrogen bond"] for model in (0, 1)] == [1, 0]


# ---- bad input -----------------------------------------------------------------------------------


def trace() -> Ensemble:
    """Cα alone, without bonds."""
    return structure("1bnr").select(np.flatnonzero(structure("1bnr").atoms.names == "CA"))


def unseen() -> Ensemble:
    places = np.array([[[0.0, 0.0, 0.0], [np.nan] * 3]])
    return Ensemble.from_array(places, atoms=Atoms.unnamed(2, bonds=[(0, 1)]), gaps=True)


@pytest.mark.parametrize(
    ("example", "options", "message"),
    [
        (lambda: without_hydrogens(structure("1bnr")), {}, "hydrogen bonds need .*add_hydrogens"),
        (trace, {}, "needs covalent bonds, and there are none between 110"),
        (lambda: Ensemble.from_array(np.zeros((1, 3, 2))), {}, "atoms in space, got 2 dimensions"),
        (
            lambda: Ensemble.from_array(np.zeros((1, 3, 3)), unit="µm"),
            {},
            "in the unit 'µm'.*unit=",
        ),
        (unseen, {}, "atom 2 is not seen: leave out"),
        (hydroxyl, {"tethers": "some"}, "tethers must be shortest, all or none, got 'some'"),
        (hydroxyl, {"model": 1}, "got 1"),
    ],
)
def test_structures_without_a_network_are_refused(
    example: Callable[[], Ensemble], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        network(example(), **options)


def test_clashes_and_too_many_bonds_are_named_and_have_energies() -> None:
    close = joined(methane(), moved(hydroxyl(), (0.9, 0.0, 0.0)))
    (note,) = network(close).notes
    assert note.startswith("unusual geometry")
    assert "A/LIG 2/O" in note
    crowded = molecule({**METHANE, "H5": (1.0, 0.0, 0.0)}, f"{METHANE_BONDS} C-H5")
    (note,) = network(crowded).notes
    assert note.endswith("1 (A/LIG 1/C)")
    same = network(joined(hydroxyl(), hydroxyl()), cutoff=np.inf)
    assert np.isfinite(weak(same).energies).all()


@pytest.mark.parametrize("distance", [0.0, 0.6, 1.5, 30.0])
def test_a_misplaced_atom_of_a_protein_is_named(distance: float) -> None:
    """Beside an atom of another residue it is bound to that, and far from all atoms to none."""
    whole = structure("1bnr")
    places, names, resids = whole.snapshot()[0].copy(), whole.atoms.names, whole.atoms.resids
    near = places[(names == "C") & (resids == 87)]
    places[(names == "CB") & (resids == 30)] = near + distance * np.array([0.6, 0.8, 0.0])
    atoms = replace(whole.atoms, bonds=guess_bonds(whole.atoms, places))
    found = network(Ensemble.from_array(places[None], atoms=atoms, unit="Å"))
    assert any("geometry" in note and " 30/CB" in note for note in found.notes)


def test_missing_atoms_and_hydrogens_are_named() -> None:
    whole = structure("1bnr")
    atoms = whole.atoms
    gone = (atoms.resids == 20) & (atoms.names == "CB")
    gone |= (atoms.resids == 30) & (atoms.names == "H")
    found = {note[:8]: note for note in network(taken(whole, np.flatnonzero(~gone))).notes}
    assert " 30/N" in found["hydrogen"]
    assert " 20/N" in found["heavy at"]
    assert network(whole).notes == ()
