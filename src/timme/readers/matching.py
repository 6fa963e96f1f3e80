"""Matching: the same atoms in every model, found by name and not by place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Ints
from timme.readers.alternatives import choose_places
from timme.readers.models import Key, Model, label
from timme.system.elements import HYDROGENS


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which atoms of each model are the same ones."""

    orders: tuple[Ints, ...]  # per model, indices of the matched atoms in the order of the first
    notes: tuple[str, ...]


def match_models(models: Sequence[Model], *, common_atoms: bool = False) -> Matching:
    """Match the atoms of all models by chain, residue number, insertion code and atom name.

    Parameters
    ----------
    models : sequence of Model
        At least one model.
    common_atoms : bool, optional
        Go on with the atoms that all models share where they differ.

    Returns
    -------
    Matching
        Orders that bring the atoms of every model in line with the first.
    """
    alike = all(model.has_names_of(models[0]) for model in models[1:])
    if alike and not any((model.altlocs != "").any() for model in models):
        table, repeated = _table(models[0], models[0].keys(), range(len(models[0].names)))
        order = np.array(list(table.values()), dtype=np.int64)
        return Matching((order,) * len(models), _repeated_notes(models[0], repeated))
    keys, note = _name_the_chain([model.keys() for model in models])
    chosen, notes = choose_places(models, keys)
    notes += note
    found = [
        _table(model, names, places)
        for model, names, places in zip(models, keys, chosen, strict=True)
    ]
    tables = [table for table, _ in found]
    _refuse_other_repeats(models, keys, [repeated for _, repeated in found])
    notes += _repeated_notes(models[0], found[0][1])
    shared = list(tables[0])
    if any(table.keys() != tables[0].keys() for table in tables[1:]):
        if not common_atoms:
            raise ValueError(_first_difference(models, tables))
        shared = [key for key in shared if all(key in table for table in tables)]
        if not shared:
            raise ValueError(
                f"{models[0].label} and the other models share no atoms: "
                "check that they are of one molecule"
            )
        left_out = len(set().union(*tables)) - len(shared)
        notes.append(
            f"models differ: {len(shared)} atoms that all share were kept, {left_out} were left out"
        )
    orders = tuple(np.array([table[key] for key in shared], dtype=np.int64) for table in tables)
    if any((order != orders[0]).any() for order in orders) and not (common_atoms and len(notes)):
        notes.append("atoms come in another order in some models: they were matched by name")
    return Matching(orders, tuple(notes))


def _name_the_chain(keys: list[list[Key]]) -> tuple[list[list[Key]], list[str]]:
    """Call the only chain as other models do where a model leaves out its name."""
    chains = [{key[0].strip() for key in names} for names in keys]
    called = set().union(*chains) - {""}
    if len(called) != 1 or not all(len(own) == 1 for own in chains) or {""} not in chains:
        return keys, []
    (chain,) = called
    named = [[(chain, *key[1:]) for key in names] for names in keys]
    return named, [f"where a model does not name its chain, that is taken for chain {chain}"]


def _table(
    model: Model, keys: list[Key], places: Sequence[int]
) -> tuple[dict[Key, int], list[int]]:
    """Find the place of every atom, and further places of hydrogens that have one name."""
    table: dict[Key, int] = {}
    repeated = list[int]()
    for place in places:
        if table.setdefault(keys[place], place) == place:
            continue
        if model.elements[place] not in HYDROGENS:
            raise ValueError(_twice(model, place))
        repeated.append(place)
    return table, repeated


def _refuse_other_repeats(
    models: Sequence[Model], keys: list[list[Key]], repeated: list[list[int]]
) -> None:
    """Refuse hydrogens that are there twice in some models only, as nobody knows which is meant."""
    counts = [
        Counter(names[place] for place in places)
        for names, places in zip(keys, repeated, strict=True)
    ]
    for model, names, places, count in zip(models, keys, repeated, counts, strict=True):
        for place in places:
            if any(other[names[place]] != count[names[place]] for other in counts):
                raise ValueError(_twice(model, place))


def _twice(model: Model, place: int) -> str:
    altloc = f" (altloc {model.altlocs[place]})" if model.altlocs[place] else ""
    return (
        f"{model.label}: atom {model.atom_label(place)}{altloc} is there twice: "
        "every atom needs its own chain, residue number, insertion code and name"
    )


def _repeated_notes(model: Model, repeated: list[int]) -> tuple[str, ...]:
    if not repeated:
        return ()
    count = "1 hydrogen has" if len(repeated) == 1 else f"{len(repeated)} hydrogens have"
    example = model.atom_label(repeated[0])
    note = f"{count} the name of one before, such as {example}: the first of each name was kept"
    return (note,)


def _first_difference(models: Sequence[Model], tables: list[dict[Key, int]]) -> str:
    for model, table in zip(models[1:], tables[1:], strict=True):
        for one, other, one_label, other_label in (
            (tables[0], table, models[0].label, model.label),
            (table, tables[0], model.label, models[0].label),
        ):
            missing = next((key for key in one if key not in other), None)
            if missing is not None:
                source = models[0] if one is tables[0] else model
                name = label(missing, str(source.resnames[one[missing]]))
                return (
                    f"{other_label}: atom {name} of {one_label} is not there: "
                    "all models need the same atoms; "
                    "common_atoms=True goes on with those that all share"
                )
    raise AssertionError("models do not differ")
