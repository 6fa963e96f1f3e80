"""What was compared and found → the result: the names and places of objects, and its origin.

Objects, their σ and a hierarchy that were made step by step become the same
:class:`~timme.analysis.Analysis` as that of the recipe, by :func:`gather`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme._errors import require
from timme._version import __version__
from timme.analysis import Analysis, Input, Measured, Provenance, Recipe, System, evenly_chosen
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, require_hierarchy
from timme.objects import Objects, require_objects
from timme.pairs.lists import Pairs
from timme.settings import Display, Settings
from timme.settings.schema import change
from timme.system.ensemble import Ensemble
from timme.system.topology import atoms_of_sites
from timme.workflow.defaults import Shown, choose_length, choose_shown, kind_of, painted_by
from timme.workflow.identity import fingerprints
from timme.workflow.remarks import notes_on_pieces, notes_on_snapshots, remarks_on

_NONE = np.empty((0, 2), np.int64)

# Snapshots that are kept for a film: no more frames, and no more numbers, than a page plays well.
_FILM_FRAMES = 100
_FILM_NUMBERS = 2_000_000


def gather(
    objects: Objects,
    sigma: Fluctuations | None = None,
    hierarchy: Hierarchy | None = None,
    *,
    pairs: Pairs | None = None,
    show: str | None = None,
    **display: Any,
) -> Analysis:
    """Gather what was made step by step into a result, to be written, viewed, saved and compared.

    Parameters
    ----------
    objects : Objects
        What was compared.
    sigma : Fluctuations, optional
        What was measured; without it, the result has no matrix of σ.
    hierarchy : Hierarchy, optional
        What was linked; by default, σ is linked here.
    pairs : Pairs, optional
        Who was compared with whom, if the result should tell which pairs these were.
    show : str, optional
        Sites that are drawn and counted, as for :func:`timme.analyse`.
    **display
        What else is chosen of pictures: ``cutoff``, ``large``, ``min_size``, ``palette``,
        ``length``.

    Returns
    -------
    Analysis
        The result, ready for :func:`timme.write` and :func:`timme.view`.

    Examples
    --------
    >>> import timme
    >>> objects = timme.objects.points(timme.synthetic.planted().ensemble)
    >>> sigma = timme.measure(objects, timme.pairs.all(objects), metric="cityblock")
    >>> timme.gather(objects, sigma, cutoff=0.2).hierarchy.n_sites
    90
    """
    hierarchy = _checked_hierarchy(objects, sigma, hierarchy)
    ensemble = objects.ensemble
    kind, look = kind_of(ensemble), change(Display(), "gather", "show", "pairs", **display)
    length, length_name = choose_length(objects, kind, Settings(length=look.length))
    known = pairs is not None or sigma is not None
    partners = pairs or Pairs(len(objects), None if sigma is None else sigma.pairs, _NONE, "")
    made = Analysis(
        system=system_of(objects, choose_shown(objects, show)),
        hierarchy=hierarchy,
        recipe=Recipe(
            kind=objects.kind,
            n_pairs=(len(partners) if sigma is None else len(sigma.sigma)) if known else None,
            compared=partners.description,
            settings=replace(look, length=length),
            length_name=length_name,
        ),
        notes=(
            *ensemble.notes,
            *notes_on_snapshots(ensemble),
            *(notes_on_pieces(objects, partners) if known else ()),
        ),
        parts=() if sigma is None else (Measured(sigma),),
    )
    made = complete(made, command="", inputs=fingerprints(ensemble.sources), notes=())
    return replace(made, notes=(*made.notes, *remarks_on(made)))


def _checked_hierarchy(objects: Objects, sigma: Fluctuations | None, hierarchy: Any) -> Hierarchy:
    """Take or grow the hierarchy of these objects; refuse what belongs to others."""
    require_objects(objects, "gather")
    if sigma is None and hierarchy is None:
        raise TypeError(
            "timme.gather needs what was measured or linked, got objects alone: pass "
            "timme.measure(objects, pairs) or hierarchy="
        )
    if sigma is not None:
        remedies = {
            "Hierarchy": "pass it by its name, timme.gather(objects, hierarchy=hierarchy)",
            "other": "pass timme.measure(objects, pairs)",
        }
        require(sigma, Fluctuations, "gather, as its second argument,", remedies)
        if hierarchy is None:
            hierarchy = link(sigma, quantity=_quantity_of(objects, sigma))
    require_hierarchy(hierarchy, "gather")
    found: Hierarchy = hierarchy
    counts = {found.n_sites} if sigma is None else {found.n_sites, sigma.n_objects}
    if counts != {len(objects)}:
        raise ValueError(
            f"timme.gather needs σ and a hierarchy of the same {len(objects)} objects, got those "
            f"of {' and '.join(map(str, sorted(counts)))}"
        )
    return found


def _quantity_of(objects: Objects, sigma: Fluctuations) -> Quantity:
    """σ is no length of the coordinates where it has another unit than these."""
    return replace(SIGMA, is_length=sigma.unit == objects.ensemble.unit)


def system_of(compared: Objects, shown: Shown) -> System:
    """Describe objects that were compared: their names, places, and which of them are shown.

    Parameters
    ----------
    compared : Objects
        What was compared.
    shown : Shown
        Which of them are drawn and counted.

    Returns
    -------
    System
        With the first snapshot, and a film of some.
    """
    ensemble = compared.ensemble
    coordinates, box = _first_places(ensemble)
    return System(
        names=compared.names,
        object_sites=compared.anchors,
        site_objects=painted_by(compared),
        sites=atoms_of_sites(ensemble),
        coordinates=coordinates,
        shown=shown.objects,
        shown_name=shown.name,
        sequential=shown.sequential,
        n_snapshots=ensemble.n_snapshots,
        unit=ensemble.unit,
        box=box,
        film=_film(ensemble),
        atom_numbers=_atom_numbers(ensemble),
    )


def complete(
    made: Analysis,
    *,
    command: str,
    inputs: tuple[Input, ...],
    notes: Sequence[str],
    paths: Sequence[str] = (),
) -> Analysis:
    """Say of a result where it came from, and what was noted on the way.

    Parameters
    ----------
    made : Analysis
        The result.
    command : str
        Command line, if there was one.
    inputs : tuple of Input
        What was read.
    notes : sequence of str
        Added to those of the result, each once.
    paths : sequence of str, optional
        Of the inputs, as they were given, by which they can be opened again.

    Returns
    -------
    Analysis
        With its provenance and all notes.
    """
    known = Provenance(version=__version__, command=command, inputs=inputs, paths=tuple(paths))
    told = tuple(dict.fromkeys((*made.notes, *notes)))
    return replace(made, recipe=replace(made.recipe, provenance=known), notes=told)


def _atom_numbers(ensemble: Ensemble) -> Ints | None:
    """Number sites as the user's files do: by ids, or by place, which may differ among models."""
    if ensemble.numbers is not None:
        return ensemble.numbers[ensemble.site_atoms]
    return None if ensemble.independent else ensemble.site_atoms + 1


def _first_places(ensemble: Ensemble) -> tuple[Coordinates, Floats | None]:
    """Return the first snapshot; sites that are not in it stand where they are first seen."""
    coordinates, box = ensemble.snapshot(0)
    coordinates = np.array(coordinates)
    if ensemble.gaps:
        for block in ensemble.blocks():
            for frame in block.coordinates:
                unseen = np.isnan(coordinates).any(axis=1)
                coordinates[unseen] = frame[unseen]
    return coordinates, box


def _film(ensemble: Ensemble) -> Coordinates:
    """Return snapshots evenly chosen from all; NaN where a site is unseen."""
    affordable = max(1, _FILM_NUMBERS // (ensemble.n_sites * ensemble.n_dimensions))
    n_frames = min(ensemble.n_snapshots, _FILM_FRAMES, affordable)
    chosen = evenly_chosen(ensemble.n_snapshots, n_frames).tolist()
    return np.array([ensemble.snapshot(index)[0] for index in chosen])
