"""Property tests of the recipe: any form of one input gives one result, and bad input one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import squareform

from tests.golden import systems
from timme import (
    Analysis,
    Ensemble,
    Hierarchy,
    analyse,
    data,
    link,
    measure,
    objects,
    pairs,
    read_matrix,
    synthetic,
)
from timme.analysis import measurement
from timme.analysis.settings import Settings
from timme.engine.checkpoint import Checkpoint
from timme.fluctuations import from_matrix

PLANTED = synthetic.planted((3, 10), 40, motions=(1.0, 0.1), seed=1).ensemble
COORDINATES = PLANTED.coordinates()
LABELS = np.repeat(np.arange(10), 3)
QUICK: dict[str, Any] = {"confidence": False}


def by_steps(some: objects.Objects, chosen: pairs.Pairs, **options: Any) -> Hierarchy:
    return link(measure(some, chosen, **options))


def same(found: Analysis, expected: Hierarchy) -> None:
    assert np.array_equal(found.atom_hierarchy.heights, expected.heights)
    assert np.array_equal(found.atom_hierarchy.parents, expected.parents)


def test_any_form_of_snapshots_gives_the_same_hierarchy(tmp_path: Path) -> None:
    points = objects.points(Ensemble.from_array(COORDINATES))
    expected = by_steps(points, pairs.all(points))
    np.save(tmp_path / "tracks.npy", COORDINATES)
    for source in (COORDINATES, COORDINATES.tolist(), tmp_path / "tracks.npy", points.ensemble):
        same(analyse(source, **QUICK), expected)


def test_any_form_of_groups_gives_the_same_hierarchy(tmp_path: Path) -> None:
    groups = objects.groups(PLANTED, LABELS)
    expected = by_steps(groups, pairs.all(groups))
    names = {f"group {k}": np.flatnonzero(k == LABELS) for k in range(10)}
    lines = [f"{name} = resid {sites[0] + 1}:{sites[-1] + 1}" for name, sites in names.items()]
    path = tmp_path / "groups.txt"
    path.write_text("# groups of three\n\n" + "\n".join(lines), "utf-8")
    for given in (LABELS, names, [*names.values()], path, str(path)):
        found = analyse(PLANTED, objects=given, **QUICK)
        same(found, expected)
        assert found.system.names.tolist()[0] in ("group 0", "group 1")
        assert (found.system.shown_name, found.made.objects) == ("group", "groups")


def test_any_form_of_pairs_gives_the_same_hierarchy(tmp_path: Path) -> None:
    points = objects.points(PLANTED)
    listed = np.column_stack([np.arange(29), np.arange(1, 30)])
    expected = by_steps(points, pairs.given(points, listed))
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join(f"{a + 1}, {b + 1}" for a, b in listed.tolist()), "utf-8")
    for given in (listed, listed.tolist(), path, pairs.given(points, listed), "sequence:1"):
        same(analyse(PLANTED, pairs=given, **QUICK), expected)
    nearest = by_steps(points, pairs.nearest(points, 5))
    same(analyse(PLANTED, pairs="nearest:5", **QUICK), nearest)


@pytest.mark.parametrize("metric", ["cityblock", lambda a, b: np.abs(a - b).sum(-1)])
def test_metrics_are_those_of_measure(metric: Any) -> None:
    points = objects.points(PLANTED)
    found = analyse(PLANTED, metric=metric)
    same(found, by_steps(points, pairs.all(points), metric=metric))
    assert found.made.pairs.startswith("all pairs, by the metric ")


def test_any_form_of_a_matrix_is_linked_as_it_is(tmp_path: Path) -> None:
    matrix = systems.worst_errors()
    expected = link(matrix)
    np.save(tmp_path / "sigma.npy", matrix)
    (tmp_path / "pae.json").write_text(json.dumps({"pae": matrix.tolist()}), "utf-8")
    every = (
        matrix,
        squareform(matrix, checks=False),
        sparse.csr_array(matrix),
        sparse.coo_matrix(matrix),
        from_matrix(matrix),
        tmp_path / "sigma.npy",
        tmp_path / "pae.json",
        read_matrix(tmp_path / "pae.json"),
    )
    for source in every:
        found = analyse(source)
        same(found, expected)
        assert found.made.kind == "matrix"
        assert found.confidence is not None
    assert analyse(every[-1], **QUICK).hierarchy.quantity.symbol == "PAE"
    assert analyse(matrix, unit="nm", **QUICK).hierarchy.unit == "nm"


def test_more_pairs_than_are_held_give_the_same_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = analyse(PLANTED)
    monkeypatch.setattr(measurement, "KEPT", 100)
    monkeypatch.setattr(measurement, "_USUAL", 20)
    found = analyse(PLANTED)
    same(found, whole.atom_hierarchy)
    assert whole.fluctuations is not None
    assert found.fluctuations is not None
    few, every = found.fluctuations, whole.fluctuations.matrix()
    assert len(few.sigma) < len(whole.fluctuations.sigma) == found.made.n_pairs
    np.testing.assert_allclose(few.sigma, every[tuple(few.pairs.T)], 1e-12)
    assert any("is held" in note for note in found.notes)
    for options in ({"linkage": "braced"}, {"noise": 0.1}, {"chance": True}):
        with pytest.raises(ValueError, match="need 435 pairs at once"):
            analyse(PLANTED, **options)


def test_memory_changes_the_pieces_and_not_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, done = analyse(PLANTED, **QUICK), list[int]()
    monkeypatch.setattr(measurement, "chunk_for", lambda *_: 50)
    found = analyse(PLANTED, progress=lambda each, _: done.append(each), **QUICK)
    same(found, whole.atom_hierarchy)
    assert len(done) > 435 / 50


def test_what_needs_more_memory_is_refused_with_a_remedy() -> None:
    with pytest.raises(
        ValueError, match=r"\Ameasuring σ needs about .*[MG]B of memory, and .*memory="
    ):
        analyse(PLANTED, memory="10MB")
    with pytest.raises(ValueError, match="pairs are in contact, for which memory does not"):
        analyse(PLANTED, pairs="contact:5", memory="10MB")
    assert analyse(PLANTED, memory="100GB", **QUICK).made.n_pairs == 435


def test_other_options_begin_an_interrupted_run_anew(tmp_path: Path) -> None:
    place = tmp_path / "run.checkpoint"

    def stop(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analyse(PLANTED, checkpoint=Checkpoint(place, interval=0), progress=stop, **QUICK)
    other = analyse(PLANTED, checkpoint=place, pairs="nearest:5", **QUICK)
    assert any("began anew" in note for note in other.notes)
    same(other, analyse(PLANTED, pairs="nearest:5", **QUICK).atom_hierarchy)


def test_a_file_that_is_no_checkpoint_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("of the user")
    with pytest.raises(ValueError, match="a damaged or other file: remove it"):
        analyse(PLANTED, checkpoint=place, **QUICK)
    assert place.read_text() == "of the user"


def test_independent_runs_are_as_the_user_says() -> None:
    assert COORDINATES.shape[0] == 40
    for given, runs in (("one", (40,)), ((10, 30), (10, 30)), (None, (40,))):
        options: dict[str, Any] = {} if given is None else {"replicas": given}
        found = analyse(COORDINATES, **options)
        assert found.confidence is not None
        assert found.confidence.sampling.replicas == runs


def test_errors_of_positions_are_subtracted() -> None:
    rng = np.random.default_rng(0)
    rigid = rng.uniform(0, 50, (1, 20, 3)) + rng.normal(scale=0.1, size=(2000, 20, 3))
    plain, found = analyse(rigid, **QUICK), analyse(rigid, noise="auto", **QUICK)
    assert plain.fluctuations is not None
    assert found.fluctuations is not None
    # Two errors of 0.1 along the pair; of what is left, errors of the estimate are a tenth.
    assert np.median(plain.fluctuations.sigma) == pytest.approx(0.1 * np.sqrt(2), rel=0.05)
    assert np.median(found.fluctuations.sigma) < 0.3 * 0.1 * np.sqrt(2)
    assert any("was subtracted from σ" in note for note in found.notes)


class Watch:
    """Progress that keeps the names of phases."""

    def __init__(self) -> None:
        self.phases = list[str]()

    def begin(self, phase: str) -> None:
        self.phases.append(phase)

    def __call__(self, done: int, total: int) -> None:
        assert 0 <= done <= total


def test_phases_are_announced() -> None:
    watch = Watch()
    analyse(PLANTED, settings=Settings(), progress=watch)
    assert watch.phases[:3] == ["choosing pairs", "measuring σ", "resampling"]


BAD: dict[str, Callable[[], object]] = {
    "there is no option minsize=": lambda: analyse(PLANTED, minsize=3),
    "objects= is one of auto, points": lambda: analyse(PLANTED, objects="nobody.txt"),
    "pairs= is one of auto, contact": lambda: analyse(PLANTED, pairs="nobody.txt"),
    "bodies need covalent bonds": lambda: analyse(PLANTED, objects="bodies"),
    "reach= does not apply to points": lambda: analyse(PLANTED, reach=2),
    "contacts= does not apply to pairs='all'": lambda: analyse(PLANTED, contacts=2),
    "contacts need a radius": lambda: analyse(PLANTED, pairs="contact"),
    "no pairs of points are in contact": lambda: analyse(PLANTED, pairs="contact:0.000001"),
    "at least 2 points are needed": lambda: analyse(np.zeros((3, 1, 3))),
    "min_overlap= is for tracks with gaps": lambda: analyse(PLANTED, min_overlap=5),
    "chance= is for particles": lambda: analyse(data.barnase_md(), select="ca", chance=True),
    "noise= needs points, Euclidean distances": lambda: analyse(PLANTED, objects=LABELS, noise=0.1),
    "noise= takes one error": lambda: analyse(PLANTED, noise=(0.1, 0.1)),
    "replicas= needs 40 snapshots": lambda: analyse(PLANTED, replicas=(20, 10)),
    "snapshots that were read are analysed": lambda: analyse(PLANTED, begin=3),
    "a matrix is linked as it is: leave out pairs=": lambda: analyse(np.eye(3), pairs="all"),
    "the selection 'resid 99' matches none": lambda: analyse(PLANTED, shown="resid 99"),
    "chain= names Z": lambda: analyse(data.barnase_md(), chain="Z"),
}


@pytest.mark.parametrize("told", BAD)
def test_bad_input_is_refused_in_one_line(told: str) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as error:
        BAD[told]()
    assert told in str(error.value)
