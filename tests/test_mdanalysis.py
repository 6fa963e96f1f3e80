"""The class for MDAnalysis measures what timme.measure does, with every backend."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.conftest import MakeUniverse
from tests.readers.test_box_kinds import as_gsd, boxes_of, brute_force, snapshots
from timme import mdanalysis
from timme.fluctuations import Fluctuations
from timme.mdanalysis import ClientBackend, CoMovingClusters

N_BLOCKS = 4  # of 256 frames


@pytest.fixture(scope="module")
def universe(tmp_path_factory: pytest.TempPathFactory, make_universe: MakeUniverse) -> Any:
    """Return atoms of a trajectory in a file, as other processes can open it."""
    import MDAnalysis as mda

    rng = np.random.default_rng(5)
    places = rng.uniform(0, 15, size=(40, 3))
    xyz = places + 0.2 * rng.normal(size=(256 * N_BLOCKS - 10, 40, 3))
    path = tmp_path_factory.mktemp("trajectory") / "moving.dcd"
    made = make_universe(xyz, names=["C"] * 40)
    made.atoms.write(path, frames="all")
    opened = mda.Universe.empty(40, n_residues=8, atom_resindex=np.arange(40) // 5)
    opened.add_TopologyAttr("names", ["C"] * 40)
    opened.add_TopologyAttr("resids", np.arange(1, 9))
    opened.add_TopologyAttr("bonds", [(i, i + 1) for i in range(39)])
    return opened.load_new(str(path))


def measured(atoms: Any, kind: str = "points", **frames: Any) -> Fluctuations:
    objects = getattr(timme.objects, kind)(timme.read(atoms, **frames))
    return timme.measure(objects, timme.pairs.within(objects, 10.0, min_bonds=4))


@pytest.mark.parametrize("kind", ["points", "bodies", "residues"])
def test_one_worker_measures_the_same_bits(universe: Any, kind: Any) -> None:
    analysis = CoMovingClusters(universe, objects=kind).run()
    expected = measured(universe, kind)
    assert np.array_equal(analysis.results.sigma.pairs, expected.pairs)
    assert np.array_equal(analysis.results.sigma.sigma, expected.sigma)
    assert np.array_equal(analysis.results.hierarchy.heights, timme.link(expected).heights)


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("box", [[20.0, 21.0, 22.0, 90.0, 90.0, 90.0], [1.0, 1, 1, 90, 90, 90]])
@pytest.mark.parametrize("kind", ["points", "bodies", "residues"])
def test_molecules_that_a_box_cuts_apart_are_measured_as_elsewhere(
    make_universe: MakeUniverse, kind: Any, box: list[float]
) -> None:
    """Atoms with bonds in a box are made whole, and a placeholder is left out, as in a file."""
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(scale=0.9, size=(24, 3)), axis=0)
    places = walk + 0.1 * rng.normal(size=(40, 24, 3)) + np.linspace(0, 20, 40)[:, None, None]
    if box[0] > 1:
        places %= box[:3]
    made = make_universe(places.astype(np.float32), names=["C"] * 24)
    made.add_TopologyAttr("bonds", [(k, k + 1) for k in range(23)])
    cells = np.tile(box, (40, 1)).astype(np.float32)
    made.load_new(places.astype(np.float32), dimensions=cells)
    run = CoMovingClusters(made, objects=kind).run()
    expected = measured(made, kind)
    assert np.array_equal(run.results.sigma.pairs, expected.pairs)
    assert np.array_equal(run.results.sigma.sigma, expected.sigma)
    part = CoMovingClusters(made, select="index 2:19", objects=kind).run()
    assert np.array_equal(part.results.sigma.sigma, measured(made.atoms[2:20], kind).sigma)


def test_a_keyword_that_means_nothing_is_refused(universe: Any) -> None:
    with pytest.raises(TypeError, match="has no keyword selection="):
        CoMovingClusters(universe, selection="name C")


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
def test_boxes_of_gsd_are_those_of_the_file(tmp_path: Path) -> None:
    import MDAnalysis as mda

    places, boxes = snapshots(), boxes_of("triclinic")
    (path,) = as_gsd(tmp_path / "a.gsd", places, boxes)
    universe = mda.Universe(str(path))
    run = CoMovingClusters(universe, objects="points", pairs="all", min_bonds=0).run()
    np.testing.assert_allclose(run.results.sigma.sigma, brute_force(places, boxes), rtol=1e-5)


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param({"n_parts": 3}, id="serial"),
        pytest.param({"backend": "multiprocessing", "n_workers": 2}, id="multiprocessing"),
        pytest.param({"backend": "dask", "n_workers": 2}, id="dask", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_backends_measure_the_same(universe: Any, backend: dict[str, Any]) -> None:
    if backend.get("backend") == "dask":
        pytest.importorskip("dask", reason="needs dask: pip install 'pytimme[cluster]'")
    atoms = universe.atoms[:30]
    analysis = CoMovingClusters(atoms, objects="points").run(**backend)
    expected = measured(atoms)
    assert np.array_equal(analysis.results.sigma.pairs, expected.pairs)
    np.testing.assert_allclose(analysis.results.sigma.sigma, expected.sigma, rtol=1e-12)
    assert np.array_equal(analysis.frames, np.arange(256 * N_BLOCKS - 10))


def test_kernels_are_compiled_while_other_processes_wait(
    universe: Any, nothing_compiled: list[str]
) -> None:
    analysis = CoMovingClusters(universe, objects="points")
    analysis.run(n_parts=3)
    analysis.run(n_parts=3)
    assert nothing_compiled == ["taken"]


@pytest.mark.thorough
def test_a_distributed_client_measures_the_same(universe: Any) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'pytimme[cluster]'")
    from timme.engine.connect import connect

    with connect("local", workers=2) as client:
        analysis = CoMovingClusters(universe, objects="points").run(backend=ClientBackend(client))
    expected = measured(universe)
    np.testing.assert_allclose(analysis.results.sigma.sigma, expected.sigma, rtol=1e-12)


def test_frames_may_be_sliced_or_listed(universe: Any) -> None:
    expected = measured(universe, start=10, stop=700, step=2)
    analysis = CoMovingClusters(universe, objects="points")
    chosen = np.zeros(len(universe.trajectory), bool)
    chosen[10:700:2] = True
    for frames in (
        {"start": 10, "stop": 700, "step": 2},
        {"frames": list(range(10, 700, 2))},
        {"frames": chosen},
    ):
        found = analysis.run(**frames).results.sigma
        assert np.array_equal(found.sigma, expected.sigma)


def test_a_cutoff_gives_a_partition(universe: Any) -> None:
    analysis = CoMovingClusters(universe, pairs="all", cutoff=0.25, min_bonds=0).run()
    expected = analysis.results.hierarchy.cut(0.25)
    assert np.array_equal(analysis.results.partition.labels, expected.labels)


def test_an_analysis_tells_what_it_is(make_universe: MakeUniverse) -> None:
    universe = make_universe(np.random.default_rng(0).normal(size=(5, 4, 3)))
    analysis = CoMovingClusters(universe, objects="points", pairs="all", min_bonds=0)
    told = "<CoMovingClusters: atoms 4, objects points, pairs all, {}>"
    assert repr(analysis) == told.format("results none before .run()")
    assert repr(analysis.run()) == told.format("frames 5, results σ of 6 pairs")


def test_a_box_is_respected(make_universe: MakeUniverse) -> None:
    rng = np.random.default_rng(6)
    xyz = (rng.uniform(0, 8, size=(20, 3)) + 0.2 * rng.normal(size=(50, 20, 3)) + 26) % 30
    universe = make_universe(xyz)
    universe.load_new(
        xyz.astype(np.float32), order="fac", dimensions=np.array([30.0, 30, 30, 90, 90, 90])
    )
    found = CoMovingClusters(universe, objects="points").run().results.sigma
    assert np.array_equal(found.sigma, measured(universe).sigma)
    assert found.sigma.max() < 1.0  # none jumps across the box


def test_unknown_objects_and_pairs_are_refused(universe: Any) -> None:
    with pytest.raises(ValueError, match="objects are points, bodies"):
        CoMovingClusters(universe, objects="atoms")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pairs are contact or all"):
        CoMovingClusters(universe, pairs="near")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be combined"):
        CoMovingClusters(universe).run(start=1, frames=[1, 2])
    with pytest.raises(ValueError, match="at least 2 snapshots"):
        CoMovingClusters(universe, pairs="all").run(stop=1)


def test_a_run_becomes_a_result_that_is_written_and_viewed(
    universe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = CoMovingClusters(universe, objects="residues", cutoff=0.25, radius=8.0)
    with pytest.raises(ValueError, match=r"a result needs a run: call .run\(\) first"):
        run.gather()
    made = run.run(stop=50).gather(min_size=2)
    assert made.hierarchy is run.results.hierarchy
    assert (made.system.n_snapshots, made.recipe.kind) == (50, "residues")
    assert (made.recipe.settings.cutoff, made.recipe.settings.min_size) == (0.25, 2)
    assert made.recipe.compared.startswith("in contact within 8 Å")
    timme.save(made, tmp_path / "result.npz")
    assert timme.load(tmp_path / "result.npz").hierarchy.n_sites == made.hierarchy.n_sites
    monkeypatch.setattr(mdanalysis, "view", lambda *shown, height: (*shown, height))
    shown, height = run.view(height=300)
    assert (shown.hierarchy is made.hierarchy, height) == (True, 300)


def test_the_error_of_positions_is_taken_off_points_and_refused_for_bodies() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 20, (12, 3)) + rng.normal(size=(300, 12, 3)) * 0.05
    import MDAnalysis as mda

    universe = mda.Universe.empty(12, trajectory=True)
    universe.load_new(places.astype(np.float32))
    how: dict[str, Any] = {"objects": "points", "pairs": "all", "min_bonds": 0}
    raw = CoMovingClusters(universe, **how).run().results.sigma
    found = CoMovingClusters(universe, noise=0.05, **how).run().results.sigma
    # All motion is error, whose σ² has a standard error of √(2 / 299): what is left is less.
    assert np.median(raw.sigma) == pytest.approx(np.sqrt(2) * 0.05, rel=0.05)
    assert (found.sigma**2 <= 5 * np.sqrt(2 / 299) * raw.sigma**2).all()
    universe.add_TopologyAttr("bonds", [(k, k + 1) for k in range(0, 12, 2)])
    bodies = CoMovingClusters(universe, objects="bodies", pairs="all", noise=0.05)
    with pytest.raises(ValueError, match="noise= is for points and centres"):
        bodies.run()
