"""Scripts of examples/simulate that need no other library: spheres, a crowd, a road, planted."""

from __future__ import annotations

import importlib
import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.data.measures import largest, spans, touching
from tests.synthetic.test_known_answers import same_clusters
from timme._arrays import Floats

FOLDER = Path(__file__).parents[1] / "examples" / "simulate"
DEPTH, REACH, STEP = 2.9, 0.1, 1e-5


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
    assert told["plan"]["quench"] == [[4.0, 0.05], [3.4, 0.05]]
    arrested = told["measured"]["arrested"]
    assert 0 < arrested["largest_piece"] <= arrested["spheres"] <= 90


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


def in_a_room(places: Floats, width: float) -> tuple[int, list[bool]]:
    """What the script tells of the largest piece: its size, and whether it spans the room."""
    plan = module("spheres").Plan(spheres=len(places), packing=len(places) * np.pi / 60 / width**2)
    assert plan.width == pytest.approx(width)
    told = module("spheres").network(plan, places)
    return told["largest_piece"], told["spans_along_x_and_y"]


def test_a_piece_spans_the_room_where_it_meets_its_own_image() -> None:
    """Rows along x and y, one with a gap, a ring within the room, and a row that winds twice."""
    line = np.arange(10) + 0.5
    row = np.column_stack([line, np.full(10, 3.0), np.full(10, 5.0)])
    assert in_a_room(row, 10.0) == (10, [True, False])
    assert in_a_room(row[:, [1, 0, 2]], 10.0) == (10, [False, True])
    assert in_a_room(row[:9], 10.0) == (9, [False, False])
    assert in_a_room(np.concatenate([row, row[:, [1, 0, 2]] + 0.1]), 10.0) == (20, [True, True])
    angles = 2 * np.pi * np.arange(18) / 18
    ring = 5.0 + np.column_stack([3 * np.cos(angles), 3 * np.sin(angles), 0 * angles])
    assert in_a_room(ring, 10.0) == (18, [False, False])
    winding = np.arange(20) + 0.25
    twice = np.column_stack([winding, 5 + 1.5 * np.sin(np.pi * winding / 10), 0 * winding + 5])
    assert in_a_room(twice, 10.0) == (20, [True, False])


@pytest.mark.parametrize("seed", range(12))
def test_pieces_span_the_room_where_rooms_side_by_side_say_so(seed: int) -> None:
    """Random places at a density at which some span it and some do not."""
    width = 6.0
    places = np.random.default_rng(seed).uniform(0, [width, width, 4.0], (85, 3))
    room = np.array([width, width, 100.0])
    piece = largest(touching(places, room), len(places))
    found = [spans(places[piece], room, axis) for axis in (0, 1)]
    assert in_a_room(places, width) == (piece.sum(), found)


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
