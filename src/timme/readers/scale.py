"""How long the unit of coordinates is, judged once by the distances between atoms."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from timme._arrays import Coordinates
from timme.readers.files import kind
from timme.system.atoms import Atoms
from timme.system.elements import covalent_radii
from timme.system.ensemble import Ensemble
from timme.system.units import unit_in_angstrom, unit_label

_LEAST, _MOST = 0.5, 8.0  # Å between an atom and the nearest other: bonds, or sparse sites
_SAMPLE = 1000  # atoms whose neighbours are looked at
# Neighbours of an atom that are counted, and how many times as far as the nearest the last of them
# is at most: 3 in a chain of atoms, and 10 where two models lie upon one another.
_NEIGHBOURS, _FARTHER = 8, 6.0
_PILED = 0.7  # Å: what would be nearer than this in nm is not in nm, but one upon another
_IN_NM = frozenset((".gro", ".xtc", ".trr", ".tng"))  # always
_CONVERTED = _IN_NM | {".h5md"}  # to Å; H5MD only if it states a unit


class Scale(NamedTuple):
    """What the distances between atoms say of the unit."""

    angstrom: float | None  # length of the unit; None for what are no atoms, or in no such unit
    note: str = ""  # a doubt about the unit that is believed
    piled: bool = False  # whether atoms lie upon one another


def is_molecular(ensemble: Ensemble) -> bool:
    """Tell whether covalent bonds make sense: elements, space, a unit of their size.

    Parameters
    ----------
    ensemble : Ensemble
        All sites.

    Returns
    -------
    bool
        True as well for elements in a file that states no unit, which is taken for Å.
    """
    known = (ensemble.atoms.elements != "").any()
    return (
        bool(known) and ensemble.n_dimensions == 3 and unit_in_angstrom(ensemble.unit) is not None
    )


def judge_scale(ensemble: Ensemble) -> Scale:
    """Tell how long the unit of the coordinates is in Å.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, with the unit that is believed.

    Returns
    -------
    Scale
        The length that distances in the first snapshot speak for, with a note if it is not that of
        the unit. What has no elements, and no unit either, are no atoms.
    """
    if not is_molecular(ensemble):
        stated = ensemble.n_dimensions == 3 and ensemble.unit
        return Scale(unit_in_angstrom(ensemble.unit) if stated else None)
    believed = unit_in_angstrom(ensemble.unit) or 1.0
    found = _distances(ensemble.atoms, ensemble.frames.read(0, 1)[0][0])
    if found is None or _LEAST <= found.nearest * believed <= _MOST:
        return Scale(believed)
    short = found.nearest * believed < _LEAST
    if short and found.is_pile:
        return Scale(believed, piled=True)
    likely = "nm" if short else "Å"
    length = unit_in_angstrom(likely) or 1.0
    if not _LEAST <= found.nearest * length <= _MOST:
        return Scale(believed)
    source = ensemble.sources[0] if ensemble.sources else "array"
    apart = f"{source}: neighbouring atoms are {found.nearest:.3g} {ensemble.unit or 'Å'} apart"
    if _kind(ensemble) in _IN_NM:
        remedy = "though its format is in nm, so that its numbers are too small: write it again"
    else:
        remedy = f"which looks like {likely}: say so with unit={likely!r}"
    return Scale(length, f"{apart}, {remedy}")


def name_unit(ensemble: Ensemble, unit: str | None) -> str:
    """Call the unit of coordinates as the user does, where the format leaves that open.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, with the unit of the source.
    unit : str or None
        The user's name of it.

    Returns
    -------
    str
        The user's, or that of the source.

    Raises
    ------
    ValueError
        If the unit is that of the format, or stated in it, so that coordinates are Å by now.
    """
    if unit is None:
        return ensemble.unit
    label = unit_label(unit)
    stated = bool(ensemble.unit) and _kind(ensemble) in _CONVERTED
    if stated and label != ensemble.unit:
        raise ValueError(
            f"{ensemble.sources[-1]}: its lengths, whose unit is known, are read as "
            f"{ensemble.unit}, so that unit={unit!r} would be a wrong name: leave it out"
        )
    return label


def _kind(ensemble: Ensemble) -> str:
    """Tell the kind of the file that has the coordinates, the last one."""
    return kind(Path(ensemble.sources[-1])) if ensemble.sources else ""


class _Distances(NamedTuple):
    """Distances of atoms to others, in the unit of the coordinates."""

    nearest: float  # to the nearest one, the median
    is_pile: bool  # whether many are as near as no two atoms are in nm, or pairs far from others


def _distances(atoms: Atoms, coordinates: Coordinates) -> _Distances | None:
    """Measure some of the atoms that have an element; None where these are too few."""
    from scipy.spatial import cKDTree

    known = np.flatnonzero(
        (covalent_radii(atoms.elements) > 0) & np.isfinite(coordinates).all(axis=1)
    )
    if len(known) < 4:
        return None
    positions = np.asarray(coordinates[known], dtype=np.float64)
    chosen = positions[:: max(1, len(known) // _SAMPLE)]
    count = min(len(known), _NEIGHBOURS + 1)  # itself is the first
    distances = np.asarray(cKDTree(positions).query(chosen, k=count)[0])
    nearest, last = np.median(distances[:, 1]), np.median(distances[:, -1])
    if not nearest:
        return None
    in_nm = 10.0 * np.quantile(distances[:, 1], 0.005)
    return _Distances(float(nearest), bool(in_nm < _PILED or last > _FARTHER * nearest))
