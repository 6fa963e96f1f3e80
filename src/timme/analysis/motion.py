"""The recipe of motions: rigid bodies as the hierarchy, and how they move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from timme import objects as make_objects
from timme._arrays import Floats, Ints
from timme.analysis import choices
from timme.analysis.recipe import analyse, finish, notes_of
from timme.analysis.result import Analysis, Made, Source, System, announce
from timme.analysis.settings import MotionSettings
from timme.comparison.sites import common_sites
from timme.engine.checkpoint import Progress
from timme.ensemble import Ensemble
from timme.ensemble.atoms import angstroms
from timme.ensemble.residues import residue_index, shown_sites
from timme.io import read
from timme.motion.correlation import two_point as correlate
from timme.motion.fits import superpose
from timme.motion.hinges import describe_motion
from timme.motion.variance import Components, principal_components, rmsip
from timme.objects import Objects

_COMPONENTS, _HALVES = 10, 8  # that are kept; snapshots whose halves are compared


def analyse_motion(
    source: Any,
    *others: Any,
    settings: MotionSettings | None = None,
    progress: Progress | None = None,
    write: Callable[[Ensemble, str], object] | None = None,
    **options: Any,
) -> Analysis:
    """Find the rigid bodies of an ensemble, and how they move against one another.

    Parameters
    ----------
    source : path, array, Universe, Ensemble, Analysis, …
        As for :func:`timme.analyse`, except a matrix; the files of an Analysis are read again.
    *others : path
        Trajectories of a topology, or more structures.
    settings : MotionSettings, optional
        All settings at once.
    progress : callable, optional
        As for :func:`timme.analyse`.
    write : callable, optional
        Called with all snapshots, superposed on the body held still, and ``superposed=``.
    **options
        Fields of :class:`timme.analysis.MotionSettings`, such as ``bodies=3``.

    Returns
    -------
    Analysis
        Its hierarchy joins pieces into bodies, and bodies into the whole. Heights are residuals of
        rigid motion.

    Examples
    --------
    >>> import timme
    >>> planted = timme.synthetic.bodies((60, 40), 20, spans=[30.0])
    >>> timme.analyse_motion(planted.ensemble).hierarchy.quantity.symbol
    'rest'
    """
    chosen = choices.settings_of(MotionSettings, settings, options)
    if isinstance(source, Analysis):
        (source, *files), chosen = _opened_again(source, chosen)
        others = tuple(files)
    with choices.noted_warnings() as notes:
        ensemble = choices.read_snapshots(source, others, chosen, progress)
        announce(progress, "finding rigid bodies")
        objects, sites = _standing(ensemble, chosen.shown)
        still = None
        if chosen.reference is not None:
            still = np.flatnonzero(np.isin(sites, ensemble.find_sites(chosen.reference)))
        standing = choices.in_memory(ensemble.select(sites))
        ends = None if chosen.axis_from is None else known_transition(standing, chosen.axis_from)
        found = describe_motion(
            standing, n_bodies=chosen.bodies, reference=still, transition=ends, seed=chosen.seed
        )
        core = found.bodies.members(found.reference)
        if ends is not None and not found.known:
            notes.append("axis_from= is not used: one body turns against no other")
        if write is not None and chosen.superposed is not None:
            laid = superpose(ensemble, sites[core])
            notes.extend(laid.notes)
            write(laid.ensemble, chosen.superposed)
        announce(progress, "finding principal components")
        modes, halves = _components(standing, core)
    known: dict[str, Any] = {"recipe": "motion", "kind": "molecule", "objects": objects.kind}
    made = Made.of(ensemble.sources, chosen, chosen.model_fields_set, **known)
    system, tree = System.of(objects, *choices.choose_shown(objects)), found.bodies.hierarchy
    result = Analysis(system, tree, made, motion=found, modes=modes, halves=halves)
    return finish(result, [*notes_of(objects.ensemble), *notes])


def two_point(
    source: Any,
    *others: Any,
    distances: npt.ArrayLike,
    lags: Sequence[int] = (1,),
    drift: bool = False,
    **options: Any,
) -> Analysis:
    """Analyse particles, and correlate the displacements of their pairs against distance.

    Parameters
    ----------
    source, *others
        As for :func:`timme.analyse`: particles in 2 or 3 dimensions.
    distances : array_like
        Edges of the distance bins, ascending.
    lags : sequence of int, optional
        Lags in snapshots.
    drift : bool, optional
        Whether the mean displacement of all particles is subtracted.
    **options
        As for :func:`timme.analyse`.

    Returns
    -------
    Analysis
        With ``correlation``.

    Examples
    --------
    >>> import timme
    >>> walks = np.random.default_rng(0).normal(size=(50, 20, 2)).cumsum(axis=0)
    >>> two_point(walks, distances=[0, 5, 10]).correlation.along.shape
    (1, 2)
    """
    found = analyse(source, *others, **options)
    ensemble = choices.read_snapshots(source, others, found.made.settings)
    correlation = correlate(ensemble, distances, lags=lags, drift=drift)
    return finish(replace(found, correlation=correlation))


def _standing(ensemble: Ensemble, text: str | None) -> tuple[Objects, Ints]:
    """Return objects of the hierarchy, and the site that stands for each: residues if they can."""
    sites = shown_sites(ensemble.sites) if text is None else ensemble.find_sites(text)
    if not len(sites):
        return make_objects.points(ensemble), np.arange(ensemble.n_sites)
    residue = residue_index(ensemble.sites)
    if np.array_equal(residue[sites], np.arange(residue.max() + 1)):
        return make_objects.residues(ensemble), sites
    return make_objects.points(ensemble.select(sites)), sites


def _components(ensemble: Ensemble, core: Ints) -> tuple[Components, float]:
    """Return the largest components, and how far those of both halves agree."""
    found = principal_components(ensemble, on=core, n_components=_COMPONENTS)
    if ensemble.n_snapshots < _HALVES:
        return found, np.nan
    laid, middle = superpose(ensemble, core).ensemble, ensemble.n_snapshots // 2
    parts = (laid[:middle], laid[middle:])
    return found, rmsip(*(principal_components(part, superposed=True) for part in parts))


def _opened_again(source: Analysis, chosen: MotionSettings) -> tuple[list[str], MotionSettings]:
    """Return the files of a result, if they are the same, and the settings of their reading."""
    made = source.made
    paths = [each.path for each in made.sources if Source.of(each.path).sha256 == each.sha256 != ""]
    if not paths or len(paths) < len(made.sources):
        raise ValueError("the result was made in memory, or its files changed: give the snapshots")
    fields = (choices.READING | {"select", "chain", "shown", "replicas"}) & set(made.given)
    known = {name: getattr(made.settings, name) for name in fields - chosen.model_fields_set}
    return paths, choices.settings_of(MotionSettings, chosen, known)


def known_transition(ensemble: Ensemble, files: tuple[str, ...]) -> Floats:
    """Return where sites are before and after a known transition (2, sites, 3), NaN if missing."""
    found = np.full((2, ensemble.n_sites, 3), np.nan)
    for places, path in zip(found, files, strict=True):
        there = read(path, select=partial(choices.choose_sites, chains=None, text=None))
        try:
            common = common_sites(ensemble.sites, there.sites)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        scale = (angstroms(there.unit) or 1.0) / (angstroms(ensemble.unit) or 1.0)
        places[common.first] = scale * there.snapshot()[0][common.second]
    found[:, np.isnan(found).any(axis=(0, 2))] = np.nan
    return found
