"""The spheres that come with the package: a network at rest among spheres that move, and a fluid.

Lengths are in diameters, energies in k_B T, times in d²/D.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import timme
from tests.data.measures import TOUCHING, largest, spans, touching
from timme._arrays import Bools, Floats

Run = tuple[Floats, Floats]  # snapshots that are not wrapped, and edges of the box


def unwrapped(ensemble: timme.Ensemble) -> Run:
    positions = ensemble.block(0).coordinates.astype(float) / 1.3
    held = ensemble.snapshot()[1]
    assert held is not None
    box = np.diag(held) / 1.3
    steps = np.diff(positions, axis=0)
    steps[..., :2] -= box[:2] * np.rint(steps[..., :2] / box[:2])
    return np.concatenate([positions[:1], positions[:1] + np.cumsum(steps, axis=0)]), box


@pytest.fixture(scope="module")
def gel() -> Run:
    return unwrapped(timme.data.spheres())


@pytest.fixture(scope="module")
def fluid() -> Run:
    return unwrapped(timme.data.spheres(fluid=True))


# ---- both --------------------------------------------------------------------------------------


def test_the_spheres_are_as_many_as_in_the_paper(gel: Run) -> None:
    assert gel[0].shape == (46, 991, 3)


def test_no_sphere_moves_more_than_a_radius_between_snapshots(gel: Run) -> None:
    assert np.linalg.norm(np.diff(gel[0], axis=0), axis=2).max() < 0.5


@pytest.mark.parametrize("name", ["gel", "fluid"])
def test_spheres_overlap_by_no_more_than_the_spring_allows(
    name: str, request: pytest.FixtureRequest
) -> None:
    """At rest, the attraction presses two spheres 0.007 into one another.

    Of 200,000 contacts in all snapshots, one in a hundred such runs has 15 k_B T more than that,
    and steps of the stiff spring add a tenth to the variance: 0.007 + √(2 · 15 · 1.1 / 10,000).
    """
    frames, box = request.getfixturevalue(name)
    nearest = []
    for frame in frames:
        places, room = wrapped(frame, box)
        tree = cKDTree(places, boxsize=room)
        nearest.append(np.asarray(tree.query(places, k=2)[0])[:, 1].min())
    assert min(nearest) > 1 - 0.007 - np.sqrt(2 * 15 * 1.1 / 10_000)
    assert max(nearest) < 1


@pytest.mark.parametrize(("name", "height"), [("gel", 10.0), ("fluid", 12.0)])
def test_spheres_stay_between_the_walls(
    name: str, height: float, request: pytest.FixtureRequest
) -> None:
    heights = request.getfixturevalue(name)[0][..., 2]
    slack = np.sqrt(2 * 15 * 1.1 / 10_000)  # the same spring, nothing that attracts
    assert heights.min() > 0.5 - slack
    assert heights.max() < height - 0.5 + slack
    assert np.ptp(heights) > height - 1.5  # and are found all the way from one to the other


@pytest.mark.parametrize(("name", "packing"), [("gel", 0.20), ("fluid", 0.42)])
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


def test_the_fluid_is_as_dense_as_planned_and_can_be_tracked(fluid: Run) -> None:
    """A few steps in 10,000 are longer than a radius, and none is longer than a diameter."""
    frames, box = fluid
    assert frames.shape == (46, 991, 3)
    assert 991 * np.pi / 6 / (box[0] * box[1] * 12.0) == pytest.approx(0.42, rel=1e-3)
    steps = np.linalg.norm(np.diff(frames, axis=0), axis=2)
    assert (steps > 0.5).mean() < 1e-3
    assert steps.max() < 1


# ---- energies and temperature ------------------------------------------------------------------


@pytest.mark.parametrize(("name", "depth", "height"), [("gel", 2.9, 10.0), ("fluid", 1.5, 12.0)])
def test_forces_are_as_strong_as_heat_makes_them(
    name: str, depth: float, height: float, request: pytest.FixtureRequest
) -> None:
    """Whatever the potential U, ⟨|∇U|²⟩ = kT ⟨∇²U⟩ for places of spheres, in steps of no time.

    Those of 1e-5 add 1 / (1 - λ · 1e-5 / 2) to what has a stiffness λ: 1.1 for two spheres, of
    2 · 10,000 together, and 1.25 for one between neighbours on all sides, of twice that.
    """
    frames, box = request.getfixturevalue(name)
    squares = curved = 0.0
    for frame in frames[::5]:
        places, room = wrapped(frame, box)
        bonds = touching(places, room)
        apart = places[bonds[:, 0]] - places[bonds[:, 1]]
        apart -= room * np.rint(apart / room)
        lengths = np.linalg.norm(apart, axis=1)
        _, slope, curve = potential(lengths, depth)
        forces, pulls = np.zeros_like(places), (slope / lengths)[:, None] * apart
        np.add.at(forces, bonds[:, 0], -pulls)
        np.add.at(forces, bonds[:, 1], pulls)
        walls = 0.5 - places[:, 2], places[:, 2] + 0.5 - height
        forces[:, 2] += 10_000 * (np.maximum(0, walls[0]) - np.maximum(0, walls[1]))
        squares += (forces**2).sum()
        curved += 2 * (curve + 2 * slope / lengths).sum()  # of either sphere
        curved += 10_000 * sum((wall > 0).sum() for wall in walls)
    assert 1 < squares / curved < 1.25


def test_bonds_of_the_network_are_as_deep_as_the_attraction_but_for_heat(gel: Run) -> None:
    """Half of kT where a well is a spring, all of it where it is a slope, as on its outside."""
    places, room = wrapped(gel[0][0][arrested(gel)], gel[1])
    bonds = touching(places, room)
    apart = places[bonds[:, 0]] - places[bonds[:, 1]]
    lengths = np.linalg.norm(apart - room * np.rint(apart / room), axis=1)
    assert 0.5 < potential(lengths, 2.9)[0].mean() + 2.9 < 1.0


def potential(lengths: Floats, depth: float) -> tuple[Floats, Floats, Floats]:
    """Energies, slopes and curvatures of pairs: zones of polymer that overlap, and a stiff spring.

    The zones of spheres 1.1 across share 1 - 3/2 x + 1/2 x³ of one, x being a distance over 1.1;
    with the spring, 10,000 / 2 of an overlap squared, the energy is lowest at minus the depth.
    """
    spring = np.maximum(0, 1 - lengths)
    x, shortest = np.minimum(lengths / 1.1, 1), np.linspace(0.95, 1.0, 5_001)
    strength = depth
    for _ in range(50):  # the lowest energy grows with the strength, nearly as it does
        zones = strength * shares(shortest / 1.1) / shares(1 / 1.1)
        strength *= depth / -(5_000 * (1 - shortest) ** 2 - zones).min()
    scale = strength / shares(1 / 1.1)
    energies = 5_000 * spring**2 - scale * shares(x)
    slopes = -10_000 * spring - scale * 1.5 * (x**2 - 1) / 1.1
    return energies, slopes, 10_000 * (spring > 0) - scale * 3 * x / 1.1**2 * (x < 1)


def shares(x: Any) -> Any:
    return 1 - 1.5 * x + 0.5 * x**3


# ---- two kinds of motion -----------------------------------------------------------------------


def arrested(run: Run) -> Bools:
    """Who gets less than 0.3 from where it was, where few spheres do."""
    slow: Bools = np.linalg.norm(run[0][-1] - run[0][0], axis=1) < 0.3
    return slow


def test_spheres_that_are_alone_diffuse_freely(gel: Run) -> None:
    """6 D t from snapshot to snapshot, of spheres away from others and from the walls.

    Where two are 1.5 apart, three standard deviations of their distance, √(4 · 0.0045), part them
    from the attraction.
    """
    frames, box = gel
    squares = list[Floats]()
    for before, after in itertools.pairwise(frames):
        places, room = wrapped(before, box)
        nearest = np.asarray(cKDTree(places, boxsize=room).query(places, k=2)[0])
        alone = (nearest[:, 1] > 1.5) & (before[:, 2] > 1.0) & (before[:, 2] < 9.0)
        squares.append(((after - before)[alone] ** 2).sum(axis=1))
    found = np.concatenate(squares)
    assert len(found) > 300
    assert found.mean() == pytest.approx(6 * 0.0045, rel=4 * np.sqrt(2 / 3 / len(found)))


def test_displacements_have_two_peaks_with_a_valley_between(gel: Run) -> None:
    """Counted in classes of a tenth of a decade, neighbours averaged, with nothing fitted.

    The lower peak is of spheres held in wells that are 0.1 wide, the higher of free ones, √(6 t)
    away at most. A valley is as deep as chance makes it in one of 10,000 flat histograms: 4
    standard errors of what is counted in it and in the lower of the peaks.
    """
    moved = np.log10(np.linalg.norm(gel[0][-1] - gel[0][0], axis=1))
    edges = np.arange(-2.0, 0.8, 0.1)
    middles, counts = edges[:-1] + 0.05, np.histogram(moved, edges)[0]
    slow = int(np.argmax(counts * (middles < -0.5)))
    fast = int(np.argmax(counts * (middles > -0.5)))
    smooth = np.convolve(counts, [1 / 3] * 3, "same")
    valley = smooth[slow : fast + 1].min()
    assert 0.05 < 10 ** middles[slow] < 0.2
    assert 0.5 < 10 ** middles[fast] < np.sqrt(6 * 45 * 0.0045)
    assert smooth[fast] - valley > 4 * np.sqrt((smooth[fast] + valley) / 3)
    assert (~arrested(gel)).mean() > 0.15


def test_two_gaussians_of_displacements_are_clearly_apart(gel: Run, fluid: Run) -> None:
    """Ashman's D is above 2 where they are, and is not in the fluid, which has one kind."""
    for run, name in ((gel, "spheres"), (fluid, "spheres_fluid")):
        told = timme.data.records()[name].measured["log_displacements"]
        means, spreads, shares = (np.array(told[k]) for k in ("means", "spreads", "shares"))
        moved = np.log(np.linalg.norm(run[0][-1] - run[0][0], axis=1))
        # what is told has the mean and variance of what moved, as the likeliest Gaussians have
        assert shares @ means == pytest.approx(moved.mean(), abs=1e-4)
        second = shares @ (spreads**2 + means**2)
        assert second == pytest.approx((moved**2).mean(), rel=1e-4)
        apart = np.sqrt(2) * abs(means[1] - means[0]) / np.hypot(*spreads)
        assert (apart > 2 and min(shares) > 0.15) == (name == "spheres")


# ---- a network ---------------------------------------------------------------------------------


def test_arrested_spheres_are_one_network_that_spans_the_room_both_ways(gel: Run) -> None:
    """And goes on doing so: its bonds are those of the first snapshot, and hold in the last."""
    frames, box = gel
    slow = arrested(gel)
    for frame in frames[[0, -1]]:
        places, room = wrapped(frame[slow], box)
        bonds = touching(places, room)
        piece = largest(bonds, len(places))
        assert piece.sum() > 0.95 * slow.sum()
        for axis in (0, 1):
            assert spans(places[piece], room, axis)


def test_the_network_is_ramified_and_no_block(gel: Run) -> None:
    """In every slice of the room there is some of it, and in every slice there are holes.

    A strip has slices with nothing, a layer or a block has slices that are full. Only the middle
    of the room is looked at, for nothing that attracts is at the walls.
    """
    frames, box = gel
    places, room = wrapped(frames[0][arrested(gel)], box)
    low, high = np.quantile(places[:, 2], [0.25, 0.75])
    points = np.random.default_rng(1).uniform([0, 0, low], [*box[:2], high], (20_000, 3))
    near: Bools = np.asarray(cKDTree(places, boxsize=room).query(points)[0]) < TOUCHING
    for axis in (0, 1):
        slices = (points[:, axis] // (box[axis] / 8)).astype(int)
        covered = np.bincount(slices, near) / np.bincount(slices)
        assert covered.min() > 0.1
        assert covered.max() < 0.9
    assert 0.3 < near.mean() < 0.7


def test_strands_are_denser_than_chains_and_looser_than_crystals(gel: Run) -> None:
    """Spheres of a strand that is braced have six neighbours or more, those of a crystal twelve."""
    places, room = wrapped(gel[0][0][arrested(gel)], gel[1])
    counts = np.bincount(touching(places, room).ravel(), minlength=len(places))
    assert 6 < counts.mean() < 10
    assert (counts < 9).mean() > 0.3  # at a surface, where a sphere lacks a quarter of them


def test_its_record_tells_the_same_of_the_network(gel: Run) -> None:
    told = timme.data.records()["spheres"].measured["arrested"]
    places, room = wrapped(gel[0][0][arrested(gel)], gel[1])
    bonds = touching(places, room)
    piece = largest(bonds, len(places))
    # a bond or two of 4,000 may hang on the rounding of places to single precision
    assert told["spheres"] == len(places)
    assert told["largest_piece"] == pytest.approx(piece.sum(), abs=2)
    assert told["neighbours"] == pytest.approx(2 * len(bonds) / len(places), abs=0.02)
    assert told["spans_along_x_and_y"] == [spans(places[piece], room, axis) for axis in (0, 1)]


@pytest.mark.parametrize(
    ("n", "width", "expected"), [(10, 10.0, True), (9, 10.0, False), (10, 12.0, False)]
)
def test_a_row_spans_the_room_where_it_has_no_gap(n: int, width: float, expected: bool) -> None:
    """So that the slow way to tell is known to be right."""
    row: Floats = np.column_stack([np.arange(float(n)), np.zeros((n, 2))]) + 0.5
    room = np.array([width, 20.0, 100.0])
    assert [spans(row, room, axis) for axis in (0, 1)] == [expected, False]


def wrapped(places: Floats, box: Floats) -> tuple[Floats, Floats]:
    """Places in the box, and a room for trees that is open between the walls."""
    room = np.array([*box[:2], 100.0])
    return places % room, room
