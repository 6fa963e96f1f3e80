"""Structures whose columns carry groups and clusters, and lists of these for other programs.

The B-factor is the group of the finding and the occupancy the cluster at its cutoff, both counted
from 1; 0 stands for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import gemmi
import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints
from timme._text import write_atomically
from timme.analysis.result import Analysis
from timme.analysis.tables import min_size
from timme.ensemble import Ensemble
from timme.ensemble.atoms import Atoms, angstroms
from timme.ensemble.residues import residue_index
from timme.output import style

MOST_PDB = 99_999  # atoms that a PDB file can number
_FRAMES = 21  # of the film of a mode
_ASCII = str.maketrans("σÅµ→−", "sAu>-")
_CHAIN, _RESIDUE, _ATOM = "A", "UNX", "X"  # of what has no name


def groups_of_sites(analysis: Analysis) -> Ints:
    """Return the group of each site, 0 for none; a residue has that of its shown site."""
    system, labels = analysis.system, analysis.finding.labels + 1
    if analysis.made.kind == "molecule":
        residue = residue_index(system.sites)
        of_residues = np.zeros(residue.max(initial=-1) + 1, np.int64)
        of_residues[residue[system.object_sites[system.shown]]] = labels
        return of_residues[residue]
    of_objects = np.zeros(len(system.names) + 1, np.int64)
    of_objects[system.shown] = labels
    return of_objects[system.site_objects]


def clusters_of_sites(analysis: Analysis) -> Ints:
    """Return the cluster of each site at the cutoff of the finding, 0 in small ones.

    What is not shown takes the cluster of the shown objects with which it moves.
    """
    system = analysis.system
    cutoff = analysis.finding.cutoff
    if cutoff is None:
        return np.zeros(len(system.site_objects), np.int64)
    shown, every = analysis.hierarchy.cut(cutoff), analysis.atom_hierarchy.cut(cutoff).labels
    numbers = np.where(shown.sizes >= min_size(analysis), np.arange(len(shown.sizes)) + 1, 0)
    of_clusters = np.zeros(every.max() + 1, np.int64)
    of_clusters[every[system.shown]] = numbers[shown.labels]
    return np.append(of_clusters[every], 0)[system.site_objects]


def has_backbone(analysis: Analysis) -> bool:
    """Return whether a cartoon can be drawn."""
    names = set(analysis.system.sites.names.tolist())
    return {"N", "CA", "C"} <= names or {"P", "C4'", "O3'"} <= names


def seen(analysis: Analysis) -> Ints:
    """Return the sites seen in the first snapshot, which structure files hold."""
    return np.flatnonzero(np.isfinite(analysis.system.coordinates).all(axis=1))


def positions(analysis: Analysis) -> Floats:
    """Return where these sites are (sites, 3)."""
    return in_space(analysis.system.coordinates[seen(analysis)], analysis)


def in_space(points: npt.ArrayLike, analysis: Analysis) -> Floats:
    """Return points or vectors in three dimensions, 0 in those they lack; of molecules in Å."""
    given = np.asarray(points, dtype=np.float64)[..., :3]
    found = np.zeros((*given.shape[:-1], 3))
    found[..., : given.shape[-1]] = given * scale(analysis.system.unit)
    return found


def scale(unit: str) -> float:
    """Return the factor from a unit of molecules to Å, 1 for other units."""
    return angstroms(unit) or 1.0


def title(analysis: Analysis) -> str:
    """Return what the columns mean, for a comment: PyMOL would run what follows a semicolon."""
    cutoff = analysis.finding.cutoff
    at = "no cutoff" if cutoff is None else analysis.hierarchy.quantity.cutoff_text(cutoff)
    columns = f"B-factor = group of the finding, occupancy = cluster at {at}"
    plain = f"{analysis.made.title}: {columns}, both from 1, 0 for none".translate(_ASCII)
    return re.sub(r"[^\w .,:=()+<>-]+", "?", plain, flags=re.ASCII)


def _word(name: str, default: str) -> str:
    """Return a name that may stand in a column: no blanks, quotes or control characters."""
    return re.sub(r"[^!#-&(-~]+", "_", str(name).strip()) or default


def _structure(
    atoms: Atoms, sites: Ints, frames: Iterable[Floats], columns: tuple[Ints, Ints]
) -> gemmi.Structure:
    """Return some sites with B-factors and occupancies, in a model for each frame."""
    made, residue_of = gemmi.Structure(), residue_index(atoms)[sites].tolist()
    made.name = "timme"
    runs = [list(run) for _, run in groupby(range(len(sites)), key=residue_of.__getitem__)]
    for number, places in enumerate(frames, start=1):
        model = gemmi.Model(number)
        for rows in runs:
            first = int(sites[rows[0]])
            name = _word(atoms.chains[first], _CHAIN)
            if not len(model) or model[-1].name != name:
                model.add_chain(gemmi.Chain(name))
            residue = gemmi.Residue()
            residue.name = _word(atoms.resnames[first], _RESIDUE)
            icode = str(atoms.icodes[first])[:1] or " "
            residue.seqid = gemmi.SeqId(int(atoms.resids[first]), icode)
            for row in rows:
                atom, site = gemmi.Atom(), sites[row]
                atom.name = _word(atoms.names[site], _ATOM)
                atom.element = gemmi.Element(str(atoms.elements[site]) or "X")
                atom.pos = gemmi.Position(*places[row].tolist())
                atom.serial = row + 1
                atom.b_iso, atom.occ = (float(column[site]) for column in columns)
                residue.add_atom(atom)
            model[-1].add_residue(residue)
        made.add_model(model)
    made.assign_het_flags()
    made.setup_entities()  # so that viewers know the polymers
    made.assign_label_seq_id()
    return made


def structure(analysis: Analysis) -> gemmi.Structure:
    """Return the first snapshot with groups and clusters in its columns."""
    system, columns = analysis.system, (groups_of_sites(analysis), clusters_of_sites(analysis))
    made = _structure(system.sites, seen(analysis), [positions(analysis)], columns)
    made.info["_struct.title"] = title(analysis)
    return made


def cif(analysis: Analysis) -> str:
    """Return the first snapshot as mmCIF."""
    made, groups = structure(analysis), gemmi.MmcifOutputGroups(True)  # noqa: FBT003, all of them
    groups.cell = groups.symmetry = False
    return str(made.make_mmcif_document(groups).as_string())


def fits_pdb(analysis: Analysis) -> bool:
    """Return whether atoms, names, numbers and coordinates fit the columns of a PDB file."""
    sites, atoms = seen(analysis), analysis.system.sites.take(seen(analysis))
    if analysis.made.kind != "molecule" or not 0 < len(sites) <= MOST_PDB:
        return False
    numbers = (atoms.resids, np.rint(positions(analysis)).astype(np.int64))
    columns = (atoms.chains, atoms.resnames, atoms.names, *(n.astype(np.str_) for n in numbers))
    widths = [np.char.str_len(column).max() for column in columns]
    return bool(np.less_equal(widths, (1, 3, 4, 4, 4)).all())


def pdb(analysis: Analysis) -> str:
    """Return the first snapshot as PDB, which has room for 999 groups and clusters."""
    return _pdb(structure(analysis))


def _pdb(made: gemmi.Structure) -> str:
    made.shorten_chain_names()  # of the first model
    for model in made:
        for chain, first in zip(model, made[0], strict=True):
            chain.name = first.name
    # Ends of chains take no serial number, so that atoms have the same in both formats.
    options = gemmi.PdbWriteOptions(cryst1_record=False, numbered_ter=False)
    return str(made.make_pdb_string(options))


def mode_film(analysis: Analysis) -> str:
    """Return a film along the first principal component, two standard deviations each way."""
    modes, system = style.need(analysis.modes), analysis.system
    way = 2 * modes.modes[0] * np.sqrt(modes.variances[0])
    steps = np.sin(np.linspace(0, 2 * np.pi, _FRAMES, endpoint=False))
    frames = [in_space(modes.mean + step * way, analysis) for step in steps]
    columns = groups_of_sites(analysis), np.zeros(len(system.sites), np.int64)
    return _pdb(_structure(system.sites, system.object_sites[system.shown], frames, columns))


def write_snapshots(ensemble: Ensemble, path: str | Path) -> Path:
    """Write all snapshots, such as superposed ones, as the models of a PDB file.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 3 dimensions in which all sites are seen.
    path : path
        File to write, whose name ends in ``.pdb``.

    Returns
    -------
    Path
        The file that was written.
    """
    if Path(path).suffix.lower() != ".pdb":
        raise ValueError(f"{path}: snapshots are written as .pdb")
    if ensemble.gaps or ensemble.n_dimensions != 3:
        raise ValueError(f"{path}: needs sites in 3 dimensions that are seen in all snapshots")
    every, none = np.arange(ensemble.n_sites), np.zeros(ensemble.n_sites, np.int64)
    frames = (frame * scale(ensemble.unit) for b in ensemble.blocks() for frame in b.coordinates)
    made = _structure(ensemble.sites, every, frames, (none, none + 1))
    return write_atomically(path, _pdb(made))


def extxyz(analysis: Analysis) -> str:
    """Return the first snapshot as extended XYZ with groups and clusters, for OVITO.

    An open axis of the box gets the spread of the sites as its length.
    """
    system, sites, places = analysis.system, seen(analysis), positions(analysis)
    head = "Properties=id:I:1:species:S:1:pos:R:3:group:I:1:cluster:I:1"
    if system.box is not None:
        vectors = np.zeros((3, 3))
        vectors[: len(system.box), : len(system.box)] = system.box * scale(system.unit)
        periodic: Bools = np.asarray(vectors.any(axis=1))
        vectors += np.diag(np.where(periodic, 0.0, np.maximum(np.ptp(places, axis=0), 1.0)))
        flags = " ".join("T" if each else "F" for each in periodic)
        head += f' Lattice="{_row(vectors.ravel())}" pbc="{flags}"'
    columns = (
        _numbers(analysis)[sites],
        (_word(name, _ATOM) for name in system.sites.elements[sites]),
        map(_row, places),
        groups_of_sites(analysis)[sites],
        clusters_of_sites(analysis)[sites],
    )
    rows = (" ".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([str(len(sites)), head, *rows, ""])


def _row(numbers: Floats) -> str:
    return " ".join(f"{number:.9g}" for number in numbers)


def _numbers(analysis: Analysis) -> Ints:
    known = analysis.system.numbers
    return np.arange(1, len(analysis.system.sites) + 1) if known is None else known


def ndx(analysis: Analysis) -> str:
    """Return groups and clusters as index groups of GROMACS, in the user's own atom numbers."""
    lines, numbers = [f"; {title(analysis)}"], _numbers(analysis)
    columns = {"group": groups_of_sites(analysis), "cluster": clusters_of_sites(analysis)}
    for name, column in columns.items():
        for value in np.unique(column[column > 0]).tolist():
            members = np.sort(numbers[column == value]).tolist()
            lines.append(f"[ {name}_{value} ]")
            lines += [
                " ".join(map(str, members[at : at + 15])) for at in range(0, len(members), 15)
            ]
    return "\n".join([*lines, ""])
