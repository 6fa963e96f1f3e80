"""Clusters are trusted if they are found again and move by themselves, and not otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import timme
from timme.confidence import Confidence, assess
from timme.objects import Objects
from timme.synthetic import FAMILIES, Planted
from timme.system.ensemble import Ensemble


def assessed(made: Planted, radius: float = 10.0, **options: object) -> Confidence:
    points = timme.objects.points(made.ensemble)
    sigma = timme.measure(points, timme.pairs.within(points, radius))
    return assess(points, sigma, timme.link(sigma), **options)  # type: ignore[arg-type]


def bodies_hit(made: Planted, found: Confidence) -> float:
    """Fraction of bodies that some trusted cluster is, but for a quarter; other sites aside."""
    label = made.labels[0]
    hit = 0
    held = set(np.flatnonzero(label >= 0))
    for body in range(int(label.max()) + 1):
        own = set(np.flatnonzero(label == body))
        overlaps = [
            len(own & set(record.sites)) / len(own | (set(record.sites) & held))
            for record in found.trusted
        ]
        hit += int(max(overlaps, default=0.0) >= 0.75)
    return hit / (int(label.max()) + 1)


def test_two_domains_on_a_hinge_are_found_and_told_apart() -> None:
    made = FAMILIES["hinge 15° + tail"](100, 3)
    found = assessed(made)
    assert bodies_hit(made, found) == 1.0
    for record in found.trusted:
        assert record.support is not None
        assert record.support >= 0.75
        assert record.look == "solid"
    assert found.silhouettes.levels[0].stands_out


@pytest.mark.parametrize("family", ["no hinge: gradient", "no hinge: patchy", "no hinge: slow"])
def test_what_only_trembles_unequally_or_slowly_is_not_cut(family: str) -> None:
    assert not assessed(FAMILIES[family](100, 5)).trusted


@pytest.mark.parametrize("seed", [2, 500])
def test_patches_that_tremble_more_are_found_again_and_explained_by_their_sites(seed: int) -> None:
    found = assessed(FAMILIES["no hinge: patchy"](100, seed))
    assert not found.trusted
    parted = [r for r in found.records if (r.support or 0) > 0.9 and r.separation is not None]
    # By Q alone they would be bodies: four times the jitter on one side of the patch.
    assert any(r.separation.ratio > 2 and r.separation.explained for r in parted if r.separation)


def test_drifting_clusters_are_told_from_free_particles() -> None:
    made = FAMILIES["colloids + free particles"](100, 1)
    assert bodies_hit(made, assessed(made, 1.6)) >= 0.8


def test_clusters_are_counted_in_shown_sites() -> None:
    made = FAMILIES["hinge 15° + tail"](60, 3)
    shown = np.arange(0, 95, 2)
    found = assessed(made, shown=shown)
    assert found.tree.hierarchy.n_sites == len(shown)
    assert {record.size for record in found.trusted} >= {20}


def test_two_snapshots_give_clusters_and_no_confidence() -> None:
    made = FAMILIES["hinge 15° + tail"](2, 3)
    found = assessed(made)
    assert found.sampling.colour == "grey"
    assert "no confidence can be given" in found.sampling.words
    assert not found.trusted
    assert {record.look for record in found.records} == {"plain"}


def test_the_same_seed_says_the_same() -> None:
    made = FAMILIES["hinge 5° + tail"](40, 0)
    one, same = assessed(made), assessed(made)
    for record, again in zip(one.records, same.records, strict=True):
        assert record.support == again.support
        assert record.separation == again.separation


@pytest.mark.parametrize("kind", ["gaps", "weights", "box", "groups", "replicas"])
def test_confidence_works_wherever_sigma_does(kind: str) -> None:
    made = FAMILIES["hinge 15° + tail"](60, 3)
    array = np.array(made.ensemble.coordinates())
    replicas = [20, 40] if kind == "replicas" else None
    if kind == "gaps":
        array[np.random.default_rng(0).random(array.shape[:2]) < 0.1] = np.nan
    ensemble = Ensemble.from_array(
        array,
        gaps=kind == "gaps",
        weights=np.linspace(1, 2, 60) if kind == "weights" else None,
        boxes=[300.0] * 3 if kind == "box" else None,
    )
    compared: Objects = timme.objects.points(ensemble)
    if kind == "groups":
        compared = timme.objects.groups(ensemble, [[k, k + 1] for k in range(94)])
    sigma = timme.measure(compared, timme.pairs.within(compared, 10.0))
    found = assess(compared, sigma, timme.link(sigma), replicas=replicas)
    # The tail hangs on the first of the two, and may come along with it.
    assert 40 in {record.size for record in found.trusted} or kind == "groups"
    assert len(found.trusted) >= 2
    if replicas is not None:
        assert found.sampling.replicas == (20, 40)
        assert found.draws is not None
        assert all((part.stop <= 20) or (part.start >= 20) for part in found.draws.parts)


def test_models_of_nmr_count_as_independent_and_are_no_thermal_sample() -> None:
    made = FAMILIES["hinge 15° + tail"](20, 3)
    found = assessed(Planted(replace(made.ensemble, independent=True), made.labels))
    assert found.sampling.n_effective == 20
    assert "no thermal sample" in found.sampling.words
    assert found.draws is not None
    assert found.draws.length == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("family", "n_snapshots", "least"),
    # Recall of section 3 of the definitions, less 0.1, less two standard errors of 6 seeds.
    [
        ("hinge 15° + tail", 20, 0.8),
        ("hinge 5° + tail", 100, 0.7),
        ("hinge 15°, unequal jitter", 100, 0.6),
        ("three domains", 1000, 0.5),
        ("six soft bodies", 1000, 0.8),
        ("six soft bodies", 100, 0.45),
    ],
)
def test_bodies_are_found_as_often_as_was_told(family: str, n_snapshots: int, least: float) -> None:
    recall = [
        bodies_hit(made, assessed(made))
        for made in (FAMILIES[family](n_snapshots, seed) for seed in range(6))
    ]
    assert np.mean(recall) >= least


@pytest.mark.thorough
@pytest.mark.parametrize("family", [name for name in FAMILIES if name.startswith("no hinge")])
def test_one_body_is_not_cut(family: str) -> None:
    for seed in range(5):
        made = FAMILIES[family](100, seed)
        body = set(np.flatnonzero(made.labels[0] == 0))
        found = assessed(made)
        for record in found.trusted:
            siblings = found.tree.siblings(record.cluster)
            sides = [set(record.sites), *(set(found.tree.members(k)) for k in siblings)]
            assert len(sides) == 1 or any(10 * len(side & body) <= 9 * len(side) for side in sides)
