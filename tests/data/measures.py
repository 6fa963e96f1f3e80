"""What the simulations are measured by, and slow ways to tell which spheres hang together."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints

TOUCHING = 1.1  # diameters from centre to centre, as far as spheres attract one another


def checks() -> Any:
    """Functions of `examples/simulate/checks.py`."""
    path = Path(__file__).parents[2] / "examples" / "simulate" / "checks.py"
    spec = importlib.util.spec_from_file_location("checks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def touching(places: Floats, room: Floats) -> Ints:
    """Pairs of spheres that touch, in a room that is periodic."""
    pairs: Ints = cKDTree(places, boxsize=room).query_pairs(TOUCHING, output_type="ndarray")
    return pairs


def largest(bonds: Ints, count: int) -> Bools:
    """Who is in the largest piece that bonds hold together."""
    graph = coo_matrix((np.ones(len(bonds)), bonds.T), shape=(count, count))
    labels = connected_components(graph)[1]
    members: Bools = labels == np.bincount(labels).argmax()
    return members


def spans(places: Floats, room: Floats, axis: int, copies: int = 5) -> bool:
    """Whether spheres are joined with their own images in the next room along an axis.

    So many rooms are set side by side along it with nothing around, the other axes as they are; two
    of the middle are asked. It is slow, and no image is counted.
    """
    shift = np.eye(3)[axis] * room[axis]
    rooms = np.concatenate([places + k * shift for k in range(copies)])
    wide = room + 2 * copies * shift  # so wide that the last room does not see the first
    bonds, count = touching(rooms, wide), len(places)
    graph = coo_matrix((np.ones(len(bonds)), bonds.T), shape=(len(rooms), len(rooms)))
    labels = connected_components(graph)[1].reshape(copies, count)
    middle = copies // 2
    return bool((labels[middle] == labels[middle + 1]).any())
