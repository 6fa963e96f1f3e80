"""Sites of one molecule see one another as they are, others by their images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.strategies import boxes, seeds
from timme._arrays import Floats, Ints
from timme.system.boxes import box_matrices
from timme.system.ensemble import Ensemble
from timme.system.images import Images
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes

MOLECULES = np.array([0, 0, 1, 1, 1, 2, 3])


def sigma_of(ensemble: Ensemble) -> dict[tuple[int, int], float]:
    objects = timme.objects.points(ensemble)
    found = timme.measure(objects, timme.pairs.all(objects))
    return dict(zip(map(tuple, found.pairs.tolist()), found.sigma.tolist(), strict=True))


def seen_distances(
    snapshots: Floats, a: int, b: int, matrices: Floats, origin: Floats | None = None
) -> list[float]:
    """Distances of a pair as it sees one another: plain in a molecule, else by images."""
    if MOLECULES[a] == MOLECULES[b]:
        return [float(np.linalg.norm(frame[a] - frame[b])) for frame in snapshots]
    if origin is None:
        return [
            naive.distance(frame[a], frame[b], box)
            for frame, box in zip(snapshots, matrices, strict=True)
        ]
    image = naive.nearest_image(origin[a], origin[b], matrices[0])
    steps = np.rint((image - origin[b]) @ np.linalg.inv(matrices[0]))
    return [
        float(np.linalg.norm(frame[b] + steps @ box - frame[a]))
        for frame, box in zip(snapshots, matrices, strict=True)
    ]


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@given(st.data(), seeds, st.booleans(), st.booleans())
def test_fluctuations_are_of_the_images_that_are_seen(
    data: st.DataObject, seed: int, followed: bool, gaps: bool
) -> None:
    rng = np.random.default_rng(seed)
    matrices = box_matrices(data.draw(boxes(1, 3))[0], 5, 3) * rng.uniform(0.98, 1.02, (5, 1, 1))
    snapshots = rng.normal(scale=4, size=(5, 7, 3))
    if gaps:
        snapshots[2, 4] = np.nan
    origin = rng.normal(scale=4, size=(7, 3))[MOLECULES] if followed else None
    images = Images(MOLECULES, origin, matrices[0] if followed else None)
    ensemble = Ensemble.from_array(snapshots, boxes=matrices, gaps=gaps)
    # Reduced again, vectors may be others; what is followed is told in those of the frames.
    around = ensemble.frames.read(0, 5)[1]
    assert around is not None
    if not np.allclose(around, matrices):
        return
    found = sigma_of(replace(ensemble, images=images))
    for (a, b), sigma in found.items():
        seen = np.array([not np.isnan(frame[[a, b]]).any() for frame in snapshots])
        seen[0] = True  # which has the box of the origin
        distances = seen_distances(snapshots[seen], a, b, matrices[seen], origin)
        assert sigma == pytest.approx(np.std(distances), rel=1e-9, abs=1e-9)


@given(st.data(), seeds)
def test_contacts_are_of_the_images_that_are_seen(data: st.DataObject, seed: int) -> None:
    matrices = box_matrices(data.draw(boxes(1, 3)), 1, 3)
    points = np.random.default_rng(seed).normal(scale=3, size=(7, 3))
    seen = Boxes.of(matrices, 1, 3, Images(MOLECULES))
    found = {tuple(pair) for pair in pairs_within(points, 1.5, seen).tolist()}
    expected = {
        (a, b)
        for a in range(7)
        for b in range(a + 1, 7)
        if seen_distances(points[None], a, b, matrices)[0] <= 1.5
    }
    assert found == expected


@given(st.data(), seeds, st.booleans())
def test_vectors_are_to_the_images_that_are_seen(
    data: st.DataObject, seed: int, followed: bool
) -> None:
    rng = np.random.default_rng(seed)
    matrices = box_matrices(data.draw(boxes(1, 3)), 1, 3)
    points = rng.normal(scale=4, size=(1, 7, 3))
    origin = rng.normal(scale=4, size=(7, 3))[MOLECULES] if followed else None
    around = Boxes.of(matrices, 1, 3, Images(MOLECULES, origin, matrices[0]))
    pairs = np.column_stack(np.triu_indices(7, 1))
    lengths = np.linalg.norm(around.between(points, *pairs.T)[0], axis=1)
    for (a, b), length in zip(pairs.tolist(), lengths.tolist(), strict=True):
        expected = seen_distances(points, a, b, matrices, origin)[0]
        assert length == pytest.approx(expected, rel=1e-9)


def test_one_molecule_alone_is_in_open_space() -> None:
    alone = Images(np.zeros(4, np.int64))
    assert Boxes.of(np.eye(3)[None], 1, 3, alone).kind == Boxes.of(None, 1, 3).kind


def test_a_group_has_the_molecule_of_its_sites_or_is_one_by_itself() -> None:
    images = Images(MOLECULES, np.arange(21.0).reshape(7, 3), np.eye(3))
    members: Ints = np.array([0, 1, 2, 4, 1, 5])
    groups = images.of_groups(members, np.array([0, 2, 4, 6]))
    assert groups.molecules[:2].tolist() == [0, 1]
    assert groups.molecules[2] not in MOLECULES
    assert groups.origin is not None
    assert groups.origin[:, 0].tolist() == [0.0, 6.0, 3.0]


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
def test_all_pairs_of_whole_molecules_have_the_hierarchy_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 12, (60, 3)) + rng.normal(scale=0.3, size=(20, 60, 3))
    matrices = box_matrices([12.0, 12.0, 12.0], 20, 3)
    ensemble = Ensemble.from_array(places, boxes=matrices)
    for molecules in (np.arange(60) // 20, np.zeros(60, np.int64)):
        objects = timme.objects.points(replace(ensemble, images=Images(molecules)))
        brute = timme.link(timme.measure(objects, timme.pairs.all(objects)))
        pruned = timme.cluster(objects, timme.pairs.all(objects))
        assert np.array_equal(brute.heights, pruned.heights)
