"""Selections: atoms chosen by the MDAnalysis language or by the name of a preset."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from timme._arrays import Coordinates, Ints
from timme._text import one_line
from timme.ensemble.atoms import Atoms
from timme.ensemble.residues import PRESETS, preset_sites, residue_index


def selector(atoms: Atoms, coordinates: Coordinates | None) -> Callable[[str], Ints]:
    """Return a function that takes a selection and returns the atoms that it names, at least one.

    Parameters
    ----------
    atoms : Atoms
        Names and bonds.
    coordinates : ndarray, shape (atoms, dimensions), or None
        Positions in the first snapshot, for selections by distance.

    Returns
    -------
    callable
        Takes a preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``) or a selection in the
        MDAnalysis language; returns the indices of the chosen atoms.

    Examples
    --------
    >>> selector(Atoms.unnamed(4), None)("resid 2:3")
    array([1, 2])
    """
    universe = cache(lambda: _universe(atoms, coordinates))  # made once, if it is needed

    def select(text: str) -> Ints:
        if text.strip().lower() in PRESETS:
            found = preset_sites(atoms, text.strip().lower())
        else:
            found = _by_language(universe, text)
        if len(found) == 0:
            raise ValueError(
                f"the selection {text!r} matches none of the {len(atoms)} atoms: "
                f"check names against the file ({_names_of(atoms)})"
            )
        return found

    return select


def _by_language(universe: Callable[[], Any], text: str) -> Ints:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(universe().select_atoms(text).ix, dtype=np.int64)
    except Exception as error:  # noqa: BLE001, the language raises what it stumbles over
        raise ValueError(
            f"the selection {text!r} is not understood ({one_line(error)[:200]}): use the "
            f"MDAnalysis language, such as 'protein and name CA', or one of {', '.join(PRESETS)}"
        ) from None


def _universe(atoms: Atoms, coordinates: Coordinates | None) -> Any:
    import MDAnalysis

    if coordinates is not None and coordinates.shape[1] > 3:
        coordinates = None  # MDAnalysis knows no distances in more dimensions
    residues = residue_index(atoms)
    _, first = np.unique(residues, return_index=True)
    # What some programs call chain is a segment in others; selections take both words.
    segments, segment = np.unique(atoms.chains[first], return_inverse=True)
    universe = MDAnalysis.Universe.empty(
        len(atoms),
        n_residues=len(first),
        n_segments=len(segments),
        atom_resindex=residues,
        residue_segindex=segment,
        trajectory=coordinates is not None,
    )
    attributes = {name: getattr(atoms, name) for name in ("names", "elements", "masses")}
    attributes |= {name: getattr(atoms, name)[first] for name in ("resnames", "resids", "icodes")}
    attributes |= {"types": atoms.elements, "chainIDs": atoms.chains, "segids": segments}
    attributes |= {"resnums": attributes["resids"]}
    for name, values in attributes.items():
        is_text = values.dtype.kind == "U"
        universe.add_TopologyAttr(name, values.astype(object) if is_text else values)
    universe.add_TopologyAttr("bonds", [tuple(bond) for bond in atoms.bonds.tolist()])
    if coordinates is not None:
        # Points in a plane are at z = 0.
        universe.atoms.positions = np.pad(coordinates, ((0, 0), (0, 3 - coordinates.shape[1])))
    return universe


def _names_of(atoms: Atoms) -> str:
    """Return some of the names that there are, for the message."""
    columns = {"atoms": atoms.names, "residues": atoms.resnames, "chains": atoms.chains}
    distinct = {title: np.unique(values[values != ""])[:6] for title, values in columns.items()}
    some = [f"{title} {', '.join(values)}" for title, values in distinct.items() if len(values)]
    return "; ".join(some) or "it gives no names"
