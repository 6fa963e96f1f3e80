"""Alternative locations: one location for every atom, with neighbours that fit each other.

Letters mean something only side by side: the A of a residue goes with the A of the next one, and
the A of one with the B of the other may put two atoms where only one can be. So residues that
touch, as those along a chain do, take one letter together, that of the highest occupancy summed
over their atoms. Residues without this letter choose again, with those neighbours that lack it too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from timme._text import counted
from timme.ensemble.atoms import HYDROGENS
from timme.ensemble.residues import NUCLEIC, PROTEIN, WATER

if TYPE_CHECKING:
    from timme.io.structures import Key, Model

Residue = tuple[str, int, str]  # chain, residue number, insertion code
Version = tuple[str, str]  # letter of a location, name of its residue
Sums = dict[Version, float]  # occupancies
Neighbours = dict[Residue, set[Residue]]

_TOUCHING = 2.3  # Å between heavy atoms that are bonded, or that cannot both be there


def choose_altlocs(
    models: Sequence[Model], keys: Sequence[Sequence[Key]]
) -> tuple[list[Sequence[int]], list[str]]:
    """Return the places of the atoms that stay in each model, the same in all, and notes.

    A location without a letter is an alternative to those of the same atom that have one.
    """
    if not any(model.altlocs.any() for model in models):
        return [range(len(names)) for names in keys], []
    versions = list[dict[int, Version]]()
    sums: dict[Key, Sums] = defaultdict(lambda: defaultdict(float))
    for model, names in zip(models, keys, strict=True):
        letters, resnames = model.altlocs.tolist(), model.atoms.resnames.tolist()
        lettered = {key for key, letter in zip(names, letters, strict=True) if letter}
        found = {k: (letters[k], resnames[k]) for k, key in enumerate(names) if key in lettered}
        for place, version in found.items():
            sums[names[place]][version] += float(model.occupancies[place])
        versions.append(found)
    votes = _votes(sums)
    neighbours = _neighbours(models, keys, votes)
    taken: dict[Residue, Version | None] = {}
    for group in _groups(votes, neighbours):
        taken |= _choose_letter(group, votes, neighbours)
    atoms = {key: _version_of_atom(found, taken[key[:3]]) for key, found in sums.items()}
    places: list[Sequence[int]] = [
        [k for k, key in enumerate(names) if k not in found or found[k] == atoms[key]]
        for names, found in zip(keys, versions, strict=True)
    ]
    return places, _notes(sums, atoms)


def _votes(sums: Mapping[Key, Sums]) -> dict[Residue, Sums]:
    """Occupancies of every version of a residue, summed over its atoms.

    Where one number stands for two kinds of residue, the larger one does not win by its size: sums
    are those of as many atoms as the largest kind has.
    """
    votes: dict[Residue, Sums] = defaultdict(lambda: defaultdict(float))
    names: dict[Residue, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, versions in sums.items():
        for version, occupancy in versions.items():
            votes[key[:3]][version] += occupancy
            names[key[:3]][version[1]].add(key[3])
    for residue, found in votes.items():
        most = max(map(len, names[residue].values()))
        for version in found:
            found[version] *= most / len(names[residue][version[1]])
    return votes


def _neighbours(
    models: Sequence[Model], keys: Sequence[Sequence[Key]], votes: Iterable[Residue]
) -> Neighbours:
    """Residues with letters that follow one another in a chain, or touch in some model."""
    neighbours: Neighbours = {residue: set() for residue in votes}
    for model, names in zip(models, keys, strict=True):
        known = zip(names, model.atoms.resnames.tolist(), strict=True)
        order = dict.fromkeys(key[:3] for key, name in known if name in PROTEIN | NUCLEIC)
        pairs = [(a, b) for a, b in pairwise(order) if a[0] == b[0] and abs(b[1] - a[1]) <= 1]
        heavy = np.flatnonzero(~np.isin(model.atoms.elements, HYDROGENS)).tolist()
        places = [place for place in heavy if names[place][:3] in neighbours]
        near = [names[place][:3] for place in places]
        touching = cKDTree(model.coordinates[places]).query_pairs(_TOUCHING) if places else ()
        pairs += [(near[a], near[b]) for a, b in touching]
        for one, other in pairs:
            if one in neighbours and other in neighbours and one != other:
                neighbours[one].add(other)
                neighbours[other].add(one)
    return neighbours


def _groups(residues: Iterable[Residue], neighbours: Neighbours) -> Iterator[list[Residue]]:
    """Residues that hang together."""
    left = dict.fromkeys(residues)
    while left:
        group = [left.popitem()[0]]
        for residue in group:  # which grows on the way
            found = sorted(neighbours[residue] & left.keys())
            group += found
            for other in found:
                del left[other]
        yield group


def _choose_letter(
    group: Sequence[Residue], votes: Mapping[Residue, Sums], neighbours: Neighbours
) -> dict[Residue, Version | None]:
    """One letter for the residues of a group, and others for those that lack it."""
    # What has one letter only, as a ligand in half of the molecules, says nothing of the others.
    divided = [residue for residue in group if len(votes[residue]) > 1]
    sums: Sums = defaultdict(float)
    for residue in divided or group:
        for (letter, _), occupancy in votes[residue].items():
            sums[letter, ""] += occupancy
    best = _best(sums)[0]
    chosen, lacking = dict[Residue, Version | None](), list[Residue]()
    for residue in group:
        found = {version: sum_ for version, sum_ in votes[residue].items() if version[0] == best}
        if found:
            chosen[residue] = _best(found)
        elif all(resname in WATER for _, resname in votes[residue]):
            chosen[residue] = None  # it is there only in another state of the crystal
        else:
            lacking.append(residue)
    for part in _groups(lacking, neighbours):
        chosen |= _choose_letter(part, votes, neighbours)
    return chosen


def _best(versions: Sums) -> Version:
    """The version of highest occupancy, the first letter among equals."""
    return min(versions, key=lambda version: (-round(versions[version], 6), version))


def _version_of_atom(versions: Sums, chosen: Version | None) -> Version | None:
    """What was chosen for its residue; an atom that lacks that letter takes its own best one."""
    if chosen is None or chosen in versions:
        return chosen
    # Where one number stands for two kinds of residue, atoms of the other kind are left out.
    same_kind = {version: sum_ for version, sum_ in versions.items() if version[1] == chosen[1]}
    return _best(same_kind) if same_kind else None


def _notes(sums: Mapping[Key, Sums], atoms: Mapping[Key, Version | None]) -> list[str]:
    divided = [key for key, versions in sums.items() if len(versions) > 1 or atoms[key] is None]
    if not divided:  # a letter without another beside it leaves nothing to choose
        return []
    versions = filter(None, map(atoms.get, divided))
    letters = ", ".join(sorted({letter or "no letter" for letter, _ in versions}))
    left_out = sum(map(len, sums.values())) - sum(each is not None for each in atoms.values())
    note = (
        f"{counted(len(divided), 'atom')} with alternative locations: residues that touch keep one "
        f"letter, of the highest occupancy ({letters or 'none'}), and "
        f"{counted(left_out, 'location')} left out"
    )
    return [note]
