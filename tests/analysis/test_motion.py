"""The part of a result that tells of rigid bodies: words, and the way to a file and back."""

from pathlib import Path

import numpy as np
import pytest

import timme
from tests.motion.proteins import planted_protein
from timme.analysis import Analysis, Correlated, Moved, summary
from timme.motion import two_point


@pytest.fixture(scope="module")
def made() -> Analysis:
    return timme.move(planted_protein())


def test_bodies_are_told_as_runs_of_residues(made: Analysis) -> None:
    text = "\n".join(value for _, value in summary(made))
    assert "2 rigid bodies" in text
    assert "A 1-60 (held still)" in text
    assert "A 61-100; hinge, 40" in text


def test_one_body_is_told_with_the_next_best() -> None:
    part = timme.move(planted_protein(kind="rigid", noise=0.3)).part(Moved)
    assert part is not None
    assert part.facts()[0][1].startswith("one rigid body, from 20 snapshots")


def test_an_ordinary_run_tells_bodies_too() -> None:
    found = timme.analyse(planted_protein(), objects="points")
    part = found.part(Moved)
    assert part is not None
    assert part.members == ("A 1-60", "A 61-100")


def test_particles_have_no_bodies() -> None:
    ensemble = timme.synthetic.moving((30, 20), 5).ensemble
    assert timme.analyse(ensemble).part(Moved) is None


def test_what_is_stored_comes_back(made: Analysis, tmp_path: Path) -> None:
    timme.save(made, tmp_path / "result.npz")
    one, other = made.part(Moved), timme.load(tmp_path / "result.npz").part(Moved)
    assert one is not None
    assert other is not None
    first, second = one.to_arrays(), other.to_arrays()
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)
    assert one.facts() == other.facts()


def test_the_chosen_body_is_held_still() -> None:
    part = timme.move(planted_protein(), on="resid 61:80").part(Moved)
    assert part is not None
    assert part.found.reference == 1
    assert part.found.moving == (0,)
    with pytest.raises(ValueError, match=r"900"):
        timme.move(planted_protein(), on="resid 900")


def test_the_hierarchy_is_that_of_the_rest(made: Analysis) -> None:
    part = made.part(Moved)
    assert part is not None
    assert made.hierarchy.quantity.symbol == "rest"
    sizes = made.shown_hierarchy.cut(part.found.bodies.cutoff).sizes
    assert sizes.tolist() == [60, 40]


def test_distances_at_which_no_pair_is_seen_are_not_told_as_numbers() -> None:
    walkers = np.cumsum(np.random.default_rng(0).normal(size=(30, 20, 3)), axis=0) * 0.1
    walkers += np.random.default_rng(1).uniform(0, 20, (20, 3))
    ensemble = timme.Ensemble.from_array(walkers)
    far = Correlated(two_point(ensemble, [0.0, 40.0, 900.0])).facts()
    assert [name for name, _ in far][:1] == ["two-point"]
    assert not any("nan" in text for _, text in far)
    none = Correlated(two_point(ensemble, [500.0, 600.0])).facts()
    assert none[0] == ("two-point", "no pair is seen at these distances")
    late = Correlated(two_point(ensemble, [0.0, 40.0], lags=(20,))).facts()
    assert not any("nan" in text for _, text in late)
    assert "(no error)" in late[0][1]
    assert late[1][1].startswith("no errors at lag 20: ")
