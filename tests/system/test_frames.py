"""Frames of every kind can be narrowed, sliced, boxed, sent elsewhere and told from others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import MakeUniverse
from tests.readers.builders import write_trajectory
from timme import objects, read
from timme._arrays import Floats
from timme.engine.checkpoint import digest
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames
from timme.system.held_frames import ArrayFrames, WindowFrames

KINDS = ("array", "stored", "trajectory", "universe", "selected", "boxed", "centres", "window")
FILES = {"stored", "trajectory"}
BOX = np.tile(np.diag([9.0, 10.0, 11.0]), (12, 1, 1))

Make = Callable[..., Frames]


def snapshots(seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(12, 6, 3)).astype(np.float32).astype(float)


@pytest.fixture
def make(tmp_path: Path, make_universe: MakeUniverse, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that makes frames of a kind."""
    monkeypatch.chdir(tmp_path)

    def made(kind: str, xyz: Floats) -> Frames:
        array = ArrayFrames(xyz)
        if kind == "stored":
            np.save("a.npy", xyz)
            return read("a.npy").frames
        if kind == "trajectory":
            write_trajectory(Path("a.dcd"), xyz)
            return read("a.dcd", bonds="none").frames
        if kind == "universe":
            return read(make_universe(xyz), bonds="none").frames
        if kind == "selected":
            return array.select(np.arange(6)[::-1])
        if kind == "boxed":
            np.save("b.npy", xyz)
            return read("b.npy", box=[9.0, 10.0, 11.0]).frames
        if kind == "centres":
            whole = Ensemble.from_array(xyz)
            return objects.groups(whole, np.arange(6).reshape(6, 1).tolist()).centres().frames
        return WindowFrames(array, 0, 12) if kind == "window" else array

    return made


def everything(frames: Frames) -> tuple[Floats, Floats | None]:
    coordinates, boxes = frames.read(0, frames.shape[0])
    assert coordinates.shape == frames.shape
    return coordinates.astype(np.float64), boxes


def same(found: Frames, places: Floats, boxes: Floats | None) -> bool:
    coordinates, read_boxes = everything(found)
    return np.array_equal(coordinates, places) and (
        boxes is None if read_boxes is None else np.array_equal(read_boxes, np.asarray(boxes))
    )


@pytest.mark.parametrize("kind", KINDS)
def test_sites_are_kept_in_the_order_wanted(make: Make, kind: str) -> None:
    frames = make(kind, snapshots())
    places, boxes = everything(frames)
    found = frames.select(np.array([4, 1, 2])).select(np.array([2, 0]))
    assert same(found, places[:, [2, 4]], boxes)


@pytest.mark.parametrize("kept", [range(2, 11, 3), [0, 5, 6, 11]])
@pytest.mark.parametrize("kind", KINDS)
def test_snapshots_are_kept_with_their_boxes(
    make: Make, kind: str, kept: range | list[int]
) -> None:
    frames = make(kind, snapshots()).with_boxes(BOX * np.linspace(1, 2, 12)[:, None, None])
    places, boxes = everything(frames)
    assert boxes is not None
    assert same(frames.keep(kept), places[list(kept)], boxes[list(kept)])
    assert same(frames.keep(kept).keep(range(1, 3)), places[kept[1:3]], boxes[kept[1:3]])


@pytest.mark.parametrize("kind", KINDS)
def test_another_box_or_none_takes_the_place_of_that_of_the_source(make: Make, kind: str) -> None:
    frames = make(kind, snapshots())
    places, _ = everything(frames)
    assert same(frames.with_boxes(BOX), places, BOX)
    assert same(frames.with_boxes(BOX).with_boxes(None), places, None)
    assert same(frames.with_boxes(BOX).select(np.arange(3)), places[:, :3], BOX)


def test_groups_are_made_whole_through_the_walls_of_another_box() -> None:
    xyz = np.array([[[0.5, 0.0], [9.5, 0.0]]])
    centres = objects.groups(Ensemble.from_array(xyz), [[0, 1]]).centres().frames
    assert centres.read(0, 1)[0].tolist() == [[[5.0, 0.0]]]
    boxed = centres.with_boxes(np.diag([10.0, 10.0])[None])
    assert boxed.read(0, 1)[0].tolist() == [[[0.0, 0.0]]]


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_opened_elsewhere_and_the_rest_is_sent(
    make: Make, kind: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = make(kind, snapshots())
    for given in (frames, frames.select(np.arange(4)), frames.with_boxes(BOX), frames.keep([1, 7])):
        told = given.elsewhere()
        assert (told is not None) == (kind in {*FILES, "boxed"})
        if told is not None:
            expected = everything(given)
            arrived = pickle.loads(pickle.dumps(told))
            with monkeypatch.context() as patch:
                patch.chdir(tmp_path_factory.mktemp("elsewhere"))
                assert same(arrived, *expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fingerprint_is_that_of_the_same_frames_alone(make: Make, kind: str) -> None:
    frames = make(kind, snapshots())
    mark = digest(*frames.marks())
    assert digest(*frames.marks()) == mark
    other = snapshots()
    other[9, 3, 1] += 0.25
    narrower, shorter = frames.select(np.arange(5)), frames.keep(range(0, 12, 2))
    elsewhere = [frames.with_boxes(BOX * 2), narrower, shorter, make(kind, other)]
    marks = [digest(*found.marks()) for found in elsewhere]
    assert len({mark, *marks}) == 5
    if kind not in FILES | {"boxed"}:
        assert digest(*make(kind, snapshots()).marks()) == mark


def test_a_window_holds_its_own_snapshots_only() -> None:
    xyz = snapshots()
    window = WindowFrames(ArrayFrames(xyz[4:8]), 4, 12)
    assert window.shape == (12, 6, 3)
    assert np.array_equal(window.read(5, 7)[0], xyz[5:7])
    assert np.array_equal(window.keep(range(1, 12, 2)).read(2, 4)[0], xyz[[5, 7]])
    with pytest.raises(ValueError, match="snapshots 5 to 8 are in hand, but 8 to 9"):
        window.read(7, 9)
