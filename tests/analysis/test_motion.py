"""Tests of the recipe of motions: planted bodies, known transitions, and results opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from timme import Ensemble, analyse, analyse_motion, data, motion, two_point
from timme.output.structures import write_snapshots
from timme.synthetic import PlantedBodies, bodies

PDB, XTC = "kinase.pdb", "kinase.xtc"


@pytest.fixture(scope="module")
def planted() -> PlantedBodies:
    return bodies((60, 40), 40, spans=[40.0], seed=2)


def test_planted_bodies_are_the_hierarchy(planted: PlantedBodies) -> None:
    found = analyse_motion(planted.ensemble)
    assert (found.made.recipe, found.finding.kind) == ("motion", "motion")
    assert found.hierarchy.quantity.symbol == "rest"
    assert found.motion is not None
    labels = found.motion.bodies.labels
    assert np.array_equal(found.hierarchy.cut(found.motion.bodies.cutoff).labels, labels)
    assert (labels == planted.labels).mean() > 0.95
    span = np.degrees(np.ptp(planted.angles[:, 1]))
    assert found.bodies[1].angle == pytest.approx(span, abs=2.0)
    assert found.modes is not None
    assert found.modes.modes.shape == (10, 100, 3)
    assert 0 <= found.halves <= 1


def test_settings_choose_number_and_reference(planted: PlantedBodies) -> None:
    options: dict[str, Any] = {"bodies": 2, "reference": "resid 70:90"}
    found = analyse_motion(planted.ensemble, **options)
    assert found.motion is not None
    assert found.motion.reference == 1
    assert found.made.given == ("bodies", "reference")
    with pytest.raises(ValueError, match="bodies= must be greater than or equal to 2, got 1"):
        analyse_motion(planted.ensemble, bodies=1)


def test_snapshots_are_written_superposed_on_the_body_held_still(planted: PlantedBodies) -> None:
    written = dict[str, Ensemble]()
    analyse_motion(
        planted.ensemble, superposed="laid.pdb", write=lambda e, path: written.update({path: e})
    )
    places = written["laid.pdb"].coordinates()[:, :60]
    # Sites of the core stay within the jitter of 0.1 Å along each axis.
    assert np.sqrt(places.var(axis=0).sum(axis=1)).mean() == pytest.approx(0.1 * 3**0.5, rel=0.2)


@pytest.fixture(scope="module")
def closing(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The first and the last snapshot of the kinase, as files."""
    folder, ensemble = tmp_path_factory.mktemp("ends"), data.kinase()
    first, last = ensemble[[0]], ensemble[[ensemble.n_snapshots - 1]]
    return (
        write_snapshots(first, folder / "open.pdb"),
        write_snapshots(last, folder / "closed.pdb"),
    )


def test_angles_are_measured_along_a_known_transition(closing: tuple[Path, Path]) -> None:
    found = analyse_motion(data.path(PDB), data.path(XTC), axis_from=[*map(str, closing)])
    assert found.motion is not None
    assert len(found.motion.known) == len(found.motion.moving) == 2
    for screw, hinge in zip(found.motion.known, found.motion.hinges, strict=True):
        assert abs(screw.axis @ hinge.axis) == pytest.approx(1.0, abs=1e-6)
        # From the first snapshot to the last, it turns by the angle of the transition.
        assert abs(hinge.angles[-1] - hinge.angles[0]) == pytest.approx(abs(screw.angle), abs=3.0)
    with pytest.raises(ValueError, match="of one molecule"):
        analyse_motion(
            data.path("barnase_md.pdb"),
            data.path("barnase_md.xtc"),
            axis_from=[*map(str, closing)],
        )


def test_the_files_of_a_result_are_opened_again(tmp_path: Path) -> None:
    paths = [tmp_path / PDB, tmp_path / XTC]
    for path in paths:
        path.write_bytes(data.path(path.name).read_bytes())
    first = analyse(*paths, select="ca", end=30, confidence=False)
    again = analyse_motion(first, bodies=3)
    assert again.system.n_snapshots == 30
    direct = analyse_motion(*paths, select="ca", end=30, bodies=3)
    assert np.array_equal(again.hierarchy.heights, direct.hierarchy.heights)
    paths[0].write_bytes(paths[0].read_bytes() + b"\n")
    with pytest.raises(ValueError, match="its files changed"):
        analyse_motion(first)
    with pytest.raises(ValueError, match="was made in memory"):
        analyse_motion(analyse(np.random.default_rng(0).normal(size=(5, 9, 3)), confidence=False))


def test_two_point_is_that_of_the_snapshots() -> None:
    walks = np.random.default_rng(0).normal(size=(60, 25, 2)).cumsum(axis=0)
    found = two_point(walks, distances=[0, 5, 10], lags=(1, 2), step=2, chance=False)
    expected = motion.two_point(Ensemble.from_array(walks[::2]), [0, 5, 10], lags=(1, 2))
    assert found.correlation is not None
    np.testing.assert_array_equal(found.correlation.along, expected.along)
    assert found.system.n_snapshots == 30
