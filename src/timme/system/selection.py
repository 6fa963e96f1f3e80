"""Selections: atoms chosen by the MDAnalysis language or by the name of a preset."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Ints
from timme.system.atoms import Atoms
from timme.system.residues import PRESETS, preset_sites, residue_index


def select_atoms(atoms: Atoms, coordinates: Coordinates | None, text: str | npt.ArrayLike) -> Ints:
    """Choose atoms.

    Parameters
    ----------
    atoms : Atoms
        Names and bonds.
    coordinates : ndarray, shape (atoms, 3), or None
        Positions in the first snapshot, for selections by distance.
    text : str or array_like
        A preset (``ca``, ``backbone``, ``heavy``, ``water-oxygen``), a selection in the MDAnalysis
        language, indices, or one truth value per atom.

    Returns
    -------
    ndarray of int
        Indices of the chosen atoms, at least one.

    Examples
    --------
    >>> select_atoms(Atoms.unnamed(4), None, [3, 1])
    array([3, 1])
    """
    if not isinstance(text, str):
        return _checked_indices(text, len(atoms))
    return selector(atoms, coordinates)(text)


def selector(atoms: Atoms, coordinates: Coordinates | None) -> Callable[[str], Ints]:
    """Prepare to choose atoms again and again.

    Parameters
    ----------
    atoms, coordinates
        As for :func:`select_atoms`.

    Returns
    -------
    callable
        Chooses atoms by a text.
    """
    universe = cache(lambda: _universe(atoms, coordinates))  # made once, if it is needed

    def select(text: str) -> Ints:
        if text.strip().lower() in PRESETS:
            chosen = preset_sites(atoms, text.strip().lower())
        else:
            chosen = _by_language(universe, text)
        if len(chosen) == 0:
            raise ValueError(
                f"the selection {text!r} matches none of the {len(atoms)} atoms: "
                f"check names against the file ({_what_is_there(atoms)})"
            )
        return chosen

    return select


def _by_language(universe: Callable[[], Any], text: str) -> Ints:
    from MDAnalysis.exceptions import NoDataError, SelectionError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(universe().select_atoms(text).ix, dtype=np.int64)
    except (
        SelectionError,
        NoDataError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
    ) as error:
        raise ValueError(
            f"the selection {text!r} is not understood ({_one_line(error)}): use the MDAnalysis "
            f"language, such as 'protein and name CA', or one of {', '.join(PRESETS)}"
        ) from None


def _one_line(error: Exception) -> str:
    """Bring the message of another library into one line, or name its kind if it has none."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def _universe(atoms: Atoms, coordinates: Coordinates | None) -> Any:
    import MDAnalysis

    if coordinates is not None and coordinates.shape[1] > 3:
        coordinates = None  # distances in more dimensions are not known there
    residues = residue_index(atoms)
    _, first = np.unique(residues, return_index=True)
    # Some programs call it chain and some segment; here both words mean the same.
    segments, segment = np.unique(atoms.chains[first], return_inverse=True)
    universe = MDAnalysis.Universe.empty(
        len(atoms),
        n_residues=len(first),
        n_segments=len(segments),
        atom_resindex=residues,
        residue_segindex=segment,
        trajectory=coordinates is not None,
    )
    for name, values in (
        ("names", atoms.names),
        ("types", atoms.elements),
        ("elements", atoms.elements),
        ("masses", atoms.masses),
        ("chainIDs", atoms.chains),
        ("resnames", atoms.resnames[first]),
        ("resids", atoms.resids[first]),
        ("resnums", atoms.resids[first]),
        ("icodes", atoms.icodes[first]),
        ("segids", segments),
    ):
        universe.add_TopologyAttr(
            name, values.astype(object) if values.dtype.kind == "U" else values
        )
    universe.add_TopologyAttr("bonds", [tuple(bond) for bond in atoms.bonds.tolist()])
    if coordinates is not None:
        flat = 3 - coordinates.shape[1]  # what lies in a plane is at z = 0
        universe.atoms.positions = np.pad(coordinates, ((0, 0), (0, flat)))
    return universe


def _checked_indices(given: npt.ArrayLike, count: int) -> Ints:
    array = np.asarray(given)
    if array.dtype == np.bool_ and array.shape == (count,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            f"a selection needs a text, a list of indices or {count} truth values, "
            f"got an array of {array.dtype} of shape {array.shape}"
        )
    if array.min() < -count or array.max() >= count:
        raise ValueError(
            f"a selection of {count} atoms needs indices from 0 to {count - 1}, "
            f"got {int(array.max() if array.max() >= count else array.min())}"
        )
    indices = array.astype(np.int64) % count
    if len(np.unique(indices)) < len(indices):
        raise ValueError(
            "a selection needs every atom once: remove the indices that are there twice"
        )
    return indices


def _what_is_there(atoms: Atoms) -> str:
    parts = [
        f"{title} {', '.join(map(str, values[:6]))}{'…' if len(values) > 6 else ''}"
        for title, values in (
            ("atoms", np.unique(atoms.names[atoms.names != ""])),
            ("residues", np.unique(atoms.resnames[atoms.resnames != ""])),
            ("chains", np.unique(atoms.chains[atoms.chains != ""])),
        )
        if len(values)
    ]
    return "; ".join(parts) or "it gives no names"
