"""Matching: the same atoms in every model, found by name and not by place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, Strings

Key = tuple[str, int, str, str]  # chain, residue number, insertion code, atom name


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Atoms of one model as its file lists them."""

    label: str  # the file and the model, for messages
    names: Strings  # (atoms,)
    elements: Strings
    resnames: Strings
    resids: Ints
    icodes: Strings
    chains: Strings
    altlocs: Strings  # "" where an atom has one place only
    occupancies: Floats
    serials: Ints
    coordinates: Floats  # (atoms, 3)

    def keys(self) -> list[Key]:
        """List what every atom is called: chain, residue number, insertion code, atom name."""
        return list(
            zip(
                self.chains.tolist(),
                self.unwrapped_resids().tolist(),
                self.icodes.tolist(),
                self.names.tolist(),
                strict=True,
            )
        )

    def unwrapped_resids(self) -> Ints:
        """Go on counting where the numbers of large systems start again after 9999."""
        drops = (self.resids[:-1] == 9999) & (self.resids[1:] <= 1)
        drops &= self.chains[1:] == self.chains[:-1]
        return self.resids + 100_000 * np.concatenate([[0], np.cumsum(drops)]).astype(np.int64)

    def atom_label(self, atom: int) -> str:
        """Name one atom as people write it.

        Parameters
        ----------
        atom : int
            Index of the atom.

        Returns
        -------
        str
            Such as ``A/GLY 35/CA``.
        """
        chain, name = str(self.chains[atom]), str(self.names[atom])
        key = (chain, int(self.resids[atom]), str(self.icodes[atom]), name)
        return label(key, str(self.resnames[atom]))


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
    if _same_names(models) and not any((model.altlocs != "").any() for model in models):
        _refuse_duplicates(models[0], models[0].keys())
        order = np.arange(len(models[0].names))
        return Matching((order,) * len(models), ())
    keys = [model.keys() for model in models]
    chosen, notes = _chosen_places(models, keys)
    tables = [
        _table(model, names, places)
        for model, names, places in zip(models, keys, chosen, strict=True)
    ]
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


def label(key: Key, resname: str = "") -> str:
    """Name an atom in a message.

    Parameters
    ----------
    key : tuple
        Chain, residue number, insertion code and atom name.
    resname : str, optional
        Name of the residue.

    Returns
    -------
    str
        Such as ``A/GLY 35/CA``.
    """
    chain, resid, icode, name = key
    residue = f"{resname} {resid % 100_000 if resid >= 100_000 else resid}{icode}".strip()
    return "/".join(part for part in (chain, residue, name) if part)


def _same_names(models: Sequence[Model]) -> bool:
    first = models[0]
    return all(
        len(model.names) == len(first.names)
        and bool((model.names == first.names).all())
        and bool((model.resids == first.resids).all())
        and bool((model.chains == first.chains).all())
        and bool((model.icodes == first.icodes).all())
        for model in models[1:]
    )


def _refuse_duplicates(model: Model, keys: list[Key]) -> None:
    if len(set(keys)) < len(keys):
        _table(model, keys, range(len(keys)))


def _table(model: Model, keys: list[Key], places: Sequence[int]) -> dict[Key, int]:
    table: dict[Key, int] = {}
    for place in places:
        if keys[place] in table:
            altloc = f" (altloc {model.altlocs[place]})" if model.altlocs[place] else ""
            raise ValueError(
                f"{model.label}: atom {model.atom_label(place)}{altloc} is there twice: "
                "every atom needs its own chain, residue number, insertion code and name"
            )
        table[keys[place]] = place
    return table


def _chosen_places(
    models: Sequence[Model], keys: list[list[Key]]
) -> tuple[list[Sequence[int]], list[str]]:
    """Choose one place for every atom: the same alternative location in all models."""
    if not any((model.altlocs != "").any() for model in models):
        return [range(len(names)) for names in keys], []
    alternatives = _Alternatives(models, keys)
    chosen: list[Sequence[int]] = []
    for model, names in zip(models, keys, strict=True):
        altlocs, resnames = model.altlocs.tolist(), model.resnames.tolist()
        chosen.append(
            [
                place
                for place, key in enumerate(names)
                if alternatives.keeps(key, altlocs[place], resnames[place])
            ]
        )
    atoms = len(alternatives.atoms)
    note = f"{atoms} atoms have alternative locations: those of highest occupancy were taken"
    return chosen, [note] if atoms else []


class _Alternatives:
    """Which alternative location stands for an atom, chosen once for all models.

    A residue takes one letter as a whole, so that its atoms fit each other; an atom that lacks that
    letter takes its own best one.
    """

    def __init__(self, models: Sequence[Model], keys: list[list[Key]]) -> None:
        residues: dict[tuple[str, int, str], dict[tuple[str, str], list[float]]] = {}
        atoms: dict[Key, dict[tuple[str, str], list[float]]] = {}
        for model, names in zip(models, keys, strict=True):
            for place in np.flatnonzero(model.altlocs != ""):
                key, version = names[place], (str(model.altlocs[place]), str(model.resnames[place]))
                occupancy = float(model.occupancies[place])
                residues.setdefault(key[:3], {}).setdefault(version, []).append(occupancy)
                atoms.setdefault(key, {}).setdefault(version, []).append(occupancy)
        self.residues = {key: _best(versions) for key, versions in residues.items()}
        self.atoms = {key: self._of_atom(key, versions) for key, versions in atoms.items()}

    def keeps(self, key: Key, altloc: str, resname: str) -> bool:
        """Tell whether an atom at a location is the one that was chosen."""
        return not altloc or self.atoms[key] == (altloc, resname)

    def _of_atom(
        self, key: Key, versions: dict[tuple[str, str], list[float]]
    ) -> tuple[str, str] | None:
        best = self.residues[key[:3]]
        if best in versions:
            return best
        # Where one place holds two kinds of residue, atoms of the other kind are left out.
        same_kind = {
            version: values for version, values in versions.items() if version[1] == best[1]
        }
        return _best(same_kind) if same_kind else None


def _best(versions: dict[tuple[str, str], list[float]]) -> tuple[str, str]:
    """Return the version of highest mean occupancy, the first letter among equals."""
    return min(
        versions, key=lambda version: (-round(float(np.mean(versions[version])), 6), version)
    )


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
