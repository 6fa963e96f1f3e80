"""What a user wants of any source: its box, weights, bonds and sites."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, numbers
from timme.readers.bonds import guess_bonds, with_bonds
from timme.readers.files import STRUCTURES, kind
from timme.readers.libraries import MDTRAJ, box_of_library
from timme.readers.scale import Scale, is_molecular
from timme.system.atoms import Atoms
from timme.system.boxes import box_matrices
from timme.system.checks import checked_weights
from timme.system.elements import is_coarse_grained
from timme.system.ensemble import Ensemble
from timme.system.placeholders import refuse_other_spaces
from timme.system.selection import select_atoms


def with_box(ensemble: Ensemble, box: npt.ArrayLike, total: int, kept: Sequence[int]) -> Ensemble:
    """Put another box in place of that of the source.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    box : array_like
        The new box, for all, for each kept snapshot or for each of all.
    total : int
        Number of all snapshots.
    kept : sequence of int
        Which are kept.

    Returns
    -------
    Ensemble
        The same coordinates in the box.
    """
    snapshots, _, dimensions = ensemble.frames.shape
    given = box_of_library(box)
    try:
        given = numbers(given, "boxes")
        if snapshots != total and given.ndim > 1 and len(given) == total:
            boxes = box_matrices(given, total, dimensions)[np.asarray(kept)]
        else:
            boxes = box_matrices(given, snapshots, dimensions)
    except ValueError as error:  # which may advise to look at a file that has no part in it
        reason = str(error).removesuffix(": check the box of the file")
        raise ValueError(f"box= cannot be used: {reason}") from None
    refuse_other_spaces(boxes, ensemble.unit, numbers=kept, name="box= cannot be used")
    return replace(ensemble, frames=ensemble.frames.with_boxes(boxes))


def weights_of(weights: npt.ArrayLike | None, total: int, kept: Sequence[int]) -> Floats | None:
    """Check the weights of the snapshots that are kept.

    Parameters
    ----------
    weights : array_like or None
        One number for each kept snapshot or for each of all.
    total : int
        Number of all snapshots.
    kept : sequence of int
        Which are kept.

    Returns
    -------
    ndarray, shape (snapshots,), or None
        One weight per kept snapshot.
    """
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.shape == (total,) and len(kept) != total:
        array = array[np.asarray(kept)]
    return checked_weights(array, len(kept))


def with_bonds_chosen(ensemble: Ensemble, bonds: str | npt.ArrayLike, scale: Scale) -> Ensemble:
    """Give the atoms of an ensemble the bonds that the user wants.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, with the bonds that the source gives.
    bonds : {"auto", "file", "guess", "none"} or array_like
        Which bonds to take.
    scale : Scale
        How long the unit is, of which the user is warned where it is not that of the file.

    Returns
    -------
    Ensemble
        The same snapshots with the bonds.

    Warns
    -----
    UserWarning
        When distances between atoms speak for another unit.
    """
    atoms = ensemble.atoms
    if not isinstance(bonds, str):
        return replace(ensemble, atoms=with_bonds(atoms, bonds), steps=None)
    if bonds not in {"auto", "file", "guess", "none"}:
        raise ValueError(
            f"bonds are 'auto', 'file', 'guess', 'none' or pairs of atoms, got {bonds!r}"
        )
    if bonds == "none":
        return replace(ensemble, atoms=with_bonds(atoms), steps=None)
    ensemble = _with_steps(ensemble, scale)
    atoms = ensemble.atoms
    if bonds != "file" and is_coarse_grained(atoms.names, atoms.resnames):
        return _without_guess(ensemble)
    if bonds == "guess" and not is_molecular(ensemble):
        raise ValueError(
            f"{_name(ensemble)}: bonds are guessed from elements and lengths in a unit such as Å, "
            "of which something is missing: leave out bonds='guess'"
        )
    if bonds == "file" or not is_molecular(ensemble):
        return ensemble
    coordinates, box = ensemble.snapshot()
    if scale.note:
        warnings.warn(scale.note, UserWarning, stacklevel=2)
        ensemble = replace(ensemble, notes=(*ensemble.notes, scale.note))
    if bonds == "auto" and _complete_bonds(ensemble):
        return ensemble
    guessed = guess_bonds(atoms, coordinates, box=box, angstrom=scale.angstrom or 1.0)
    given = atoms.bonds if bonds == "auto" else ()
    return replace(ensemble, atoms=with_bonds(atoms, given, guessed))


def select_sites(
    ensemble: Ensemble,
    select: str | npt.ArrayLike | Callable[[Ensemble], Ensemble] | None,
    group: Ints | None,
) -> Ensemble:
    """Keep the sites that the user wants.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms.
    select : str, array_like, callable or None
        A selection.
    group : ndarray of int or None
        Atoms to which the selection is bound.

    Returns
    -------
    Ensemble
        The same snapshots of the chosen sites.
    """
    if select is None:
        return (
            ensemble if group is None or len(group) == ensemble.n_sites else ensemble.select(group)
        )
    if callable(select):
        return select(ensemble if group is None else ensemble.select(group))
    if not isinstance(select, str):
        chosen = select_atoms(
            ensemble.atoms if group is None else Atoms.unnamed(len(group)), None, select
        )
        return ensemble.select(chosen if group is None else group[chosen])
    coordinates: Coordinates | None = ensemble.snapshot()[0]
    if ensemble.n_dimensions != 3:
        coordinates = None
    chosen = select_atoms(ensemble.atoms, coordinates, select)
    if group is not None:
        chosen = chosen[np.isin(chosen, group)]
    return ensemble.select(chosen)


def _with_steps(ensemble: Ensemble, scale: Scale) -> Ensemble:
    """Join chains of which the source has one atom of each residue, and say so."""
    n_bonds = len(ensemble.atoms.bonds)
    ensemble = ensemble.with_steps(scale.angstrom)
    if ensemble.steps is None or not len(ensemble.steps):
        return ensemble
    counts, sites = np.unique(ensemble.steps[:, 2], return_inverse=True)
    kinds = {3: "Cα", 6: "nucleotides"}
    told = " and ".join(
        f"{np.count_nonzero(sites == number):,} pairs of {kinds[count]} that follow one another "
        f"count as {count} bonds apart"
        for number, count in enumerate(counts.tolist())
    )
    note = f"{_name(ensemble)}: the atoms between residues are not there: {told}"
    n_springs = n_bonds - len(ensemble.atoms.bonds)
    if n_springs:
        note += f"; {n_springs:,} bonds between Cα in the file stand for these or for springs"
    return replace(ensemble, notes=(*ensemble.notes, note))


def _without_guess(ensemble: Ensemble) -> Ensemble:
    if len(ensemble.atoms.bonds):
        return ensemble
    note = (
        f"{_name(ensemble)}: coarse-grained beads have no elements, so that no covalent bonds are "
        "guessed: a topology with bonds, such as TPR or PSF, gives them"
    )
    return replace(ensemble, notes=(*ensemble.notes, note))


def _complete_bonds(ensemble: Ensemble) -> bool:
    # PDB and mmCIF files list the unusual bonds only, and mdtraj knows those of standard residues.
    source = ensemble.sources[0] if ensemble.sources else ""
    partial = source == MDTRAJ or kind(Path(source)) in STRUCTURES
    return len(ensemble.atoms.bonds) > 0 and not partial


def _name(ensemble: Ensemble) -> str:
    return ensemble.sources[0] if ensemble.sources else "array"
