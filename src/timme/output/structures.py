"""Structures with clusters in the B-factor column, as mmCIF and, where it fits, as PDB."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Floats, Ints
from timme._files import write_atomically
from timme._html import Described
from timme.analysis import Analysis
from timme.output.colours import WIDE, Colouring, colouring, only_trusted
from timme.settings.values import MIN_SIZE
from timme.system.residues import PROTEIN

if TYPE_CHECKING:
    import gemmi

FILES = dict.fromkeys(("clusters.cif", "clusters.pdb"), "structure with the cluster as B-factor")

# What unnamed particles are called in files that need names; UNX is the PDB's unknown atom.
_ATOM, _RESIDUE, _CHAIN = "X", "UNX", "A"
_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits  # of chains


@dataclass(frozen=True, slots=True, repr=False)
class Written(Described):
    """Files that were written, and why others were not."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]

    def _facts(self) -> Iterable[tuple[str, object]]:
        folders = dict.fromkeys(str(path.parent) for path in self.paths)
        return (
            ("files", len(self.paths)),
            ("in", ", ".join(folders) or "none"),
            ("notes", "; ".join(self.notes) or "none"),
        )


def write_structures(
    analysis: Analysis,
    folder: str | Path,
    cutoff: float,
    *,
    min_size: int = MIN_SIZE,
    palette: Sequence[str] = WIDE,
    name: str = "clusters",
) -> Written:
    """Write the first snapshot with the cluster of every site in the B-factor column.

    Cluster 1 is the core, the others follow by size; 0 is the rest.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.
    cutoff : float
        In the units of the heights.
    min_size : int, optional
        Clusters of fewer shown objects belong to the rest.
    palette : sequence of str, optional
        Colours of families 1, 2, ….
    name : str, optional
        Name of the files, without suffix.

    Returns
    -------
    Written
        mmCIF always; PDB too, or a note on which of its limits is in the way. Names that are
        too long for it, as those of segments of simulations, are shorter there, with a note.
    """
    found = colouring(
        analysis, cutoff, min_size=min_size, palette=palette, trusted=only_trusted(analysis)
    )
    made = structure(analysis, found)
    target = Path(folder) / name
    paths = [write_atomically(target.with_suffix(".cif"), mmcif_text(made))]
    short = _with_short_names(made)
    obstacle = pdb_obstacle(short)
    if obstacle is None:
        paths.append(write_atomically(target.with_suffix(".pdb"), pdb_text(short)))
        return Written(tuple(paths), _notes_on_names(made, short, name))
    return Written(tuple(paths), (f"no {name}.pdb, use {name}.cif: {obstacle}",))


def structure(analysis: Analysis, found: Colouring) -> gemmi.Structure:
    """Make a structure of the first snapshot with clusters as B-factors.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    found : Colouring
        The clusters.

    Returns
    -------
    gemmi.Structure
        One model; its atoms are the sites in `written_sites`, in order, with serial numbers from 1.
    """
    import gemmi

    made = gemmi.Structure()
    made.name = "timme"
    model = gemmi.Model(1)
    positions, sites = file_coordinates(analysis), written_sites(analysis)
    clusters = np.append(found.labels, -1)[analysis.system.site_objects[sites]] + 1
    for run in np.split(np.arange(len(sites)), _residue_starts(analysis, sites)):
        chain = _chain_name(analysis, sites[run[0]])
        if not len(model) or model[-1].name != chain:
            model.add_chain(gemmi.Chain(chain))
        residue = _residue(analysis, sites[run[0]])
        for place in run:
            residue.add_atom(_atom(analysis, int(sites[place]), positions[place], place + 1))
            residue[-1].b_iso = float(clusters[place])
        model[-1].add_residue(residue)
    made.add_model(model)
    if any(residue.het_flag == "A" for chain in model for residue in chain):
        made.setup_entities()  # so that viewers know the polymers
        made.assign_label_seq_id()
    _set_cell(made, analysis)
    _describe(made, analysis, found)
    return made


def title(analysis: Analysis, found: Colouring) -> str:
    """Say what a picture shows.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    found : Colouring
        The clusters.

    Returns
    -------
    str
        What clusters they are, and the cutoff.
    """
    hierarchy = analysis.hierarchy
    what = hierarchy.quantity.clusters.capitalize()
    return f"{what} at the cutoff {found.cutoff:.6g} {hierarchy.unit}".rstrip()


def written_sites(analysis: Analysis) -> Ints:
    """Return the sites that a structure file holds: those seen in the first snapshot.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    ndarray of int
        Sites in the order of the file.
    """
    return np.flatnonzero(np.isfinite(analysis.system.coordinates).all(axis=1))


def file_coordinates(analysis: Analysis) -> Floats:
    """Return the coordinates of the written sites, as they stand in a structure file.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    ndarray, shape (written sites, 3)
        In Å where the unit is a length of molecules (Å, nm), else in the unit of the coordinates.
        Of more than three dimensions the first three; of fewer, the others are 0.
    """
    known = analysis.system.coordinates[written_sites(analysis), :3].astype(np.float64)
    positions = np.zeros((len(known), 3))
    positions[:, : known.shape[1]] = known
    return positions * (10.0 if analysis.system.unit == "nm" else 1.0)


def pdb_obstacle(made: gemmi.Structure) -> str | None:
    """Say why a structure does not fit the PDB format.

    Parameters
    ----------
    made : gemmi.Structure
        As made by `structure`.

    Returns
    -------
    str or None
        What is too long or too large for its columns; None where all fits.
    """
    atoms = [item.atom for item in made[0].all()]
    residues = [residue for chain in made[0] for residue in chain]
    numbers = [residue.seqid.num or 0 for residue in residues]
    places = np.array([atom.pos.tolist() for atom in atoms])
    limits = (
        (len(atoms) > 99_999, f"{len(atoms)} atoms are more than 99999"),
        (any(len(chain.name) > 1 for chain in made[0]), "a chain name is longer than 1 letter"),
        (any(len(residue.name) > 3 for residue in residues), "a residue name is longer than 3"),
        (any(len(atom.name) > 4 for atom in atoms), "an atom name is longer than 4 letters"),
        (max(numbers) > 9999 or min(numbers) < -999, "a residue number is longer than 4 digits"),
        (places.max() >= 9999.9995 or places.min() <= -999.9995, "a coordinate is too large"),
        (max(atom.b_iso for atom in atoms) > 999, "there are more than 999 clusters"),
    )
    return next((reason for reached, reason in limits if reached), None)


def mmcif_text(made: gemmi.Structure) -> str:
    """Write a structure as mmCIF.

    Parameters
    ----------
    made : gemmi.Structure
        As made by `structure`.

    Returns
    -------
    str
        A cell only where there is a periodic box.
    """
    import gemmi

    groups = gemmi.MmcifOutputGroups(True)  # noqa: FBT003 (gemmi has no name for it: all of them)
    groups.cell = groups.symmetry = made.cell.is_crystal()
    return made.make_mmcif_document(groups).as_string()


def pdb_text(made: gemmi.Structure) -> str:
    """Write a structure as PDB.

    Parameters
    ----------
    made : gemmi.Structure
        As made by `structure`, without a `pdb_obstacle`.

    Returns
    -------
    str
        Atoms have the serial numbers that they have as mmCIF.
    """
    import gemmi

    # A cell that is no box would be read as one by programs that fold coordinates into it.
    # Ends of chains take no serial number, so that atoms have the same in both formats.
    options = gemmi.PdbWriteOptions(cryst1_record=made.cell.is_crystal(), numbered_ter=False)
    return made.make_pdb_string(options)


def _with_short_names(made: gemmi.Structure) -> gemmi.Structure:
    """Shorten names as far as PDB files need it and nothing is lost that mmCIF does not keep.

    Chains have letters if none of their names is one, and amino acids the names that all programs
    know, as LYS for the LYSH of a force field.
    """
    short = made.clone()
    names = list(dict.fromkeys(chain.name for chain in made[0]))
    lettered = len(names) <= len(_LETTERS) and not any(len(name) == 1 for name in names)
    letters = dict(zip(names, _LETTERS, strict=False)) if lettered else {}
    for chain in short[0]:
        chain.name = letters.get(chain.name, chain.name)
        for residue in chain:
            if len(residue.name) == 4 and residue.name in PROTEIN:
                known = residue.name[:3] in PROTEIN
                residue.name = residue.name[:3] if known else residue.name[1:]
                residue.het_flag = "A"
    return short


def _notes_on_names(made: gemmi.Structure, short: gemmi.Structure, file: str) -> tuple[str, ...]:
    pairs = list(zip(short[0], made[0], strict=True))
    chains = {(one.name, other.name): None for one, other in pairs}
    residues = {
        (one.name, other.name): None for pair in pairs for one, other in zip(*pair, strict=True)
    }
    changed = [f"{one} is {other}" for one, other in (*chains, *residues) if one != other]
    if not changed:
        return ()
    more = ", …" if len(changed) > 3 else ""
    return (f"{file}.pdb has short names ({', '.join(changed[:3])}{more}), {file}.cif its own",)


def _residue_starts(analysis: Analysis, sites: Ints) -> Ints:
    """Find where a new residue begins among the written sites."""
    atoms = analysis.system.sites
    columns = (atoms.chains, atoms.resids, atoms.icodes, atoms.resnames)
    changed = [column[sites][1:] != column[sites][:-1] for column in columns]
    return np.flatnonzero(np.any(changed, axis=0)) + 1


def _chain_name(analysis: Analysis, site: int) -> str:
    return _word(analysis.system.sites.chains[site]) or _CHAIN


def _residue(analysis: Analysis, site: int) -> gemmi.Residue:
    import gemmi

    atoms = analysis.system.sites
    residue = gemmi.Residue()
    residue.name = _word(atoms.resnames[site]) or _RESIDUE
    residue.seqid = gemmi.SeqId(int(atoms.resids[site]), str(atoms.icodes[site]) or " ")
    known = gemmi.find_tabulated_residue(residue.name)
    polymer = known.found() and (known.is_amino_acid() or known.is_nucleic_acid())
    residue.het_flag = "A" if polymer else "H"
    if not polymer:
        residue.subchain = _chain_name(analysis, site)
    return residue


def _atom(analysis: Analysis, site: int, position: Floats, serial: int) -> gemmi.Atom:
    import gemmi

    atom = gemmi.Atom()
    atom.name = _word(analysis.system.sites.names[site]) or _ATOM
    atom.element = gemmi.Element(str(analysis.system.sites.elements[site]) or "X")
    atom.pos = gemmi.Position(*position.tolist())
    atom.serial = int(serial)
    return atom


def _word(name: str) -> str:
    """Make a name that may stand in a column: no blanks, no control characters."""
    return re.sub(r"[^!-~]+", "_", str(name).strip())


def _set_cell(made: gemmi.Structure, analysis: Analysis) -> None:
    """Write the periodic box, where there is a whole one."""
    box = analysis.system.box
    if box is None or box.shape != (3, 3) or abs(np.linalg.det(box)) == 0:
        return
    lengths = np.linalg.norm(box, axis=1)
    unit = box / lengths[:, None]
    cosines = np.clip([unit[1] @ unit[2], unit[0] @ unit[2], unit[0] @ unit[1]], -1, 1)
    scale = 10.0 if analysis.system.unit == "nm" else 1.0
    made.cell.set(*(lengths * scale).tolist(), *np.degrees(np.arccos(cosines)).tolist())
    made.spacegroup_hm = "P 1"


def _describe(made: gemmi.Structure, analysis: Analysis, found: Colouring) -> None:
    unit = analysis.system.unit
    scale = f" Coordinates are in {unit}." if unit not in {"", "Å", "nm"} else ""
    text = (
        f"{title(analysis, found)}. B-factor: 1 is the core, 2 and on are the "
        f"other clusters by size, 0 is the rest (fewer than {found.min_size} shown).{scale}"
    )
    plain = text.replace("Å", "A").replace("µ", "u")
    made.info["_struct.title"] = plain
    words = re.findall(r".{1,68}(?:\s|$)", plain)
    made.raw_remarks = [f"REMARK 250 {line.strip()}" for line in words]
