"""Structures: models of files as a draft ensemble, matched atom by atom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, filterfalse, islice
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Floats, Ints, Strings, frozen
from timme_next._text import counted
from timme_next.ensemble.atoms import HYDROGENS, Atoms, covalent_radii, sorted_bonds
from timme_next.ensemble.ensemble import Ensemble
from timme_next.ensemble.frames import ArraySource, Frames
from timme_next.ensemble.residues import residue_index
from timme_next.ensemble.space import box_matrices
from timme_next.io.altlocs import choose_altlocs

Key = tuple[str, int, str, str]  # chain, residue number, insertion code, name of the atom
Bytes = npt.NDArray[np.bytes_]

_LONGEST_LINK = 3.5  # Å: atoms farther apart are not bonded, whatever the file says
_ROUNDING = 0.001  # Å, of coordinates in PDB files
_DUMMY = 1.5  # Å: structures that are no crystals have cells of 1 Å
_SHORTEST = 3.0  # Å: no cell of molecules is narrower
_NO_SYMMETRY = ("P 1", "P1")


class Cell(NamedTuple):
    """Unit cell of a structure."""

    sizes: tuple[float, ...]  # three lengths in Å, three angles in degrees
    symmetry: str  # space group, "" where unknown


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Atoms of one model in the order of its file."""

    label: str  # file and model, for messages
    atoms: Atoms  # without bonds; one for all models of a file that have the same names
    altlocs: Strings  # (atoms,), "" where an atom has one location only
    occupancies: Floats  # (atoms,)
    serials: Bytes  # (atoms,), numbers of the atoms as CONECT records name them
    coordinates: Floats  # (atoms, 3), in Å
    cell: Cell | None = None

    def keys(self) -> list[Key]:
        """Return what identifies each atom; numbers continue where they restart after 9999."""
        atoms = self.atoms
        restart = (atoms.resids[:-1] == 9999) & (atoms.resids[1:] <= 1)
        restart &= atoms.chains[1:] == atoms.chains[:-1]
        resids = atoms.resids + 100_000 * np.concatenate([[0], np.cumsum(restart)])
        columns = (atoms.chains, resids, atoms.icodes, atoms.names)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def is_like(self, other: Model) -> bool:
        """Return whether another model lists atoms of the same names in the same order."""
        return self.atoms is other.atoms or all(
            np.array_equal(getattr(self.atoms, column), getattr(other.atoms, column))
            for column in ("names", "resids", "icodes", "chains")
        )


@dataclass(frozen=True, slots=True, eq=False)
class StructureFile:
    """Models of a file, and the links between atoms that it names."""

    path: Path
    models: list[Model]
    conect: list[tuple[bytes, bytes]]  # serials of linked atoms
    named: list[tuple[Key, Key]]  # linked atoms
    notes: tuple[str, ...] = ()

    def links(self, model: Model) -> Ints:
        """Return the covalent links between the atoms of a model, as places (links, 2)."""
        pairs, atoms = list[tuple[int, int]](), dict[Key, list[int]]()
        places = {serial: place for place, serial in enumerate(model.serials.tolist())}
        if len(places) == len(model.serials):  # else numbers began again and identify no atoms
            pairs += [(places[a], places[b]) for a, b in self.conect if {a, b} <= places.keys()]
        for place, key in enumerate(model.keys() if self.named else ()):
            atoms.setdefault(key, []).append(place)
        for one, other in self.named:
            pairs += [
                (a, b)
                for a in atoms.get(one, ())
                for b in atoms.get(other, ())
                if model.altlocs[a] == model.altlocs[b] or not model.altlocs[[a, b]].all()
            ]
        first, second = sorted_bonds(pairs).T
        lengths = np.linalg.norm(model.coordinates[first] - model.coordinates[second], axis=1)
        binds = covalent_radii(model.atoms.elements) > 0
        linked = binds[first] & binds[second] & (first != second) & (lengths < _LONGEST_LINK)
        return np.stack([first[linked], second[linked]], axis=1)


def from_structures(
    files: Sequence[StructureFile],
    *,
    common_atoms: bool = False,
    choose: Callable[[int, str], Sequence[int]] | None = None,
    box_given: bool = False,
) -> Ensemble:
    """Return the models of files as one draft ensemble, matched atom by atom.

    Boxes of the draft are unit cells, in which molecules are made whole, and no periodic boxes.

    Parameters
    ----------
    files : sequence of StructureFile
        At least one.
    common_atoms : bool, optional
        Keep the atoms that all models share where models differ.
    choose : callable, optional
        Called with the number of models and the name of the first file; returns the numbers of the
        models that are matched, by default all.
    box_given : bool, optional
        Whether the user gives a box or none, so that no note proposes one.
    """
    every = [(file, model) for file in files for model in file.models]
    name = str(files[0].path)
    chosen = range(len(every)) if choose is None else choose(len(every), name)
    models, notes = name_copies([every[number][1] for number in chosen])
    orders, more = match_models(models, common_atoms=common_atoms)
    boxes = _cells(models) if len(every) > 1 else None
    cell = files[0].models[0].cell
    notes = [*(note for file in files for note in file.notes), *notes, *more]
    if cell and len(models) > 1 and not box_given and (boxes is not None or len(files) == 1):
        notes += _cell_notes(cell, whole=boxes is not None)
    links = every[chosen[0]][0].links(models[0])
    coordinates = [model.coordinates[order] for model, order in zip(models, orders, strict=True)]
    alike = all(np.array_equal(order, orders[0]) for order in orders)
    return Ensemble(
        frames=Frames.of(
            ArraySource(frozen(np.stack(coordinates)), boxes, np.full(len(models), np.nan))
        ),
        atoms=replace(models[0].atoms, bonds=links).take(orders[0]),
        site_atoms=np.arange(len(orders[0])),
        unit="Å",
        independent=True,
        rounding=_ROUNDING,
        sources=tuple(str(file.path) for file in files),
        notes=tuple(notes),
        numbers=orders[0] + 1 if alike else None,
        n_source=len(every),
    )


def match_models(
    models: Sequence[Model], *, common_atoms: bool = False
) -> tuple[list[Ints], list[str]]:
    """Return the places of the same atoms in each model, in the order of the first, and notes."""
    first, keys = models[0], [model.keys() for model in models]
    alike = all(model.is_like(first) for model in models[1:])
    if alike and not any(model.altlocs.any() for model in models):
        places, notes = _distinct(first, keys[0], range(len(keys[0])), by_order=True)
        return [places] * len(models), notes
    keys, notes = (keys, []) if alike else _with_chain(keys)
    chosen, said = choose_altlocs(models, keys)
    notes += said
    tables = list[dict[Key, int]]()
    for model, names, own in zip(models, keys, chosen, strict=True):
        places, said = _distinct(model, names, own)
        tables.append({names[place]: place for place in places.tolist()})
        notes += said if model is first else []
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    left_out = len(set[Key]().union(*tables)) - len(shared)
    if left_out and not common_atoms:
        raise ValueError(_difference(models, tables))
    if not shared:
        raise ValueError(
            f"{first.label} and the others share no atoms: give models of one molecule"
        )
    if left_out:
        notes.append(
            f"models differ: the {counted(len(shared), 'atom')} that all share are kept, "
            f"{left_out} left out"
        )
    orders = [np.array([table[key] for key in shared], np.int64) for table in tables]
    if not left_out and any((order != orders[0]).any() for order in orders):
        notes.append("atoms come in another order in some models: they are matched by name")
    return orders, notes


def name_copies(models: Sequence[Model]) -> tuple[list[Model], list[str]]:
    """Return models in which every copy of a chain has its own name, and notes on the first.

    Programs of simulations write several molecules without chains, or all with the same one: where
    residues of a chain come again, a copy of it begins.
    """
    named, notes = list[Model](), list[str]()
    for model in models:
        if named and model.is_like(models[0]):
            named.append(replace(model, atoms=named[0].atoms))
            continue
        chains, copies = model.atoms.chains.astype(object), _copies(model)
        candidates = chain(ascii_uppercase, ascii_lowercase, digits, map(str, count(10)))
        free = filterfalse(set(chains).__contains__, candidates)
        for name in dict.fromkeys(chains[copies > 0].tolist()):
            own = chains == name
            names = [name] if name else []
            names += islice(free, int(copies[own].max()) + 1 - len(names))
            chains[own] = np.array(names, object)[copies[own]]
            if model is models[0]:
                shown = ", ".join(names[:4]) + ", …" * (len(names) > 4)
                what = f"chain {name}" if name else "the chain without a name"
                notes.append(f"{what} is there {len(names)} times, now named {shown}")
        named.append(replace(model, atoms=replace(model.atoms, chains=chains.astype(np.str_))))
    return named, notes


def _copies(model: Model) -> Ints:
    """Number of the copy of its chain to which each atom belongs.

    A copy begins with a residue of which a part before has all heavy atoms, or two of them. One
    atom that comes twice in a residue begins none, nor do hydrogens, which may be written apart,
    and alternative locations.
    """
    keys, runs, chains = model.keys(), residue_index(model.atoms), model.atoms.chains
    heavy = (model.altlocs == "") & ~np.isin(model.atoms.elements, HYDROGENS)
    copies, times, latest = np.zeros(len(keys), np.int64), Counter[Key](), dict[Key, int]()
    for place in np.flatnonzero(heavy).tolist():
        key, run = keys[place], int(runs[place])
        times[key] += latest.get(key) != run
        latest[key] = run
        copies[place] = times[key] - 1
    repeated, size = np.bincount(runs, copies > 0), np.bincount(runs, heavy)
    highest = np.zeros(len(size), np.int64)
    np.maximum.at(highest, runs, copies)
    copies = np.where(repeated >= np.clip(size, 1, 2), highest, 0)[runs]
    for name in np.unique(chains[copies > 0]):
        copies[chains == name] = np.maximum.accumulate(copies[chains == name])
    return copies


def _with_chain(keys: list[list[Key]]) -> tuple[list[list[Key]], list[str]]:
    """Keys with the only chain that models name where others name none."""
    chains = [{key[0] for key in names} for names in keys]
    named = set[str]().union(*chains) - {""}
    if len(named) != 1 or {""} not in chains or any(len(own) > 1 for own in chains):
        return keys, []
    (name,) = named
    note = f"models that do not name their chain are matched with chain {name} of the others"
    return [[(name, *key[1:]) for key in names] for names in keys], [note]


def _distinct(
    model: Model, keys: list[Key], places: Sequence[int], *, by_order: bool = False
) -> tuple[Ints, list[str]]:
    """Places of atoms of different names; of hydrogens with the same name, the first."""
    seen, repeated = set[Key](), list[int]()
    for place in places:
        if keys[place] in seen:
            repeated.append(place)
        seen.add(keys[place])
    atoms, found = model.atoms, np.array(places, np.int64)
    if not repeated:
        return found, []
    heavy = [place for place in repeated if atoms.elements[place] not in HYDROGENS]
    shown = atoms.label((heavy or repeated)[0])
    if not heavy:
        note = f"{counted(len(repeated), 'hydrogen')} with the name of one before left out: {shown}"
        return np.setdiff1d(found, repeated), [note]
    residues = {keys[place][:3] for place in repeated}
    within = np.array([key[:3] in residues for key in keys])
    by_element = np.char.upper(atoms.names[within]) == np.char.upper(atoms.elements[within])
    if by_order and by_element.all():
        return found, [f"atoms named by their element, such as {shown}, are told by their order"]
    raise ValueError(
        f"{model.label}: atom {shown} is there twice: every atom needs its own chain, residue "
        "number, insertion code and name"
    )


def _difference(models: Sequence[Model], tables: Sequence[dict[Key, int]]) -> str:
    """Message on the first atom that a model has and another one lacks."""
    first, all_of_first = models[0], tables[0].keys()
    model, table = next(
        pair for pair in zip(models, tables, strict=True) if pair[1].keys() != all_of_first
    )
    key = next(key for key in (*tables[0], *table) if key not in tables[0] or key not in table)
    has, lacks, place = (first, model, tables[0]) if key in tables[0] else (model, first, table)
    return (
        f"{lacks.label}: atom {has.atoms.label(place[key])} of {has.label} is missing: all models "
        "need the same atoms; common_atoms=True keeps those that all share"
    )


def _cells(models: Sequence[Model]) -> Floats | None:
    """Cells (models, 3, 3) through which molecules are made whole; all models need one.

    Only cells without symmetry, as those of simulations: in a crystal, a molecule that leaves the
    cell is continued by a copy that symmetry makes.
    """
    cells = [model.cell for model in models if model.cell and model.cell.symmetry in _NO_SYMMETRY]
    if len(cells) < len(models) or min(min(cell.sizes[:3]) for cell in cells) < _SHORTEST:
        return None
    try:
        return box_matrices(np.array([cell.sizes for cell in cells]), len(models), 3)
    except ValueError:  # angles that no cell has
        return None


def _cell_notes(cell: Cell, *, whole: bool) -> list[str]:
    """Notes on a cell that is not taken for a periodic box."""
    if min(cell.sizes[:3]) <= _DUMMY:
        return []
    sizes = cell.sizes[: 3 if set(cell.sizes[3:]) == {90.0} else 6]
    shown = ", ".join(f"{size:g}" for size in sizes)
    used = "molecules are made whole in the unit cell, which" if whole else "the unit cell"
    return [f"{used} is not taken for a periodic box: if it is one, pass box=[{shown}]"]
