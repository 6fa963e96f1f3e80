"""Golden results of static rigidity: networks bond by bond, clusters, hinges and modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.rigidity.structures import golden, structure
from timme.rigidity import Network, decompose, dilute, network
from timme.rigidity.decomposition import residue_flexibility

STRUCTURES = ("1a2p-a", "4ake-a", "1bnr", "1bck")
NETWORKS = (*STRUCTURES, "1bck-lists")
KINDS = np.array(["covalent", "locked", "hydrogen bond", "salt bridge", "tether"])
ENERGIES = (0.0, -0.1, -0.5, -1.0, -1.5, -2.0, -2.3, -3.0)


def frozen_network(name: str, which: str = "network") -> Network:
    kept = golden(name)
    bonds, with_energy = kept[f"{which}.bonds"], kept[f"{which}.with_energy"]
    energies = np.full(len(bonds), np.nan)
    energies[with_energy] = kept[f"{which}.energies"]
    kinds, bars = KINDS[kept[f"{which}.kinds"]], kept[f"{which}.bars"].astype(np.int64)
    return Network(kept[f"{which}.n_bodies"], bonds.astype(np.int64), bars, kinds, energies)


OPTIONS: list[tuple[str, str, dict[str, Any]]] = [
    *((name, "network", {}) for name in STRUCTURES),
    ("1bck", "all_tethers", {"tethers": "all"}),
    ("1bck", "at_cutoff", {"cutoff": -2.3}),
]


@pytest.mark.parametrize(("name", "which", "options"), OPTIONS)
def test_networks_are_the_golden_ones_bond_by_bond(
    name: str, which: str, options: dict[str, Any]
) -> None:
    found, wanted = network(structure(name), **options), frozen_network(name, which)
    for column in ("bonds", "bars", "kinds"):
        np.testing.assert_array_equal(getattr(found, column), getattr(wanted, column))
    np.testing.assert_allclose(found.energies, wanted.energies, rtol=1e-12)


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_flexibility_of_residues_is_the_golden_one(name: str) -> None:
    held = frozen_network(name)
    found = residue_flexibility(decompose(held, -1.0), held, structure(name).atoms)
    np.testing.assert_array_equal(found, golden(name)["at -1.residue_flexibility"])


@pytest.mark.parametrize("name", NETWORKS)
def test_clusters_hinges_and_modes_are_the_golden_ones_at_every_energy(name: str) -> None:
    held, kept = frozen_network(name), golden(name)
    for energy in ENERGIES:
        found, key = decompose(held, energy), f"at {energy:g}"
        sizes = np.sort(np.bincount(found.clusters))[::-1]
        facts = {
            "floppy_modes": found.floppy_modes,
            "n_objects": found.n_objects,
            "largest": sizes[:10].tolist(),
            "n_clusters": len(sizes),
            "n_hinges": int(found.hinges.sum()),
            "n_redundant": int(found.redundant.sum()),
        }
        assert {f"{key}.{fact}": value for fact, value in facts.items()}.items() <= kept.items()
        np.testing.assert_array_equal(found.freedoms, kept[f"{key}.freedoms"])
        if energy == -1.0:
            for column in ("clusters", "independent", "redundant", "stress", "regions"):
                np.testing.assert_array_equal(getattr(found, column), kept[f"{key}.{column}"])
            np.testing.assert_array_equal(np.flatnonzero(found.hinges), kept[f"{key}.hinges"])


@pytest.mark.parametrize("name", NETWORKS)
def test_dilutions_are_the_golden_ones(name: str) -> None:
    found, kept = dilute(frozen_network(name)), golden(name)
    for column in ("heights", "parents"):
        np.testing.assert_array_equal(getattr(found, column), kept[f"dilution.{column}"])
