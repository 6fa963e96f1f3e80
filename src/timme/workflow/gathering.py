"""What was compared and found → the result: the names and places of objects, and its origin.

Objects, their σ and a hierarchy that were made step by step need no more than :func:`system_of` to
become an :class:`~timme.analysis.Analysis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from timme._arrays import Coordinates, Floats
from timme._version import __version__
from timme.analysis import Analysis, Input, Provenance, System, evenly_chosen
from timme.objects import Objects
from timme.system.ensemble import Ensemble
from timme.system.topology import atoms_of_sites
from timme.workflow.defaults import Shown, painted_by

# Snapshots that are kept for a film: no more frames, and no more numbers, than a page plays well.
_FILM_FRAMES = 100
_FILM_NUMBERS = 2_000_000


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
        # Models of structure files are matched by name, and have no common numbers.
        atom_numbers=None if ensemble.independent else ensemble.site_atoms + 1,
    )


def complete(
    made: Analysis, *, command: str, inputs: tuple[Input, ...], notes: Sequence[str]
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

    Returns
    -------
    Analysis
        With its provenance and all notes.
    """
    known = Provenance(version=__version__, command=command, inputs=inputs)
    told = tuple(dict.fromkeys((*made.notes, *notes)))
    return replace(made, recipe=replace(made.recipe, provenance=known), notes=told)


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
