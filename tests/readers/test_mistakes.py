"""What is no source of snapshots, or one in which nothing moves, and what is said of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.conftest import MakeUniverse
from timme.readers import read
from timme.readers.soundness import notes_on_copies
from timme.system.ensemble import Ensemble

PLACES = np.random.default_rng(0).uniform(0, 10, (5, 4, 3))
COLUMNS = {"frame": [0, 0, 1, 1], "particle": [1, 2, 1, 2], "x": [0.0, 1, 0, 2], "y": [0.0] * 4}


def table() -> pd.DataFrame:
    return pd.DataFrame(COLUMNS)


@pytest.mark.parametrize(
    "make",
    [
        lambda universe: universe.trajectory,
        lambda universe: universe.trajectory[1:],
        lambda universe: [universe.trajectory, universe.trajectory],
        lambda universe: universe.trajectory.ts,
        lambda universe: [step.copy() for step in universe.trajectory],
        lambda universe: (step.copy() for step in universe.trajectory),
        lambda universe: [universe, universe],
        lambda universe: (universe.atoms, universe.atoms),
    ],
)
def test_parts_of_mdanalysis_are_told_to_be_a_universe(
    make: Callable[[Any], Any], make_universe: MakeUniverse
) -> None:
    universe = make_universe(PLACES)
    with pytest.raises(
        TypeError, match=r"^timme.read cannot take [^:]*: .*pass (the|one) Universe"
    ):
        read(make(universe))


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        (None, "pass a file, an array"),
        ({1, 2}, "pass a file, an array"),
        (object(), "pass a file, an array"),
        ([None, None], "pass a file, an array"),
        (COLUMNS, r"make a table \(pandas.DataFrame\)"),
        ([COLUMNS, COLUMNS], r"make a table \(pandas.DataFrame\)"),
        ([table(), table()], "join the tables"),
        ((table() for _ in range(2)), "join the tables"),
        ([PLACES[0], table()], "join the tables"),
    ],
)
def test_what_is_no_array_is_refused_with_advice(source: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=rf"^timme.read cannot take .*{advice}"):
        read(source)


def test_a_reader_is_refused_where_it_stands(make_universe: MakeUniverse) -> None:
    universe = make_universe(PLACES)
    universe.trajectory[2]
    with pytest.raises(TypeError, match=r"cannot take \w+Reader: a reader of MDAnalysis"):
        read(universe.trajectory)
    assert universe.trajectory.ts.frame == 2


def test_several_trajectories_of_mdtraj_are_to_be_joined() -> None:
    mdtraj = pytest.importorskip("mdtraj")
    one = mdtraj.Trajectory(PLACES, None)
    with pytest.raises(TypeError, match=r"mdtraj\.join"):
        read([one, one])


class Wrapped:
    """An array of another library."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return PLACES if dtype is None else PLACES.astype(dtype)


@pytest.mark.parametrize(
    "source",
    [
        PLACES.tolist(),
        tuple(PLACES),
        list(PLACES),
        deque(PLACES),
        (places for places in PLACES),
        [[list(place) for place in places] for places in PLACES],
        PLACES.data,
        np.ma.masked_array(PLACES),
        Wrapped(),
    ],
)
def test_whatever_is_an_array_is_read(source: Any) -> None:
    np.testing.assert_array_equal(read(source).coordinates(), PLACES)


@pytest.mark.parametrize("given", [None, PLACES, [PLACES], [None]])
def test_trajectories_are_files(given: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="trajectories= takes paths"):
        read(tmp_path / "a.pdb", given)


def still(ensemble: Ensemble) -> list[str]:
    return [note for note in ensemble.notes if "snapshots are" in note]


@pytest.mark.parametrize("kind", ["array", "npy", "table", "universe"])
def test_snapshots_that_are_all_the_same_are_told(
    kind: str, tmp_path: Path, make_universe: MakeUniverse
) -> None:
    places = np.repeat(PLACES[:1], 40, axis=0)
    rows = [(t, p, *places[t, p]) for t in range(40) for p in range(4) if p or t % 2]
    np.save(tmp_path / "a.npy", places)
    sources: dict[str, Callable[[], Any]] = {
        "array": lambda: places,
        "npy": lambda: tmp_path / "a.npy",
        "table": lambda: pd.DataFrame(rows, columns=["frame", "particle", "x", "y", "z"]),
        "universe": lambda: make_universe(places),
    }
    # What is seen in one snapshot and not in the next is no copy.
    expected = [] if kind == "table" else ["all 40 snapshots are the same: nothing moves"]
    assert still(read(sources[kind]())) == expected
    assert still(read(places, step=2, box=[50, 50, 50], unwrap=True)) == [
        "all 20 snapshots are the same: nothing moves"
    ]


@pytest.mark.parametrize(
    ("every", "said"),
    [(4, ["30 of 41 snapshots are exact copies of the one before"]), (2, []), (1, [])],
)
def test_copies_are_counted_where_they_are_most(every: int, said: list[str]) -> None:
    steps = np.random.default_rng(1).normal(size=(41, 4, 3))
    moving = np.arange(41) % every == 0  # the first is no copy, nor are ten others of every fourth
    places = np.cumsum(steps * moving[:, None, None], axis=0)
    assert still(read(places)) == said


def test_a_box_that_changes_is_motion() -> None:
    places, lengths = np.repeat(PLACES[:1], 9, axis=0), np.linspace(20, 30, 9)
    ensemble = Ensemble.from_array(places, boxes=lengths[:, None] * np.ones(3))
    assert list(notes_on_copies(ensemble.frames)) == []
