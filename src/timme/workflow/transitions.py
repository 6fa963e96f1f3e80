"""Take a known transition from two structures, site by site as an ensemble has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from timme._arrays import Floats, Ints
from timme.readers import read
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble
from timme.system.topology import atoms_of_sites
from timme.system.units import unit_in_angstrom

_ALIKE = 0.25  # of the residues, in homologues that are numbered alike; 0.06 are alike by chance
_TELLING = 4  # names of residues, and more: with fewer, names tell nothing


def known_transition(ensemble: Ensemble, before: str | Path, after: str | Path) -> Floats:
    """Read where the sites of an ensemble are before and after a known transition.

    Atoms are matched by chain, residue number and name; where chains are named otherwise, by number
    and name alone, in the first chain that has them.

    Parameters
    ----------
    ensemble : Ensemble
        The sites.
    before, after : path
        A structure each; of several models the first.

    Returns
    -------
    ndarray, shape (2, sites, 3)
        In the unit of the ensemble; NaN where a site is missing in either.
    """
    wanted = atoms_of_sites(ensemble)
    found = np.array([_places(ensemble, wanted, path) for path in (before, after)])
    found[:, np.isnan(found).any(axis=(0, 2))] = np.nan
    shared = int(np.isfinite(found[0, :, 0]).sum())
    if shared < 6:
        raise ValueError(
            f"{before} and {after} share {shared} sites with what is analysed, two bodies need 6 "
            "or more: give structures of the same molecule, with the same residue numbers"
        )
    return found


def _places(ensemble: Ensemble, wanted: Atoms, path: str | Path) -> Floats:
    """Places of the wanted atoms in the first snapshot of a file."""
    there = read(path)
    atoms, places = atoms_of_sites(there), np.asarray(there.snapshot()[0], dtype=np.float64)
    if there.n_dimensions != 3:
        raise ValueError(f"{path}: a known transition is given by structures in 3 dimensions")
    rows = _match(wanted, atoms, chains=True)
    if (rows >= 0).sum() < len(wanted) / 2:
        rows = _match(wanted, atoms, chains=False)
    _refuse_other_residues(
        wanted.take(np.flatnonzero(rows >= 0)), atoms.take(rows[rows >= 0]), path
    )
    ours, theirs = unit_in_angstrom(ensemble.unit), unit_in_angstrom(there.unit)
    scale = theirs / ours if ours and theirs else 1.0
    found = np.full((len(wanted), 3), np.nan)
    found[rows >= 0] = scale * places[rows[rows >= 0]]
    return found


def _refuse_other_residues(wanted: Atoms, found: Atoms, path: str | Path) -> None:
    """Refuse another molecule, whose residues have the same numbers but not the same names."""
    if len(np.unique(wanted.resnames)) < _TELLING or len(np.unique(found.resnames)) < _TELLING:
        return
    alike = int((wanted.resnames == found.resnames).sum())
    if alike < _ALIKE * len(wanted):
        raise ValueError(
            f"{path}: of the {len(wanted)} sites that have the same numbers as what is analysed, "
            f"{alike} are of residues of the same name: give structures of the same molecule, with "
            "the same residue numbers"
        )


def _match(wanted: Atoms, atoms: Atoms, *, chains: bool) -> Ints:
    """Row of each wanted atom among others, -1 where it is not there; of several, the first."""

    def keys(some: Atoms) -> list[tuple[object, ...]]:
        named = (some.resids.tolist(), some.icodes.tolist(), some.names.tolist())
        return list(zip(*((some.chains.tolist(), *named) if chains else named), strict=True))

    first: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(keys(atoms)):
        first.setdefault(key, row)
    return np.array([first.get(key, -1) for key in keys(wanted)], dtype=np.int64)
