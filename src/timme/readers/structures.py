"""Structure files: models of PDB and mmCIF files, matched atom by atom by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, Strings
from timme.readers.copies import tell_copies_apart
from timme.readers.files import STRUCTURES, kind
from timme.readers.layouts import CELL_NOTE
from timme.readers.links import links_of
from timme.readers.matching import match_models
from timme.readers.mmcif import parse_mmcif
from timme.readers.models import Model
from timme.readers.numbering import five_digits
from timme.readers.pdb import parse_pdb
from timme.readers.pdb_frames import cell_fields
from timme.readers.snapshots import Choice, Choose, Course, choose_all
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import boxes_of_frames, fault_of, vectors_of_cell
from timme.system.elements import element_masses, guess_elements, is_coarse_grained
from timme.system.placeholders import can_be_box, max_walls, refuse_other_space, walls_of
from timme.system.residues import NUCLEIC, PROTEIN, WATER, is_named

_DUMMY = 1.5  # Å: NMR entries have cells of 1 Å
_ROUNDING = 0.001  # Å, of coordinates in PDB files


@dataclass(frozen=True, slots=True, eq=False)
class Structures:
    """Models of one or more files, matched."""

    atoms: Atoms  # with the bonds that the files give
    coordinates: Floats  # (models, atoms, 3), of those that are kept
    n_models: int  # in the files
    choice: Choice  # of these
    notes: tuple[str, ...]
    rounding: float  # Å
    numbers: Ints | None  # (atoms,), from 1 on, as every model lists them; None where they differ
    boxes: Floats | None = None  # (models, 3, 3), zeros where a model has none
    unit: str = "Å"  # of all files, "" where they state none, or several
    are_cells: bool = False  # whether molecules are made whole in the boxes, and no more


def read_structures(
    paths: Sequence[Path],
    *,
    common_atoms: bool = False,
    any_boxes: bool = False,
    choose: Choose = choose_all,
) -> Structures:
    """Read models of PDB and mmCIF files and match their atoms.

    Parameters
    ----------
    paths : sequence of Path
        Files (``.pdb``, ``.ent``, ``.cif``, ``.mmcif``, also ``.gz``).
    common_atoms : bool, optional
        Go on with the atoms that all models share where they differ.
    any_boxes : bool, optional
        Let some models have a box and others none, where that of the files does not count.
    choose : callable, optional
        Called with all models, which have no times; returns those to read, all by default. Others
        may have other atoms.

    Returns
    -------
    Structures
        Atoms in the order of the first model that is kept, coordinates of every one.
    """
    files = [_read(path) for path in paths]
    every = [(file, model) for file in files for model in file.models]
    choice = choose(Course(len(every), str(paths[0])))
    chosen = choice.read
    models = [every[number][1] for number in chosen]
    cells = _cells(models) if len(every) > 1 else None
    notes = _cell_notes(files, cells) if len(models) > 1 else ()
    models, named = tell_copies_apart(models)
    matching = match_models(models, common_atoms=common_atoms)
    first, kept = models[0], matching.orders[0]
    links = every[chosen[0]][0].links(first)
    atoms = Atoms(
        names=first.names[kept],
        elements=first.elements[kept],
        resnames=first.resnames[kept],
        resids=first.resids[kept],
        icodes=first.icodes[kept],
        chains=first.chains[kept],
        masses=element_masses(first.elements[kept]),
        bonds=_renumber(links, kept, len(first.names)),
    )
    coordinates = np.stack(
        [model.coordinates[order] for model, order in zip(models, matching.orders, strict=True)]
    )
    rounding = max(_ROUNDING, *(file.rounding for file in files))
    units = {file.unit for file in files}
    unit = units.pop() if len(units) == 1 else ""
    boxes = _boxes(models, unit, any_boxes=any_boxes)
    return Structures(
        atoms,
        coordinates,
        len(every),
        choice,
        (*notes, *named, *matching.notes),
        rounding,
        _common_numbers(models, matching.orders),
        cells if boxes is None else boxes,
        unit,
        are_cells=boxes is None and cells is not None,
    )


def _common_numbers(models: Sequence[Model], orders: Sequence[Ints]) -> Ints | None:
    """Number atoms by their place in a model, where it is known and the same in all."""
    if any((order != orders[0]).any() for order in orders):
        return None
    if any((np.diff(model.serials) <= 0).any() for model in models):  # grouped by residue
        return None
    return orders[0] + 1


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """What one file holds."""

    models: list[Model]
    links: Callable[[Model], Ints]  # bonds that it gives for one of them
    rounding: float  # Å
    cell: tuple[float, ...] = ()  # lengths and angles, of a crystal or of a simulation
    unit: str = "Å"  # "" where it states none


def _read(path: Path) -> _File:
    if kind(path) not in STRUCTURES:
        return _read_other(path)
    parts = _parse(path)
    every = [cell for _, own in parts for cell in own]
    models, cells = list[Model](), every if len(every) == 1 else []
    for structure, own in parts:
        cells = own or cells[-1:]  # that of the part before, where there is none
        models.extend(_in_cells(_models(structure, path, already=len(models)), cells))
    if not models:
        raise ValueError(
            f"{path}: no atoms were found: a PDB or mmCIF file with ATOM records is needed"
        )
    first, _ = parts[0]
    known = first.cell.parameters if first.cell.is_crystal() and first.cell.a > _DUMMY else ()
    return _File(models, partial(links_of, first), _ROUNDING, known)


def _in_cells(models: list[Model], cells: Sequence[Floats | None]) -> list[Model]:
    """Give models their cells: one for all, or one for each; nobody knows whose others are."""
    if not cells or len(cells) not in {1, len(models)}:
        return models
    each = cells if len(cells) > 1 else [cells[0]] * len(models)
    return [replace(model, cell=cell) for model, cell in zip(models, each, strict=True)]


def _cells(models: Sequence[Model]) -> Floats | None:
    """Bring together the cells whose walls cut molecules apart, if all models have one."""
    found = [model.cell for model in models if model.cell is not None]
    return boxes_of_frames(found) if len(found) == len(models) else None


def _cell_notes(files: Sequence[_File], cells: Floats | None) -> tuple[str, ...]:
    """Say that a cell was not taken for a periodic box."""
    cell = files[0].cell
    if not cell or (cells is None and len(files) > 1):
        return ()
    shown = cell[:3] if set(cell[3:]) == {90.0} else cell
    if cells is not None and len(shown) == 3:  # a parser takes the last of several
        shown = tuple(np.diag(cells[0]).tolist())
    box = f"box=[{', '.join(f'{value:g}' for value in shown)}]"
    whose = "the cell of the file was" if len(files) == 1 else "the cells of the files were"
    if cells is not None and np.ptp(cells, axis=0).any():
        box = f"box= with one for each snapshot, of which the first is {box[4:]}"
    whole = "" if cells is None else "used to make molecules whole, and "
    return (f"{whose} {whole}{CELL_NOTE}{box}",)


def _boxes(models: Sequence[Model], unit: str, *, any_boxes: bool) -> Floats | None:
    """Bring the boxes of models together, which must have one all, or none."""
    walls = max_walls(walls_of(model.box, unit) for model in models)
    for model in models if not any_boxes else ():
        refuse_other_space(model.box, unit, walls=walls, name=model.label)
    if all(model.box is None for model in models):
        return None
    return boxes_of_frames([model.box for model in models])


def _read_other(path: Path) -> _File:
    """Read the frames of a file that MDAnalysis reads, such as GRO."""
    from timme.readers.topologies import read_topology
    from timme.readers.trajectories import open_trajectories

    atoms = read_topology(path).atoms
    frames, _ = open_trajectories([path], n_atoms=len(atoms), topology=str(path), any_boxes=True)
    coordinates, boxes = frames.read(0, frames.shape[0])
    blank = np.full(len(atoms), "")
    models = [
        Model(
            label=f"{path}: frame {number}",
            names=atoms.names,
            elements=atoms.elements,
            resnames=atoms.resnames,
            resids=atoms.resids,
            icodes=atoms.icodes,
            chains=atoms.chains,
            altlocs=blank,
            occupancies=np.ones(len(atoms)),
            serials=np.arange(1, len(atoms) + 1),
            coordinates=np.asarray(positions, dtype=np.float64),
            box=None if boxes is None else boxes[number - 1],
        )
        for number, positions in enumerate(coordinates, start=1)
    ]
    file = frames.files[0]
    return _File(models, lambda _: atoms.bonds, file.rounding, unit=file.unit)


def _parse(path: Path) -> list[tuple[Any, list[Floats | None]]]:
    """Parse the parts of a file, each with its cells without symmetry: one, or one per model."""
    if kind(path) in {".cif", ".mmcif"}:
        found = parse_mmcif(path)
        return [(found, [_vectors(found.cell.parameters, found.spacegroup_hm)])]
    return [
        (structure, [_vectors(cell_fields(line), line[55:66]) for line in lines])
        for structure, lines in parse_pdb(path)
    ]


def _vectors(cell: Sequence[float | str], symmetry: str) -> Floats | None:
    """Make box vectors of a cell without symmetry, of which one is all there is."""
    try:
        numbers = np.array([float(number) for number in cell])
    except ValueError:
        return None
    if symmetry.replace(" ", "") != "P1" or not can_be_box(np.diag(numbers[:3]), "Å"):
        return None
    vectors = vectors_of_cell(numbers[:3], numbers[3:])
    return None if fault_of(vectors) else vectors


def _models(structure: Any, path: Path, *, already: int) -> list[Model]:
    import gemmi

    flat: Any = gemmi.FlatStructure(structure)
    if len(flat) == 0:
        return []
    names, resnames = _texts(flat.atom_names), _texts(flat.residue_names)
    chains = _texts(flat.chain_ids)
    if not (chains != "").any():
        chains = _segments(structure, chains)
    elements = flat.element_names.astype(np.str_)
    # Names that are not in their columns make metals of carbons: CA, CD and HG of amino acids.
    polymer = is_named(resnames, PROTEIN | NUCLEIC | WATER)
    unknown = ~np.isin(elements, ("C", "N", "O", "H", "S", "P", "D", "Se")) & polymer
    unknown |= (elements == "X") | (elements == "")
    if unknown.any():
        elements = np.where(unknown, guess_elements(names, resnames), elements)
    if is_coarse_grained(names, resnames):
        elements = np.full(len(names), "")
    resids = np.array(flat.resnums, dtype=np.int64)
    resids, icodes = five_digits(resids, np.char.strip(_texts(flat.icodes[:, None])))
    altlocs = _texts(flat.altlocs[:, None])
    coordinates = np.array(flat.pos, dtype=np.float64)
    ends = np.cumsum([model.count_atom_sites() for model in structure])
    models = list[Model]()
    for model, stop in zip(structure, ends, strict=True):
        part = _file_order(flat.serials, stop - model.count_atom_sites(), stop)
        if len(part):
            found = Model(
                label=f"{path}: model {already + len(models) + 1}",
                names=names[part],
                elements=elements[part],
                resnames=resnames[part],
                resids=resids[part],
                icodes=icodes[part],
                chains=chains[part],
                altlocs=altlocs[part],
                occupancies=flat.occ[part].astype(np.float64),
                serials=flat.serials[part].astype(np.int64),
                coordinates=coordinates[part],
            )
            _refuse_non_finite(found)
            models.append(found)
    return models


def _file_order(serials: Ints, start: int, stop: int) -> Ints:
    """Undo the grouping of atoms by residue number, which joins residues of equal number."""
    part = serials[start:stop]
    order = np.argsort(part, kind="stable")
    unique = len(order) > 0 and bool((np.diff(part[order]) > 0).all())
    return start + (order if unique else np.arange(len(part)))


def _refuse_non_finite(model: Model) -> None:
    bad = np.flatnonzero(~np.isfinite(model.coordinates).all(axis=1))
    if len(bad):
        raise ValueError(
            f"{model.label}, atom {model.atom_label(int(bad[0]))}: coordinates must be numbers, "
            f"got {model.coordinates[bad[0]].tolist()}: repair that atom or leave out the model"
        )


def _texts(characters: npt.NDArray[np.int8]) -> Strings:
    """Turn rows of zero-padded characters, which may be of any alphabet, into strings."""
    used = np.flatnonzero(characters.any(axis=0))
    width = 1 + int(used.max(initial=0))
    # Codes of Latin-1 are the first of all characters.
    codes = np.ascontiguousarray(characters[:, :width]).view(np.uint8).astype(np.uint32)
    return codes.view(f"U{width}")[:, 0]


def _segments(structure: Any, blank: Strings) -> Strings:
    """Take the segments of simulation programs for chains where there are no chains."""
    segments = [
        residue.segment
        for model in structure
        for chain in model
        for residue in chain
        for _ in range(len(residue))
    ]
    return np.array(segments, dtype=np.str_) if len(segments) == len(blank) else blank


def _renumber(links: Ints, kept: Ints, count: int) -> Ints:
    places = np.full(count, -1)
    places[kept] = np.arange(len(kept))
    pairs = places[links]
    return sorted_bonds(pairs[np.all(pairs >= 0, axis=1)])
