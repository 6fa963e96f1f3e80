"""What is analysed: the snapshots that are read, their sites, and objects that suit the system."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from timme import objects as makers
from timme._arrays import Ints
from timme.analysis.settings import OBJECTS, Model, Settings, make
from timme.engine.checkpoint import Progress
from timme.engine.reduction import moments
from timme.ensemble import Atoms, Ensemble, Frames, selector
from timme.ensemble.atoms import angstroms
from timme.ensemble.bonds import site_bonds
from timme.ensemble.frames import ArraySource
from timme.ensemble.residues import default_sites, is_nucleic, is_protein, is_water, shown_sites
from timme.fluctuations import choose_overlap
from timme.io import read
from timme.objects import Objects

Kind = Literal["biopolymer", "molecule", "liquid", "network", "particles"]
M = TypeVar("M", bound=Model)

READING = frozenset(  # settings that count while files are read
    "begin end step unit box bonds weights gaps columns unwrap common_atoms allow_truncated".split()
)
_RENAMED = {"begin": "start", "end": "stop"}  # for the reader
_MOST_HELD = 20_000_000  # numbers, 160 MB in double precision
_SMALL = 12  # atoms of a molecule of a liquid
_CHAIN, _IN_CHAINS = 3, 0.9  # sites of a chain; share of them in a network of links
_BOND, _WATER_BOND = 1.54, 0.96  # Å, C–C and O–H


class Shown(NamedTuple):
    """Objects that are drawn and counted."""

    objects: Ints  # in their natural order
    name: str  # what one of them is
    sequential: bool  # whether that order is that of a sequence


def settings_of(kind_: type[M], settings: M | None, options: dict[str, Any]) -> M:
    """Return settings, of which options replace some; those that were not given stay unset."""
    given = {} if settings is None else settings.model_dump(exclude_unset=True)
    return make(kind_, **given | options)


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Turn warnings for the user into notes, which are there when the context ends."""
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes.extend(str(each.message) for each in caught if each.category is UserWarning)


def read_snapshots(
    source: Any, others: Sequence[Any], settings: Any, progress: Progress | None = None
) -> Ensemble:
    """Return the sites that settings choose, in the snapshots that they choose."""
    files = [path for each in others for path in ([each] if isinstance(each, str | Path) else each)]
    # Recipes without this setting need all atoms, solvent and ions included.
    narrow = partial(choose_sites, chains=settings.chain, text=getattr(settings, "select", "all"))
    if isinstance(source, Ensemble):
        unused = sorted(settings.model_fields_set & READING) + ["trajectories"] * bool(files)
        if unused:
            words = "snapshots that were read are analysed as they are: leave out"
            raise ValueError(f"{words} {', '.join(f'{name}=' for name in unused)}")
        found = narrow(source)
    else:
        known = {_RENAMED.get(name, name): getattr(settings, name, None) for name in READING}
        options: Any = {name: value for name, value in known.items() if value is not None}
        found = read(source, files, select=narrow, progress=progress, **options)
    runs = getattr(settings, "replicas", None)
    if runs is None:
        return found
    counts = [found.n_snapshots] if runs == "one" else list(runs)
    if sum(counts) != found.n_snapshots:
        words = f"replicas= needs {found.n_snapshots} snapshots in all"
        raise ValueError(f"{words}, got {sum(counts)} of {counts}")
    notes = tuple(note for note in found.notes if "replicas=" not in note)
    return replace(found, runs=np.repeat(np.arange(len(counts)), counts), notes=notes)


def choose_sites(ensemble: Ensemble, chains: tuple[str, ...] | None, text: str | None) -> Ensemble:
    """Return the sites of some chains that a selection names; all but solvent by default."""
    if chains is not None:
        there = np.unique(ensemble.sites.chains).tolist()
        missing = ", ".join(chain or "''" for chain in chains if chain not in there)
        if missing:
            words = f"chain= names {missing}, and the chains are {', '.join(map(repr, there))}"
            raise ValueError(f"{ensemble.prefix}{words}")
        ensemble = ensemble.select(np.flatnonzero(np.isin(ensemble.sites.chains, chains)))
    if text is not None:
        return ensemble.select(text)
    sites, note = default_sites(ensemble.sites)
    if not note:
        return ensemble
    return replace(ensemble.select(sites), notes=(*ensemble.notes, note))


def without_short_tracks(ensemble: Ensemble, settings: Settings) -> tuple[Ensemble, Settings, str]:
    """Leave out sites that are seen too rarely to be compared; return in words which are used."""
    overlap = choose_overlap(makers.points(ensemble), settings.min_overlap)
    counted = (block.coordinates[block.weights > 0] for block in ensemble.blocks())
    seen = sum(np.isfinite(places).all(axis=2).sum(axis=0) for places in counted)
    long = np.flatnonzero(seen >= overlap)
    used = f"{len(long):,} of {ensemble.n_sites:,} tracks, those seen in at least {overlap} of "
    used += f"{ensemble.n_snapshots} frames (min_overlap=)"
    if len(long) < 2:
        raise ValueError(f"{ensemble.prefix}at least 2 tracks are needed, got {used}")
    settings = settings.model_copy(update={"min_overlap": overlap})
    return ensemble.select(long), settings, used if len(long) < ensemble.n_sites else ""


def in_memory(ensemble: Ensemble) -> Ensemble:
    """Return the same snapshots, held because they are read many times, unless they are many."""
    if math.prod(ensemble.frames.shape) > _MOST_HELD:
        return ensemble
    places, boxes = ensemble.frames.read(0, ensemble.n_snapshots)
    return replace(ensemble, frames=Frames.of(ArraySource(places, boxes, ensemble.times)))


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
    sizes = np.diff(makers.molecules(ensemble).offsets)
    if not (atoms.elements != "").any():
        in_chains = sizes[sizes >= _CHAIN].sum()
        return "network" if in_chains >= _IN_CHAINS * ensemble.n_sites else "particles"
    return "liquid" if len(sizes) > 1 and np.median(sizes) <= _SMALL else "molecule"


def choose_objects(ensemble: Ensemble, kind: Kind, settings: Settings, own: Any = None) -> Objects:
    """Return what is compared: groups of the user, as named by the settings, or as fits."""
    name, bonded = settings.objects, len(site_bonds(ensemble)) > 0
    if name == "auto":
        usual = {"network": "links", "liquid": "molecules", "particles": "points"}
        name = usual.get(kind, "bodies") if bonded else "points"
    if name == "bodies" and own is None and not bonded:
        words = "bodies need covalent bonds between the selected sites, got none"
        raise ValueError(f"{ensemble.prefix}{words}: use objects='points', or select more atoms")
    maker = getattr(makers, name if name in OBJECTS and own is None else "groups")
    given = settings.model_fields_set & {"reach", "reduction", "centre"}
    for key in given - signature(maker).parameters.keys():
        raise ValueError(f"{key}= does not apply to {maker.__name__}: leave it out")
    options: dict[str, Any] = {key: getattr(settings, key) for key in given}
    if maker is makers.groups:
        options["sets"] = _read_groups(ensemble, name) if own is None else own
    found: Objects = maker(ensemble, **options)
    return found


def choose_shown(objects: Objects, text: str | None = None) -> Shown:
    """Return the objects that are drawn and counted: Cα, nucleotides, or all."""
    ensemble, every = objects.ensemble, np.arange(len(objects))
    standing = shown_sites(ensemble.sites)
    if text is not None:
        picked = np.zeros(ensemble.n_sites, np.bool_)
        picked[ensemble.find_sites(text)] = True
        chosen = picked[objects.anchors]
        if not chosen.any():
            raise ValueError(f"shown={text!r} names none of the {objects.kind}: choose others")
        return Shown(every[chosen], "site", len(standing) > 0)
    if objects.centred_on_sites and len(standing):
        names = set(ensemble.sites.names[standing].tolist())
        name = "Cα" if names == {"CA"} else "residue" if "CA" in names else "nucleotide"
        return Shown(every[np.isin(objects.anchors, standing)], name, sequential=True)
    known = {"bodies": "atom", "points": _point(ensemble.sites)}
    name = known.get(objects.kind, objects.kind.removesuffix("s"))
    residues = objects.kind == "residues" and len(standing) > 0
    return Shown(every, name, objects.kind == "links" or residues)


def _point(atoms: Atoms) -> str:
    """Return what a point is: a molecule of water, an atom, or a particle."""
    if is_water(atoms).all() and (atoms.names != "").all():
        return "molecule" if (atoms.elements == "O").all() else "atom"
    return "particle" if not any(atoms.elements) and not any(atoms.resnames) else "site"


def choose_length(objects: Objects, kind: Kind, length: float | None) -> tuple[float | None, str]:
    """Return the length a of σ/a in the unit of the coordinates, and what has that length."""
    ensemble = objects.ensemble
    if length is not None:
        return length, "a"
    if objects.kind == "links":
        lengths = moments(ensemble, objects.members.reshape(-1, 2)).mean
        return float(lengths.mean()), "link"
    unit = angstroms(ensemble.unit) if ensemble.unit else None
    if kind in ("particles", "network") or unit is None:
        return None, ""
    if is_water(ensemble.sites).all():
        return _WATER_BOND / unit, "O–H bond"
    carbon = (ensemble.sites.elements == "C").any()
    return (_BOND / unit, "C–C bond") if carbon else (None, "")


def _read_groups(ensemble: Ensemble, path: str) -> dict[str, Ints]:
    """Return the sites of each group of a file with lines ``name = selection``."""
    select, found = selector(ensemble.sites, ensemble.snapshot()[0]), dict[str, Ints]()
    for place, line in read_lines(path, "objects", OBJECTS):
        name, _, text = (part.strip() for part in line.partition("="))
        if not name or not text or name in found:
            raise ValueError(f"{place}: a line is 'name = selection', each name once, got {line!r}")
        try:
            found[name] = select(text)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    return found


def read_lines(path: str, name: str, known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file that a setting names, with their places, without comments."""
    if not Path(path).is_file():
        raise ValueError(f"{name}= is one of {', '.join(known)}, or a file, got {path!r}")
    for number, line in enumerate(Path(path).read_text("utf-8-sig").splitlines(), 1):
        if line.strip() and not line.strip().startswith("#"):
            yield f"{path}, line {number}", line.strip()
