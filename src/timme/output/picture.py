"""What a three-dimensional picture shows, before it is said in the words of one program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints
from timme.analysis import Analysis
from timme.output.colours import Colouring
from timme.output.structures import file_coordinates, title, written_sites

# Sticks between particles: the nearest contacts, six to a particle as in a close packing, and no
# more in all than a viewer draws without stopping for long.
STICKS_PER_SITE = 6
MOST_STICKS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What every script draws, before it is said in the words of one program."""

    structure: str  # name of the file beside the script
    style: Literal["cartoon", "sticks", "particles"]
    found: Colouring
    sticks: Ints  # (sticks, 2), serial numbers of particles in contact within a cluster
    stick_labels: Ints  # (sticks,), label of that cluster
    spacing: float  # typical distance of neighbouring particles
    title: str


def picture(analysis: Analysis, found: Colouring, structure: str) -> Picture:
    """Choose how to draw an analysis: cartoon, sticks along bonds, or particles in contact.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    found : Colouring
        The clusters.
    structure : str
        Name of the structure file beside the script.

    Returns
    -------
    Picture
        Cartoon for backbones of proteins and nucleic acids, sticks for other bonded sites, else the
        kissing network: sticks between particles of one cluster whose σ is within the cutoff.
    """
    style: Literal["cartoon", "sticks", "particles"] = "particles"
    if len(analysis.system.sites.bonds):
        style = "cartoon" if has_backbone(analysis) else "sticks"
    positions = file_coordinates(analysis)
    sticks, labels = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    if style == "particles":
        sticks, labels = _contacts(analysis, found, positions)
    called = title(analysis, found)
    return Picture(structure, style, found, sticks, labels, spacing(positions), called)


def has_backbone(analysis: Analysis) -> bool:
    """Tell whether a cartoon can be drawn: whether there are backbones of polymers.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    bool
        By the names of atoms, of proteins and of nucleic acids.
    """
    names = set(analysis.system.sites.names.tolist())
    return {"N", "CA", "C"} <= names or {"P", "C4'", "O3'"} <= names


def _contacts(analysis: Analysis, found: Colouring, positions: Floats) -> tuple[Ints, Ints]:
    """Find the pairs of objects of one cluster with σ within the cutoff, the nearest first."""
    measured = analysis.fluctuations
    if measured is None:
        return np.empty((0, 2), np.int64), np.empty(0, np.int64)
    serial = np.zeros(len(analysis.system.sites), dtype=np.int64)
    sites = written_sites(analysis)
    serial[sites] = np.arange(1, len(sites) + 1)
    ends = serial[analysis.system.object_sites[measured.pairs]]
    labels = found.labels[measured.pairs]
    inside = (labels[:, 0] >= 0) & (labels[:, 0] == labels[:, 1]) & (ends > 0).all(axis=1)
    chosen = np.flatnonzero(inside & (measured.sigma <= found.cutoff))
    steps = positions[ends[chosen, 0] - 1] - positions[ends[chosen, 1] - 1]
    direct = ~crosses_box(analysis, steps)
    chosen, steps = chosen[direct], steps[direct]
    most = min(STICKS_PER_SITE * len(sites), MOST_STICKS)
    nearest = np.sort(np.argsort(np.linalg.norm(steps, axis=1), kind="stable")[:most])
    return ends[chosen[nearest]], labels[chosen[nearest], 0]


def crosses_box(analysis: Analysis, steps: Floats) -> Bools:
    """Find contacts through a periodic boundary, whose stick would run through the whole box.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    steps : ndarray, shape (contacts, 3)
        From one end to the other, as in files.

    Returns
    -------
    ndarray of bool, shape (contacts,)
        Which ones do.
    """
    crossing = np.zeros(len(steps), dtype=np.bool_)
    for vector in () if analysis.system.box is None else analysis.system.box[:3]:
        full = np.zeros(3)
        full[: min(3, len(vector))] = vector[:3]
        full *= 10.0 if analysis.system.unit == "nm" else 1.0
        if full.any():
            crossing |= np.abs(steps @ full) > 0.5 * (full @ full)
    return crossing


def spacing(positions: Floats) -> float:
    """Return the median distance to the nearest neighbour.

    Parameters
    ----------
    positions : ndarray, shape (points, 3)
        Where points are.

    Returns
    -------
    float
        In the same unit; 1 where all coincide.
    """
    if len(positions) < 2:
        return 1.0
    nearest = np.asarray(cKDTree(positions).query(positions, k=2)[0])[:, 1]
    return float(np.median(nearest)) or 1.0
