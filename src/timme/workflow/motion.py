"""Rigid bodies and their motions as part of a result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme._arrays import Ints
from timme.analysis import Analysis, Modes, Moved
from timme.motion import (
    Motions,
    SplitMotion,
    block_covariance,
    describe_motion,
    distance_components,
    halves,
    overlap_with_bodies,
    principal_components,
    split_motions,
)
from timme.motion.components import kept
from timme.motion.gaps import fill_gaps
from timme.motion.whole import hold
from timme.output.tables import runs_text, short_names
from timme.system.ensemble import Ensemble
from timme.system.residues import is_nucleic, is_protein

_FEWEST = 20  # sites in which bodies of ten can be told
_MOST = 5_000
_COMPONENTS = 10  # that are kept
_MOST_DRAWN = 1_000  # sites of a covariance that is drawn
_HALVES = 8  # snapshots of which both halves say something


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
        standing = fill_gaps(hold(ensemble.select(sites)))
        found = describe_motion(standing)
        splits = split_motions(standing, made.shown_hierarchy)
    except ValueError as error:
        return replace(made, notes=(*made.notes, f"no rigid bodies were looked for: {error}"))
    return replace(made, parts=(*made.parts, tell_bodies(found, made, splits)))


def modes(ensemble: Ensemble, found: Motions) -> Modes:
    """Find the principal components of the shown objects, beside their bodies.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the shown objects.
    found : Motions
        Their bodies.

    Returns
    -------
    Modes
        The part of the result.
    """
    core = found.bodies.members(found.reference)
    components = kept(principal_components(ensemble, on=core), _COMPONENTS)
    apart = kept(distance_components(ensemble), _COMPONENTS)
    drawn = ensemble.n_sites <= _MOST_DRAWN
    return Modes(
        components=components,
        overlap=overlap_with_bodies(components, found.bodies.labels),
        halves=halves(ensemble, on=core) if ensemble.n_snapshots >= _HALVES else float("nan"),
        distances=apart.variances,
        distance_total=apart.total,
        distance_projections=apart.projections,
        covariance=block_covariance(ensemble, found.bodies.labels, on=core) if drawn else None,
    )


def tell_bodies(found: Motions, made: Analysis, splits: tuple[SplitMotion, ...] = ()) -> Moved:
    """Say bodies in words, as runs of residues.

    Parameters
    ----------
    found : Motions
        Of the shown objects.
    made : Analysis
        Their names.
    splits : tuple of SplitMotion, optional
        How the sides of the splits of its shown hierarchy move.

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
        found,
        in_words(found.bodies.labels),
        alone,
        () if soft is None else in_words(soft.labels),
        splits,
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
