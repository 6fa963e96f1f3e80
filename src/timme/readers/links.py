"""Links: the bonds that structure files name, by numbers of atoms or by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from timme._arrays import Ints
from timme.readers.models import Model
from timme.system.atoms import sorted_bonds
from timme.system.elements import NON_METALS

_MAX_LINK = 3.5  # Å: a link listed in a file but longer than this joins no two atoms of the model


def links_of(structure: Any, model: Model) -> Ints:
    """List the covalent links that a file names, as atoms of one of its models.

    Parameters
    ----------
    structure : gemmi.Structure
        The file.
    model : Model
        One of its models.

    Returns
    -------
    ndarray of int, shape (links, 2)
        Pairs of atoms, by their places in the model.
    """
    pairs = [*_conect(structure, model), *_connections(structure, model)]
    return sorted_bonds([(a, b) for a, b in pairs if _is_covalent(model, a, b)])


def _conect(structure: Any, model: Model) -> list[tuple[int, int]]:
    if not len(structure.conect_map):
        return []
    places = {int(serial): place for place, serial in enumerate(model.serials)}
    if len(places) < len(model.serials):  # numbers that wrap around tell nothing
        return []
    return [
        (places[one], places[other])
        for one, others in structure.conect_map.items()
        for other in others
        if one in places and other in places
    ]


def _connections(structure: Any, model: Model) -> list[tuple[int, int]]:
    import gemmi

    covalent = (gemmi.ConnectionType.Covale, gemmi.ConnectionType.Disulf)
    links = [
        link for link in structure.connections
        if link.type in covalent and link.asu != gemmi.Asu.Different
    ]  # fmt: skip
    if not links:
        return []
    places: dict[tuple[str, int, str, str], list[int]] = {}
    for place, key in enumerate(model.keys()):
        places.setdefault(key, []).append(place)
    return [
        (one, other)
        for link in links
        for one in places.get(_partner_key(link.partner1), ())
        for other in places.get(_partner_key(link.partner2), ())
        if model.altlocs[one] == model.altlocs[other]
        or "" in (model.altlocs[one], model.altlocs[other])
    ]


def _partner_key(partner: Any) -> tuple[str, int, str, str]:
    seqid = partner.res_id.seqid
    return partner.chain_name, int(seqid.num or 0), seqid.icode.strip(), partner.atom_name


def _is_covalent(model: Model, a: int, b: int) -> bool:
    if a == b or not {str(model.elements[a]), str(model.elements[b])} <= NON_METALS:
        return False
    return bool(np.linalg.norm(model.coordinates[a] - model.coordinates[b]) < _MAX_LINK)
