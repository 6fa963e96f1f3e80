"""Small hierarchies and analyses that the tests of pictures, tables and files share."""

import io
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd

from timme._arrays import Ints
from timme.analysis import Analysis, Constraints, Measured, Recipe, System
from timme.fluctuations import Fluctuations
from timme.hierarchy import Hierarchy, link
from timme.settings import Display
from timme.system.atoms import Atoms

Graph = tuple[int, list[tuple[int, int]], list[float]]


@st.composite
def graphs(draw: st.DrawFn, max_sites: int = 12) -> Graph:
    """Sites, pairs and few different σ, so that ties and forests are common."""
    n_sites = draw(st.integers(1, max_sites))
    possible = [(i, j) for i in range(n_sites) for j in range(i + 1, n_sites)]
    pairs = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    sigmas = draw(st.lists(st.integers(0, 8), min_size=len(pairs), max_size=len(pairs)))
    return n_sites, pairs, [float(sigma) for sigma in sigmas]


def fluctuations(graph: Graph, unit: str = "") -> Fluctuations:
    n_sites, pairs, sigmas = graph
    return Fluctuations(
        n_objects=n_sites,
        pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        sigma=np.array(sigmas, dtype=np.float64),
        common=np.full(len(pairs), 2),
        unit=unit,
    )


def glycines(residues: Sequence[tuple[str, int, str]]) -> Atoms:
    """One atom for each residue, of the given chain, number and insertion code."""
    count = len(residues)
    chains, numbers, codes = zip(*residues, strict=True)
    return Atoms(
        names=np.full(count, "CA"),
        elements=np.full(count, "C"),
        resnames=np.full(count, "GLY"),
        resids=np.array(numbers),
        icodes=np.array(codes),
        chains=np.array(chains),
        masses=np.ones(count),
        bonds=np.empty((0, 2), np.int64),
    )


def read_back(text: str) -> pd.DataFrame:
    """A table as it was written, to the last bit: not every version of pandas reads that well."""
    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for name, column in table.items():
        try:
            table[name] = [float(value or "nan") for value in column]
        except ValueError:
            continue
    return table


def linked(graph: Graph, unit: str = "") -> Hierarchy:
    return link(fluctuations(graph, unit))


def random_graph(n_sites: int, seed: int, dimensions: int = 3) -> Graph:
    """Sites in space, near ones joined, with smooth σ: clusters within clusters."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(seed)
    places = rng.random((n_sites, dimensions)) * n_sites ** (1 / dimensions)
    pairs = cKDTree(places).query_pairs(1.3, output_type="ndarray")
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    mobility = 0.06 + 0.05 * np.sin(places.sum(axis=1))
    sigmas = mobility[pairs].mean(axis=1) * rng.gamma(6, 1 / 6, len(pairs))
    return n_sites, [(int(i), int(j)) for i, j in pairs], [float(sigma) for sigma in sigmas]


def particles(graph: Graph, *, dimensions: int = 3, seed: int = 0, **changes: Any) -> Analysis:
    """Particles without names, all shown, in the order of site labels."""
    n_sites = graph[0]
    rng = np.random.default_rng(seed)
    sites = Atoms.unnamed(n_sites)
    known: dict[str, Any] = {
        "hierarchy": linked(graph, "µm"),
        "shown": np.arange(n_sites),
        "names": np.array([f"particle {site + 1}" for site in range(n_sites)]),
        "object_sites": np.arange(n_sites),
        "site_objects": np.arange(n_sites),
        "sites": sites,
        "coordinates": rng.random((n_sites, dimensions)) * 10,
        "box": None,
        "fluctuations": fluctuations(graph, "µm"),
        "length": 1.3,
        "length_name": "diameter",
        "shown_name": "particle",
        "sequential": False,
        "n_snapshots": 2,
    }
    return analysis_of(known | changes)


def analysis_of(given: dict[str, Any]) -> Analysis:
    """Sort fields into system, settings, recipe and parts."""
    left = dict(given)

    def taken(kind: Any) -> dict[str, Any]:
        return {f.name: left.pop(f.name) for f in fields(kind) if f.name in left}

    hierarchy = left.pop("hierarchy")
    left.setdefault("unit", hierarchy.unit if hierarchy.quantity.is_length else "Å")
    measured, network = left.pop("fluctuations", None), left.pop("network", None)
    made = Analysis(
        system=System(**taken(System)),
        hierarchy=hierarchy,
        recipe=Recipe(**({"settings": Display(**taken(Display))} | taken(Recipe))),
        notes=left.pop("notes", ()),
        parts=(
            *([] if measured is None else [Measured(measured)]),
            *([] if network is None else [Constraints(network)]),
        ),
    )
    assert not left, left
    return made


def residues(graph: Graph, chains: str = "AB", *, first_resid: int = 5, **changes: Any) -> Analysis:
    """Chains of alanine, three atoms each residue; every atom an object, Cα shown."""
    n_residues = graph[0] // 3
    n_sites = 3 * n_residues
    pairs = [(i, j) for i, j in graph[1] if max(i, j) < n_sites]
    kept = [k for k, (i, j) in enumerate(graph[1]) if max(i, j) < n_sites]
    inner = (n_sites, pairs, [graph[2][k] for k in kept])
    chain = np.repeat([chains[k * len(chains) // n_residues] for k in range(n_residues)], 3)
    resids = np.repeat(_numbers(chain[::3], first_resid), 3)
    sites = Atoms(
        names=np.tile(["N", "CA", "C"], n_residues),
        elements=np.tile(["N", "C", "C"], n_residues),
        resnames=np.full(n_sites, "ALA"),
        resids=resids,
        icodes=np.full(n_sites, ""),
        chains=chain,
        masses=np.ones(n_sites),
        bonds=np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)]),
    )
    steps = np.cumsum(np.random.default_rng(1).normal(size=(n_sites, 3)), axis=0)
    return particles(
        inner,
        hierarchy=linked(inner, "Å"),
        fluctuations=fluctuations(inner, "Å"),
        shown=np.arange(1, n_sites, 3),
        names=np.array([sites.label(site) for site in range(n_sites)]),
        sites=sites,
        coordinates=steps,
        length=1.54,
        length_name="C–C bond",
        shown_name="Cα",
        sequential=True,
        **changes,
    )


def _numbers(chain: Any, first: int) -> Ints:
    """Residue numbers that start anew in each chain."""
    return np.concatenate(
        [first + np.arange(np.count_nonzero(chain == name)) for name in dict.fromkeys(chain)]
    )
