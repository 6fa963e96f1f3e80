"""Reference: guessed bonds, traces and the graph of bonds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given

from tests import naive
from tests.ensemble.builders import BOXES, Ints, atoms_of, joined
from tests.golden import systems
from tests.strategies import seeds
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.atoms import sorted_bonds
from timme.ensemble.bonds import guess_bonds, trace_steps, with_bonds, with_missing_atoms

CARBONS = replace(Atoms.unnamed(5), elements=np.full(5, "C"))


def named(plain: systems.Plain) -> Atoms:
    assert plain.atoms is not None
    return replace(Atoms.unnamed(plain.n_sites), **plain.atoms._asdict())


# ---- guessed bonds -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1bnr", "4ake-1ake"])
def test_bonds_of_proteins_are_those_that_were_frozen(name: str) -> None:
    plain = systems.SYSTEMS[name]()
    found = guess_bonds(named(plain), plain.coordinates[0])
    np.testing.assert_array_equal(found, systems.frozen_bonds()[name])
    in_nm = guess_bonds(named(plain), plain.coordinates[0] / 10, angstrom=10.0)
    np.testing.assert_array_equal(in_nm, found)


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@given(seeds)
def test_bonds_do_not_depend_on_where_the_box_is_cut(box: list[list[float]], seed: int) -> None:
    rng, vectors = np.random.default_rng(seed), np.array(box)
    places = rng.uniform(0, 5, (5, 3))
    moved = places + rng.uniform(-30, 30, 3) + rng.integers(-2, 3, (5, 3)) @ vectors
    apart = {
        (b, a): naive.distance(places[a], places[b], vectors) for a in range(5) for b in range(a)
    }
    # Carbons are bound up to 2 × 0.76 Å (Cordero et al. 2008) + 0.4 Å.
    edges = (abs(length - limit) for length in apart.values() for limit in (0.4, 1.92))
    assume(min(edges) > 0.07)  # where the table of radii decides
    expected = sorted(pair for pair, length in apart.items() if 0.4 < length < 1.92)
    for found in (guess_bonds(CARBONS, p, box=vectors) for p in (places, moved)):
        assert list(map(tuple, found.tolist())) == expected


def test_bonds_hold_what_chemistry_tells() -> None:
    """Hydrogens are bound once, waters to themselves, metals and ions not at all."""
    atoms = joined(
        atoms_of(("LIG", ("O1", "H1", "N1", "H2"))),
        atoms_of(("HOH", ("O", "H1", "H2")), ("ZN", ("ZN",)), ("NA", ("NA",))),
        atoms_of(("CYS", ("SG",)), ("CYS", ("SG",)), ("LIG", ("C1", "C2"))),
    )
    places = np.array([
        (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.3, 0.0, 0.0), (1.0, 0.7, 0.0),
        (0.0, 0.0, 1.5), (0.9, 0.0, 1.5), (-0.3, 0.0, 2.4), (0.0, 1.5, 1.0), (0.0, -1.2, 0.5),
        (9.0, 0.0, 0.0), (11.05, 0.0, 0.0), (9.0, 9.0, 9.0), (9.0, 9.0, 9.1),
    ])  # fmt: skip
    found = guess_bonds(atoms, places).tolist()
    assert found == [[0, 1], [0, 3], [4, 5], [4, 6], [9, 10]]


def test_hidden_atoms_and_backbones_through_faces_of_a_box_are_not_bound() -> None:
    atoms = atoms_of(("ALA", ("CA",)), ("GLY", ("CA",)), ("ALA", ("CB",)))
    places = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [1.5, 0.0, 0.0]])
    assert guess_bonds(atoms, places, box=10.0 * np.eye(3)).tolist() == [[0, 2]]
    places[0] = np.nan
    assert guess_bonds(atoms, places).tolist() == []


def test_given_bonds_have_one_form() -> None:
    atoms = with_bonds(Atoms.unnamed(4), [(3, 1), (2, 2)], [(1, 3), (0, 1)])
    assert atoms.bonds.tolist() == [[0, 1], [1, 3]]
    assert with_bonds(atoms).bonds.shape == (0, 2)
    for bad in ([(0, 4)], [(-1, 0)]):
        with pytest.raises(ValueError, match=r"indices from 0 to 3, got"):
            with_bonds(atoms, bad)


# ---- traces --------------------------------------------------------------------------------------


LINE = np.arange(4.0)[:, None] * [3.8, 0, 0]  # Å, Cα across trans peptides


def chain(*resids: int, name: str = "CA", resname: str = "ALA", letter: str = "A") -> Atoms:
    atoms = atoms_of(*[(resname, (name,)) for _ in resids], chain=letter)
    return replace(atoms, resids=np.array(resids))


def traced(atoms: Atoms, places: npt.ArrayLike, bonds: npt.ArrayLike = ()) -> tuple[Ints, Ints]:
    points = np.asarray(places, np.float64)
    points = points[None] if points.ndim < 3 else points

    def distances(one: Ints, other: Ints) -> npt.NDArray[np.float64]:
        apart = np.linalg.norm(points[:, one] - points[:, other], axis=2)
        return np.asarray(np.sort(apart, axis=0)[(len(points) - 1) // 2])

    return trace_steps(replace(atoms, bonds=sorted_bonds(bonds)), distances)


@pytest.mark.parametrize(
    ("step", "joined_by"), [(2.4, 0), (2.9, 1), (3.8, 1), (4.4, 1), (4.7, 0), (np.nan, 0)]
)
def test_a_cis_or_trans_peptide_is_a_step_and_a_break_is_none(step: float, joined_by: int) -> None:
    """Cα are 2.9 Å apart across a cis peptide, 3.8 Å across a trans one."""
    steps, _ = traced(chain(1, 2), [(0, 0, 0), (step, 0, 0)])
    assert steps.tolist() == [[0, 1, 3]] * joined_by
    unusual = np.array([[(0, 0, 0), (x, 0, 0)] for x in (step, 9.0, step)])
    assert len(traced(chain(1, 2), unusual)[0]) == joined_by


def test_steps_follow_chains_and_numbers() -> None:
    assert traced(chain(1, 2, 3, 4), LINE)[0].tolist() == [[0, 1, 3], [1, 2, 3], [2, 3, 3]]
    assert not len(traced(joined(chain(1), chain(2, letter="B")), LINE[:2])[0])
    # 4.3 Å may be two strands at a missing loop, unless the numbers follow.
    assert not len(traced(chain(1, 9), 4.3 / 3.8 * LINE[:2])[0])
    assert len(traced(chain(1, 9), LINE[:2])[0])


def test_atoms_between_sites_tell_more_than_a_step() -> None:
    whole = atoms_of(("ALA", ("N", "CA", "C", "O")), ("ALA", ("N", "CA", "C", "O")))
    places = np.random.default_rng(0).uniform(0, 3, (8, 3))
    places[5] = places[1] + [3.8, 0, 0]
    assert not len(traced(whole, places)[0])


def test_nucleotides_and_modified_residues_are_traced_and_particles_are_not() -> None:
    nucleic = chain(1, 2, 3, name="P", resname="DA")
    assert traced(nucleic, 6.0 / 3.8 * LINE)[0].tolist() == [[0, 1, 6], [1, 2, 6]]
    modified = replace(chain(1, 2, 3), resnames=np.array(["ALA", "XYZ", "GLY"]))
    assert len(traced(modified, LINE)[0]) == 2
    for unknown in (chain(1, 2, 3, resname="UNK"), Atoms.unnamed(3)):
        assert not len(traced(unknown, LINE)[0])


def test_bonds_of_alphas_are_steps_along_the_chain_and_springs_elsewhere() -> None:
    springs = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
    steps, bonds = traced(chain(1, 2, 3, 4), LINE, springs)
    assert steps.tolist() == [[0, 1, 3], [1, 2, 3], [2, 3, 3]]
    assert bonds.tolist() == []
    ligand = joined(chain(1), atoms_of(("LIG", ("C1", "C2"))))
    assert traced(ligand, LINE, [(1, 2)])[1].tolist() == [[1, 2]]


def test_ensembles_of_alphas_find_their_traces_through_the_box() -> None:
    places = np.array([[(9.0, 0, 0), (2.8, 0, 0), (6.6, 0, 0)]] * 2)
    ensemble = Ensemble.from_array(places, boxes=10.0, atoms=chain(1, 2, 3), unit="Å")
    assert ensemble.traces is not None
    assert ensemble.traces.tolist() == [[0, 1, 3], [1, 2, 3]]
    assert Ensemble.from_array(places, atoms=chain(1, 2, 3), unit="px").traces is None
    bonds, count = with_missing_atoms(np.zeros((0, 2), np.int64), ensemble.traces, 3)
    assert naive.bond_separation(count, bonds)[:3, :3].tolist() == [[0, 3, 6], [3, 0, 3], [6, 3, 0]]
