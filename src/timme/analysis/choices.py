"""Choices that follow from the system: what is compared, which pairs, what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from timme import objects as make
from timme import pairs as choose
from timme._arrays import Ints
from timme.analysis.settings import OBJECTS, PAIRS, Settings, split_rule
from timme.engine.reduction import moments
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.atoms import angstroms
from timme.ensemble.bonds import bonds_and_traces, site_bonds
from timme.ensemble.residues import (
    default_sites,
    is_nucleic,
    is_protein,
    is_water,
    shown_sites,
)
from timme.ensemble.selection import selector
from timme.objects import Objects
from timme.pairs import Pairs

Kind = Literal["biopolymer", "molecule", "liquid", "network", "particles"]

MOLECULAR = ("biopolymer", "molecule", "liquid")
_OF_BOX = 0.45  # of the width of a box, which may shrink: contacts reach to half of it
_SMALL = 12  # atoms of a molecule of a liquid
_CHAIN, _IN_CHAINS = 3, 0.9  # sites of a chain; share of them in a network of links
_RADIUS = 10.0  # Å, within which parts of molecules are in contact
_MIN_BONDS = 4  # fewer hold two atoms at a distance that hardly changes
_ALL, _NEAREST, _ALONG = 20_000, 12, 1  # particles of which all pairs are compared; partners
_BOND, _WATER_BOND = 1.54, 0.96  # Å, C–C and O–H
_UNBONDED = ("links", "molecules", "groups")  # compared however few bonds they are apart
_USED = {  # settings that count only for some objects or pairs
    "reach": ("bodies",),
    "reduction": ("bodies", "links", "residues", "molecules", "groups"),
    "centre": ("residues", "molecules", "groups"),
    "contacts": ("contact",),
    "min_bonds": ("contact", "all", "nearest", "sequence", "listed"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Objects that are drawn and counted."""

    objects: Ints  # in their natural order
    name: str  # what one of them is
    sequential: bool  # whether that order is that of a sequence


def kind_of(ensemble: Ensemble) -> Kind:
    """Return whether sites are a biopolymer, another molecule, a liquid, a network or particles.

    Examples
    --------
    >>> kind_of(Ensemble.from_array(np.zeros((2, 5, 3))))
    'particles'
    """
    atoms = ensemble.sites
    if (is_protein(atoms) | is_nucleic(atoms)).any():
        return "biopolymer"
    if len(ensemble.atoms.bonds) == 0:
        return "particles"
    sizes = np.diff(make.molecules(ensemble).offsets)
    if not (atoms.elements != "").any():
        in_chains = sizes[sizes >= _CHAIN].sum()
        return "network" if in_chains >= _IN_CHAINS * ensemble.n_sites else "particles"
    return "liquid" if len(sizes) > 1 and np.median(sizes) <= _SMALL else "molecule"


def choose_sites(ensemble: Ensemble, chains: tuple[str, ...] | None, text: str | None) -> Ensemble:
    """Return the sites of some chains that a selection names; all but solvent by default."""
    if chains is not None:
        there = np.unique(ensemble.sites.chains).tolist()
        missing = [chain for chain in chains if chain not in there]
        if missing:
            known = ", ".join(filter(None, there)) or "none with a name"
            raise ValueError(
                f"{ensemble.prefix}chain= names {', '.join(missing)}, and the chains are {known}"
            )
        ensemble = ensemble.select(np.flatnonzero(np.isin(ensemble.sites.chains, chains)))
    if text is not None:
        return ensemble.select(text)
    sites, note = default_sites(ensemble.sites)
    if not note:
        return ensemble
    return replace(ensemble.select(sites), notes=(*ensemble.notes, note))


def choose_objects(ensemble: Ensemble, kind: Kind, settings: Settings, own: Any = None) -> Objects:
    """Return what is compared: as named by the settings, the user's own, or as fits the system."""
    if isinstance(own, Objects):
        _refuse_unused(settings, ("reach", "reduction", "centre"), "Objects as they are")
        return own
    name, bonded = settings.objects, len(site_bonds(ensemble)) > 0
    if own is not None:
        name = "groups"
    elif name == "auto":
        usual = {"network": "links", "liquid": "molecules", "particles": "points"}
        name = usual.get(kind, "bodies") if bonded else "points"
    made = name if name in OBJECTS else "groups"
    _refuse_unused(settings, ("reach", "reduction", "centre"), made)
    options = {key: getattr(settings, key) for key in ("reduction", "centre")}
    options = {key: value for key, value in options.items() if value is not None}
    if made == "bodies":
        if not bonded:
            raise ValueError(
                f"{ensemble.prefix}bodies need covalent bonds between the selected sites, got "
                "none: use objects='points', or select more atoms"
            )
        return make.bodies(ensemble, reach=settings.reach, **options)
    if made == "groups":
        sets = own if own is not None else _read_groups(ensemble, name)
        return make.groups(ensemble, sets, **options)
    found: Objects = getattr(make, made)(ensemble, **options)
    return found


def choose_pairs(
    objects: Objects,
    kind: Kind,
    settings: Settings,
    own: Any = None,
    *,
    metric: Any = None,
    **how: Any,
) -> tuple[Pairs, dict[str, Any]]:
    """Return which objects are compared, and the settings that were settled with it.

    ``how`` is passed to `pairs.within`.
    """
    if isinstance(own, Pairs):
        _refuse_unused(settings, ("contacts", "min_bonds"), "Pairs as they are")
        return own, {"pairs": "all" if own.index is None else "listed"}
    name, number = ("listed", None) if own is not None else _rule(objects, kind, settings)
    rule = name if name in PAIRS else "listed"
    ensemble, bonds = objects.ensemble, settings.min_bonds
    _refuse_unused(settings, ("contacts", "min_bonds"), rule)
    if bonds is None:
        counts = rule not in ("listed", "sequence") and objects.kind not in _UNBONDED
        bonds = _MIN_BONDS * (counts and kind in MOLECULAR and settings.linkage != "average")
    elif bonds and not len(bonds_and_traces(ensemble.atoms.bonds, ensemble.traces)):
        raise ValueError("min_bonds= is for sites with bonds, and there are none: leave it out")
    if number is None and rule in ("contact", "nearest", "sequence"):
        usual = {"nearest": min(_NEAREST, len(objects) - 1), "sequence": _ALONG}
        number = usual[rule] if rule in usual else _radius(objects, kind)
    number = number if number is None or rule == "contact" else int(number)
    near: dict[str, Any] = {"metric": "haversine" if metric == "haversine" else None}
    options: dict[str, dict[str, Any]] = {
        "all": {},
        "contact": {"radius": number, "at_least": settings.contacts, **near, **how},
        "nearest": {"count": number, "by": "mean" if ensemble.gaps else "first", **near},
        "sequence": {"reach": number},
        "listed": {"index": _read_pairs(name, len(objects)) if rule != name else own},
    }
    if rule == "sharing":
        found = choose.sharing(objects)
    else:
        make_pairs = getattr(choose, {"contact": "within", "listed": "given"}.get(rule, rule))
        found = make_pairs(objects, min_bonds=bonds, **options[rule])
    if len(found) == 0:
        fewer = f", or fewer bonds apart than min_bonds={bonds}" * bool(bonds)
        raise ValueError(
            f"{ensemble.prefix}no pairs of {objects.kind} are {found.description}: choose "
            f"{'a larger radius, ' * (rule == 'contact')}other pairs (pairs=){fewer}"
        )
    return found, {"pairs": name if number is None else f"{rule}:{number:g}", "min_bonds": bonds}


def _rule(objects: Objects, kind: Kind, settings: Settings) -> tuple[str, float | None]:
    """Return the name of a rule for pairs, or of a file, and its number."""
    name, number = split_rule(settings.pairs)
    if name != "auto":
        return name, number
    if settings.linkage == "average":
        return "all", None
    if objects.kind == "links":
        return "sharing", None
    if kind in MOLECULAR and objects.kind != "groups":
        radius, box = _radius(objects, kind), objects.ensemble.snapshot()[1]
        if box is None or radius < _OF_BOX / np.linalg.norm(np.linalg.pinv(box), axis=0).max():
            return "contact", radius
    return ("all" if len(objects) <= _ALL else "nearest"), None


def _radius(objects: Objects, kind: Kind) -> float:
    unit = objects.ensemble.unit
    length = angstroms(unit) if unit and kind in MOLECULAR else None
    if length is None:
        raise ValueError(
            f"{objects.ensemble.prefix}contacts need a radius in the unit of the coordinates: "
            "write it as pairs='contact:RADIUS'"
        )
    return _RADIUS / length


def choose_shown(objects: Objects, text: str | None = None) -> Shown:
    """Return the objects that are drawn and counted: Cα, nucleotides, or all."""
    ensemble, every = objects.ensemble, np.arange(len(objects))
    standing = shown_sites(ensemble.sites)
    if text is not None:
        picked = np.zeros(ensemble.n_sites, np.bool_)
        picked[ensemble.find_sites(text)] = True
        chosen = picked[objects.anchors]
        if not objects.centred_on_sites:
            chosen = np.logical_or.reduceat(picked[objects.members], objects.offsets[:-1])
        if not chosen.any():
            raise ValueError(f"shown={text!r} names none of the {objects.kind}: choose others")
        return Shown(every[chosen], "site", len(standing) > 0)
    if objects.centred_on_sites and len(standing):
        names = set(ensemble.sites.names[standing].tolist())
        name = "Cα" if names == {"CA"} else "residue" if "CA" in names else "nucleotide"
        return Shown(every[np.isin(objects.anchors, standing)], name, sequential=True)
    names_ = {"bodies": "atom", "points": _point(ensemble.sites), "groups": "group"}
    name = names_.get(objects.kind, objects.kind.removesuffix("s"))
    residues = objects.kind == "residues" and len(standing) > 0
    return Shown(every, name, objects.kind == "links" or residues)


def _point(atoms: Atoms) -> str:
    """Return what a point is: a molecule of water, an atom, or a particle."""
    if is_water(atoms).all() and (atoms.names != "").all():
        return "molecule" if (atoms.elements == "O").all() else "atom"
    return "particle" if (atoms.names == "").all() else "site"


def choose_length(objects: Objects, kind: Kind, length: float | None) -> tuple[float | None, str]:
    """Return the length a of σ/a in the unit of the coordinates, and what has that length."""
    ensemble = objects.ensemble
    if length is not None:
        return length, "a"
    if objects.kind == "links":
        ((_, _, means, *_),) = moments(ensemble, objects.members.reshape(-1, 2))
        return float(means.mean()), "link"
    unit = angstroms(ensemble.unit) if ensemble.unit else None
    if kind in ("particles", "network") or unit is None:
        return None, ""
    if is_water(ensemble.sites).all():
        return _WATER_BOND / unit, "O–H bond"
    carbon = (ensemble.sites.elements == "C").any()
    return (_BOND / unit, "C–C bond") if carbon else (None, "")


def _refuse_unused(settings: Settings, names: tuple[str, ...], chosen: str) -> None:
    """Refuse settings that change nothing for these objects or pairs."""
    for name in names:
        plain = type(settings).model_fields[name].default
        if getattr(settings, name) not in (plain, 0) and chosen not in _USED[name]:
            raise ValueError(f"{name}= is for {', '.join(_USED[name])}, got {chosen}: leave it out")


def _read_groups(ensemble: Ensemble, path: str) -> dict[str, Ints]:
    """Return the sites of each group of a file with lines ``name = selection``."""
    select, found = selector(ensemble.sites, ensemble.snapshot()[0]), dict[str, Ints]()
    for place, line in _lines(path, "objects", OBJECTS):
        name, _, text = (part.strip() for part in line.partition("="))
        if not name or not text or name in found:
            raise ValueError(f"{place}: a line is 'name = selection', each name once, got {line!r}")
        try:
            found[name] = select(text)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    return found


def _read_pairs(path: str, n_objects: int) -> Ints:
    """Return pairs, counted from 0, of a file with lines of two numbers from 1 on."""
    found = list[list[int]]()
    for place, line in _lines(path, "pairs", PAIRS):
        words = line.replace(",", " ").replace(";", " ").split()
        numbers = [int(word) - 1 for word in words if word.isdecimal()]
        inside = len(words) == len(numbers) == 2 and 0 <= min(numbers) < max(numbers) < n_objects
        if not inside:
            raise ValueError(
                f"{place}: a pair is two different numbers from 1 to {n_objects}, got {line!r}"
            )
        found.append(numbers)
    return np.array(found, np.int64).reshape(-1, 2)


def _lines(path: str, name: str, known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield lines with their places, without comments."""
    if not Path(path).is_file():
        raise ValueError(f"{name}= is one of {', '.join(known)}, or a file, got {path!r}")
    for number, line in enumerate(Path(path).read_text("utf-8-sig").splitlines(), 1):
        if line.strip() and not line.strip().startswith("#"):
            yield f"{path}, line {number}", line.strip()
