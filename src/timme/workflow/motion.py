"""Rigid bodies and their motions as part of a result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme._arrays import Ints
from timme.analysis import Analysis, Moved
from timme.motion import Motions, describe_motion
from timme.output.tables import runs_text, short_names
from timme.system.ensemble import Ensemble
from timme.system.residues import is_nucleic, is_protein

_FEWEST = 20  # sites in which bodies of ten can be told
_MOST = 5_000


def with_motion(made: Analysis, ensemble: Ensemble) -> Analysis:
    """Look for rigid bodies among the shown residues of a result.

    Parameters
    ----------
    made : Analysis
        The result.
    ensemble : Ensemble
        What was analysed.

    Returns
    -------
    Analysis
        With a part that tells of bodies, or with a note on why there is none; as it was where no
        biopolymer was analysed in 3 dimensions.
    """
    if not _suits(made, ensemble):
        return made
    sites = made.system.object_sites[made.system.shown]
    try:
        found = describe_motion(ensemble.select(sites))
    except ValueError as error:
        return replace(made, notes=(*made.notes, f"no rigid bodies were looked for: {error}"))
    return replace(made, parts=(*made.parts, moved(found, made)))


def moved(found: Motions, made: Analysis) -> Moved:
    """Say bodies in words, as runs of residues.

    Parameters
    ----------
    found : Motions
        Of the shown objects.
    made : Analysis
        Their names.

    Returns
    -------
    Moved
        The part of the result.
    """
    names = short_names(made)

    def in_words(labels: Ints) -> tuple[str, ...]:
        count = int(labels.max(initial=-1)) + 1
        return tuple(runs_text(np.flatnonzero(labels == body), names) for body in range(count))

    soft = found.bodies.next_best
    alone = runs_text(found.bodies.unassigned, names) if len(found.bodies.unassigned) else ""
    return Moved(
        found, in_words(found.bodies.labels), alone, () if soft is None else in_words(soft.labels)
    )


def _suits(made: Analysis, ensemble: Ensemble) -> bool:
    shown = made.system.object_sites[made.system.shown]
    atoms = made.system.sites.take(shown)
    polymer = (is_protein(atoms) | is_nucleic(atoms)).mean() > 0.5 if len(shown) else False
    return bool(
        polymer
        and ensemble.n_dimensions == 3
        and made.system.sequential
        and _FEWEST <= len(shown) <= _MOST
        and len(np.unique(shown)) == len(shown)
    )
