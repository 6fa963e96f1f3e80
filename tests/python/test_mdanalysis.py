"""Parity: the analysis class of MDAnalysis measures what ``measure`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme.fluctuations import Fluctuations
from timme.io import read
from timme.mdanalysis import CoMovingClusters

N_FRAMES = 60


@pytest.fixture(scope="module")
def universe(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A chain of 40 atoms in 8 residues, with bonds and a trajectory in a file."""
    import MDAnalysis

    rng = np.random.default_rng(5)
    places = np.cumsum(rng.normal(scale=0.9, size=(40, 3)), axis=0)
    xyz = (places + 0.2 * rng.normal(size=(N_FRAMES, 40, 3))).astype(np.float32)
    made = MDAnalysis.Universe.empty(
        40, n_residues=8, atom_resindex=np.arange(40) // 5, trajectory=True
    )
    made.add_TopologyAttr("names", ["C"] * 40)
    made.add_TopologyAttr("resids", np.arange(1, 9))
    made.add_TopologyAttr("bonds", [(i, i + 1) for i in range(39)])
    made.load_new(xyz, order="fac")
    path: Path = tmp_path_factory.mktemp("trajectory") / "moving.dcd"
    made.atoms.write(path, frames="all")
    return made.load_new(str(path))


def measured(atoms: Any, kind: str = "points", frames: Any = slice(None)) -> Fluctuations:
    objects = getattr(timme.objects, kind)(read(atoms)[frames])
    return timme.measure(objects, timme.pairs.within(objects, 10.0, min_bonds=4))


@pytest.mark.parametrize("kind", ["points", "bodies", "residues"])
def test_sigma_and_hierarchy_are_those_of_the_library(universe: Any, kind: Any) -> None:
    found = CoMovingClusters(universe, objects=kind, pairs="contact:10", cutoff=0.3)
    found = found.run().results
    expected = measured(universe, kind)
    np.testing.assert_array_equal(found.sigma.pairs, expected.pairs)
    np.testing.assert_array_equal(found.sigma.sigma, expected.sigma)
    tree = timme.link(expected)
    np.testing.assert_array_equal(found.hierarchy.heights, tree.heights)
    np.testing.assert_array_equal(found.partition.labels, tree.cut(0.3).labels)


def test_frames_are_sliced_or_listed(universe: Any) -> None:
    expected = measured(universe, frames=slice(10, 50, 2)).sigma
    chosen = np.zeros(N_FRAMES, np.bool_)
    chosen[10:50:2] = True
    run = CoMovingClusters(universe, objects="points").run
    ways: list[dict[str, Any]] = [{"start": 10, "stop": 50, "step": 2}, {"frames": chosen}]
    for way in [*ways, {"frames": list(range(10, 50, 2))}]:
        analysis = run(**way)
        np.testing.assert_array_equal(analysis.results.sigma.sigma, expected)
        assert (analysis.n_frames, len(analysis.times)) == (20, 20)
        np.testing.assert_array_equal(analysis.frames, np.arange(10, 50, 2))


def test_a_selection_is_that_group_of_atoms(universe: Any) -> None:
    found = CoMovingClusters(universe, select="resid 2:7", objects="points", pairs="all").run()
    group = CoMovingClusters(universe.atoms[5:35], objects="points", pairs="all").run()
    np.testing.assert_array_equal(found.results.sigma.sigma, group.results.sigma.sigma)


def test_results_hold_the_analysis(universe: Any) -> None:
    options: dict[str, Any] = {"objects": "points", "cutoff": 0.3, "min_size": 3}
    found = CoMovingClusters(universe, **options).run().results.analysis
    expected: Any = timme.analyse(universe, **options)
    np.testing.assert_array_equal(found.hierarchy.heights, expected.hierarchy.heights)
    assert found.finding.sentence == expected.finding.sentence
    assert found.made.settings == expected.made.settings


@pytest.mark.parametrize(
    ("options", "run", "message"),
    [
        ({"objects": "atoms"}, {}, "atoms"),
        ({}, {"backend": "dask"}, "there is no option backend="),
        ({}, {"start": 1, "frames": [1, 2]}, "cannot be combined"),
        ({}, {"stop": 1}, "at least 2 snapshots"),
    ],
)
def test_unusable_options_are_refused(
    universe: Any, options: dict[str, Any], run: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        CoMovingClusters(universe, **options).run(**run)
