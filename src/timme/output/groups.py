"""Clusters for programs of simulation and analysis, in the atom numbers of the user's own files.

Molecules get lists of atoms: index groups of GROMACS, groups of PLUMED, and names for ChimeraX.
Particles, which have no such programs, get files for OVITO that hold the cluster of each of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme._files import write_atomically
from timme.analysis import Analysis
from timme.output.colours import WIDE, colouring, only_trusted
from timme.output.structures import title, written_sites
from timme.system.elements import is_element

FILES = {
    "clusters.extxyz": "particles with their clusters, for OVITO",
    "clusters.dump": "particles with their clusters, as a LAMMPS dump",
    "groups.ndx": "clusters as index groups of GROMACS",
    "groups.plumed": "clusters as groups of PLUMED",
    "groups.cxc": "names of clusters for your own structure in ChimeraX",
}

_PER_LINE = 15  # numbers on a line of an index file
_FAR = 1e3  # times the shortest box vector: such a one stands for an open direction


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A box as files write it, which need a length in open directions too."""

    vectors: Floats  # (3, 3), rows
    origin: Floats  # (3,)
    periodic: Bools  # (3,)


def write_groups(
    analysis: Analysis,
    folder: str | Path,
    cutoff: float,
    *,
    min_size: int = 3,
    palette: Sequence[str] = WIDE,
) -> tuple[Path, ...]:
    """Write the clusters at a cutoff for other programs.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.
    cutoff : float
        In the units of the heights.
    min_size : int, optional
        Clusters of fewer shown objects belong to the rest.
    palette : sequence of str, optional
        Colours of families 1, 2, …, as for the structures.

    Returns
    -------
    tuple of Path
        Of molecules ``groups.ndx`` and ``groups.plumed``, where the numbers of their atoms are
        known, and ``groups.cxc``; of particles ``clusters.extxyz`` and ``clusters.dump``.
    """
    found = colouring(
        analysis, cutoff, min_size=min_size, palette=palette, trusted=only_trusted(analysis)
    )
    clusters = np.append(found.labels, -1)[analysis.system.site_objects] + 1
    called, texts = title(analysis, found), dict[str, str]()
    if (analysis.system.sites.resnames != "").any():
        numbers = analysis.system.atom_numbers
        if numbers is not None:
            texts["groups.ndx"] = gromacs(clusters, numbers, called)
            texts["groups.plumed"] = plumed(clusters, numbers, called)
        texts["groups.cxc"] = chimerax(analysis, clusters, called)
    else:
        texts["clusters.extxyz"] = extended_xyz(analysis, clusters)
        texts["clusters.dump"] = lammps_dump(analysis, clusters)
    return tuple(write_atomically(Path(folder) / name, text) for name, text in texts.items())


def gromacs(clusters: Ints, numbers: Ints, called: str) -> str:
    """List clusters as index groups of GROMACS.

    Parameters
    ----------
    clusters : ndarray of int, shape (sites,)
        Cluster of each site, 0 for the rest.
    numbers : ndarray of int, shape (sites,)
        Numbers of the atoms in the topology, from 1 on.
    called : str
        What clusters they are.

    Returns
    -------
    str
        An ``.ndx`` file with the groups ``cluster_1``, ``cluster_2``, … and ``rest``.
    """
    lines = [f"; {called}"]
    for name, members in _named_groups(clusters, numbers):
        lines.append(f"[ {name} ]")
        lines += [
            " ".join(map(str, members[start : start + _PER_LINE]))
            for start in range(0, len(members), _PER_LINE)
        ]
    return "\n".join([*lines, ""])


def plumed(clusters: Ints, numbers: Ints, called: str) -> str:
    """List clusters as groups of PLUMED.

    Parameters
    ----------
    clusters, numbers, called
        As for :func:`gromacs`.

    Returns
    -------
    str
        Lines for ``INCLUDE FILE=groups.plumed``.
    """
    lines = [f"# {called}. In an input of PLUMED: INCLUDE FILE=groups.plumed"]
    for name, members in _named_groups(clusters, numbers):
        lines.append(f"{name}: GROUP ATOMS={','.join(_ranges(members))}")
    return "\n".join([*lines, ""])


def chimerax(analysis: Analysis, clusters: Ints, called: str) -> str:
    """Name clusters in ChimeraX, by the chains and residues of the user's own structure.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    clusters : ndarray of int, shape (sites,)
        Cluster of each site, 0 for the rest.
    called : str
        What clusters they are.

    Returns
    -------
    str
        A ``.cxc`` script; residues of which only some sites are in a cluster are given by atoms.
    """
    atoms = analysis.system.sites
    residues = dict[tuple[str, str], list[int]]()
    keys = zip(atoms.chains.tolist(), atoms.resids.tolist(), atoms.icodes.tolist(), strict=True)
    for site, (chain, number, code) in enumerate(keys):
        residues.setdefault((chain, f"{number}{code}"), []).append(site)
    lines = [f"# {called}. In ChimeraX, with your own structure open: open groups.cxc"]
    for label in range(1, int(clusters.max(initial=0)) + 1):
        parts = list[str]()
        whole = dict[str, list[str]]()  # by chain
        for (chain, residue), sites in residues.items():
            inside = [site for site in sites if clusters[site] == label]
            if len(inside) == len(sites):
                whole.setdefault(chain, []).append(residue)
            elif inside:
                names = ",".join(str(atoms.names[site]) for site in inside)
                parts.append(f"{_chain(chain)}:{residue}@{names}")
        runs = [f"{_chain(chain)}:{','.join(_ranges(each))}" for chain, each in whole.items()]
        lines.append(f"name cluster_{label} {' | '.join([*runs, *parts])}")
    return "\n".join([*lines, ""])


def extended_xyz(analysis: Analysis, clusters: Ints) -> str:
    """Write particles with their clusters as extended XYZ.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    clusters : ndarray of int, shape (sites,)
        Cluster of each site, 0 for the rest.

    Returns
    -------
    str
        The first snapshot, in its own unit; ``cluster`` is a property that OVITO colours by.
        Particles whose names are no elements are of the species X, which every program knows, and
        have their names as a property.
    """
    sites = written_sites(analysis)
    positions, numbers = _positions(analysis), _numbers(analysis)
    names = _names(analysis)
    # Deuterium is an element to some programs only.
    species = [name if is_element(name) and name != "D" else "X" for name in names]
    own_names = species != names
    named = "name:S:1:" if own_names else ""
    title_parts = [f"Properties=id:I:1:species:S:1:pos:R:3:{named}cluster:I:1"]
    cell = _cell(analysis)
    if cell is not None:
        flags = " ".join("T" if periodic else "F" for periodic in cell.periodic)
        lattice, origin = (" ".join(_short(part.ravel())) for part in (cell.vectors, cell.origin))
        title_parts += [f'Lattice="{lattice}"', f'Origin="{origin}"', f'pbc="{flags}"']
    rows = list[str]()
    for site, place in zip(sites.tolist(), positions, strict=True):
        name = [names[site]] if own_names else []
        fields = [str(numbers[site]), species[site], *_short(place), *name, str(clusters[site])]
        rows.append(" ".join(fields))
    return "\n".join([str(len(sites)), " ".join(title_parts), *rows, ""])


def lammps_dump(analysis: Analysis, clusters: Ints) -> str:
    """Write particles with their clusters as a LAMMPS dump.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    clusters : ndarray of int, shape (sites,)
        Cluster of each site, 0 for the rest.

    Returns
    -------
    str
        The first snapshot, in its own unit.
    """
    sites = written_sites(analysis)
    positions, numbers = _positions(analysis), _numbers(analysis)
    types = np.unique(_names(analysis), return_inverse=True)[1] + 1
    lines = ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", str(len(sites))]
    lines += [*_bounds(_cell(analysis), positions), "ITEM: ATOMS id type x y z cluster"]
    rows = [
        " ".join([str(numbers[site]), str(types[site]), *_short(place), str(clusters[site])])
        for site, place in zip(sites.tolist(), positions, strict=True)
    ]
    return "\n".join([*lines, *rows, ""])


def _named_groups(clusters: Ints, numbers: Ints) -> list[tuple[str, list[int]]]:
    labels = [*range(1, int(clusters.max(initial=0)) + 1), 0]
    named = [
        (f"cluster_{label}" if label else "rest", np.sort(numbers[clusters == label]).tolist())
        for label in labels
    ]
    return [(name, members) for name, members in named if members]


def _ranges(members: Sequence[int] | Sequence[str]) -> list[str]:
    """Join consecutive numbers; those with a letter stand alone."""
    plain = sorted({int(each) for each in members if re.fullmatch(r"-?\d+", str(each))})
    lettered = [str(each) for each in members if not re.fullmatch(r"-?\d+", str(each))]
    found = list[str]()
    for _, run in groupby(enumerate(plain), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        # A range that begins below 0 would be read as something else.
        if len(numbers) > 1 and numbers[0] >= 0:
            found.append(f"{numbers[0]}-{numbers[-1]}")
        else:
            found += map(str, numbers)
    return found + lettered


def _chain(name: str) -> str:
    return f"/{name}" if name else ""


def _numbers(analysis: Analysis) -> Ints:
    """Numbers by which users know particles: their own ids, 0 too, or their places in the file."""
    known = analysis.system.atom_numbers
    return np.arange(1, len(analysis.system.sites) + 1) if known is None else known


def _names(analysis: Analysis) -> list[str]:
    return [re.sub(r"\s+", "_", str(name)) or "X" for name in analysis.system.sites.names]


def _positions(analysis: Analysis) -> Floats:
    known = analysis.system.coordinates[written_sites(analysis), :3].astype(np.float64)
    return np.pad(known, ((0, 0), (0, 3 - known.shape[1])))


def _cell(analysis: Analysis) -> _Cell | None:
    """Give a box of the first snapshot a length in open directions."""
    given = analysis.system.box
    if given is None or not given.any():
        return None
    count = min(3, len(given))
    vectors = np.zeros((3, 3))
    vectors[:count, :count] = given[:count, :count]
    lengths = np.linalg.norm(vectors, axis=1)
    periodic = (lengths > 0) & (lengths < _FAR * lengths[lengths > 0].min())
    positions = _positions(analysis)
    extent = np.ptp(positions, axis=0)
    low = np.where(periodic, 0.0, positions.min(axis=0))
    for axis in np.flatnonzero(~periodic):
        vectors[axis] = np.eye(3)[axis] * max(extent[axis], 1.0)
    # Some programs put the middle of the box at the origin, others its corner.
    middle = vectors.sum(axis=0) / 2
    centred = np.abs(positions.mean(axis=0)) < np.abs(positions.mean(axis=0) - middle)
    return _Cell(vectors, np.where(periodic & centred, -middle, low), periodic)


def _bounds(cell: _Cell | None, positions: Floats) -> list[str]:
    """Describe the box as a dump does: straight, tilted, or turned in any way."""
    if cell is None:
        corners = np.column_stack([positions.min(axis=0), positions.max(axis=0)])
        return ["ITEM: BOX BOUNDS ff ff ff", *(" ".join(_short(row)) for row in corners)]
    flags = " ".join("pp" if periodic else "ff" for periodic in cell.periodic)
    box, low = cell.vectors, cell.origin
    if np.triu(box, 1).any() or (np.diag(box) <= 0).any():
        rows = np.column_stack([box, low])
        lines = (" ".join(_short(row)) for row in rows)
        return [f"ITEM: BOX BOUNDS abc origin {flags}", *lines]
    high = low + np.diag(box)
    tilts = xy, xz, yz = box[1, 0], box[2, 0], box[2, 1]
    if not any(tilts):
        corners = np.column_stack([low, high])
        return [f"ITEM: BOX BOUNDS {flags}", *(" ".join(_short(row)) for row in corners)]
    # The bounds of a tilted box are those of the brick around it.
    low = low + np.array([min(0.0, xy, xz, xy + xz), min(0.0, yz), 0.0])
    high = high + np.array([max(0.0, xy, xz, xy + xz), max(0.0, yz), 0.0])
    corners = np.column_stack([low, high, tilts])
    return [f"ITEM: BOX BOUNDS xy xz yz {flags}", *(" ".join(_short(row)) for row in corners)]


def _short(numbers: Floats) -> list[str]:
    return [f"{number:.9g}" for number in numbers]
