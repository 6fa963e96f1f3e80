"""Whether what a file says can be true: boxes that hold their atoms, atoms that do not collide."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from timme._arrays import Floats, Ints
from timme.system.elements import HYDROGENS, covalent_radii
from timme.system.ensemble import Ensemble
from timme.system.neighbours import have_partners, pairs_within
from timme.system.placeholders import is_placeholder
from timme.system.residues import is_ion
from timme.system.space import Boxes

_CLASH = 0.5  # Å: no two heavy atoms are nearer, whatever is between them
_CLASHING = 0.05  # of the heavy atoms; a few are misplaced atoms, so many are several models in one
_FEW = 10  # clashing atoms of a small molecule that are no error yet
_SHORT = 0.72  # of the sum of covalent radii: triple bonds have 0.77
_TOUCHING = 0.25  # Å beyond that sum, within which only bonded atoms are


def without_placeholder(ensemble: Ensemble, angstrom: float | None) -> Ensemble:
    """Leave out boxes that cannot hold the atoms, and say so.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, in the boxes of the source.
    angstrom : float or None
        Length of the unit in Å; None for what are no atoms, which fit into any box.

    Returns
    -------
    Ensemble
        In open space if the box of the first or the last snapshot is a placeholder.
    """
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
        f"{ensemble.prefix}a box of {lengths} {ensemble.unit or 'Å'} cannot hold the atoms and "
        "was taken for a placeholder: space is open; give the true box (box=) if there is one"
    )
    frames = ensemble.frames.with_boxes(None)
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def refuse_clashes(ensemble: Ensemble, angstrom: float | None) -> None:
    """Refuse snapshots in which many atoms lie upon one another.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms.
    angstrom : float or None
        Length of the unit in Å, None for what are no atoms.

    Raises
    ------
    ValueError
        If more than a twentieth of the heavy atoms of the first snapshot clash.
    """
    heavy = np.flatnonzero(~np.isin(ensemble.atoms.elements, (*HYDROGENS, "")))
    if angstrom is None or not len(heavy):
        return
    points, boxes = _first(ensemble, angstrom)
    clashing = heavy[have_partners(points[heavy], _CLASH, boxes)]
    if len(clashing) <= max(_FEW, _CLASHING * len(heavy)):
        return
    unstated = "" if ensemble.unit else "; or name the unit (unit=), if it is not Å"
    raise ValueError(
        f"{ensemble.prefix}{len(clashing):,} of {len(heavy):,} heavy atoms lie within {_CLASH} Å "
        f"of another, such as {ensemble.atoms.label(int(clashing[0]))}: several models or "
        "alternative places may be piled into one; write them apart, as models, or select one"
        f"{unstated}"
    )


def geometry_notes(ensemble: Ensemble, angstrom: float | None) -> tuple[str, ...]:
    """Point out distances in the first snapshot that no chemistry knows.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, with their bonds.
    angstrom : float or None
        Length of the unit in Å, None for what are no atoms.

    Returns
    -------
    tuple of str
        One note, or none.
    """
    atoms = ensemble.atoms
    radii = np.where(is_ion(atoms), 0.0, covalent_radii(atoms.elements))
    known = np.flatnonzero(radii > 0)
    if angstrom is None or not len(known) or not len(atoms.bonds):
        return ()
    points, boxes = _first(ensemble, angstrom)
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
    if boxes is None:
        return None
    places = angstrom * np.asarray(points[0], np.float64)
    if not is_placeholder(angstrom * boxes[0], places, ensemble.atoms.elements):
        return None
    box: Floats = boxes[0]
    return box


def _first(ensemble: Ensemble, angstrom: float) -> tuple[Floats, Boxes]:
    points, box = ensemble.frames.read(0, 1)
    scaled = None if box is None else angstrom * box
    return angstrom * np.asarray(points[0], np.float64), Boxes.of(scaled, 1, 3)


def _among(pairs: Ints, bonds: Ints, n_atoms: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keys = pairs[:, 0] * n_atoms + pairs[:, 1]
    return np.isin(keys, bonds[:, 0] * n_atoms + bonds[:, 1])
