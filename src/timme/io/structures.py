"""Structures: models of files as a draft ensemble, matched atom by atom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, filterfalse
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

import numpy as np

from timme._arrays import Floats, Ints, Strings, frozen
from timme._text import counted
from timme.ensemble.atoms import HYDROGENS, Atoms
from timme.ensemble.ensemble import Ensemble
from timme.ensemble.frames import ArraySource
from timme.ensemble.residues import residue_index

Key = tuple[str, int, str, str]  # chain, residue number, insertion code, name of the atom
Version = tuple[str, str]  # letter of an alternative location, name of its residue
Sums = dict[Version, float]  # occupancies

_ROUNDING = 0.001  # Å, of coordinates in PDB files


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Atoms of one model in the order of its file."""

    label: str  # file and model, for messages
    atoms: Atoms  # the same for all models of a file that have the same names
    altlocs: Strings  # (atoms,), "" where an atom has one location only
    occupancies: Floats  # (atoms,)
    coordinates: Floats  # (atoms, 3), in Å
    cell: Floats | None = None  # (3, 3), vectors of a cell that is no crystal's

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


class StructureFile(NamedTuple):
    """What one file holds."""

    path: Path
    models: list[Model]
    note: str  # "" or that it seems to be cut off


def from_structures(
    files: Sequence[StructureFile],
    choose: Callable[[int], Sequence[int]] = range,
    *,
    common_atoms: bool = False,
) -> Ensemble:
    """Return the models of files as one draft ensemble, matched atom by atom.

    Boxes of the draft are unit cells, in which molecules are made whole, and no periodic boxes.

    Parameters
    ----------
    files : sequence of StructureFile
        At least one.
    choose : callable, optional
        Called with the number of models; returns the numbers of those that are matched, by default
        all.
    common_atoms : bool, optional
        Keep the atoms that all models share where models differ.
    """
    every = [model for file in files for model in file.models]
    sources = tuple(str(file.path) for file in files)
    models, notes = name_copies([every[number] for number in choose(len(every))])
    orders, more = match_models(models, common_atoms=common_atoms)
    notes = [*(file.note for file in files if file.note), *notes, *more]
    cells, boxes = [model.cell for model in models if model.cell is not None], None
    if len(every) > 1 and len(cells) == len(models):
        boxes, note = np.array(cells), "molecules are made whole in the unit cell"
        notes.append(f"{note}: if it is a periodic box, pass box=")
    coordinates = [model.coordinates[own] for model, own in zip(models, orders, strict=True)]
    source = ArraySource(frozen(np.stack(coordinates)), boxes, np.full(len(models), np.nan))
    draft = Ensemble.from_source(source, models[0].atoms.take(orders[0]), "Å", sources)
    return replace(
        draft,
        independent=True,
        rounding=_ROUNDING,
        notes=tuple(notes),
        numbers=orders[0] + 1 if all(np.array_equal(each, orders[0]) for each in orders) else None,
        n_source=len(every),
    )


def match_models(
    models: Sequence[Model], *, common_atoms: bool = False
) -> tuple[list[Ints], list[str]]:
    """Return the places of the same atoms in each model, in the order of the first, and notes.

    Where models list atoms of the same names in the same order, an atom is known by its place.
    """
    first, keys = models[0], [model.keys() for model in models]
    places, notes = choose_altlocs(models, keys)
    alike = all(model.is_like(first) for model in models) and all(p == places[0] for p in places)
    tables = list[dict[Key, int]]()
    for model, names, own in zip(models, keys, places, strict=True):
        tables.append({names[place]: place for place in own})
        if len(tables[-1]) < len(own):
            _refuse_repeated(model, names, own, by_place=alike)
        if alike:
            return [np.array(own, np.int64)] * len(models), notes
    shared, every = set(tables[0]).intersection(*tables), set[Key]().union(*tables)
    for model, table in zip(models, tables, strict=True):
        for chain_, resid, icode, name in () if common_atoms else sorted(every - table.keys())[:1]:
            raise ValueError(
                f"{model.label}: atom {chain_}/{resid}{icode}/{name} of another model is missing: "
                "all models need the same atoms; common_atoms=True keeps those that all share"
            )
    if not shared:
        raise ValueError(f"{first.label}: other models share no atoms with it: check the files")
    kept = [key for key in tables[0] if key in shared]
    orders = [np.array([table[key] for key in kept], np.int64) for table in tables]
    if len(every) > len(kept):
        count = f"{counted(len(kept), 'atom')} that all share are kept"
        notes.append(f"models differ: {count}, {len(every) - len(kept)} left out")
    return orders, notes


def choose_altlocs(
    models: Sequence[Model], keys: Sequence[Sequence[Key]]
) -> tuple[list[Sequence[int]], list[str]]:
    """Return the places of the atoms that stay in each model, the same in all, and notes.

    Every residue takes the letter of the highest occupancy, summed over its atoms in all models;
    atoms without that letter take their own best. Of two kinds of residue with one number, sums are
    for each atom, so that the larger kind does not win by its size, and the other one is left out.
    A location without a letter is an alternative to those of the same atom that have one.
    """
    if not any(model.altlocs.any() for model in models):
        return [range(len(names)) for names in keys], []
    versions = list[dict[int, Version]]()
    atoms: dict[Key, Sums] = defaultdict(lambda: defaultdict(float))
    for model, names in zip(models, keys, strict=True):
        letters, resnames = model.altlocs.tolist(), model.atoms.resnames.tolist()
        lettered = {key for key, letter in zip(names, letters, strict=True) if letter}
        found = {k: (letters[k], resnames[k]) for k, key in enumerate(names) if key in lettered}
        for place, version in found.items():
            atoms[names[place]][version] += float(model.occupancies[place])
        versions.append(found)
    residues: dict[tuple[str, int, str], Sums] = defaultdict(lambda: defaultdict(float))
    sizes = Counter((key[:3], kind) for key, sums in atoms.items() for kind in {v[1] for v in sums})
    for key, sums in atoms.items():
        for version, occupancy in sums.items():
            residues[key[:3]][version] += occupancy / sizes[key[:3], version[1]]
    chosen = {residue: _best(sums) for residue, sums in residues.items()}
    kept = dict[Key, Version | None]()
    for key, sums in atoms.items():
        best = chosen[key[:3]]
        alike = {version: sum_ for version, sum_ in sums.items() if version[1] == best[1]}
        kept[key] = best if best in sums else _best(alike) if alike else None
    places: list[Sequence[int]] = [
        [k for k, key in enumerate(names) if k not in found or found[k] == kept[key]]
        for names, found in zip(keys, versions, strict=True)
    ]
    divided = [key for key, sums in atoms.items() if len(sums) > 1 or kept[key] is None]
    if not divided:  # a letter without another beside it leaves nothing to choose
        return places, []
    count = f"{counted(len(divided), 'atom')} with alternative locations"
    return places, [f"{count}: residues keep the letter of the highest occupancy"]


def _best(versions: Sums) -> Version:
    """Return the version of highest occupancy, the first letter among equals."""
    return min(versions, key=lambda version: (-round(versions[version], 6), version))


def name_copies(models: Sequence[Model]) -> tuple[list[Model], list[str]]:
    """Return models in which every copy of a chain has its own name, and notes on the first.

    Programs of simulations write several molecules without chains, or all with the same one.
    """
    named, notes = list[Model](), list[str]()
    for model in models:
        if named and model.is_like(models[0]):
            named.append(replace(model, atoms=named[0].atoms))
            continue
        if len(set(model.keys())) == len(model.atoms):  # no atom is there twice
            named.append(model)
            continue
        chains, copies = model.atoms.chains.tolist(), _copies(model).tolist()
        candidates = chain(ascii_uppercase, ascii_lowercase, digits, map(str, count(10)))
        free = filterfalse(set(chains).__contains__, candidates)
        pairs = list(zip(chains, copies, strict=True))
        renamed = [pair for pair in dict.fromkeys(pairs) if pair[1] or not pair[0]]
        new = {pair: next(free) for pair in renamed} if max(copies) else {}
        if new and not named:
            shown = ", ".join([*new.values()][:4]) + ", …" * (len(new) > 4)
            notes.append(f"chains are there more than once: copies are named {shown}")
        names = [new.get(pair, pair[0]) for pair in pairs]
        named.append(replace(model, atoms=replace(model.atoms, chains=np.array(names, np.str_))))
    return named, notes


def _copies(model: Model) -> Ints:
    """Return the number of the copy of its chain to which each atom belongs.

    A copy begins with a residue of which the first heavy atom was there before. Hydrogens, which
    may be written apart, and alternative locations begin none.
    """
    residues, keys = residue_index(model.atoms), model.keys()
    heavy = (model.altlocs == "") & ~np.isin(model.atoms.elements, HYDROGENS)
    copies, current = np.zeros(len(keys), np.int64), Counter[str]()
    seen = defaultdict[str, set[Key]](set)
    last = -1
    for place, (key, residue) in enumerate(zip(keys, residues.tolist(), strict=True)):
        if heavy[place]:
            if residue != last and key in seen[key[0]]:
                current[key[0]] += 1
                seen[key[0]].clear()
            seen[key[0]].add(key)
            last = residue
        copies[place] = current[key[0]]
    return copies[np.searchsorted(residues, residues, side="right") - 1]


def _refuse_repeated(
    model: Model, keys: Sequence[Key], places: Sequence[int], *, by_place: bool
) -> None:
    """Refuse atoms that are there twice: some programs leave out the letters of their locations.

    Where models are alike, hydrogens may come twice, and atoms named by their elements.
    """
    atoms, seen = model.atoms, set[Key]()
    free = np.strings.upper(atoms.names) == np.strings.upper(atoms.elements)
    free |= np.isin(atoms.elements, HYDROGENS)
    for place in places:
        if keys[place] in seen and not (by_place and free[place]):
            raise ValueError(
                f"{model.label}: atom {atoms.label(place)} is there twice, without letters of "
                "alternative locations: remove or rename one of the two"
            )
        seen.add(keys[place])
