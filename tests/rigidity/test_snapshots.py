import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse import csgraph

from tests.conftest import MakeUniverse
from tests.rigidity.structures import joined, molecule, ring
from timme import read
from timme._arrays import Bools, Coordinates, Floats
from timme.rigidity import decompose, network
from timme.rigidity.snapshots import Together, together
from timme.system.derived_frames import MappedFrames
from timme.system.ensemble import Ensemble

CLOSED = np.random.default_rng(1).random(40) < 0.6
OXYGENS = [0, 3, 6]


def waters(closed: Bools = CLOSED, distance: float = 2.8) -> Ensemble:
    """Three waters that are a ring of hydrogen bonds in some snapshots; one is away in the others.

    Six bodies in a ring, three oxygens and the hydrogens between them, are rigid.
    """
    corners = ring(3, distance)
    around = [
        molecule(
            {"O": place, "H1": place + 0.35 * (after - place), "H2": place * 1.4 + [0, 0, 0.8]},
            "O-H1 O-H2",
            resname="HOH",
        )
        for place, after in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    whole = joined(*around)
    places = np.tile(whole.snapshot()[0], (len(closed), 1, 1))
    places[~closed, 6:] += 20.0
    return Ensemble.from_array(places, atoms=whole.atoms, unit="Å")


def same(found: Together, expected: Together) -> bool:
    return all(
        getattr(found, name).tobytes() == getattr(expected, name).tobytes()
        for name in ("fractions", "apart", "floppy_modes", "largest")
    )


def test_sites_are_together_in_the_snapshots_that_have_their_bonds() -> None:
    found = together(waters(), -1.0, sites=OXYGENS, waters=True)
    share = CLOSED.mean()
    assert 0 < share < 1
    assert found.fractions == pytest.approx(np.where(np.eye(3), 1.0, share), abs=1e-15)
    assert found.largest.tolist() == [3 if closed else 1 for closed in CLOSED]
    # A closed ring is rigid; two waters turn about their hydrogen bond and its covalent bond.
    assert found.floppy_modes.tolist() == [0 if closed else 2 for closed in CLOSED]


def test_snapshots_count_by_their_weight() -> None:
    closed = np.array([True, False, False])
    weighted = replace(waters(closed), weights=np.array([1.0, 0.25, 0.25]))
    found = together(weighted, -1.0, sites=OXYGENS, waters=True)
    assert found.fractions[0, 1] == 1.0 / 1.5
    assert (np.diag(found.fractions) == 1.0).all()


@pytest.mark.parametrize("weight", [None, 0.1])
@pytest.mark.parametrize("n_snapshots", [10, 20])
def test_a_round_cutoff_counts_snapshots_as_whole_numbers_do(
    n_snapshots: int, weight: float | None
) -> None:
    n_apart = np.arange(n_snapshots)  # one ring of waters for each
    rings = [waters(np.arange(n_snapshots) >= count) for count in n_apart]
    whole = joined(*rings)
    places = [
        one.frames.read(0, n_snapshots)[0] + [0.0, 0.0, 50.0 * k] for k, one in enumerate(rings)
    ]
    ensemble = replace(
        Ensemble.from_array(np.concatenate(places, axis=1), atoms=whole.atoms, unit="Å"),
        weights=None if weight is None else np.full(n_snapshots, weight),
    )
    ends = np.sort(np.concatenate([9 * n_apart, 9 * n_apart + 6]))  # two oxygens of each ring
    hierarchy = together(ensemble, -1.0, sites=ends, waters=True).hierarchy()
    for count in range(n_snapshots + 1):
        labels = hierarchy.cut(count / n_snapshots).labels
        assert (labels[::2] == labels[1::2]).tolist() == (n_apart <= count).tolist()


def test_one_snapshot_is_its_decomposition() -> None:
    one = waters(np.array([True]))
    found = together(one, -1.0, waters=True)
    clusters = decompose(network(one, waters=True), -1.0).clusters
    assert (found.fractions == (clusters[:, None] == clusters)).all()


def test_bonds_that_repel_count_up_to_a_cutoff_above_zero() -> None:
    near = waters(np.array([True, False]), 2.5)
    energies = network(near, waters=True, cutoff=math.inf).energies
    assert (energies[~np.isnan(energies)] > 0).all()
    for cutoff in (-1.0, 5.0, 50.0, math.inf):
        found = together(near, cutoff, waters=True)
        each = [
            decompose(network(near, model, waters=True, cutoff=cutoff), cutoff)
            for model in range(2)
        ]
        assert found.floppy_modes.tolist() == [one.floppy_modes for one in each]
        held = [one.clusters[:, None] == one.clusters for one in each]
        assert (found.fractions == np.mean(held, axis=0)).all()
    assert together(near, 50.0, waters=True).floppy_modes.tolist() == [0, 2]


def test_progress_is_told_snapshot_by_snapshot() -> None:
    told: list[tuple[int, int]] = []
    together(waters(), -1.0, waters=True, progress=lambda *done: told.append(done))
    assert told == [(done, len(CLOSED)) for done in range(1, len(CLOSED) + 1)]


@pytest.fixture
def engines(clients: dict[int, Any]) -> list[Any]:
    from timme.engine.dask import Cluster

    return [Cluster(client) for client in clients.values()]


def test_threads_and_workers_find_the_same_bits(
    engines: list[Any], make_universe: MakeUniverse, tmp_path: Path
) -> None:
    memory = waters()
    serial = together(memory, -1.0, sites=OXYGENS, workers=1, waters=True)
    places, _ = memory.frames.read(0, memory.n_snapshots)
    atoms = memory.atoms
    universe = make_universe(
        places, names=atoms.names, elements=atoms.elements, resnames=atoms.resnames
    )
    universe.add_TopologyAttr("bonds", [tuple(bond) for bond in atoms.bonds])
    universe.atoms.write(tmp_path / "waters.dcd", frames="all")
    file = replace(memory, frames=read(tmp_path / "waters.dcd", bonds="none").frames)
    every = [(memory, workers) for workers in (2, *engines)]
    every += [(other, workers) for other in (read(universe), file) for workers in (2, engines[1])]
    for ensemble, workers in every:
        found = together(ensemble, -1.0, sites=OXYGENS, workers=workers, waters=True)
        assert same(found, serial)


@dataclass(frozen=True)
class Watched(MappedFrames):
    """Frames that remember whether two threads read at a time."""

    frames: Any
    busy: threading.Lock = field(default_factory=threading.Lock)
    overlaps: list[int] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int, int]:
        shape: tuple[int, int, int] = self.frames.shape
        return shape

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        if not self.busy.acquire(blocking=False):
            self.overlaps.append(start)
            self.busy.acquire()
        time.sleep(0.002)
        found: tuple[Coordinates, Floats | None] = self.frames.read(start, stop)
        self.busy.release()
        return found

    def marks(self) -> Iterator[npt.ArrayLike]:
        yield from self.frames.marks()


def test_threads_do_not_read_at_the_same_time() -> None:
    ensemble = waters()
    watched = Watched(ensemble.frames)
    together(replace(ensemble, frames=watched), -1.0, workers=4, waters=True)
    assert watched.overlaps == []


# Models of real proteins


def test_pairs_are_counted_over_the_models_of_an_ensemble(nmr_file: Path) -> None:
    ensemble = read(nmr_file, stop=3)
    alpha = np.flatnonzero(ensemble.atoms.names[ensemble.site_atoms] == "CA")
    found = together(ensemble, -1.0, sites=alpha, workers=2)
    each = [decompose(network(ensemble, model), -1.0) for model in range(3)]
    assert found.floppy_modes.tolist() == [one.floppy_modes for one in each]
    for a, b in combinations(range(0, len(alpha), 5), 2):
        n_together = sum(one.clusters[alpha[a]] == one.clusters[alpha[b]] for one in each)
        assert found.fractions[a, b] == found.fractions[b, a] == pytest.approx(n_together / 3)
    assert (np.diag(found.fractions) == 1.0).all()
    alone = together(ensemble, -1.0, sites=alpha, workers=1)
    assert alone.fractions.tobytes() == found.fractions.tobytes()
    # what is never together does not join, at whatever cutoff
    _, pieces = csgraph.connected_components(found.fractions > 0)
    joined = found.hierarchy().cut(2.0).labels
    assert ((joined[:, None] == joined) == (pieces[:, None] == pieces)).all()
    # what is together in every snapshot joins at 0
    always = found.hierarchy().cut(0.0).labels
    for a, b in zip(*np.nonzero(found.fractions == 1.0), strict=True):
        assert always[a] == always[b]


def test_workers_find_the_same_bits_in_models(nmr_file: Path, engines: list[Any]) -> None:
    ensemble = read(nmr_file, stop=4)
    serial = together(ensemble, -0.5, workers=1)
    for workers in (2, *engines):
        assert same(together(ensemble, -0.5, workers=workers), serial)


# What goes wrong


def test_too_many_sites_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.rigidity.snapshots._LARGEST", 1)
    with pytest.raises(ValueError, match=r"fractions of 2 sites are too many to hold: choose some"):
        together(read(np.zeros((2, 2, 3)), unit="Å"), -1.0)


@pytest.mark.parametrize("cutoff", [float("nan"), "strong", None, [-1.0, -2.0]])
def test_a_cutoff_that_is_no_energy_is_refused(cutoff: Any) -> None:
    with pytest.raises(ValueError, match="a cutoff is one energy in kcal/mol, such as"):
        together(waters(), cutoff)
    with pytest.raises(ValueError, match="a cutoff is one energy in kcal/mol, such as"):
        decompose(network(waters()), cutoff)


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        ([], "at least 1 of the 9 sites must be counted, got none"),
        (np.zeros(9, bool), "at least 1 of the 9 sites must be counted, got none"),
        ([0, 9], "sites go from 0 to 8, got 0 to 9"),
        ([-1, 0], "sites go from 0 to 8, got -1 to 0"),
        ([0, 0], "sites must be given once each"),
        ([0.5], "sites need a list of whole numbers"),
        ([[0, 1]], "sites need a list of whole numbers"),
    ],
)
def test_sites_that_are_not_there_are_refused(sites: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        together(waters(), -1.0, sites=sites)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_wrong_in_a_snapshot_is_said_as_it_is(workers: int) -> None:
    places, _ = waters().frames.read(0, 3)
    broken = places.copy()
    broken[2, 4] = np.nan
    ensemble = Ensemble.from_array(broken, atoms=waters().atoms, unit="Å", gaps=True)
    with pytest.raises(ValueError, match="is not seen in snapshot 3"):
        together(ensemble, -1.0, workers=workers)
