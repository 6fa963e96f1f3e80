"""One structure beside itself, coloured by two results, with scripts for the viewers.

Matched clusters have the same number in the B-factor column, and so the same colour and the same
selection in every viewer, on the left (the first result) as on the right (the second).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._files import write_atomically
from timme.analysis import Analysis
from timme.compare import Comparison
from timme.hierarchy.tree import grow
from timme.output.colours import WIDE, Colouring
from timme.output.common import NAMES, Names
from timme.output.matched_colours import cluster_colours
from timme.output.picture import picture
from timme.output.scripts import chimerax, pymol, vmd
from timme.output.structures import Written, mmcif_text, pdb_obstacle, pdb_text, structure
from timme.system.atoms import Atoms

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_LINE = r".{1,68}(?:\s|$)"
_CHAIN = "A"  # what a chain without a name is called in a file


def write_side_by_side(
    first: Analysis,
    second: Analysis,
    compared: Comparison,
    folder: str | Path,
    *,
    names: Names = NAMES,
    palette: Sequence[str] = WIDE,
) -> Written:
    """Write a structure that shows both results side by side, and scripts that draw it.

    Parameters
    ----------
    first, second : Analysis
        Both results, narrowed to the common sites.
    compared : Comparison
        Their hierarchies, with clusters matched at one pair of cutoffs.
    folder : str or Path
        An existing folder.
    names : tuple of str, optional
        What the two are called.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    Written
        ``comparison.cif``, ``.pdb`` where it fits, ``.pml``, ``.cxc`` and ``.tcl``.
    """
    shown, found = side_by_side(first, second, compared, palette=palette)
    title = _title(compared, names)
    made = structure(shown, found)
    half = len(shown.system.sites) // 2
    left, right = (
        " ".join(dict.fromkeys(chain or _CHAIN for chain in chains.tolist()))
        for chains in (shown.system.sites.chains[:half], shown.system.sites.chains[half:])
    )
    text = _plain(
        f"{title}. The first is in chains {left}, the second in chains {right}. B-factor: "
        f"partners have the same number, 0 is the rest (fewer than {found.min_size} shown)."
    )
    made.info["_struct.title"] = text
    made.raw_remarks = [f"REMARK 250 {words.strip()}" for words in re.findall(_LINE, text)]
    target = Path(folder) / "comparison"
    paths = [write_atomically(target.with_suffix(".cif"), mmcif_text(made))]
    obstacle = pdb_obstacle(made)
    if obstacle is None:
        paths.append(write_atomically(target.with_suffix(".pdb"), pdb_text(made)))
    mmcif, for_vmd = paths[0].name, paths[-1].name  # VMD knows the PDB format best
    for program, suffix, file in (
        (pymol, ".pml", mmcif),
        (chimerax, ".cxc", mmcif),
        (vmd, ".tcl", for_vmd),
    ):
        script = program(replace(picture(shown, found, file), title=title))
        paths.append(write_atomically(target.with_suffix(suffix), script))
    notes = () if obstacle is None else (f"no comparison.pdb, use comparison.cif: {obstacle}",)
    return Written(tuple(paths), notes)


def side_by_side(
    first: Analysis, second: Analysis, compared: Comparison, *, palette: Sequence[str] = WIDE
) -> tuple[Analysis, Colouring]:
    """Put a structure beside itself, coloured by the first result and by the second.

    Clusters are numbered as in the first; those of the second have the number of their partner, and
    those without one follow. Sites that were not compared go with the compared one of their
    residue.

    Parameters
    ----------
    first, second : Analysis
        Both results, narrowed to the common sites. The structure is that of the first, or that of
        the second if the first has no coordinates.
    compared : Comparison
        Their hierarchies, with clusters matched at one pair of cutoffs.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    shown : Analysis
        Every site twice, each an object of its own.
    found : Colouring
        The clusters of both.
    """
    base = first if first.system.n_dimensions else second
    if not base.system.n_dimensions:
        raise ValueError("a picture needs coordinates: neither of the two results has any")
    one, other = compared.clusters.first, compared.clusters.second
    colours = cluster_colours(compared, palette=palette)
    numbers = compared.clusters.partners[: len(colours[1])].copy()
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = len(colours[0]) + np.arange(len(alone))
    own = np.append(np.where(one.labels < len(colours[0]), one.labels, -1), -1)
    taken = np.append(np.append(numbers, -1)[np.minimum(other.labels, len(numbers))], -1)
    site = _compared_sites(base)
    labels = np.concatenate([own[site], taken[site]])
    every = np.arange(len(labels))
    nothing = np.empty((0, 2), np.int64), np.empty(0)
    places = np.asarray(base.system.coordinates, dtype=np.float64)
    system = replace(
        base.system,
        shown=every,
        names=np.tile(base.system.sites.names, 2),
        object_sites=every,
        site_objects=every,
        sites=_double(base.system.sites),
        coordinates=_coordinates_beside(places),
        box=None,
        film=None,
    )
    shown = replace(base, system=system, hierarchy=grow(len(labels), *nothing), parts=())
    sizes = np.bincount(np.concatenate([own, taken]) + 1, minlength=1)[1:]
    found = Colouring(
        cutoff=one.cutoff,
        min_size=compared.clusters.min_size,
        labels=frozen(labels),
        colours=frozen(np.concatenate([colours[0], colours[1][alone]])),
        sizes=frozen(sizes),
    )
    return shown, found


def _compared_sites(analysis: Analysis) -> Ints:
    """Return the compared site that each site goes with, -1 for none."""
    atoms, places = analysis.system.sites, analysis.system.object_sites[analysis.system.shown]
    columns = atoms.chains.tolist(), atoms.resids.tolist(), atoms.icodes.tolist()
    residues = list(zip(*columns, strict=True))
    of_residue: dict[tuple[str, int, str], int] = {}
    for number, place in enumerate(places.tolist()):
        of_residue.setdefault(residues[place], number)
    site = np.array([of_residue.get(residue, -1) for residue in residues], dtype=np.int64)
    site[places] = np.arange(len(places))
    return site


def _double(atoms: Atoms) -> Atoms:
    """Return all atoms twice, the second time in chains of other names."""
    chains = atoms.chains.tolist()
    free = (letter for letter in _LETTERS if letter not in {*chains, _CHAIN})
    copies = {chain: next(free, f"{chain or _CHAIN}2") for chain in dict.fromkeys(chains)}
    return Atoms(
        names=np.tile(atoms.names, 2),
        elements=np.tile(atoms.elements, 2),
        resnames=np.tile(atoms.resnames, 2),
        resids=np.tile(atoms.resids, 2),
        icodes=np.tile(atoms.icodes, 2),
        chains=np.array(chains + [copies[chain] for chain in chains]),
        masses=np.tile(atoms.masses, 2),
        bonds=np.concatenate([atoms.bonds, atoms.bonds + len(atoms)]),
    )


def _coordinates_beside(coordinates: Floats) -> Floats:
    """Return all places twice, the second time moved aside where that takes least room."""
    widths = np.nan_to_num(np.nanmax(coordinates, axis=0) - np.nanmin(coordinates, axis=0))[:3]
    widths = np.where(widths > 0, widths, np.inf)  # not out of the plane of a flat system
    step = np.zeros(coordinates.shape[1])
    narrowest = int(widths.argmin())
    step[narrowest] = 1.3 * widths[narrowest] if np.isfinite(widths[narrowest]) else 1.0
    return np.concatenate([coordinates, coordinates + step])


def _title(compared: Comparison, names: Names) -> str:
    sides = (
        (names[0], compared.clusters.first.cutoff, compared.first.unit),
        (names[1], compared.clusters.second.cutoff, compared.second.unit),
    )
    at = (f"{name} at the cutoff {cutoff:.6g} {unit}".rstrip() for name, cutoff, unit in sides)
    return "Clusters of " + " and of ".join(at)


def _plain(text: str) -> str:
    """Write in the letters that every structure file may hold."""
    for letter, plain in (("Å", "A"), ("µ", "u"), ("σ", "sigma"), ("α", "a")):
        text = text.replace(letter, plain)
    return text.encode("ascii", "replace").decode()
