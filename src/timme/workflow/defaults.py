"""What is compared, with whom, and what is shown, where the user leaves it to the system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from timme import objects as make
from timme import pairs as choose
from timme._arrays import Ints
from timme.engine.metrics import HAVERSINE
from timme.engine.reduction import moments
from timme.engine.run import DEFAULT, Run
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.settings import CENTRES, OBJECTS, PAIRS, REDUCTIONS, Settings
from timme.settings.schema import check_choice
from timme.settings.values import ALL_PAIRS, ALONG, BOND, MIN_BONDS, NEAREST, RADIUS, WATER_BOND
from timme.system.ensemble import Ensemble
from timme.system.residues import is_nucleic, is_protein, is_water, shown_sites
from timme.system.selection import selector
from timme.system.topology import atoms_of_sites, site_bonds
from timme.system.traces import joined_atoms
from timme.workflow.budget import Tell, most_contacts
from timme.workflow.lists import read_groups, read_pairs
from timme.workflow.own import Own

_CHAIN = 3  # sites; two links share a site in no less
_IN_CHAINS = 0.9  # of all sites: a few bonds among particles do not make these a network
_AS_GIVEN = {"links", "molecules", "groups"}  # compared however few bonds are between them
_ANGSTROM = {"Å": 1.0, "nm": 0.1, "pm": 100.0, "µm": 1e-4}


def kind_of(ensemble: Ensemble) -> str:
    """Tell biopolymers, other molecules, liquids of small molecules, networks and particles.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the selected sites.

    Returns
    -------
    str
        "biopolymer", "molecule", "liquid", "network" or "particles".
    """
    atoms = atoms_of_sites(ensemble)
    if (is_protein(atoms) | is_nucleic(atoms)).any():
        return "biopolymer"
    if len(ensemble.atoms.bonds) == 0:
        return "particles"
    per_molecule = np.diff(make.molecules(ensemble).offsets)
    if not (atoms.elements != "").any():
        in_chains = per_molecule[per_molecule >= _CHAIN].sum()
        return "network" if in_chains >= _IN_CHAINS * ensemble.n_sites else "particles"
    return "liquid" if len(per_molecule) > 1 and np.median(per_molecule) <= 12 else "molecule"


def choose_compared(
    ensemble: Ensemble,
    kind: str,
    chosen: Settings,
    *,
    own: Own,
    tell: Tell | None = None,
    run: Run = DEFAULT,
) -> tuple[Objects, Pairs, Settings]:
    """Choose what is compared, and with whom.

    Parameters
    ----------
    ensemble : Ensemble
        The system.
    kind : str
        What :func:`kind_of` tells of it.
    chosen : Settings
        What was asked for.
    own : Own
        What the user made.
    tell : callable, optional
        Called with the memory that a search for contacts needs.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    objects, pairs, settings
        Two objects and one pair at least, and what was chosen.

    Raises
    ------
    ValueError
        If there are fewer.
    """
    compared, chosen = choose_objects(ensemble, kind, chosen, own=own.objects)
    if len(compared) < 2:
        raise ValueError(
            f"{ensemble.prefix}at least 2 {compared.kind} are needed, got {len(compared)}: "
            "select more sites, or choose other objects"
        )
    partners, chosen = choose_pairs(
        compared, kind, chosen, own=own.pairs, metric=own.metric, tell=tell, run=run
    )
    if len(partners) == 0:
        raise ValueError(
            f"{ensemble.prefix}no pairs of {compared.kind} are {partners.description}: "
            f"{_remedy_for_no_pairs(chosen)}"
        )
    return compared, partners, chosen


def choose_objects(
    ensemble: Ensemble, kind: str, chosen: Settings, *, own: Any = None
) -> tuple[Objects, Settings]:
    """Make the objects that are compared.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the selected sites.
    kind : str
        As told by :func:`kind_of`.
    chosen : Settings
        What the user chose.
    own : Any, optional
        Objects that the user made, or groups, as :func:`timme.objects.groups` takes them.

    Returns
    -------
    objects : Objects
        What is compared.
    settings : Settings
        With what was left open filled in.
    """
    if isinstance(own, Objects):
        _refuse_given(chosen, "objects", "reach", "reduction", "centre", of="Objects")
        return own, replace(chosen, objects=own.kind, reduction=own.reduction)
    name = chosen.objects if own is None else "groups"
    if name == "auto":
        by_kind = {"network": "links", "liquid": "molecules", "particles": "points"}
        name = by_kind.get(kind, "bodies") if len(site_bonds(ensemble)) else "points"
    chosen.refuse_unused("{}", name if name in OBJECTS else "groups")
    compared = _make_objects(ensemble, name, chosen, own)
    return compared, replace(chosen, objects=name, reduction=compared.reduction)


def _make_objects(ensemble: Ensemble, name: str, chosen: Settings, own: Any) -> Objects:
    options: dict[str, Any] = {}
    if chosen.reduction is not None:
        check_choice("reduction", chosen.reduction, REDUCTIONS)
        options["reduction"] = chosen.reduction
    if chosen.centre is not None:
        check_choice("centre", chosen.centre, CENTRES)
        options["centre"] = chosen.centre
    if name == "points":
        return make.points(ensemble)
    if name == "bodies":
        if len(site_bonds(ensemble)) == 0:
            raise ValueError(
                "bodies need covalent bonds between the selected sites, and there are none: "
                "use objects='points', or select more atoms"
            )
        return make.bodies(ensemble, reach=chosen.reach, **options)
    others: dict[str, Callable[..., Objects]] = {
        "links": make.links,
        "residues": make.residues,
        "molecules": make.molecules,
    }
    if name in others:
        return others[name](ensemble, **options)
    if own is not None:
        return make.groups(ensemble, own, **options)
    sets, names = read_groups(name, _selector(ensemble))
    return make.groups(ensemble, sets, names=names, **options)


def choose_pairs(
    compared: Objects,
    kind: str,
    chosen: Settings,
    *,
    own: Any = None,
    metric: Any = None,
    tell: Tell | None = None,
    run: Run = DEFAULT,
) -> tuple[Pairs, Settings]:
    """Choose who is compared with whom.

    Parameters
    ----------
    compared : Objects
        What is compared.
    kind : str
        As told by :func:`kind_of`.
    chosen : Settings
        What the user chose.
    own : Any, optional
        Pairs that the user chose, or lists, as :func:`timme.pairs.given` takes them.
    metric : str or callable, optional
        Of which those for a sphere tell who is near.
    tell : callable, optional
        Called with the memory that a search for contacts needs.
    run : Run, optional
        How a search for contacts is carried out.

    Returns
    -------
    pairs : Pairs
        Who with whom.
    settings : Settings
        With what was left open filled in.
    """
    if isinstance(own, Pairs):
        _refuse_given(
            *(chosen, "pairs", "radius", "contacts", "neighbours", "min_bonds"), of="Pairs"
        )
        return own, replace(chosen, pairs="listed" if own.index is not None else "all")
    molecular = kind in {"biopolymer", "molecule", "liquid"}
    listed = chosen if own is None else replace(chosen, pairs="listed")
    name = _pairs_wanted(compared, listed, molecular=molecular)
    near = HAVERSINE if metric == HAVERSINE else None
    neighbours, radius, bonds = chosen.neighbours, chosen.radius, chosen.min_bonds
    if bonds is None:
        averaged = chosen.linkage == "average"  # of all pairs, neighbours along bonds among them
        bonds = MIN_BONDS if molecular and _counts_bonds(compared, name) and not averaged else 0
    if name == "all":
        partners = choose.all(compared, min_bonds=bonds)
    elif name == "contact":
        radius = _radius(compared, molecular=molecular) if radius is None else radius
        most = None  # on a sphere, a few contacts are as much as is known
        if near is None:
            most = most_contacts(compared, radius, limit=chosen.memory, tell=tell)
        partners = choose.within(
            compared,
            radius,
            at_least=chosen.contacts,
            min_bonds=bonds,
            metric=near,
            most=most,
            **run.options,
        )
    elif name == "sequence":
        neighbours = ALONG if neighbours is None else neighbours
        partners = choose.sequence(compared, reach=neighbours, min_bonds=bonds)
    elif name == "nearest":
        neighbours = min(NEAREST, len(compared) - 1) if neighbours is None else neighbours
        by: Literal["first", "mean"] = "mean" if compared.ensemble.gaps else "first"
        partners = choose.nearest(compared, neighbours, by=by, min_bonds=bonds, metric=near)
    elif name == "sharing":
        partners = choose.sharing(compared)
    else:
        index = read_pairs(name, len(compared)) if own is None else own
        partners = choose.given(compared, index, min_bonds=bonds)
    settled = replace(chosen, pairs=name, radius=radius, neighbours=neighbours, min_bonds=bonds)
    return partners, settled


def _counts_bonds(compared: Objects, pairs: str) -> bool:
    """Tell whether neighbours along bonds are left out: not of what users put together."""
    listed = pairs not in PAIRS
    return not listed and pairs != "sequence" and compared.kind not in _AS_GIVEN


def _refuse_given(chosen: Settings, *names: str, of: str) -> None:
    """Refuse settings that would change what the user made."""
    given = sorted(chosen.differing() & {*names})
    if given:
        what = ", ".join(f"{name}=" for name in given)
        raise ValueError(f"{of} are compared as they were made: leave out {what}")


def _pairs_wanted(compared: Objects, chosen: Settings, *, molecular: bool) -> str:
    name = chosen.pairs
    if name == "auto":
        many = "all" if len(compared) <= ALL_PAIRS else "nearest"
        name = {"links": "sharing", "groups": many}.get(compared.kind, "contact")
        name = name if molecular or compared.kind == "links" else many
        if chosen.radius is not None:
            name = "contact"
        elif chosen.neighbours is not None:
            name = "nearest"
        elif chosen.linkage == "average":
            name = "all"
    chosen.refuse_unused("{} pairs", name if name in PAIRS else "listed")
    ensemble = compared.ensemble
    bonded = len(joined_atoms(ensemble.atoms.bonds, ensemble.steps)) > 0
    chosen.refuse_unused("sites {} bonds", "with" if bonded else "without")
    return name


def _radius(compared: Objects, *, molecular: bool) -> float:
    per_angstrom = _ANGSTROM.get(compared.ensemble.unit)
    if not molecular or per_angstrom is None:
        raise ValueError("pairs in contact need a radius in the units of the coordinates: radius=")
    return RADIUS * per_angstrom


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The objects that are drawn and counted."""

    objects: Ints  # in their natural order
    name: str  # what one of them is
    sequential: bool  # whether that order is that of a sequence


def choose_shown(compared: Objects, show: str | None) -> Shown:
    """Choose the objects that are drawn and counted.

    Parameters
    ----------
    compared : Objects
        What is compared.
    show : str or None
        The user's own selection.

    Returns
    -------
    Shown
        Which ones, and what they are.
    """
    ensemble = compared.ensemble
    everything = np.arange(len(compared))
    if show is not None:
        picked = np.isin(np.arange(ensemble.n_sites), select(ensemble, show))
        if compared.centred_on_sites:
            objects = everything[picked[compared.anchors]]
        else:
            objects = everything[
                np.logical_or.reduceat(picked[compared.members], compared.offsets[:-1])
            ]
        if len(objects) == 0:
            raise ValueError(f"the shown sites {show!r} are none of the {compared.kind}")
        return Shown(objects, "site", _is_polymer(ensemble))
    standing = shown_sites(atoms_of_sites(ensemble))
    if compared.centred_on_sites and len(standing):
        picked = np.isin(compared.anchors, standing)
        names = np.unique(ensemble.atoms.names[ensemble.site_atoms[standing]])
        name = "Cα" if list(names) == ["CA"] else "residue" if "CA" in names else "nucleotide"
        return Shown(everything[picked], name, sequential=True)
    singular = {"bodies": "atom", "points": "site", "groups": "group"}
    name = singular.get(compared.kind, compared.kind.removesuffix("s"))
    sequential = compared.kind == "links" or (compared.kind == "residues" and _is_polymer(ensemble))
    return Shown(everything, name, sequential)


def choose_length(compared: Objects, kind: str, chosen: Settings) -> tuple[float | None, str]:
    """Choose the length a by which cutoffs are divided.

    Parameters
    ----------
    compared : Objects
        What is compared.
    kind : str
        As told by :func:`kind_of`.
    chosen : Settings
        What the user chose.

    Returns
    -------
    length : float or None
        In the units of the coordinates.
    name : str
        What has that length.
    """
    ensemble = compared.ensemble
    if chosen.length is not None:
        return chosen.length, "a"
    if compared.kind == "links":
        ends = compared.members.reshape(-1, 2)
        return float(moments(ensemble, ends).mean.mean()), "link"
    per_angstrom = _ANGSTROM.get(ensemble.unit)
    if kind in {"particles", "network"} or per_angstrom is None:
        return None, ""
    atoms = atoms_of_sites(ensemble)
    if is_water(atoms).all():
        return WATER_BOND * per_angstrom, "O–H bond"
    return (BOND * per_angstrom, "C–C bond") if (atoms.elements == "C").any() else (None, "")


def _is_polymer(ensemble: Ensemble) -> bool:
    return len(shown_sites(atoms_of_sites(ensemble))) > 0


def painted_by(compared: Objects) -> Ints:
    """Find the object whose colour each site carries: the one it is the centre of, or first in.

    Parameters
    ----------
    compared : Objects
        What is compared.

    Returns
    -------
    ndarray of int, shape (sites,)
        Objects; -1 where a site is in none.
    """
    painted = np.full(compared.ensemble.n_sites, -1)
    if compared.centred_on_sites:
        painted[compared.anchors] = np.arange(len(compared))
    else:
        owner = np.repeat(np.arange(len(compared)), np.diff(compared.offsets))
        painted[compared.members[::-1]] = owner[::-1]
    return painted


def select(ensemble: Ensemble, text: str) -> Ints:
    """Choose sites by the selection language.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the selected sites.
    text : str
        A preset or a selection.

    Returns
    -------
    ndarray of int
        Sites.
    """
    return _selector(ensemble)(text)


def _selector(ensemble: Ensemble) -> Callable[[str], Ints]:
    return selector(atoms_of_sites(ensemble), ensemble.snapshot(0)[0])


def _remedy_for_no_pairs(chosen: Settings) -> str:
    """Propose what would leave some pairs to be compared."""
    by_radius = chosen.pairs == "contact"
    remedies = ["choose a larger radius"] * by_radius + ["choose other pairs"]
    if chosen.min_bonds:
        remedies.append(f"let them be fewer bonds apart than min_bonds={chosen.min_bonds}")
    return ", or ".join(remedies)
