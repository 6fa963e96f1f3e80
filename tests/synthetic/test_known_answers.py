from collections.abc import Callable

import numpy as np
import pytest

from timme import objects, pairs, synthetic
from timme._arrays import Ints
from timme.hierarchy import cluster
from timme.synthetic.families import domains
from timme.system.ensemble import Ensemble


def same_clusters(first: Ints, second: Ints) -> bool:
    """Whether two labellings are equal up to the numbers of clusters."""
    joint = np.unique(np.column_stack([first, second]), axis=0)
    return len(joint) == len(np.unique(joint[:, 0])) == len(np.unique(joint[:, 1]))


def recovered(made: synthetic.Planted) -> list[bool]:
    """For each planted level, whether some cutoff shows exactly its clusters."""
    points = objects.points(made.ensemble)
    hierarchy = cluster(points, pairs.all(points))
    cuts = [hierarchy.cut(level).labels for level in hierarchy.levels]
    return [any(same_clusters(cut, labels) for cut in cuts) for labels in made.labels]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hinged_bodies_are_found(seed: int) -> None:
    assert recovered(synthetic.hinged(seed=seed)) == [True]


@pytest.mark.parametrize("n_bodies", [2, 5])
def test_any_number_of_hinged_bodies_is_found(n_bodies: int) -> None:
    made = synthetic.hinged(n_bodies, 15, 60, seed=3)
    assert made.labels.max() + 1 == n_bodies
    assert recovered(made) == [True]


@pytest.mark.parametrize("n_dimensions", [2, 3, 5, 50])
def test_planted_levels_are_found(n_dimensions: int) -> None:
    made = synthetic.planted(n_dimensions=n_dimensions, seed=1)
    assert made.labels.shape == (2, 90)
    assert made.ensemble.n_dimensions == n_dimensions
    assert recovered(made) == [True, True]


def test_planted_levels_need_as_many_motions() -> None:
    with pytest.raises(ValueError, match="2 levels need as many motions, got 3"):
        synthetic.planted((2, 3))


def test_spheres_jam_into_clusters_where_they_attract_one_another() -> None:
    largest = {}
    for attraction in (0.1, 6.0):
        ensemble = synthetic.spheres(200, 10, attraction=attraction, seed=1)
        points = objects.points(ensemble)
        hierarchy = cluster(points, pairs.within(points, 1.5 * 1.3))
        largest[attraction] = hierarchy.cut(0.1 * 1.3).sizes[0]
    assert largest[6.0] > 3 * largest[0.1]


def test_spheres_stay_in_their_box_and_do_not_overlap() -> None:
    ensemble = synthetic.spheres(150, 5, packing=0.2, seed=2)
    coordinates, box = ensemble.snapshot(4)
    assert box is not None
    volume = np.linalg.det(box)
    assert 150 * np.pi / 6 * 1.3**3 / volume == pytest.approx(0.2)
    assert (coordinates >= 0).all()
    assert (coordinates <= np.diag(box)).all()
    points = objects.points(ensemble)
    assert len(pairs.within(points, 0.8 * 1.3)) == 0
    assert len(pairs.within(points, 1.2 * 1.3)) > 75  # many touch


def test_a_chain_has_links_of_one_length_in_any_direction() -> None:
    ensemble = synthetic.chain(2_000, 3, link_length=1.54, seed=5)
    links = np.diff(ensemble.block(0).coordinates, axis=1)
    assert np.linalg.norm(links, axis=2) == pytest.approx(1.54, abs=1e-12)
    # each component of a unit vector has mean 0 and variance 1/3
    assert np.abs(links.mean(axis=(0, 1)) / 1.54).max() < 4 * np.sqrt(1 / 3 / 6_000)
    assert ensemble.atoms.bonds.tolist() == [[k, k + 1] for k in range(2_000)]


@pytest.mark.parametrize("arguments", [(0, 2, 1.0), (5, 0, 1.0), (5, 2, 0.0), (5, 2, np.nan)])
def test_a_chain_of_nothing_is_refused(arguments: tuple[int, int, float]) -> None:
    n_links, n_snapshots, length = arguments
    with pytest.raises(ValueError, match="a chain needs"):
        synthetic.chain(n_links, n_snapshots, link_length=length)


def test_a_seed_makes_the_same_system_again() -> None:
    makers: list[Callable[[int], Ensemble]] = [
        lambda seed: synthetic.chain(20, 3, seed=seed),
        lambda seed: synthetic.hinged(2, 5, 4, seed=seed).ensemble,
        lambda seed: synthetic.planted(n_snapshots=3, seed=seed).ensemble,
        lambda seed: synthetic.spheres(30, 2, seed=seed),
        lambda seed: synthetic.crowd((3,), 5, n_snapshots=40, seed=seed).ensemble,
        lambda seed: synthetic.noncontiguous(2, 5, seed=seed).ensemble,
        lambda seed: synthetic.ring_road((3, 2), 1, n_snapshots=5, seed=seed).ensemble,
    ]
    for make in makers:
        first, again, other = (make(seed).block(0).coordinates for seed in (4, 4, 5))
        assert first.tobytes() == again.tobytes()
        assert first.tobytes() != other.tobytes()


def test_an_elastic_solid_is_single_and_the_same_for_a_seed() -> None:
    first, again, other = (
        synthetic.elastic(50, 4, seed=seed).block(0).coordinates for seed in (4, 4, 5)
    )
    assert first.dtype == np.float32
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_neighbours_in_an_elastic_solid_move_together_and_slowly() -> None:
    motion, jitter = 1.0, 0.05
    solid = synthetic.elastic(8_000, 200, motion=motion, jitter=jitter, seed=1)
    coordinates = np.concatenate([block.coordinates for block in solid.blocks()])
    moves = coordinates - coordinates.mean(axis=0)
    step = np.diff(coordinates, axis=0).std()
    # waves lose 1 - 0.95 of themselves in a step, the noise all of itself
    expected = np.sqrt(2 * 0.05 * motion**2 + 2 * jitter**2)
    assert step == pytest.approx(expected, rel=0.1)
    assert step < moves.std() / 2
    rows = moves.reshape(200, 400, 20, 3)  # of a lattice of 20 × 20 × 20
    near, far = rows[:, :, 1:] - rows[:, :, :-1], moves[:, 4_000:] - moves[:, :4_000]
    assert near.std() < far.std() / 2


@pytest.mark.parametrize("arguments", [(0, 2, 1.0), (5, 0, 1.0), (5, 2, 0.0), (5, 2, np.nan)])
def test_an_elastic_solid_of_nothing_is_refused(arguments: tuple[int, int, float]) -> None:
    n_sites, n_snapshots, density = arguments
    with pytest.raises(ValueError, match="an elastic solid needs"):
        synthetic.elastic(n_sites, n_snapshots, density=density)


def test_bodies_around_another_need_room_there() -> None:
    with pytest.raises(ValueError, match="5 bodies find room"):
        domains((40,) * 6, (15.0,) * 5)
