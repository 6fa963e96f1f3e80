"""Which site of one system is which of another: by chain, residue and atom name.

Within two chains, residues of the same number belong together if nine in ten of them have the same
name; otherwise their sequences are aligned. Chains are paired that have most residues in common
then, those of the same name first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import gemmi
import numpy as np

from timme._arrays import Ints, frozen
from timme._text import Described
from timme.ensemble.atoms import Atoms

SAME_NAMES = 0.9  # of residues of the same number, for numbers to be believed
LEAST_IDENTITY = 0.3  # of the residues of the shorter chain, by convention
# With gaps as cheap as by default, 36 to 61 % of unrelated proteins seem identical; now up to 14 %.
_SCORING = gemmi.AlignmentScoring()
_SCORING.gapo = -10

Alignment = Literal["auto", "number", "sequence"]
Key = tuple[int, str]  # number and insertion code of a residue
Residues = dict[Key, list[int]]  # its sites
Pairs = list[tuple[list[int], list[int]]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Common(Described):
    """The sites that two systems share, in the order of the first."""

    first: Ints  # (common sites,), sites of the first
    second: Ints  # (common sites,), the same in the second
    notes: tuple[str, ...]  # how they were found


def common_sites(
    first: Atoms,
    second: Atoms,
    *,
    chains: Mapping[str, str] | None = None,
    align: Alignment = "auto",
) -> Common:
    """Match the sites of two systems.

    Parameters
    ----------
    first, second : Atoms
        Names of the sites.
    chains : mapping of str to str, optional
        Chains of the first and their partners in the second; no others are compared.
    align : {"auto", "number", "sequence"}, optional
        Match residues by number or by sequence.

    Returns
    -------
    Common
        At least one site. Sites of the same name in one residue are left out.

    Examples
    --------
    >>> found = common_sites(Atoms.unnamed(3), Atoms.unnamed(5))
    >>> found.second
    array([0, 1, 2])
    """
    columns = ("chains", "resids", "icodes", "names", "resnames")
    same = all(np.array_equal(getattr(first, name), getattr(second, name)) for name in columns)
    if same and chains is None:
        every = frozen(np.arange(len(first)))
        return Common(every, every, ())
    one, other = _residues_by_chain(first), _residues_by_chain(second)
    chosen = dict(chains or {})
    sides = ("first", {*chosen}, one), ("second", {*chosen.values()}, other)
    for which, named, known in sides:
        for chain in named - known.keys():
            names = ", ".join(map(repr, known))
            raise ValueError(f"the {which} has no chain {chain!r}: its chains are {names}")
    found, notes, paired = list[tuple[int, int]](), list[str](), dict[str, str]()
    pairs = product(one, other) if chains is None else chosen.items()
    matches = {(a, b): _match_residues(first, second, one[a], other[b], align) for a, b in pairs}
    for a, b in sorted(matches, key=lambda pair: (-matches[pair].same, pair[0] != pair[1])):
        match, taken = matches[a, b], a in paired or b in paired.values()
        fewest = LEAST_IDENTITY * max(len(match.residues), min(len(one[a]), len(other[b])))
        if not taken and (align == "number" or match.same >= fewest):
            paired[a] = b
            notes.append(match.note)
            for pair in match.residues:
                found += _match_atoms(first, second, *pair)
    if not found or len(paired) < len(chosen):
        raise ValueError(
            f"no site is in both, or less than {LEAST_IDENTITY:.0%} of the residues are the same: "
            f"the first has {first.label(0)} to {first.label(len(first) - 1)}, the second "
            f"{second.label(0)} to {second.label(len(second) - 1)}; compare results of one "
            "molecule, name chains (chains={'A': 'B'}), or match different molecules by number "
            "(align='number')"
        )
    rows, partners = np.array(sorted(found), np.int64).T
    renamed = [f"{a or '(blank)'} is {b or '(blank)'}" for a, b in paired.items() if a != b]
    if renamed:
        notes.append(f"chains of the first in the second: {', '.join(renamed)}")
    differ = int(np.count_nonzero(first.resnames[rows] != second.resnames[partners]))
    if differ:
        notes.insert(0, f"{differ:,} of {len(rows):,} sites are in residues of another name")
    return Common(frozen(rows), frozen(partners), tuple(filter(None, notes)))


def _residues_by_chain(atoms: Atoms) -> dict[str, Residues]:
    found = dict[str, Residues]()
    rows = zip(atoms.chains.tolist(), atoms.resids.tolist(), atoms.icodes.tolist(), strict=True)
    for site, (chain, number, icode) in enumerate(rows):
        found.setdefault(chain, {}).setdefault((number, icode), []).append(site)
    return found


class _Match(NamedTuple):
    residues: Pairs  # sites of residues that correspond
    same: int  # number of these that have the same name
    note: str  # how they were found, if not by number


def _match_residues(
    first: Atoms, second: Atoms, one: Residues, other: Residues, align: Alignment
) -> _Match:
    """Match the residues of two chains by number or by sequence."""
    names, others = _names(first, one), _names(second, other)

    def match(keys: list[tuple[Key, Key]]) -> tuple[Pairs, int]:
        return [(one[a], other[b]) for a, b in keys], sum(names[a] == others[b] for a, b in keys)

    pairs, same = match([(key, key) for key in one if key in other])
    fewest = max(SAME_NAMES * len(pairs), LEAST_IDENTITY * min(len(one), len(other)))
    if align == "number" or (align == "auto" and same >= fewest):
        return _Match(pairs, same, "")
    found = gemmi.align_string_sequences([*names.values()], [*others.values()], [], _SCORING)
    # x for each residue, - for each gap: both strings get the length of the alignment
    keys, partners = (
        [next(left) if mark == "x" else None for mark in found.add_gaps("x" * len(each), place)]
        for place, each, left in ((1, names, iter(names)), (2, others, iter(others)))
    )
    pairs, same = match([(a, b) for a, b in zip(keys, partners, strict=True) if a and b])
    identical = f"{same / max(1, len(pairs)):.1%} of {len(pairs)} residues identical"
    return _Match(pairs, same, f"sequences were aligned: {identical}")


def _names(atoms: Atoms, residues: Residues) -> dict[Key, str]:
    return {key: str(atoms.resnames[sites[0]]) for key, sites in residues.items()}


def _match_atoms(
    first: Atoms, second: Atoms, sites: list[int], partners: list[int]
) -> list[tuple[int, int]]:
    """Match sites of two residues by atom name; single sites of different names match as well."""
    if len(sites) == len(partners) == 1:
        return [(sites[0], partners[0])]
    names, others = first.names[sites].tolist(), second.names[partners].tolist()
    return [
        (site, partners[others.index(name)])
        for site, name in zip(sites, names, strict=True)
        if names.count(name) == others.count(name) == 1
    ]
