"""Settings → Analysis of motion: rigid bodies as the hierarchy, the rest in place of σ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme import objects as make
from timme._arrays import Ints
from timme.analysis import Analysis, Correlated
from timme.motion import describe_motion, fill_gaps, split_motions, superpose, two_point
from timme.motion.whole import hold
from timme.objects import Objects
from timme.output.ensembles import write_ensemble
from timme.settings import READING, Settings
from timme.settings.schema import change
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.residues import residue_index, shown_sites
from timme.system.topology import atoms_of_sites
from timme.workflow.defaults import select
from timme.workflow.gathering import complete, gather
from timme.workflow.identity import fingerprints
from timme.workflow.motion import modes, tell_bodies
from timme.workflow.recipe import analyse, read_source
from timme.workflow.remarks import note_warnings
from timme.workflow.reopening import reopen
from timme.workflow.transitions import known_transition

_KEYWORDS = (
    *("trajectories", "settings", "n_bodies", "on", "axis_from", "superposed", "progress"),
)


def move(  # noqa: PLR0913, what is analysed, and what is wanted of it
    source: Any,
    trajectories: Any = (),
    *,
    settings: Settings | None = None,
    n_bodies: int | None = None,
    on: str | None = None,
    axis_from: tuple[str | Path, str | Path] | None = None,
    superposed: str | Path | None = None,
    command: str = "",
    progress: Progress | None = None,
    **options: Any,
) -> Analysis:
    """Find the rigid bodies of an ensemble and how they move, as a result of its own.

    Its hierarchy is that of the bodies: pieces that join into bodies, and bodies that join into the
    whole, at the rest that no rigid motion then accounts for.

    Parameters
    ----------
    source : path, array, Universe, Ensemble, …
        Anything that :func:`timme.analyse` takes but a matrix; 2 snapshots or more. Of a result,
        saved or not, the inputs are opened again, if they are where they were and the same.
    trajectories : path or sequence of paths, optional
        Trajectories that belong to the topology `source`.
    settings : Settings, optional
        All choices at once; those of objects and pairs have no effect.
    n_bodies : int, optional
        How many bodies are wanted; by default as many as stand out.
    on : str, optional
        A selection of which the body is held still; the largest body by default.
    axis_from : pair of paths, optional
        Structures before and after a known transition: the angles of each body are measured about
        the axis about which it turns there.
    superposed : path, optional
        File for all snapshots, laid onto that body: .pdb, .cif, .xtc or .dcd.
    command : str, optional
        Command line to be kept with the result.
    progress : callable, optional
        Called with the work done and the whole work.
    **options
        Fields of :class:`timme.Settings` that differ from it.

    Returns
    -------
    Analysis
        The result, ready for :func:`timme.write`.

    Examples
    --------
    >>> import timme
    >>> planted = timme.synthetic.moving((60, 40), 20, spans=[30.0])
    >>> timme.move(planted.ensemble).shown_hierarchy.quantity.symbol
    'rest'
    """
    chosen: Settings = change(settings or Settings(), "move", *_KEYWORDS, **options)
    if isinstance(source, Analysis) or str(source).lower().endswith(".npz"):
        (source, *trajectories), chosen = reopen(source, chosen)
    with note_warnings() as noted:
        ensemble = read_source(source, trajectories, chosen, progress)
        compared, sites = _standing(ensemble, chosen)
        still = None if on is None else _held(ensemble, sites, on)
        standing = fill_gaps(hold(ensemble.select(sites)))
        known = None if axis_from is None else known_transition(standing, *axis_from)
        found = describe_motion(standing, n_bodies=n_bodies, reference=still, transition=known)
        if known is not None and not found.known:
            warnings.warn(
                "the known transition is not used: there is one body, and none turns against it",
                stacklevel=2,
            )
        made = gather(compared, hierarchy=found.bodies.hierarchy)
        if superposed is not None:
            core = sites[found.bodies.members(found.reference)]
            laid = superpose(ensemble, core)
            for note in laid.notes:
                warnings.warn(f"superposed snapshots: {note}", stacklevel=2)
            write_ensemble(laid.ensemble, superposed)
    look = replace(chosen, length=made.recipe.settings.length, objects=compared.kind, min_size=2)
    recipe = replace(
        made.recipe,
        settings=look,
        known=((found.bodies.cutoff, "the rigid bodies that stand out"),),
    )
    splits = split_motions(standing, found.bodies.hierarchy)
    parts = (tell_bodies(found, made, splits), modes(standing, found))
    made = replace(made, recipe=recipe, parts=parts)
    inputs = fingerprints(ensemble.sources)
    return complete(made, command=command, inputs=inputs, notes=noted, paths=ensemble.sources)


def correlate(  # noqa: PLR0913, what is analysed, and what is wanted of it
    source: Any,
    trajectories: Any = (),
    *,
    distances: Sequence[float],
    lags: Sequence[int] = (1,),
    drift: bool = False,
    settings: Settings | None = None,
    command: str = "",
    progress: Progress | None = None,
    **options: Any,
) -> Analysis:
    """Analyse particles by the default recipe, and correlate the displacements of their pairs.

    Parameters
    ----------
    source, trajectories
        As for :func:`timme.analyse`: tracked particles in 2 or 3 dimensions.
    distances : sequence of float
        Between which pairs are counted, ascending.
    lags : sequence of int, optional
        In snapshots.
    drift : bool, optional
        Whether the mean displacement of all particles is taken off first.
    settings, command, progress, **options
        As for :func:`timme.analyse`.

    Returns
    -------
    Analysis
        With a part that tells D_rr and D_⊥ against distance and lag.
    """
    chosen: Settings = change(settings or Settings(), "correlate", *_KEYWORDS, **options)
    ensemble = read_source(source, trajectories, chosen, progress)
    found = two_point(ensemble, distances, lags=lags, drift=drift)
    read_already = {name: getattr(Settings(), name) for name in (*READING, "select")}
    made = analyse(ensemble, settings=replace(chosen, **read_already), command=command)
    return replace(made, parts=(*made.parts, Correlated(found)))


def _standing(ensemble: Ensemble, chosen: Settings) -> tuple[Objects, Ints]:
    """Objects of the hierarchy, and the site that stands for each.

    Residues of which one site each is shown are whole objects, so that all their atoms are drawn.
    """
    atoms = atoms_of_sites(ensemble)
    sites = shown_sites(atoms) if chosen.show is None else select(ensemble, chosen.show)
    if not len(sites):
        return make.points(ensemble), np.arange(ensemble.n_sites)
    residue = residue_index(atoms)
    if np.array_equal(residue[sites], np.arange(residue.max() + 1)):
        return make.residues(ensemble), sites
    return make.points(ensemble.select(sites)), sites


def _held(ensemble: Ensemble, sites: Ints, on: str) -> Ints:
    """Which of the standing sites are of a selection."""
    return np.flatnonzero(np.isin(sites, select(ensemble, on)))
