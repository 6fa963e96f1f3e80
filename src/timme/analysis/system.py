"""System and origin of a result: names, places, a film, files, and notes on them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from timme.analysis.choices import Kind, Shown, choose_length
from timme.analysis.result import Analysis, Made, Source, System
from timme.analysis.settings import Model, Settings
from timme.ensemble import Ensemble
from timme.io.files import STRUCTURES, kind
from timme.objects import Objects

_FILM_FRAMES, _FILM_NUMBERS = 100, 2_000_000  # no more than a page plays well
_HELD = 0.05  # of the median σ: all is one cluster below it where pairs are held by bonds


def system_of(objects: Objects, shown: Shown) -> System:
    """Return names and places of objects, and a film of some of the snapshots."""
    ensemble = objects.ensemble
    places, box = ensemble.snapshot(0)
    places = np.array(places)
    for block in ensemble.blocks() if ensemble.gaps else ():
        for frame in block.coordinates:  # sites stand where they are first seen
            unseen = np.isnan(places).any(axis=1)
            places[unseen] = frame[unseen]
    most = _FILM_NUMBERS // (ensemble.n_sites * ensemble.n_dimensions)
    count = min(ensemble.n_snapshots, max(1, most), _FILM_FRAMES)
    frames = np.unique(np.linspace(0, ensemble.n_snapshots - 1, count).round().astype(np.int64))
    owner = np.full(ensemble.n_sites, -1)
    members = objects.anchors if objects.centred_on_sites else objects.members
    numbers = np.repeat(np.arange(len(objects)), np.diff(objects.offsets))
    numbers = np.arange(len(objects)) if objects.centred_on_sites else numbers
    owner[members[::-1]] = numbers[::-1]  # of several objects, a site has the colour of the first
    ids = None if ensemble.independent else ensemble.site_atoms + 1
    if ensemble.numbers is not None:
        ids = ensemble.numbers[ensemble.site_atoms]
    times, files = ensemble.times, getattr(ensemble.frames.source, "files", ())
    timed = len(ensemble.replicas) == 1 and not (ensemble.gaps or ensemble.independent)
    timed = timed and not any(file.in_steps for file in files)
    return System(
        names=objects.names,
        object_sites=objects.anchors,
        site_objects=owner,
        sites=ensemble.sites,
        coordinates=places,
        shown=shown.objects,
        shown_name=shown.name,
        sequential=shown.sequential,
        n_snapshots=ensemble.n_snapshots,
        duration=float(times[-1] - times[0]) if timed else math.nan,
        unit=ensemble.unit,
        box=box,
        film=np.array([ensemble.snapshot(frame)[0] for frame in frames.tolist()]),
        film_frames=frames,
        numbers=ids,
    )


def made_of(objects: Objects, kind_: Kind, settings: Settings, given_: Iterable[str]) -> Made:
    """Return how a result of objects was made; pairs are added to it."""
    length, name = choose_length(objects, kind_, settings.length)
    settled = settings.model_copy(update={"length": length, "reduction": objects.reduction})
    return replace(
        origin_of(objects.ensemble, settled, given_),
        kind="molecule" if kind_ in ("biopolymer", "molecule") else "particles",
        objects=objects.kind,
        length=length,
        length_name=name,
    )


def origin_of(ensemble: Ensemble, settings: Model, given_: Iterable[str]) -> Made:
    """Return from what, and with which settings, a result was made."""
    return Made(
        title=title_of(ensemble.sources),
        settings=settings,
        given=tuple(sorted(given_)),
        sources=sources_of(ensemble.sources),
        version=version("pytimme"),
    )


def title_of(paths: Sequence[str]) -> str:
    """Return what a result is called: by its trajectory, or by its structures.

    Examples
    --------
    >>> title_of(["adk.psf", "runs/adk_dims.dcd"]), title_of(["4ake.pdb.gz", "1ake.pdb.gz"])
    ('adk_dims', '4ake → 1ake')
    """
    files = [Path(path) for path in paths if kind(Path(path))]
    names = [
        path.name.removesuffix(".gz").removesuffix(".bz2").rpartition(".")[0] for path in files
    ]
    if files and all(kind(path) in STRUCTURES for path in files):
        return " → ".join(names if len(names) < 3 else [names[0], names[-1]])
    own = names[1:] or names or ["snapshots"]
    return f"{own[0]} and {len(own) - 1} more" if len(own) > 1 else "".join(own)


def sources_of(paths: Sequence[str]) -> tuple[Source, ...]:
    """Return names and checksums of what was read."""
    found = list[Source]()
    for path in paths:
        if not Path(path).is_file():
            found.append(Source(path))
            continue
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append(Source(Path(path).name, digest, path))
    return tuple(found)


def notes_on(ensemble: Ensemble, settings: Settings | None = None) -> Iterator[str]:
    """Yield what σ of these snapshots does not tell."""
    yield from ensemble.notes
    unit = f" {ensemble.unit}" if ensemble.unit else ""
    if ensemble.rounding:
        least = ensemble.rounding / math.sqrt(6)
        steps = f"coordinates have steps of {ensemble.rounding:g}{unit}"
        yield f"{steps}: σ below {least:.2g}{unit} is rounding"
    if ensemble.independent:
        yield "models are not a thermal sample: σ shows where they agree as well as what moves"
        if ensemble.numbers is None:
            yield "atoms have other numbers in other models, so index groups cannot be written"
    if settings is None:
        return
    if ensemble.gaps:
        shared = f"at least {settings.min_overlap}"
        yield f"σ is that of the snapshots in which both are seen, {shared} for each pair"
    if settings.linkage != "single":
        yield f"{settings.linkage} linkage is not that of the paper, which is single linkage"


def remarks_on(analysis: Analysis) -> Iterator[str]:
    """Yield notes on a hierarchy that pairs at fixed distances, or separate pieces, spoil."""
    tree, sigma, settings = analysis.hierarchy, analysis.fluctuations, analysis.made.settings
    pieces = int(np.count_nonzero(analysis.atom_hierarchy.parents < 0))
    if pieces > 1 and sigma is not None:
        count = analysis.atom_hierarchy.n_sites
        yield f"the pairs connect {count:,} {analysis.made.objects} into {pieces:,} pieces"
    of_distances = tree.quantity.of_distances and getattr(settings, "noise", None) is None
    if sigma is None or not of_distances or tree.n_sites < 3 or not len(tree.heights):
        return
    typical, top = float(np.median(sigma.sigma)), float(tree.heights[-1])
    if np.count_nonzero(tree.parents < 0) == 1 and typical > 0 and top <= _HELD * typical:
        unit = f" {tree.unit}" if tree.unit else ""
        more = max(4, (getattr(settings, "min_bonds", None) or 0) + 1)
        yield (
            f"all is one cluster from {top:.2g}{unit} on, while half of the pairs have σ above "
            f"{typical:.2g}{unit}: some pairs are held at a fixed distance; compare pairs more "
            f"bonds apart (min_bonds={more}), or join by several pairs (linkage='braced')"
        )
