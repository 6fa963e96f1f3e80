"""Reference: planted hinges, their kinds and errors, and verdicts where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from timme.ensemble import Ensemble
from timme.hierarchy.partition import rand_index
from timme.motion import Hinge, describe_motion, hinge, screw
from timme.synthetic import PlantedBodies, relaxing
from timme.synthetic import bodies as planted_bodies

BODY, CORE = np.arange(60, 100), np.arange(60)
KINDS = ("rigid", "translation", "hinge", "screw", "ball", "diffuse")


def plant(n_snapshots: int = 20, span: float = 30.0, **options: Any) -> PlantedBodies:
    return planted_bodies((60, 40), n_snapshots, spans=[span], **options)


def found_in(planted: PlantedBodies | Ensemble, **options: Any) -> Hinge:
    ensemble = planted if isinstance(planted, Ensemble) else planted.ensemble
    return hinge(ensemble, body=BODY, reference=CORE, **options)


def tilt(found: Hinge, axis: np.ndarray) -> float:
    return float(np.degrees(np.arccos(min(1.0, abs(float(found.axis @ axis))))))


def swung(places: np.ndarray, turns: Rotation) -> np.ndarray:
    """Snapshots in which the body turns about a joint between both middles."""
    joint = 0.5 * (places[CORE].mean(axis=0) + places[BODY].mean(axis=0))
    snapshots = np.tile(places, (len(turns), 1, 1))
    snapshots[:, BODY] = [turn.apply(places[BODY] - joint) + joint for turn in turns]
    return snapshots


def wobbling(memory: float, swings: int, seed: int) -> tuple[Ensemble, np.ndarray]:
    """A planted hinge whose body also turns at random by 2°, and its axis."""
    rng = np.random.default_rng(2000 + seed)
    planted = plant(2, 0.0, kind="rigid", jitter=0.0, seed=seed)
    places, axis, n_snapshots = planted.places, np.array([0.0, 0.0, 1.0]), 100
    angles = np.radians(20) * np.linspace(-1, 1, n_snapshots)
    if swings > 1:
        angles = np.radians(20) * np.sin(swings * np.pi * np.linspace(-0.5, 0.5, n_snapshots))
    turns = Rotation.from_rotvec(angles[:, None] * axis)
    if memory:
        turns = (
            Rotation.from_rotvec(np.radians(2) * relaxing((n_snapshots, 3), memory, rng)) * turns
        )
    snapshots = swung(places, turns)
    return Ensemble.from_array(snapshots + rng.normal(0, 0.1, snapshots.shape)), axis


@pytest.mark.parametrize("span", [30.0, 60.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_axis_is_found_within_a_degree(span: float, seed: int) -> None:
    planted = plant(span=span, seed=seed)
    found = found_in(planted)
    assert tilt(found, planted.axes[1]) < 1
    assert found.range == pytest.approx(span, rel=0.02)
    away = found.point - planted.points[1]
    across = np.linalg.norm(away - planted.axes[1] * (away @ planted.axes[1]))
    assert across < 4 * found.point_error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_seeds", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_kinds_are_recognised_on_95_of_100_seeds(kind: str, n_seeds: int) -> None:
    span = 4.0 if kind == "translation" else 30.0
    kinds = [found_in(plant(span=span, kind=kind, seed=seed)).kind for seed in range(n_seeds)]
    assert kinds.count(kind) >= 0.95 * n_seeds  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("swings", [1, 3])
@pytest.mark.parametrize("memory", [0.0, 3.0, 10.0, 30.0, 60.0])
def test_errors_of_an_axis_are_as_stated(memory: float, swings: int) -> None:
    errors = []
    for seed in range(60):
        ensemble, axis = wobbling(memory, swings, seed)
        found = found_in(ensemble)
        errors.append((tilt(found, axis), found.axis_error))
    actual, stated = np.sqrt((np.array(errors) ** 2).mean(axis=0))
    # A wobble slower than a third of the run is seen too rarely to be known as well.
    assert 0.7 < actual / stated < (1.7 if memory > 30 else 1.4)


def test_the_pitch_of_a_screw_is_what_was_planted() -> None:
    assert abs(found_in(plant(40, 60.0, kind="screw")).pitch) == pytest.approx(3.0, rel=0.05)


def test_two_snapshots_give_the_screw_and_no_error_bar() -> None:
    planted = plant(2, 40.0)
    found = found_in(planted)
    between = screw(*planted.ensemble.coordinates(), body=BODY, reference=CORE)
    assert found.range == pytest.approx(between.angle, rel=1e-3)
    assert abs(found.axis @ between.axis) == pytest.approx(1, abs=1e-6)
    assert np.isnan(found.axis_cone)
    assert "no error bar" in found.verdict


def test_angles_about_a_given_axis_are_measured_about_it() -> None:
    planted = plant(span=40.0, jitter=0.0)
    axis = planted.axes[1]
    tilted = Rotation.from_rotvec(np.radians(60) * np.cross(axis, [0.6, 0, 0.8])).apply(axis)
    found = found_in(planted, axis=tilted)
    assert found.range == pytest.approx(40 * abs(tilted @ axis), rel=0.02)
    assert (
        "about the given axis" in found_in(planted, axis=np.cross(axis, [0.3, -0.5, 0.8])).verdict
    )


@pytest.mark.parametrize("sites", [[70], [70, 80]], ids=["one", "two"])
def test_points_and_lines_have_no_axis(sites: list[int]) -> None:
    ensemble = plant(5).ensemble
    for body, reference in ((sites, CORE), (CORE, sites)):
        chosen: Any = {"body": np.array(body), "reference": np.array(reference)}
        found, between = hinge(ensemble, **chosen), screw(*ensemble.coordinates()[:2], **chosen)
        for each in (found, between):
            assert each.kind == "undefined"
            assert np.isnan(each.axis).all()
        assert "no orientation" in found.verdict
        assert ("the reference" if body is CORE else "the body") in between.verdict


@pytest.mark.parametrize("n_snapshots", [2, 3, 20])
@pytest.mark.parametrize("seed", range(4))
def test_rods_have_no_axis_however_few_snapshots(n_snapshots: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rod = np.arange(1.0, 26.0)[:, None] * np.array([1.5, 0.0, 0.0])
    snapshots = np.array([*rod, *-rod]) + rng.normal(0.0, 0.1, (n_snapshots, 50, 3))
    body, reference = np.arange(25), np.arange(25, 50)
    found = hinge(Ensemble.from_array(snapshots), body=body, reference=reference)
    for each in (found, screw(*snapshots[:2], body=body, reference=reference)):
        assert each.kind == "undefined"
        assert np.isnan(each.axis).all()
        assert "nearly a line" in each.verdict


def test_an_axis_that_changes_on_the_way_has_a_warning() -> None:
    places = plant(2, 0.0, kind="rigid", jitter=0.0).places
    steps = np.zeros((100, 3))
    steps[1:50, 0], steps[50:, 1] = 0.6, 0.6  # degrees: about x at first, then about y
    turns = Rotation.from_rotvec(np.radians(np.cumsum(steps, axis=0)))
    snapshots = swung(places, turns)
    snapshots += np.random.default_rng(5).normal(0.0, 0.05, snapshots.shape)
    assert (
        "its axis moves: first and second half" in found_in(Ensemble.from_array(snapshots)).verdict
    )
    assert "axis" not in found_in(plant(100)).verdict


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"axis": [0.0, 0, 0]}, "not all 0"),
        ({"axis": [1.0, 0]}, "3 finite numbers"),
        ({"weights": np.ones(5)}, r"each of 100 sites.*got shape \(5,\)"),
        ({"weights": -np.ones(100)}, "not negative.* -1 at least"),
        ({"weights": 1.0 * (np.arange(100) < 60)}, "one above 0"),
        ({"body": np.arange(50, 100)}, "10 sites are in both"),
    ],
)
def test_bad_input_is_refused(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        hinge(plant(3).ensemble, **{"body": BODY, "reference": CORE, **bad})


def test_one_snapshot_is_refused() -> None:
    with pytest.raises(ValueError, match="2 snapshots, got 100 and 1"):
        describe_motion(plant(5).ensemble[:1])


def assembly(spans: tuple[float, ...], names: str = "AA") -> Ensemble:
    """Chains of 100 sites on hinges; the second swings and shifts as a whole as well."""
    made = [planted_bodies((60, 40), 20, spans=[span], seed=k) for k, span in enumerate(spans)]
    one, other = (each.ensemble.coordinates() for each in made)
    away = np.array([60.0, 0, 0]) * np.linspace(1, 1.5, 20)[:, None, None]
    both = Ensemble.from_array(np.concatenate([one, other + away], axis=1))
    chains, resnames = np.repeat(["A", "B"], 100), np.repeat([*names], 100)
    return replace(both, atoms=replace(both.atoms, chains=chains, resnames=resnames))


def test_identical_chains_are_searched_one_by_one() -> None:
    ensemble = assembly((40.0, 20.0))
    found = describe_motion(ensemble)
    alone = [describe_motion(ensemble.select(np.arange(100) + k)).bodies for k in (0, 100)]
    bodies = found.bodies
    assert (bodies.n_copies, bodies.n_bodies, bodies.levels[0].n_bodies) == (2, 4, 2)
    level = bodies.levels[bodies.chosen]
    assert level.gap == min(each.levels[each.chosen].gap for each in alone)
    assert level.rests == tuple(each.levels[each.chosen].rest for each in alone)
    for chain, each in zip((0, 100), alone, strict=True):
        own = bodies.labels[chain : chain + 100]
        assert rand_index(own, each.labels) == 1
    cut = bodies.hierarchy.cut(bodies.cutoff)
    assert rand_index(cut.labels, bodies.labels) == 1
    ranges = dict(zip(found.moving, (each.range for each in found.hinges), strict=True))
    for body, against in zip(found.moving, found.relative_to, strict=True):
        if bodies.sizes[body] < 50:
            assert bodies.chains[body] == bodies.chains[against]
            assert ranges[body] == pytest.approx(40 if bodies.chains[body] == "A" else 20, rel=0.02)


def test_chains_may_differ_in_how_many_bodies_they_are() -> None:
    found = describe_motion(assembly((40.0, 0.0))).bodies
    assert [level.n_bodies for level in found.levels][: found.chosen + 1] == [2, 3]
    assert found.chains == ("B", "A", "A")


def test_a_complex_of_different_chains_is_searched_as_a_whole() -> None:
    found = describe_motion(assembly((40.0, 20.0), names="AG")).bodies
    assert (found.n_copies, found.n_bodies, found.levels[0].n_bodies) == (1, 4, 1)


@pytest.mark.parametrize(("n_mutations", "n_copies"), [(20, 2), (60, 1)])
def test_copies_may_differ_by_mutations(n_mutations: int, n_copies: int) -> None:
    ensemble, rng = assembly((0.0, 0.0)), np.random.default_rng(0)
    resnames = np.tile(rng.choice(["ALA", "GLY", "LEU", "SER", "VAL"], 100), 2)
    resnames[rng.choice(100, n_mutations, replace=False)] = "TRP"
    mutated = replace(ensemble, atoms=replace(ensemble.atoms, resnames=resnames))
    assert describe_motion(mutated).bodies.n_copies == n_copies
