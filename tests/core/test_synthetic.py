"""Invariants of synthetic ensembles: what was planted is found, and motions are as told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from timme import objects, pairs, synthetic
from timme.fluctuations import measure
from timme.hierarchy import link
from timme.hierarchy.partition import rand_index


@pytest.mark.parametrize("n_dimensions", [2, 3, 50])
def test_planted_levels_are_found(n_dimensions: int) -> None:
    made = synthetic.planted(n_dimensions=n_dimensions, seed=1)
    points = objects.points(made.ensemble)
    tree = link(measure(points, pairs.all(points)))
    for labels in made.labels:
        assert max(rand_index(tree.cut(level).labels, labels) for level in tree.levels) == 1.0


def test_a_chain_has_links_of_one_length_in_any_direction() -> None:
    ensemble = synthetic.chain(2_000, 3, link_length=1.54, seed=5)
    links = np.diff(ensemble.coordinates(), axis=1)
    assert np.linalg.norm(links, axis=2) == pytest.approx(1.54, abs=1e-12)
    # Each component of a unit vector has mean 0 and variance 1/3.
    assert np.abs(links.mean(axis=(0, 1)) / 1.54).max() < 4 * np.sqrt(1 / 3 / 6_000)
    assert ensemble.atoms.bonds.tolist() == [[k, k + 1] for k in range(2_000)]


@pytest.mark.parametrize("kind", ["hinge", "screw", "translation", "ball", "diffuse", "rigid"])
def test_bodies_are_rigid_and_move_about_their_axes(kind: str) -> None:
    made = synthetic.bodies((30, 20, 25), 6, kind=kind, spans=(40, 20), jitter=0, seed=3)
    snapshots = made.ensemble.coordinates()
    for body in range(3):
        inside = snapshots[:, made.labels == body]
        distances = np.linalg.norm(inside[:, :, None] - inside[:, None], axis=3)
        assert np.ptp(distances, axis=0).max() < 1e-9
    for t, snapshot in enumerate(snapshots if np.isfinite(made.axes[1]).all() else []):
        places, seen = made.places[:30], snapshot[:30]  # the first body, in its frame and now
        back, _ = Rotation.align_vectors(places - places.mean(axis=0), seen - seen.mean(axis=0))
        for body, sites in ((1, slice(30, 50)), (2, slice(50, 75))):
            turn = Rotation.from_rotvec(made.angles[t, body] * made.axes[body])
            expected = turn.apply(made.places[sites] - made.points[body]) + made.points[body]
            expected += made.shifts[t, body] * made.axes[body]
            found = back.apply(snapshot[sites] - seen.mean(axis=0)) + places.mean(axis=0)
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_neighbours_in_an_elastic_solid_move_together_and_slowly() -> None:
    snapshots = synthetic.elastic(8_000, 100, jitter=0.05, seed=1).coordinates()
    moves = snapshots - snapshots.mean(axis=0)
    # Waves lose 1 − 0.95 of themselves in a step, the noise all of itself.
    expected = np.sqrt(2 * 0.05 * 1.0**2 + 2 * 0.05**2)
    assert np.diff(snapshots, axis=0).std() == pytest.approx(expected, rel=0.1)
    rows = moves.reshape(100, 400, 20, 3)  # of a lattice of 20 × 20 × 20
    near, far = rows[:, :, 1:] - rows[:, :, :-1], moves[:, 4_000:] - moves[:, :4_000]
    assert near.std() < far.std() / 2


def test_impossible_systems_are_refused() -> None:
    with pytest.raises(ValueError, match="2 levels need as many motions, got 3"):
        synthetic.planted((2, 3))
    with pytest.raises(ValueError, match="a span for each body but the first, got 'hinge' and 1"):
        synthetic.bodies((9, 9, 9))
    with pytest.raises(ValueError, match="finds no room"):
        synthetic.bodies((9,) * 40, spans=(1.0,) * 39)
