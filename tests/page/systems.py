"""Analyses that the tests of the page look at."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.test_folder import complex_of_two
from tests.motion.proteins import planted_protein
from tests.output.builders import Graph, fluctuations, linked, particles, random_graph
from tests.readers.builders import write_pdb
from timme import synthetic
from timme.analysis import Analysis
from timme.hierarchy import Hierarchy
from timme.rigidity.decomposition import ENERGY
from timme.system.atoms import Atoms
from timme.workflow import analyse


@functools.cache
def ensemble() -> Analysis:
    """Models of a peptide with a ligand, read from a PDB file as an NMR ensemble is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "models.pdb"
        write_pdb(path, complex_of_two())
        return analyse(path, cutoff=0.1, large=5, command="timme run models.pdb")


@functools.cache
def hinge() -> Analysis:
    """Three stiff bodies that swing about their hinges."""
    return analyse(synthetic.hinged().ensemble, cutoff=0.04)


@functools.cache
def tailed() -> Analysis:
    """Two balls on a hinge with a floppy tail, of which some clusters are trusted and some not."""
    made = synthetic.FAMILIES["hinge 15° + tail"](60, 3)
    return analyse(made.ensemble, pairs="contact", radius=10.0)


@functools.cache
def turning() -> Analysis:
    """Two rigid bodies of residues 1 to 60 and 61 to 100, which turn by 40° against each other."""
    return analyse(planted_protein(), objects="points")


def swarm(
    n_sites: int, dimensions: int = 3, *, graph: Graph | None = None, **changes: Any
) -> Analysis:
    """Particles without names or bonds, that drift over a few snapshots."""
    graph = graph or random_graph(n_sites, 7, dimensions)
    rng = np.random.default_rng(7)
    first = rng.random((n_sites, dimensions)) * n_sites ** (1 / dimensions)
    drift = np.cumsum(rng.normal(size=(3, n_sites, dimensions)), axis=0)
    known: dict[str, Any] = {
        "coordinates": first,
        "film": np.concatenate([first[None], first + 0.1 * drift]),
        "n_snapshots": 4,
    }
    return particles(graph, **(known | changes))


def energies() -> Analysis:
    """Clusters that form at negative energies."""
    graph = random_graph(60, 3)
    shifted = (graph[0], graph[1], [10 * sigma - 4 for sigma in graph[2]])
    made = linked(shifted)
    hierarchy = Hierarchy(made.parents, made.heights, ENERGY)
    return swarm(60, hierarchy=hierarchy, fluctuations=None, length=None, length_name="")


def forest() -> Analysis:
    """Two trees that never join, and one site of its own."""
    graph = (7, [(0, 1), (1, 2), (3, 4), (4, 5)], [0.1, 0.2, 0.1, 0.3])
    return swarm(7, hierarchy=linked(graph, "µm"), fluctuations=fluctuations(graph, "µm"))


WALL = 10.0  # length of a periodic box


def wrapped(*, bonded: bool) -> Analysis:
    """Pairs of particles that drift through the walls of a box, each of them alone."""
    rng = np.random.default_rng(11)
    centres = rng.uniform(1, WALL - 1, size=(40, 3))
    first = np.repeat(centres, 2, axis=0)
    first[1::2] += 0.5 * np.eye(3)[rng.integers(0, 3, 40)]
    drift = np.array([3.1, 2.3, 1.7])
    pairs = [(2 * k, 2 * k + 1) for k in range(40)]
    graph = (80, pairs, [0.1] * 40)
    return particles(
        graph,
        sites=Atoms.unnamed(80, bonds=pairs if bonded else ()),
        coordinates=first,
        film=np.array([(first + k * drift) % WALL for k in range(4)]),
        n_snapshots=4,
        box=np.eye(3) * WALL,
        min_size=1,
    )


def polymer_in_a_box(wall: float) -> Analysis:
    """The hinge as one bonded chain, which a periodic box leaves whole."""
    made = hinge()
    count = len(made.system.sites)
    chain = np.column_stack([np.arange(count - 1), np.arange(1, count)])
    system = dataclasses.replace(
        made.system, sites=Atoms.unnamed(count, bonds=chain), box=np.eye(3) * wall
    )
    return dataclasses.replace(made, system=system, parts=())
