"""Whether what a file says can be true: boxes that hold their atoms, atoms that do not collide."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme.system.elements import HYDROGENS, covalent_radii
from timme.system.ensemble import Ensemble
from timme.system.neighbours import have_partners, pairs_within
from timme.system.placeholders import is_placeholder
from timme.system.residues import is_ion
from timme.system.space import Boxes
from timme.system.units import unit_in_angstrom

_CLASH = 0.5  # Å: no two heavy atoms are nearer, whatever is between them
_CLASHING = 0.05  # of the heavy atoms; a few are misplaced atoms, so many are several models in one
_SHORTEST_IN_NM = 0.07  # no two atoms are nearer
_FEW = 10  # clashing atoms of a small molecule that are no error yet
_SHORT = 0.72  # of the sum of covalent radii: triple bonds have 0.77
_TOUCHING = 0.25  # Å beyond that sum, within which only bonded atoms are


def without_placeholder(ensemble: Ensemble) -> Ensemble:
    """Leave out boxes that cannot hold the atoms, and say so.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, in the boxes of the source.

    Returns
    -------
    Ensemble
        In open space if the box of the first or the last snapshot is a placeholder.
    """
    angstrom = _angstrom(ensemble)
    if angstrom is None:
        return ensemble
    found = _placeholder(ensemble, 0, angstrom)
    if found is None:
        with contextlib.suppress(ValueError):  # which is told when that snapshot is needed
            found = _placeholder(ensemble, ensemble.n_snapshots - 1, angstrom)
    if found is None:
        return ensemble
    lengths = " × ".join(f"{length:.4g}" for length in np.linalg.norm(found, axis=1))
    note = (
        f"{ensemble.prefix}a box of {lengths} {ensemble.unit} cannot hold the atoms and was taken "
        "for a placeholder: space is open; give the true box (box=) if there is one"
    )
    frames = ensemble.frames.with_boxes(None)
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def refuse_clashes(ensemble: Ensemble) -> None:
    """Refuse snapshots in which many atoms lie upon one another.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms.

    Raises
    ------
    ValueError
        If more than a twentieth of the heavy atoms of the first snapshot clash.
    """
    angstrom = _angstrom(ensemble)
    heavy = np.flatnonzero(~np.isin(ensemble.atoms.elements, (*HYDROGENS, "")))
    if angstrom is None or not len(heavy):
        return
    points, boxes = _first(ensemble, angstrom)
    clashing = heavy[have_partners(points[heavy], _CLASH, boxes)]
    few = len(clashing) <= max(_FEW, _CLASHING * len(heavy))
    if few or _are_nanometres(points[heavy], boxes):
        return
    raise ValueError(
        f"{ensemble.prefix}{len(clashing):,} of {len(heavy):,} heavy atoms lie within {_CLASH} Å "
        f"of another, such as {ensemble.atoms.label(int(clashing[0]))}: several models or "
        "alternative places may be piled into one; write them apart, as models, or select one"
    )


def geometry_notes(ensemble: Ensemble) -> tuple[str, ...]:
    """Point out distances in the first snapshot that no chemistry knows.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, with their bonds.

    Returns
    -------
    tuple of str
        One note, or none.
    """
    angstrom, atoms = _angstrom(ensemble), ensemble.atoms
    radii = np.where(is_ion(atoms), 0.0, covalent_radii(atoms.elements))
    known = np.flatnonzero(radii > 0)
    if angstrom is None or not len(known) or not len(atoms.bonds):
        return ()
    points, boxes = _first(ensemble, angstrom)
    if _are_nanometres(points[known], boxes):
        return ()
    reach = 2 * float(radii.max()) + _TOUCHING
    pairs = np.sort(known[pairs_within(points[known], reach, boxes)], axis=1)
    vectors = points[pairs[:, 0]] - points[pairs[:, 1]]
    distances = np.linalg.norm(boxes.shorten(vectors[None])[0], axis=1)
    sums = radii[pairs].sum(axis=1)
    limits = np.where(_among(pairs, atoms.bonds, len(atoms)), _SHORT * sums, sums + _TOUCHING)
    strange = np.flatnonzero(distances < limits)
    if not len(strange):
        return ()
    worst = strange[np.argmin(distances[strange] / limits[strange])]
    named = " and ".join(atoms.label(int(atom)) for atom in pairs[worst])
    count = "1 pair" if len(strange) == 1 else f"{len(strange):,} pairs"
    note = (
        f"{ensemble.prefix}{count} of atoms nearer than chemistry allows, such as {named}, "
        f"{distances[worst]:.2f} Å apart: check the structure there"
    )
    return (note,)


def _placeholder(ensemble: Ensemble, index: int, angstrom: float) -> Floats | None:
    """Return the box of a snapshot if it cannot hold the atoms."""
    points, boxes = ensemble.frames.read(index, index + 1)
    if boxes is None or not is_placeholder(angstrom * boxes[0], *_solid(ensemble, points[0])):
        return None
    box: Floats = boxes[0]
    return box


def _angstrom(ensemble: Ensemble) -> float | None:
    """Length of the unit of atoms in Å; None for what are no atoms, or in no unit of theirs."""
    if ensemble.n_dimensions != 3 or not ensemble.unit:
        return None
    return unit_in_angstrom(ensemble.unit)


def _are_nanometres(points: Floats, boxes: Boxes) -> bool:
    """Tell whether the unit is wrong, which is told elsewhere: bonds of 1.5 Å are 0.15 nm."""
    near, nearer = (have_partners(points, reach, boxes) for reach in (_CLASH, _SHORTEST_IN_NM))
    return bool(2 * np.count_nonzero(near) > len(points) and not nearer.any())


def _first(ensemble: Ensemble, angstrom: float) -> tuple[Floats, Boxes]:
    points, box = ensemble.frames.read(0, 1)
    scaled = None if box is None else angstrom * box
    return angstrom * np.asarray(points[0], np.float64), Boxes.of(scaled, 1, 3)


def _solid(ensemble: Ensemble, points: Coordinates) -> tuple[Floats, float]:
    """Points of one snapshot in Å that cannot overlap, and how near they may come to one another.

    Hydrogens and sites that are no atoms are bound nearer than two heavy atoms ever are.
    """
    places = np.asarray(points, np.float64) * (_angstrom(ensemble) or 1.0)
    heavy = ~np.isin(ensemble.atoms.elements, (*HYDROGENS, ""))
    return (places[heavy], 1.0) if heavy.any() else (places, 0.7)


def _among(pairs: Ints, bonds: Ints, n_atoms: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keys = pairs[:, 0] * n_atoms + pairs[:, 1]
    return np.isin(keys, bonds[:, 0] * n_atoms + bonds[:, 1])
