"""Which site of one system is which of another: by chain, residue and atom name.

Chains are paired that share most residues, those of the same name first. Within two chains,
residues of the same number belong together if nine in ten of them have the same name; otherwise
their sequences are aligned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import gemmi
import numpy as np

from timme_next._arrays import Ints, frozen
from timme_next._text import Described
from timme_next.ensemble.atoms import Atoms

SAME_NAMES = 0.9  # of residues of the same number, for numbers to be believed
LEAST_IDENTITY = 0.3  # of aligned residues, by convention

Alignment = Literal["auto", "number", "sequence"]
Residues = dict[tuple[int, str], list[int]]  # sites by number and insertion code
Names = dict[tuple[int, str], str]


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
    _refuse_other_kinds(first, second)
    if chains is None and _same_names(first, second):
        every = frozen(np.arange(len(first)))
        return Common(every, every, _counts(first, second, every, every))
    one, other = _residues_by_chain(first), _residues_by_chain(second)
    if chains is not None:
        _refuse_unknown("first", chains, one)
        _refuse_unknown("second", chains.values(), other)
    pairing = chains or _pair_chains(first, second, one, other)
    rows, columns, notes = list[int](), list[int](), list[str]()
    for chain, partner in pairing.items():
        matched = _match_residues(first, second, one[chain], other[partner], align, notes)
        for residue, its_partner in matched:
            for row, column in _match_atoms(first, second, residue, its_partner):
                rows.append(row)
                columns.append(column)
    if not rows:
        raise ValueError(
            f"no site is in both: the first has {first.label(0)} to {first.label(len(first) - 1)}, "
            f"the second {second.label(0)} to {second.label(len(second) - 1)}: compare results of "
            "one molecule, or name the chains that correspond (chains={'A': 'B'})"
        )
    ranked = np.argsort(rows, kind="stable")
    found = np.array(rows, np.int64)[ranked], np.array(columns, np.int64)[ranked]
    renamed = [f"{a or '(blank)'} is {b or '(blank)'}" for a, b in pairing.items() if a != b]
    if renamed:
        notes.append(f"chains of the first in the second: {', '.join(renamed)}")
    notes = [*_counts(first, second, *found), *notes]
    return Common(frozen(found[0]), frozen(found[1]), tuple(notes))


def _refuse_other_kinds(first: Atoms, second: Atoms) -> None:
    molecular = [bool((atoms.resnames != "").any()) for atoms in (first, second)]
    if molecular[0] != molecular[1]:
        which = "first" if molecular[0] else "second"
        raise ValueError(
            f"only the {which} has residues: molecules and particles cannot be compared"
        )


def _refuse_unknown(which: str, chains: Iterable[str], known: Iterable[str]) -> None:
    unknown = set(chains) - set(known)
    if unknown:
        names = ", ".join(repr(name) for name in known)
        raise ValueError(f"the {which} has no chain {min(unknown)!r}: its chains are {names}")


def _same_names(first: Atoms, second: Atoms) -> bool:
    columns = ("chains", "resids", "icodes", "names", "resnames")
    return all(np.array_equal(getattr(first, c), getattr(second, c)) for c in columns)


def _residues_by_chain(atoms: Atoms) -> dict[str, Residues]:
    found = dict[str, Residues]()
    rows = zip(atoms.chains.tolist(), atoms.resids.tolist(), atoms.icodes.tolist(), strict=True)
    for site, (chain, number, icode) in enumerate(rows):
        found.setdefault(chain, {}).setdefault((number, icode), []).append(site)
    return found


def _pair_chains(
    first: Atoms, second: Atoms, one: dict[str, Residues], other: dict[str, Residues]
) -> dict[str, str]:
    """Pair chains, those that share most residues first; of equals, those of the same name."""

    def shared(chain: str, partner: str) -> int:
        names = _names(first, one[chain]), _names(second, other[partner])
        return sum(names[1].get(key) == name for key, name in names[0].items())

    def aligned(chain: str, partner: str) -> int:
        names = _names(first, one[chain]), _names(second, other[partner])
        return _align(*names).match_count

    for count in (shared, aligned):
        scores = {pair: count(*pair) for pair in product(one, other)}
        ranked = sorted(scores, key=lambda pair: (-scores[pair], pair[0] != pair[1]))
        paired = dict[str, str]()
        for chain, partner in ranked:
            enough = scores[chain, partner] >= LEAST_IDENTITY * min(
                len(one[chain]), len(other[partner])
            )
            if enough and chain not in paired and partner not in paired.values():
                paired[chain] = partner
        if paired:
            return paired
    raise ValueError(
        f"no two chains share {LEAST_IDENTITY:.0%} of their residues: these are different "
        "molecules; to compare them all the same, use align='number'"
    )


def _names(atoms: Atoms, residues: Residues) -> Names:
    return {key: str(atoms.resnames[sites[0]]) for key, sites in residues.items()}


def _align(one: Names, other: Names) -> gemmi.AlignmentResult:
    return gemmi.align_string_sequences(list(one.values()), list(other.values()), [])


def _match_residues(
    first: Atoms,
    second: Atoms,
    one: Residues,
    other: Residues,
    align: Alignment,
    notes: list[str],
) -> list[tuple[list[int], list[int]]]:
    """Sites of the residues that correspond."""
    names = _names(first, one), _names(second, other)
    common = [key for key in one if key in other]
    same = sum(names[0][key] == names[1][key] for key in common)
    by_number = align == "number" or (common and same >= SAME_NAMES * len(common))
    if by_number and align != "sequence":
        if same < len(common):
            notes.append(f"{len(common) - same} of {len(common)} residues have another name")
        return [(one[key], other[key]) for key in common]
    found = _align(*names)
    # x for each residue, - for each gap: both strings get the length of the alignment
    lines = [found.add_gaps("x" * len(each), place) for place, each in enumerate(names, start=1)]
    keys, partners = (
        [next(left) if mark == "x" else None for mark in line]
        for line, left in zip(lines, map(iter, names), strict=True)
    )
    matched = [(a, b) for a, b in zip(keys, partners, strict=True) if a and b]
    same = sum(names[0][key] == names[1][partner] for key, partner in matched)
    if same < LEAST_IDENTITY * len(matched) or not matched:
        raise ValueError(
            f"aligned sequences are {same / max(1, len(matched)):.0%} identical, and "
            f"{LEAST_IDENTITY:.0%} are needed: these are different molecules; to compare them all "
            "the same, use align='number'"
        )
    notes.append(
        f"sequences were aligned: {same / len(matched):.1%} of {len(matched)} residues identical"
    )
    return [(one[key], other[partner]) for key, partner in matched]


def _match_atoms(
    first: Atoms, second: Atoms, sites: list[int], partners: list[int]
) -> list[tuple[int, int]]:
    """Match sites of two residues by atom name; single sites of different names match as well."""
    if len(sites) == len(partners) == 1:
        return [(sites[0], partners[0])]
    names = [str(first.names[site]) for site in sites]
    others = [str(second.names[site]) for site in partners]
    once = {name for name, count in Counter(names).items() if count == others.count(name) == 1}
    place = dict(zip(others, partners, strict=True))
    return [(site, place[n]) for site, n in zip(sites, names, strict=True) if n in once]


def _counts(first: Atoms, second: Atoms, rows: Ints, columns: Ints) -> tuple[str, ...]:
    shares = [
        f"{'all' if len(rows) == len(atoms) else f'{len(rows):,}'} of {len(atoms):,} in the {which}"
        for which, atoms in (("first", first), ("second", second))
    ]
    differ = int(np.count_nonzero(first.resnames[rows] != second.resnames[columns]))
    notes = [f"{len(rows):,} sites are in both: {', '.join(shares)}"]
    if differ:
        notes.append(f"{differ:,} of these are in residues of another name")
    return tuple(notes)
