"""Alternative locations: one place for every atom, with neighbours that fit each other.

Letters mean something only side by side: the A of a residue goes with the A of the next one, and
the A of one with the B of the other may put two atoms where none can be. So residues that touch, as
those along a chain do, take one letter together, that of the highest occupancy summed over their
atoms. Residues that lack this letter choose again, together with those neighbours that lack it too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from timme.readers.models import Key, Model, label
from timme.system.elements import HYDROGENS
from timme.system.residues import NUCLEIC, PROTEIN, WATER

Residue = tuple[str, int, str]  # chain, residue number, insertion code
Version = tuple[str, str]  # letter, name of the residue
Places = list[Sequence[int]]  # for every model, the atoms that stay
Neighbours = dict[Residue, set[Residue]]

_TOUCHING = 2.3  # Å between heavy atoms that are bound, or that cannot both be there
_BACKBONE = frozenset("N CA C O P O5' C5' C4' C3' O3' O5* C5* C4* C3* O3*".split())


def choose_places(models: Sequence[Model], keys: list[list[Key]]) -> tuple[Places, list[str]]:
    """Choose one place for every atom: the same alternative location in all models.

    Parameters
    ----------
    models : sequence of Model
        At least one model.
    keys : list of list of tuple
        What the atoms of every model are called.

    Returns
    -------
    places : list of sequence of int
        For every model, the atoms that stay.
    notes : list of str
        What was chosen, none without alternatives.
    """
    if not any((model.altlocs != "").any() for model in models):
        return [range(len(names)) for names in keys], []
    versions = [_versions(model, names) for model, names in zip(models, keys, strict=True)]
    choice = _choose(models, keys, versions)
    chosen: Places = [
        [
            place
            for place, key in enumerate(names)
            if place not in found or choice.atoms[key] == found[place]
        ]
        for names, found in zip(keys, versions, strict=True)
    ]
    return chosen, _notes(choice)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What was chosen for atoms that have letters."""

    occupancies: dict[Key, dict[Version, float]]  # summed over models
    residues: dict[Residue, Version | None]  # None for waters that are not there
    atoms: dict[Key, Version | None]  # None for atoms that are not there


def _versions(model: Model, names: list[Key]) -> dict[int, Version]:
    """Find the letters of atoms; a place without one is an alternative of those that have one."""
    lettered = {names[place] for place in np.flatnonzero(model.altlocs != "")}
    return {
        place: (str(model.altlocs[place]), str(model.resnames[place]))
        for place, key in enumerate(names)
        if key in lettered
    }


def _choose(
    models: Sequence[Model], keys: list[list[Key]], versions: list[dict[int, Version]]
) -> _Choice:
    occupancies: dict[Key, dict[Version, float]] = defaultdict(lambda: defaultdict(float))
    for model, names, found in zip(models, keys, versions, strict=True):
        for place, version in found.items():
            occupancies[names[place]][version] += float(model.occupancies[place])
    votes = _votes(occupancies)
    neighbours = _neighbours(models, keys, votes)
    residues: dict[Residue, Version | None] = {}
    for stretch in _stretches(votes, neighbours):
        residues |= _choose_letter(stretch, votes, neighbours)
    atoms = {key: _of_atom(found, residues[key[:3]]) for key, found in occupancies.items()}
    return _Choice(occupancies, residues, atoms)


def _votes(occupancies: Mapping[Key, dict[Version, float]]) -> dict[Residue, dict[Version, float]]:
    """Sum the occupancies of every version of a residue.

    Where one number stands for two kinds of residue, the larger one does not win by its size: sums
    are those of as many atoms as the largest kind has.
    """
    names: dict[Residue, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    sums: dict[Residue, dict[Version, float]] = defaultdict(lambda: defaultdict(float))
    for key, versions in occupancies.items():
        for version, occupancy in versions.items():
            names[key[:3]][version[1]].add(key[3])
            sums[key[:3]][version] += occupancy
    for residue, found in sums.items():
        most = max(map(len, names[residue].values()))
        for version in found:
            found[version] *= most / len(names[residue][version[1]])
    return sums


def _neighbours(
    models: Sequence[Model], keys: list[list[Key]], votes: Iterable[Residue]
) -> Neighbours:
    """Find residues with letters that follow one another in a chain, or touch in some model."""
    neighbours: Neighbours = {residue: set() for residue in votes}
    for model, names in zip(models, keys, strict=True):
        for one, other in (*_following(model, names), *_touching(model, names, neighbours)):
            if one in neighbours and other in neighbours and one != other:
                neighbours[one].add(other)
                neighbours[other].add(one)
    return neighbours


def _following(model: Model, names: list[Key]) -> list[tuple[Residue, Residue]]:
    """List residues of proteins and nucleic acids with the next one, if no number is between."""
    polymer = PROTEIN | NUCLEIC
    known = zip(names, model.resnames.tolist(), strict=True)
    order = list(dict.fromkeys(key[:3] for key, resname in known if resname in polymer))
    return [
        (one, other)
        for one, other in pairwise(order)
        if one[0] == other[0] and abs(other[1] - one[1]) <= 1
    ]


def _touching(
    model: Model, names: list[Key], known: Mapping[Residue, object]
) -> list[tuple[Residue, Residue]]:
    from scipy.spatial import cKDTree

    heavy = ~np.isin(model.elements, HYDROGENS)
    atoms = [place for place in np.flatnonzero(heavy) if names[place][:3] in known]
    if not atoms:
        return []
    pairs = cKDTree(model.coordinates[atoms]).query_pairs(_TOUCHING)
    return [(names[atoms[one]][:3], names[atoms[other]][:3]) for one, other in pairs]


def _stretches(residues: Iterable[Residue], neighbours: Neighbours) -> list[list[Residue]]:
    """Collect residues that hang together."""
    left, stretches = dict.fromkeys(residues), list[list[Residue]]()
    while left:
        stretch = [left.popitem()[0]]
        for residue in stretch:  # which grows on the way
            found = sorted(neighbours[residue] & left.keys())
            stretch += found
            for other in found:
                left.pop(other)
        stretches.append(stretch)
    return stretches


def _choose_letter(
    stretch: list[Residue], votes: dict[Residue, dict[Version, float]], neighbours: Neighbours
) -> dict[Residue, Version | None]:
    """Give one letter to the residues of a stretch, and another to those that lack it."""
    letter = _best_letter(stretch, votes)
    chosen: dict[Residue, Version | None] = {}
    lacking = list[Residue]()
    for residue in stretch:
        found = {version: sum_ for version, sum_ in votes[residue].items() if version[0] == letter}
        if found:
            chosen[residue] = _best(found)
        elif all(resname in WATER for _, resname in votes[residue]):
            chosen[residue] = None  # another state of the crystal, in which it takes their place
        else:
            lacking.append(residue)
    for part in _stretches(lacking, neighbours):
        chosen |= _choose_letter(part, votes, neighbours)
    return chosen


def _best_letter(stretch: list[Residue], votes: dict[Residue, dict[Version, float]]) -> str:
    # What is there with one letter only, as a ligand that half of the molecules have, says nothing
    # of the others.
    torn = [residue for residue in stretch if len(votes[residue]) > 1]
    sums: dict[Version, float] = defaultdict(float)
    for residue in torn or stretch:
        for (letter, _), occupancy in votes[residue].items():
            sums[letter, ""] += occupancy
    return _best(sums)[0]


def _best(versions: Mapping[Version, float]) -> Version:
    """Return the version of highest occupancy, the first letter among equals."""
    return min(versions, key=lambda version: (-round(versions[version], 6), version))


def _of_atom(versions: Mapping[Version, float], chosen: Version | None) -> Version | None:
    """Take what was chosen for the residue; an atom that lacks that letter takes its own best."""
    if chosen is None or chosen in versions:
        return chosen
    # Where one place holds two kinds of residue, atoms of the other kind are left out.
    same_kind = {version: sum_ for version, sum_ in versions.items() if version[1] == chosen[1]}
    return _best(same_kind) if same_kind else None


def _notes(choice: _Choice) -> list[str]:
    torn = {
        key for key, versions in choice.occupancies.items()
        if len(versions) > 1 or choice.atoms[key] is None
    }  # fmt: skip
    if not torn:  # a letter that has no other beside it leaves nothing to choose
        return []
    count, residues = len(torn), {key[:3] for key in torn}
    letters = Counter(
        version[0] or "no letter"
        for residue, version in choice.residues.items()
        if version and residue in residues
    )
    taken = ", ".join(f"{letter} in {letters[letter]}" for letter in sorted(letters))
    places = sum(len(versions) for versions in choice.occupancies.values())
    kept = sum(version is not None for version in choice.atoms.values())
    waters = sum(version is None for version in choice.residues.values())
    has = "atom has" if count == 1 else "atoms have"
    left_out = _counted(places - kept, "place")
    note = (
        f"{count} {has} alternative locations: those of highest occupancy were taken, one letter "
        f"for residues that touch ({taken or 'none'}), and {left_out} left out"
    )
    notes = [note]
    if waters:
        notes.append(
            f"{_counted(waters, 'water')} left out with a letter that was not taken where it "
            "would touch other atoms"
        )
    lost = [
        (key, next(iter(choice.occupancies[key])))
        for key, version in choice.atoms.items()
        if version is None and choice.residues[key[:3]] is not None and key[3] in _BACKBONE
    ]
    if lost:
        key, (_, resname) = lost[0]
        notes.append(
            f"{_counted(len(lost), 'backbone atom')} left out, such as {label(key, resname)}: the "
            "kind of residue that was taken at that number lacks it"
        )
    return notes


def _counted(count: int, noun: str) -> str:
    return f"1 {noun} was" if count == 1 else f"{count} {noun}s were"
