"""References for ensembles: golden models, one snapshot after another, and counts by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.golden import load_science
from tests.golden.digests import digest
from tests.golden.systems import SHARED, barnase_nmr
from tests.rigidity.structures import joined, molecule, ring, structure
from timme.engine.checkpoint import Run
from timme.ensemble import Ensemble
from timme.rigidity import decompose, dilute, network, perturbed, stability, together

CLOSED = np.random.default_rng(1).random(40) < 0.6
OXYGENS = [0, 3, 6]


def waters(closed: np.typing.NDArray[np.bool_] = CLOSED, distance: float = 2.8) -> Ensemble:
    """Three waters that are a ring of hydrogen bonds in some snapshots; one is away in the others.

    Six bodies in a ring, three oxygens and the hydrogens between them, are rigid.
    """
    corners = ring(3, distance)
    around = [
        molecule(
            {"O": place, "H1": place + 0.35 * (after - place), "H2": place * 1.4 + [0, 0, 0.8]},
            "O-H1 O-H2",
            resname="HOH",
        )
        for place, after in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    whole = joined(*around)
    places = np.tile(whole.snapshot()[0], (len(closed), 1, 1))
    places[~closed, 6:] += 20.0
    return Ensemble.from_array(places, atoms=whole.atoms, unit="Å")


def test_sites_are_together_in_the_snapshots_that_have_their_bonds() -> None:
    found = together(waters(), -1.0, sites=OXYGENS, waters=True)
    share = CLOSED.mean()
    assert found.fractions == pytest.approx(np.where(np.eye(3), 1.0, share), abs=1e-15)
    assert found.largest.tolist() == [3 if closed else 1 for closed in CLOSED]
    # A closed ring is rigid; two waters turn about their hydrogen bond and its covalent bond.
    assert found.floppy_modes.tolist() == [0 if closed else 2 for closed in CLOSED]
    assert (np.isnan(found.stability).all(axis=1) == ~CLOSED).all()
    tree = found.hierarchy()
    heights = [np.count_nonzero(~CLOSED) / len(CLOSED)] * 2  # exactly k/n
    assert tree.to_linkage()[:, 2].tolist() == heights


def test_snapshots_count_by_their_weight() -> None:
    closed = np.array([True, False, False])
    weighted = replace(waters(closed), weights=np.array([1.0, 0.25, 0.25]))
    found = together(weighted, -1.0, sites=OXYGENS, waters=True)
    assert found.fractions[0, 1] == 1.0 / 1.5
    equal = replace(waters(closed), weights=np.full(3, 0.1))
    assert together(equal, -1.0, sites=OXYGENS, waters=True).apart[0, 1] == 2 / 3


def test_threads_find_the_same_bits_and_report_every_snapshot() -> None:
    told: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        told.append((done, total))

    serial, shared = (
        together(waters(), -1.0, waters=True, run=Run.of(count, progress=report))
        for count in (1, 3)
    )
    for name in ("fractions", "apart", "floppy_modes", "largest", "stability"):
        assert getattr(serial, name).tobytes() == getattr(shared, name).tobytes()
    assert told == 2 * [(done, len(CLOSED)) for done in range(1, len(CLOSED) + 1)]


def test_pairs_and_sites_are_stable_up_to_the_energy_that_parts_them() -> None:
    held = network(structure("1a2p-a"))
    alpha = np.flatnonzero(structure("1a2p-a").atoms.names == "CA")[::7]
    found = stability(held, alpha)
    whole = dilute(held)
    for (i, a), (j, b) in combinations(enumerate(alpha.tolist()), 2):
        never = np.isnan(found.pairs[i, j])
        energy = 0.0 if never else found.pairs[j, i]
        labels = whole.cut(energy).labels
        below = whole.cut(np.nextafter(energy, -np.inf)).labels
        assert (labels[a] == labels[b]) == (not never)
        assert below[a] != below[b]
    core = decompose(held, -1.0).clusters[alpha] == 0
    assert (core == (found.sites <= -1.0)).all()
    found_alone = stability(network(waters(np.array([False]))), OXYGENS)
    assert np.isnan(found_alone.sites).all()
    assert np.isnan(found_alone.pairs[0, 1])


# ---- models and copies of real proteins ----------------------------------------------------------


@pytest.mark.skipif(not SHARED.exists(), reason="no ../shared/data here")
@pytest.mark.parametrize("energy", [-0.5, -1.0])
def test_models_of_barnase_share_what_the_golden_ones_share(energy: float) -> None:
    made, first = barnase_nmr(), structure("1bnr")
    models = Ensemble.from_array(made.coordinates, atoms=first.atoms, unit="Å")
    alpha = np.flatnonzero(first.atoms.names == "CA")
    found, kept = together(models, energy, sites=alpha), load_science("rigidity-1bnr-together")
    for name in ("fractions", "apart"):
        assert digest(getattr(found, name)) == kept[f"at {energy:g}.{name}.digest"]
    for name in ("largest", "floppy_modes"):
        assert getattr(found, name).tolist() == kept[f"at {energy:g}.{name}"]
    tree = dilute(network(models, 4)).restrict(alpha)
    np.testing.assert_array_equal(found.stability[4], tree.core_heights())


def test_perturbed_copies_scatter_about_the_structure_as_asked() -> None:
    one = structure("1a2p-a")
    copies = perturbed(one, sigma=0.2, copies=5, seed=3)
    apart = copies.coordinates() - one.snapshot()[0]
    assert copies.n_snapshots == 5
    assert copies.independent
    # 5 × 1728 × 3 numbers: the standard error of their standard deviation is 0.5 %
    assert apart.std() == pytest.approx(0.2, rel=0.02)
    assert abs(apart.mean()) < 0.2 * 4 / math.sqrt(apart.size)
    in_nm = Ensemble.from_array(one.coordinates() / 10, atoms=one.atoms, unit="nm")
    again = 10 * perturbed(in_nm, sigma=0.2, copies=5, seed=3).coordinates()
    np.testing.assert_allclose(again, copies.coordinates(), atol=1e-9)


# ---- bad input -----------------------------------------------------------------------------------


def broken() -> Ensemble:
    places = waters().coordinates()[:3].copy()
    places[2, 4] = np.nan
    return Ensemble.from_array(places, atoms=waters().atoms, unit="Å", gaps=True)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (waters, {"sites": []}, "1 to 20,000 sites, got 0 of 9"),
        (waters, {"sites": [0, 9]}, "sites range from 0 to 8, got 0 to 9"),
        (broken, {}, "snapshot 3: atom A/HOH 2/H1 is not seen"),
        (lambda: Ensemble.from_array(np.zeros((2, 3, 2))), {}, "snapshot 1: rigidity needs atoms"),
    ],
)
def test_ensembles_that_cannot_be_decomposed_are_refused(
    given: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        together(given(), **{"cutoff": -1.0, **options})


@pytest.mark.parametrize("options", [{"sigma": 0.0}, {"copies": 1}, {"sigma": math.nan}])
def test_copies_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 2 copies of atoms in Å or nm"):
        perturbed(waters(), **options)
    with pytest.raises(ValueError, match="µm"):
        perturbed(Ensemble.from_array(np.zeros((1, 2, 3)), unit="µm"))
