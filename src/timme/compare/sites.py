"""Find the sites that two systems share, by name: atoms of one against Cα of the other.

Sites are the same if chain, residue number, insertion code and atom name are. Where that finds
nothing, chains of other names are paired if they share at least half of the sites of the smaller
one, those that share most first; and where no atom name is shared, sites are matched by residue.
Each of these choices is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from timme._arrays import Ints, frozen
from timme._html import Described
from timme.hierarchy.tree import Hierarchy
from timme.system.atoms import Atoms

_Name = tuple[str, int, str, str]  # chain, residue number, insertion code, atom name


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Common(Described):
    """The sites that two systems share, in the order of the first."""

    first: Ints  # (common sites,), sites of the first
    second: Ints  # (common sites,), the same in the second
    notes: tuple[str, ...]  # how they were found


@runtime_checkable
class Shown(Protocol):
    """A result with names of the sites that it shows, such as an ``Analysis``."""

    @property
    def shown_hierarchy(self) -> Hierarchy:
        """The hierarchy as the shown sites see it."""
        ...

    @property
    def shown_atoms(self) -> Atoms:
        """Names of the shown sites, in the order of that hierarchy."""
        ...


def common_sites(first: Atoms, second: Atoms, *, chains: Mapping[str, str] | None = None) -> Common:
    """Match the sites of two systems by chain, residue number, insertion code and atom name.

    Names that a system has twice cannot be told apart and are left out, unless both list the same
    names in the same order.

    Parameters
    ----------
    first, second : Atoms
        Names of the sites.
    chains : mapping of str to str, optional
        Chains of the first and what they are called in the second; no others are compared.

    Returns
    -------
    Common
        At least one site.

    Examples
    --------
    >>> found = common_sites(Atoms.unnamed(3), Atoms.unnamed(5))
    >>> found.second
    array([0, 1, 2])
    >>> found.notes
    ('3 sites are in both: all of 3 in the first, 3 of 5 in the second',)
    """
    if chains is not None:
        _refuse_unknown_chains(first, second, chains)
    for by_atom in (True, False):
        one, other = _names(first, by_atom=by_atom), _names(second, by_atom=by_atom)
        if one == other and by_atom and chains is None:
            every = np.arange(len(one))
            return Common(every, every, _residue_notes(first, second, every, every))
        for pair_chains in (_same_chains, _pair_chains):
            pairing = pair_chains(one, other) if chains is None else chains
            found, twice = _match(one, other, pairing)
            if len(found):
                rows, columns = np.array(found, dtype=np.int64).T
                notes = _notes(first, second, rows, columns, pairing, by_atom=by_atom, twice=twice)
                return Common(frozen(rows), frozen(columns), notes)
    raise ValueError(
        f"no site is in both: the first has {_span(first)}, the second {_span(second)}: compare "
        "results of one molecule with the same residue numbers, or say which chains are the same "
        "(chains={'A': 'B'})"
    )


def _names(atoms: Atoms, *, by_atom: bool) -> list[_Name]:
    names = atoms.names.tolist() if by_atom else [""] * len(atoms)
    columns = atoms.chains.tolist(), atoms.resids.tolist(), atoms.icodes.tolist(), names
    return list(zip(*columns, strict=True))


def _refuse_unknown_chains(first: Atoms, second: Atoms, chains: Mapping[str, str]) -> None:
    for which, atoms, asked in (
        ("first", first, list(chains)),
        ("second", second, list(chains.values())),
    ):
        known = dict.fromkeys(atoms.chains.tolist())
        missing = [chain for chain in asked if chain not in known]
        if missing:
            raise ValueError(
                f"the {which} has no chain {missing[0]!r}: its chains are "
                f"{', '.join(map(repr, known))}"
            )
    if len(set(chains.values())) < len(chains):
        raise ValueError(f"each chain has one partner, got one twice in {dict(chains)}")


def _match(
    one: list[_Name], other: list[_Name], pairing: Mapping[str, str]
) -> tuple[list[tuple[int, int]], int]:
    """Return the sites with the same name, and how many were left out since it is there twice."""
    called = [(pairing[chain], *rest) if chain in pairing else None for chain, *rest in one]
    first_counts, second_counts = Counter(called), Counter(other)
    place = {name: index for index, name in enumerate(other)}
    found = [(index, place[name]) for index, name in enumerate(called) if name in place]
    single = [
        (index, partner)
        for index, partner in found
        if first_counts[called[index]] == 1 == second_counts[other[partner]]
    ]
    return single, len(found) - len(single)


def _same_chains(one: list[_Name], _: list[_Name]) -> dict[str, str]:
    return {chain: chain for chain, *_ in one}


def _pair_chains(one: list[_Name], other: list[_Name]) -> dict[str, str]:
    """Pair chains that share most of their sites but for the name, those with most first."""
    holders: dict[tuple[int, str, str], list[str]] = {}
    for name in dict.fromkeys(other):
        holders.setdefault(name[1:], []).append(name[0])
    shared = Counter(
        (name[0], holder) for name in dict.fromkeys(one) for holder in holders.get(name[1:], ())
    )
    first_sizes, second_sizes = _chain_sizes(one), _chain_sizes(other)
    paired: dict[str, str] = {}
    for (chain, holder), count in shared.most_common():  # ties: as they come in the files
        enough = 2 * count >= min(first_sizes[chain], second_sizes[holder])
        if enough and chain not in paired and holder not in paired.values():
            paired[chain] = holder
    return paired


def _chain_sizes(names: Iterable[_Name]) -> Counter[str]:
    return Counter(chain for chain, *_ in dict.fromkeys(names))


def _notes(
    first: Atoms,
    second: Atoms,
    rows: Ints,
    columns: Ints,
    pairing: Mapping[str, str],
    *,
    by_atom: bool,
    twice: int,
) -> tuple[str, ...]:
    shares = [
        f"{'all' if len(rows) == len(atoms) else len(rows)} of {len(atoms)} in the {which}"
        for which, atoms in (("first", first), ("second", second))
    ]
    notes = [f"{len(rows)} sites are in both: {', '.join(shares)}"]
    used = dict.fromkeys(first.chains[rows].tolist())
    other = [
        f"{chain or '(blank)'} is {pairing[chain] or '(blank)'}"
        for chain in used
        if chain != pairing[chain]
    ]
    if other:
        notes.append(f"chains of the first have other names in the second: {', '.join(other)}")
    if not by_atom:
        notes.append("no atom names are shared: sites were matched by residue")
    if twice:
        notes.append(f"{twice} sites were left out: another has the same name")
    return (*notes, *_residue_notes(first, second, rows, columns))


def _residue_notes(first: Atoms, second: Atoms, rows: Ints, columns: Ints) -> tuple[str, ...]:
    """Say where residues at the same place have different names."""
    one, other = first.resnames[rows], second.resnames[columns]
    differ = np.flatnonzero((one != other) & (one != "") & (other != ""))
    if not len(differ):
        return ()
    where = first.label(int(rows[differ[0]])), second.label(int(columns[differ[0]]))
    note = (
        f"{len(differ)} of {len(rows)} common sites are in residues of another name, "
        f"the first {where[0]} and {where[1]}"
    )
    return (note + ": check the residue numbers" if 2 * len(differ) > len(rows) else note,)


def _span(atoms: Atoms) -> str:
    """Name the first and the last site."""
    if len(atoms) == 1:
        return atoms.label(0)
    return f"{atoms.label(0)} to {atoms.label(len(atoms) - 1)}"
