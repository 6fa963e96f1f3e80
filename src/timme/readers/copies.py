"""Copies: atoms that a file gives one name, told apart by where they stand in it.

Programs of simulations write several molecules without letters of chains, or all with the same, and
others call every atom of a residue by its element. Such atoms have no names of their own, but a
place: where the residues of a chain begin anew, a copy of it begins, and of atoms that are called
by their element, the first, second and third are meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np

from timme._arrays import Bools, Ints
from timme.readers.models import Key, Model
from timme.system.elements import HYDROGENS

_SHOWN = 4  # names of chains in a note


def tell_copies_apart(models: Sequence[Model]) -> tuple[list[Model], tuple[str, ...]]:
    """Give names to copies of chains, and numbers to atoms that are called by their element.

    Parameters
    ----------
    models : sequence of Model
        Atoms as files list them.

    Returns
    -------
    models : list of Model
        The same atoms.
    notes : tuple of str
        What was done to those of the first model.
    """
    found, notes = list[Model](), list[str]()
    for model in models:
        if found and model.has_names_of(models[0]):
            found.append(replace(model, chains=found[0].chains, doubles=found[0].doubles))
        else:
            named, said = _name_chains(model)
            found.append(named)
            notes += said if model is models[0] else []
    if all(model.has_names_of(models[0]) for model in models[1:]):  # so that places tell atoms
        doubles = _number_elements(found[0])
        if doubles is not None:
            found = [replace(model, doubles=doubles) for model in found]
            example = found[0].atom_label(int(np.flatnonzero(doubles)[0]))
            notes.append(
                f"atoms of one name in a residue, such as {example}, are called by their element: "
                "they are told apart by their order"
            )
    return found, tuple(notes)


def _name_chains(model: Model) -> tuple[Model, list[str]]:
    """Give each copy of a chain its own name: the first that nobody has."""
    copies = _copies(model)
    if not copies.any():
        return model, []
    free = _free_names({str(name) for name in np.unique(model.chains)})
    chains, notes = model.chains.astype(object), list[str]()
    for name in dict.fromkeys(model.chains[copies > 0].tolist()):
        names = [name] if name else []
        own = model.chains == name
        names += [next(free) for _ in range(int(copies[own].max()) + 1 - len(names))]
        chains[own] = np.array(names, dtype=object)[copies[own]]
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        which = f"chain {name}" if name else "the chain without a name"
        notes.append(f"{which} is there {len(names)} times, now called {shown}")
    return replace(model, chains=chains.astype(np.str_)), notes


def _free_names(taken: set[str]) -> Iterator[str]:
    """List letters and digits that no chain has, and then numbers."""
    candidates = chain(ascii_uppercase, ascii_lowercase, digits, map(str, count(10)))
    return (name for name in candidates if name not in taken)


def _copies(model: Model) -> Ints:
    """Number the copies of its chain to which every atom belongs.

    A copy begins with a residue that is there already, as a whole or with two heavy atoms at least,
    or with one of another name. Hydrogens, which some programs write apart from their residues, and
    atoms with alternative places begin none; nor does a single atom that is there twice.
    """
    copies = np.zeros(len(model.names), np.int64)
    keys, telling = model.keys(), _telling(model)
    named = [keys[place] for place in np.flatnonzero(telling)]
    if len(set(named)) == len(named):
        return copies
    # Of the copy at hand of every chain, names of residues and of their atoms, by number.
    seen: dict[str, dict[tuple[int, str], tuple[str, set[str]]]] = {}
    number: dict[str, int] = {}
    for start, stop in pairwise(_residue_bounds(model)):
        own, resid, icode, _ = keys[start]
        residues, resname = seen.setdefault(own, {}), str(model.resnames[start])
        here = {keys[place][-1] for place in range(start, stop) if telling[place]}
        before, there = residues.get((resid, icode), (resname, set[str]()))
        again = here & there
        if again and (len(again) > 1 or here == there or before != resname):
            number[own] = number.get(own, 0) + 1
            residues.clear()
            there = set()
        residues[resid, icode] = resname, here | there
        copies[start:stop] = number.get(own, 0)
    return copies


def _telling(model: Model) -> Bools:
    return np.asarray((model.altlocs == "") & ~np.isin(model.elements, HYDROGENS), np.bool_)


def _residue_bounds(model: Model) -> list[int]:
    """Find where residues begin in the file, and where the last one ends."""
    changes = np.zeros(len(model.names) - 1, np.bool_)
    for values in (model.chains, model.resids, model.icodes, model.resnames):
        changes |= values[1:] != values[:-1]
    return [0, *(np.flatnonzero(changes) + 1).tolist(), len(model.names)]


def _number_elements(model: Model) -> Ints | None:
    """Number atoms of one name, where all of a residue are called by their elements; else None.

    Two atoms called CA are a fault of the file, two that are called C are not.
    """
    keys = model.keys()
    counts = Counter(keys)
    if len(counts) == len(keys):
        return None
    residues = {key[:-1] for key, times in counts.items() if times > 1}
    within = np.array([key[:-1] in residues for key in keys])
    bare = np.char.upper(model.names) == np.char.upper(model.elements)
    heavy = within & ~np.isin(model.elements, HYDROGENS)
    repeated = np.array([counts[key] > 1 for key in keys])
    if not (bare & (model.altlocs == ""))[within].all() or not (repeated & heavy).any():
        return None
    seen = Counter[Key]()
    doubles = np.zeros(len(keys), np.int64)
    for place, key in enumerate(keys):
        doubles[place] = seen[key]
        seen[key] += 1
    return doubles
