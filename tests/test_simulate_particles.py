"""Scripts of examples/simulate that need no other library: spheres, a crowd, a road, planted."""

from __future__ import annotations

import importlib
import itertools
import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

import timme
from tests.synthetic.test_known_answers import same_clusters
from timme._arrays import Floats

FOLDER = Path(__file__).parents[1] / "examples" / "simulate"
DEPTH, REACH, STEP = 3.4, 0.1, 1e-5


def module(name: str) -> Any:
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of the spheres, never stopped."""
    folder = tmp_path_factory.mktemp("spheres")
    module("spheres").main([str(folder), "--short"])
    return folder


# ---- forces and motion ---------------------------------------------------------------------


def test_the_force_of_spheres_is_the_slope_of_their_energy() -> None:
    brownian = module("brownian")
    distances, h = np.linspace(0.93, 1.15, 221) + 1e-4, 1e-6
    up, down = (brownian.energy(distances + sign * h, 3.0, REACH) for sign in (1, -1))
    forces = [brownian.push(distance, 3.0, REACH) for distance in distances]
    # a central difference is right to h² times a third derivative, and to rounding over h
    assert forces == pytest.approx(-(up - down) / (2 * h), abs=1e-6)


def test_spheres_attract_one_another_as_deep_as_asked_and_no_farther() -> None:
    brownian = module("brownian")
    strength = brownian.strength_for(DEPTH, REACH)
    distances = np.linspace(0.9, 1.3, 4001)
    energies = brownian.energy(distances, strength, REACH)
    assert energies.min() == pytest.approx(-DEPTH, abs=1e-3)
    assert 0.98 < distances[energies.argmin()] < 1
    assert energies[distances > 1 + REACH] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.thorough
def test_a_sphere_alone_diffuses_freely() -> None:
    """A thousand spheres far from one another, in a room without attraction or walls nearby."""
    grid = 20.0 * np.stack(np.meshgrid(*[np.arange(1, 11)] * 3), axis=-1).reshape(-1, 3)
    places = grid.astype(float)
    module("brownian").advance(places, 220.0, 220.0, 0.0, REACH, STEP, 200, 3)
    variance = ((places - grid) ** 2).mean()
    assert variance == pytest.approx(2 * 200 * STEP, rel=4 * np.sqrt(2 / grid.size))


@pytest.mark.thorough
def test_two_spheres_are_where_boltzmann_says() -> None:
    brownian = module("brownian")
    width, height = 2.6, 2.6
    strength = brownian.strength_for(DEPTH, REACH)
    places, distances = np.array([[0.6, 0.6, 0.8], [1.9, 1.9, 1.8]]), []
    for seed in range(6_000):
        brownian.advance(places, width, height, strength, REACH, STEP, 1_000, seed)
        distances.append(apart(places[0], places[1], width))
    bound = np.array(distances) < 1 + REACH
    touching = np.array(distances)[bound] < 1
    expected_bound, expected_touching = by_chance(width, height, strength)
    # A pair is bound or free for about a unit of time, of which there are 60.
    spread = np.sqrt(expected_bound * (1 - expected_bound) / (60 / 2))
    assert abs(bound.mean() - expected_bound) < 4 * spread
    # Within the well, 0.1 wide, it forgets in a time of 0.1²: in a snapshot or two. A step of the
    # stiff spring, k·dt = 0.1 for each of two, adds a tenth to the variance of overlaps, 5 % to
    # their size.
    spread = np.sqrt(expected_touching * (1 - expected_touching) / (bound.sum() / 2))
    assert abs(touching.mean() - expected_touching) < 4 * spread + 0.05 * expected_touching


def apart(first: Floats, second: Floats, width: float) -> float:
    """Distance of two spheres in a room that is periodic in x and y."""
    vector = first - second
    vector[:2] -= width * np.rint(vector[:2] / width)
    return float(np.linalg.norm(vector))


def by_chance(width: float, height: float, strength: float) -> tuple[float, float]:
    """Probability that a pair is bound, and that it touches if so: by integration over places.

    Along z, a difference of heights is as likely as there is room for it; in the plane, the first
    sphere is anywhere.
    """
    rng = np.random.default_rng(0)
    n = 2_000_000
    heights = rng.uniform(0.4, height - 0.4, (2, n))
    in_plane = rng.uniform(-width / 2, width / 2, (2, n))
    distances = np.sqrt((in_plane**2).sum(axis=0) + (heights[0] - heights[1]) ** 2)
    over = np.maximum(0, 0.5 - heights) + np.maximum(0, heights + 0.5 - height)
    walls = 10_000 / 2 * (over**2).sum(axis=0)  # stiff springs of 10,000 k_B T/d²
    likely = np.exp(-module("brownian").energy(distances, strength, REACH) - walls)
    bound = distances < 1 + REACH
    touching = likely[distances < 1].sum() / likely[bound].sum()
    return float(likely[bound].sum() / likely.sum()), float(touching)


# ---- the script ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_short_run_writes_its_snapshots_and_what_a_microscope_sees(short: Path) -> None:
    told = json.loads((short / "spheres.json").read_text())
    clean, noisy = (np.load(short / name) for name in told["files"])
    assert clean["positions"].shape == (6, 90, 3)
    assert clean["positions"].dtype == np.float32
    assert clean["box"][2] == 0
    assert clean["times"] == pytest.approx(told["plan"]["interval"] * np.arange(6))
    noise = noisy["positions"] - clean["positions"]
    noise[..., :2] -= clean["box"][:2] * np.rint(noise[..., :2] / clean["box"][:2])
    # 0.03 µm in the plane and 0.05 µm in depth, of 540 spheres in snapshots
    for axis, width in enumerate((0.03, 0.03, 0.05)):
        assert noise[..., axis].std() == pytest.approx(width, rel=4 / np.sqrt(2 * 540))
    for name, file in told["files"].items():
        content = (short / name).read_bytes()
        assert file == {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    assert set(told["versions"]) == {"python", "numpy", "numba"}
    assert (short / "spheres_displacements.png").stat().st_size > 1_000


@pytest.mark.thorough
def test_a_short_fluid_is_written_under_its_own_name(tmp_path: Path) -> None:
    module("spheres").main([str(tmp_path), "--short", "--fluid"])
    with np.load(tmp_path / "spheres_fluid.npz") as kept:
        volume = kept["box"][0] ** 2 * 1.3 * 6
        assert 90 * np.pi / 6 * 1.3**3 / volume == pytest.approx(0.42)


@pytest.mark.thorough
def test_a_run_that_was_stopped_goes_on_to_the_same_snapshots(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spheres, checkpoints = module("spheres"), list[Path]()

    def stop(path: Path, **arrays: Any) -> None:
        module("runs").write(path, **arrays)
        checkpoints.append(path)
        if len(checkpoints) == 6:
            raise KeyboardInterrupt

    with monkeypatch.context() as stopping:
        stopping.setattr(spheres, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            spheres.main([str(tmp_path), "--short"])
    assert not (tmp_path / "spheres.npz").exists()
    spheres.main([str(tmp_path), "--short"])
    first, second = (np.load(folder / "spheres.npz")["positions"] for folder in (short, tmp_path))
    np.testing.assert_array_equal(first, second)


@pytest.mark.thorough
def test_a_folder_of_other_spheres_is_refused(short: Path) -> None:
    with pytest.raises(SystemExit, match="holds a run with seed 1, this one has 2"):
        module("spheres").main([str(short), "--short", "--seed", "2"])


def test_two_modes_are_found_where_they_were_put() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(-2.0, 0.5, 3_000), rng.normal(1.0, 0.4, 1_000)])
    found = module("spheres").two_modes(values)
    assert found["means"] == pytest.approx([-2.0, 1.0], abs=5 * 0.5 / np.sqrt(1_000))
    assert found["shares"] == pytest.approx([0.75, 0.25], abs=0.01)
    apart = np.sqrt(2) * 3 / np.hypot(0.5, 0.4)
    assert found["ashman_d"] == pytest.approx(apart, rel=4 / np.sqrt(2 * 1_000))


@pytest.mark.parametrize(
    ("name", "column", "settings"),
    [
        ("crowd", "party", {"radius": 2.5, "min_overlap": 15}),
        ("ring_road", "platoon", {"radius": 400.0, "columns": "frame,particle,x,y"}),
    ],
)
def test_tables_are_read_and_show_who_goes_together(
    name: str, column: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    module(name).main([str(tmp_path)])
    path = tmp_path / f"{name}.csv"
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    place, owner = header.index(column), header.index("particle")
    together = {int(row[owner]): int(row[place]) for row in rows}
    assert sorted(together) == list(range(1, len(together) + 1))
    hierarchy = timme.analyse(path, unit="m", **settings).hierarchy
    known = np.array([together[number] for number in sorted(together)])
    assert any(same_clusters(hierarchy.cut(c).labels, known) for c in hierarchy.levels)


def test_planted_clusters_are_written_with_their_answer(tmp_path: Path) -> None:
    """The motion of the finest level is small beside distances: √2 · 0.05, over 100 snapshots."""
    module("planted").main([str(tmp_path), "--short"])
    told = {
        name: json.loads((tmp_path / f"{name}.json").read_text())["measured"]
        for name in ("noncontiguous", "fifty_dimensions")
    }
    pieces, points = told["noncontiguous"], told["fifty_dimensions"]
    assert pieces["sigma_between_the_pieces_largest"] < 0.03  # the noise, of 0.01 a coordinate
    assert pieces["sigma_to_what_is_between_smallest"] > 0.03
    fine = points["sigma_mean_within_parts_of_parts"]
    assert fine == pytest.approx(np.sqrt(2) * 0.05, rel=0.05)
    assert fine < points["sigma_mean_within_parts"] / 3 < points["sigma_mean_between_parts"] / 3


@pytest.mark.parametrize(
    ("name", "cutoff", "level"), [("noncontiguous", 0.03, 0), ("fifty_dimensions", 0.12, 1)]
)
def test_planted_clusters_are_found_in_the_files(
    name: str, cutoff: float, level: int, tmp_path: Path
) -> None:
    module("planted").main([str(tmp_path)])
    with np.load(tmp_path / f"{name}.npz") as kept:
        places, known = kept["positions"], kept["clusters"][level]
    labels = timme.analyse(places, pairs="all").hierarchy.cut(cutoff).labels
    assert same_clusters(labels, known)


# ---- the run that comes with TIMME ---------------------------------------------------------


def unwrapped(ensemble: timme.Ensemble) -> tuple[Floats, Floats]:
    """Snapshots of a full run, not wrapped, and its box, in diameters."""
    positions = ensemble.block(0).coordinates.astype(float) / 1.3
    held = ensemble.snapshot()[1]
    assert held is not None
    box = np.diag(held) / 1.3
    steps = np.diff(positions, axis=0)
    steps[..., :2] -= box[:2] * np.rint(steps[..., :2] / box[:2])
    return np.concatenate([positions[:1], positions[:1] + np.cumsum(steps, axis=0)]), box


@pytest.fixture(scope="module")
def shipped() -> tuple[Floats, Floats]:
    """The gel."""
    return unwrapped(timme.data.spheres())


@pytest.fixture(scope="module")
def fluid() -> tuple[Floats, Floats]:
    """The dense fluid."""
    return unwrapped(timme.data.spheres(fluid=True))


def test_the_spheres_are_as_many_as_in_the_paper(shipped: tuple[Floats, Floats]) -> None:
    assert shipped[0].shape == (46, 991, 3)


def test_no_sphere_moves_more_than_a_radius_between_snapshots(
    shipped: tuple[Floats, Floats],
) -> None:
    assert np.linalg.norm(np.diff(shipped[0], axis=0), axis=2).max() < 0.5


@pytest.mark.parametrize("name", ["shipped", "fluid"])
def test_spheres_overlap_by_no_more_than_the_spring_allows(
    name: str, request: pytest.FixtureRequest
) -> None:
    """At rest, the attraction presses two spheres 0.007 into one another.

    Of 200,000 contacts in all snapshots, one in a hundred such runs has 15 k_B T more than that,
    and steps of the stiff spring add a tenth to the variance: 0.007 + √(2 · 15 · 1.1 / 10,000).
    """
    frames, box = request.getfixturevalue(name)
    room = np.array([*box[:2], 100.0])
    nearest = []
    for frame in frames:
        tree = cKDTree(frame % room, boxsize=room)
        nearest.append(np.asarray(tree.query(frame % room, k=2)[0])[:, 1].min())
    assert min(nearest) > 1 - 0.007 - np.sqrt(2 * 15 * 1.1 / 10_000)
    assert max(nearest) < 1


@pytest.mark.parametrize(("name", "height"), [("shipped", 10.0), ("fluid", 12.0)])
def test_spheres_stay_between_the_walls(
    name: str, height: float, request: pytest.FixtureRequest
) -> None:
    heights = request.getfixturevalue(name)[0][..., 2]
    slack = np.sqrt(2 * 15 * 1.1 / 10_000)  # the same spring, nothing that attracts
    assert heights.min() > 0.5 - slack
    assert heights.max() < height - 0.5 + slack
    assert np.ptp(heights) > height - 1.5  # and are found all the way from one to the other


@pytest.mark.parametrize(("name", "packing"), [("shipped", 0.070), ("fluid", 0.42)])
def test_places_fill_as_much_of_the_room_as_is_told(
    name: str, packing: float, request: pytest.FixtureRequest
) -> None:
    """Centres are found all over the room but for a radius at each wall.

    They press into walls by no more than 0.06, which is 1.2 % of a height of 10.
    """
    frames, box = request.getfixturevalue(name)
    found = np.ptp(frames % np.array([*box[:2], 100.0]), axis=(0, 1))
    assert found[:2] == pytest.approx(box[:2], rel=0.01)
    volume = found[0] * found[1] * (found[2] + 1)
    assert 991 * np.pi / 6 / volume == pytest.approx(packing, rel=0.012)


def test_what_is_arrested_is_one_dense_piece_at_one_side(shipped: tuple[Floats, Floats]) -> None:
    """No network that spans the room: more than half of the way along x there is none of it.

    Spheres in it have more neighbours than the six of a strand and fewer than the twelve of a
    crystal.
    """
    frames, box = shipped
    room = np.array([*box[:2], 100.0])
    slow = np.linalg.norm(frames[-1] - frames[0], axis=1) < 0.3
    pairs = cKDTree(frames[0] % room, boxsize=room).query_pairs(1.1, output_type="ndarray")
    assert 8 < np.bincount(pairs.ravel(), minlength=991)[slow].mean() < 9
    bonds = pairs[slow[pairs].all(axis=1)]
    graph = coo_matrix((np.ones(len(bonds)), bonds.T), shape=(991, 991))
    piece = np.bincount(connected_components(graph)[1][slow])
    assert piece.max() > 0.99 * slow.sum()
    along = np.sort(frames[0][slow, 0] % box[0])
    gaps = np.diff(along, append=along[0] + box[0])
    assert gaps.max() > box[0] / 2


def test_the_fluid_is_as_dense_as_planned_and_can_be_tracked(fluid: tuple[Floats, Floats]) -> None:
    """A few steps in 10,000 are longer than a radius, and none is longer than a diameter."""
    frames, box = fluid
    assert frames.shape == (46, 991, 3)
    assert 991 * np.pi / 6 / (box[0] * box[1] * 12.0) == pytest.approx(0.42, rel=1e-3)
    steps = np.linalg.norm(np.diff(frames, axis=0), axis=2)
    assert (steps > 0.5).mean() < 1e-3
    assert steps.max() < 1


def test_spheres_that_are_alone_diffuse_freely(shipped: tuple[Floats, Floats]) -> None:
    """6 D t from snapshot to snapshot, of spheres away from others and from the walls."""
    frames, box = shipped
    room, squares = np.array([*box[:2], 100.0]), list[Floats]()
    for before, after in itertools.pairwise(frames):
        nearest = np.asarray(cKDTree(before % room, boxsize=room).query(before % room, k=2)[0])
        alone = (nearest[:, 1] > 2.0) & (before[:, 2] > 1.5) & (before[:, 2] < 8.5)
        squares.append(((after - before)[alone] ** 2).sum(axis=1))
    found = np.concatenate(squares)
    assert len(found) > 500
    assert found.mean() == pytest.approx(6 * 0.0045, rel=4 * np.sqrt(2 / 3 / len(found)))


def test_a_piece_is_at_rest_while_other_spheres_move(shipped: tuple[Floats, Floats]) -> None:
    moved = np.log10(np.linalg.norm(shipped[0][-1] - shipped[0][0], axis=1))
    modes = module("spheres").two_modes(moved)
    assert modes["ashman_d"] > 2
    assert min(modes["shares"]) > 0.15
    counts = np.histogram(moved, np.arange(-2.0, 0.8, 0.1))[0]
    smooth = np.convolve(counts, [0.25, 0.5, 0.25], "same")
    slow, fast = (int(np.searchsorted(np.arange(-1.9, 0.8, 0.1), mean)) for mean in modes["means"])
    valley = smooth[slow : fast + 1].min()
    peaks = smooth[: slow + 3].max(), smooth[fast - 2 :].max()
    assert valley < 0.6 * min(peaks)
