"""Molecules that have numbers and no bonds: joined one by one, or told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme._arrays import Floats, Ints
from timme.readers.numbered import join_molecules
from timme.system.space import Boxes
from timme.system.wholes import Trees

SIDE, N_CHAINS, LENGTH, N_SNAPSHOTS = 20.0, 6, 13, 8


def chains(seed: int = 0) -> Floats:
    """Straight chains with a bead at every 1, more than half a box long, each where it likes."""
    rng = np.random.default_rng(seed)
    places = np.empty((N_SNAPSHOTS, N_CHAINS, LENGTH, 3))
    for chain in range(N_CHAINS):
        axis = np.linalg.qr(rng.normal(size=(3, 3)))[0][0]
        beads = rng.uniform(0, SIDE, 3) + np.outer(np.arange(LENGTH), axis)
        moved = rng.normal(scale=0.3, size=(N_SNAPSHOTS, 1, 3))
        places[:, chain] = beads + moved + rng.normal(scale=0.1, size=(N_SNAPSHOTS, LENGTH, 3))
    return places.reshape(N_SNAPSHOTS, -1, 3)


def ions(count: int, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    shaken = rng.normal(scale=0.3, size=(N_SNAPSHOTS, count, 3))
    found: Floats = rng.uniform(0, SIDE, (1, count, 3)) + shaken
    return found


def dump(path: Path, places: Floats, molecules: Ints) -> Path:
    lines = list[str]()
    for step, frame in enumerate(places % SIDE):
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += ["ITEM: BOX BOUNDS pp pp pp", *[f"0 {SIDE}"] * 3, "ITEM: ATOMS id mol type x y z"]
        lines += [
            f"{k + 1} {molecules[k]} 1 {x:.8f} {y:.8f} {z:.8f}" for k, (x, y, z) in enumerate(frame)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def looked_at(places: Floats) -> list[tuple[Floats, Boxes]]:
    boxes = Boxes.of(SIDE * np.eye(3)[None], 1, 3)
    return [(frame % SIDE, boxes) for frame in places]


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("number", [0, 99])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("how", [{}, {"box": False}, {"unwrap": True}])
def test_molecules_are_whole_whatever_else_has_a_number(
    tmp_path: Path, number: int, shuffled: bool, how: dict[str, Any]
) -> None:
    rng = np.random.default_rng(4)
    places = np.concatenate([chains(), ions(6)], axis=1)
    molecules = np.append(np.repeat(np.arange(N_CHAINS) + 1, LENGTH), [number] * 6)
    if shuffled:
        order = rng.permutation(len(molecules))
        places, molecules = places[:, order], molecules[order]
    ensemble = timme.read(dump(tmp_path / "a.dump", places, molecules), bonds="none", **how)
    objects = timme.objects.points(ensemble)
    sigma = timme.measure(objects, timme.pairs.all(objects)).matrix()
    for chain in range(1, N_CHAINS + 1):
        own = np.flatnonzero(molecules == chain)
        apart = np.linalg.norm(places[:, own[:, None]] - places[:, own[None]], axis=-1)
        np.testing.assert_allclose(sigma[np.ix_(own, own)], apart.std(axis=0), atol=1e-6)
    told = [note for note in ensemble.notes if "cannot be made whole" in note]
    assert len(told) == (number == 99)
    assert not told or f"1 of {N_CHAINS + 1} molecules" in told[0]


def test_what_fills_the_box_is_no_molecule_though_it_has_one_number() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(0, SIDE, 2.0)] * 3), axis=-1).reshape(-1, 3)
    rng = np.random.default_rng(0)
    liquid = rng.permutation(grid + rng.normal(scale=0.2, size=grid.shape))
    pairs, n_apart, n_molecules = join_molecules(looked_at(liquid[None]), np.ones(len(grid), int))
    assert (len(pairs), n_apart, n_molecules) == (0, 1, 1)


def test_a_molecule_that_comes_apart_later_is_none() -> None:
    places = np.concatenate([chains(), ions(5)], axis=1)
    molecules = np.append(np.repeat(np.arange(N_CHAINS) + 1, LENGTH), [7] * 5)
    places[0, -5:] = places[0, -1] + np.random.default_rng(2).normal(size=(5, 3))  # by chance
    pairs, n_apart, _ = join_molecules(looked_at(places), molecules)
    assert n_apart == 1
    assert Trees.of(pairs, len(molecules)).molecules.max() + 1 == N_CHAINS + 5
    assert join_molecules(looked_at(places[:1]), molecules)[1] == 0


def test_atoms_in_one_place_are_joined() -> None:
    places = np.array([[[1.0, 1, 1], [1, 1, 1], [19, 1, 1], [8, 1, 1], [14, 1, 1]]])
    pairs, n_apart, n_molecules = join_molecules(looked_at(places), np.array([1, 1, 1, 2, 2]))
    assert n_apart == 1  # 6 of 20 apart
    assert n_molecules == 2
    assert np.unique(pairs).tolist() == [0, 1, 2]
