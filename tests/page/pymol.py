"""How PyMOL reads a selection of residues."""

from __future__ import annotations

import re

Residue = tuple[str, int, str]  # chain, number, letter of insertion


def chosen(selection: str, residues: list[Residue]) -> set[Residue]:
    """Residues that PyMOL would select: ``10-11`` by numbers alone, ``10`` and ``10A`` as said."""
    found = set()
    for part in selection.split(" or "):
        match = re.fullmatch(r"\(chain (\S+) and resi (\S+)\)|resi (\S+)", part)
        assert match is not None
        chain, resi = match[1], match[2] or match[3]
        for residue in residues:
            of_chain = chain is None or residue[0] == re.sub(r"^(['\"])(.*)\1$", r"\2", chain)
            if of_chain and any(_matches(item, residue) for item in resi.split("+")):
                found.add(residue)
    return found


def _matches(item: str, residue: Residue) -> bool:
    _, number, code = residue
    both = re.fullmatch(r"(\\?-?\d+)-(\\?-?\d+)", item)
    if both is None:
        return item.lstrip("\\") == f"{number}{code}"
    low, high = (int(end.lstrip("\\")) for end in both.groups())
    return low <= number <= high
