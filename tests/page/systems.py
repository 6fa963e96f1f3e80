"""Analyses that the tests of the page look at."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.test_folder import complex_of_two
from tests.output.builders import fluctuations, linked, particles, random_graph
from tests.page.conftest import SETTINGS
from tests.readers.builders import write_pdb
from timme import synthetic
from timme.analysis import Analysis
from timme.hierarchy import Hierarchy
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


def swarm(n_sites: int, dimensions: int = 3, **changes: Any) -> Analysis:
    """Particles without names or bonds, that drift over a few snapshots."""
    graph = random_graph(n_sites, 7, dimensions)
    rng = np.random.default_rng(7)
    first = rng.random((n_sites, dimensions)) * n_sites ** (1 / dimensions)
    drift = np.cumsum(rng.normal(size=(3, n_sites, dimensions)), axis=0)
    known: dict[str, Any] = {
        "coordinates": first,
        "snapshots": np.concatenate([first[None], first + 0.1 * drift]),
        "n_snapshots": 4,
        "settings": SETTINGS,
    }
    return particles(graph, **(known | changes))


def energies() -> Analysis:
    """Clusters that form at negative energies."""
    graph = random_graph(60, 3)
    shifted = (graph[0], graph[1], [10 * sigma - 4 for sigma in graph[2]])
    made = linked(shifted)
    hierarchy = Hierarchy(made.parents, made.heights, unit="kcal/mol", quantity="E")
    return swarm(60, hierarchy=hierarchy, fluctuations=None, length=None, length_name="")


def forest() -> Analysis:
    """Two trees that never join, and one site of its own."""
    graph = (7, [(0, 1), (1, 2), (3, 4), (4, 5)], [0.1, 0.2, 0.1, 0.3])
    return swarm(7, hierarchy=linked(graph, "µm"), fluctuations=fluctuations(graph, "µm"))
