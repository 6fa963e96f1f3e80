"""The recipe of static rigidity: a structure becomes the hierarchy of its hydrogen bonds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from timme import objects, rigidity
from timme._text import counted
from timme.analysis.choices import choose_shown, noted_warnings, read_snapshots, settings_of
from timme.analysis.recipe import finish
from timme.analysis.result import Analysis, Made, Rigidity, System, announce, title_of
from timme.analysis.settings import RigiditySettings
from timme.engine.checkpoint import Progress, Run
from timme.ensemble import Ensemble, Frames
from timme.ensemble.frames import ArraySource
from timme.ensemble.residues import is_water, residue_index
from timme.rigidity.decomposition import base_energy, residue_flexibility
from timme.rigidity.networks import lacks_hydrogens


def analyse_rigidity(
    source: Any,
    *others: Any,
    settings: RigiditySettings | None = None,
    workers: int | None = None,
    client: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Analysis:
    """Find the rigid clusters of a structure, and how hydrogen bonds join them.

    Hydrogens are added where there are none. Waters are left out by default; metals stay.

    Parameters
    ----------
    source : path, Universe, Ensemble, …
        Anything that :func:`timme.read` takes, or an Ensemble: all atoms of a structure.
    *others : path
        Trajectories of a topology, or more structures.
    settings : RigiditySettings, optional
        All settings at once.
    workers : int, optional
        Number of threads for several structures, all cores by default.
    client : distributed.Client or str, optional
        Dask cluster that decomposes several structures, or the address of its scheduler.
    progress : callable, optional
        Called with the work done and the whole work; its method ``begin``, if it has one, with the
        name of each phase.
    **options
        Fields of :class:`timme.analysis.RigiditySettings`: ``energy``, ``chain``, ``model``,
        ``ensemble=True`` for all models or frames, ``perturb=20`` for copies of one, and others.

    Returns
    -------
    Analysis
        The hierarchy of one structure, by the energy of its hydrogen bonds; ``rigidity`` has its
        network and, of several structures, how often sites are rigid together.

    Examples
    --------
    >>> from timme import data
    >>> found = analyse_rigidity(data.path("barnase_md.pdb"))
    >>> found.finding.kind, found.hierarchy.quantity.symbol
    ('core', 'E')
    """
    chosen = settings_of(RigiditySettings, settings, options)
    with noted_warnings() as warned:
        announce(progress, "adding hydrogens")
        read = _read(source, others, chosen, progress)
        filled = _with_hydrogens(read, chosen.ph, progress)
        ensemble = filled if chosen.waters else _without_waters(filled)
        announce(progress, "finding bonds")
        how: dict[str, Any] = {"waters": chosen.waters, "tethers": chosen.tethers}
        if chosen.constraints is None:
            held = rigidity.network(ensemble, cutoff=max(chosen.energy, 0.0), **how)
        else:
            held = rigidity.read_constraints(chosen.constraints, ensemble)
        lowest = base_energy(held)
        if chosen.energy < lowest:
            raise ValueError(f"energy= is at least {lowest:g} kcal/mol, got {chosen.energy:g}")
        every = objects.points(ensemble)
        shown = choose_shown(every, chosen.shown)
        many = None
        if chosen.ensemble or chosen.perturb is not None:
            announce(progress, "decomposing structures")
            run = Run.of(workers or chosen.workers, client, progress)
            models = ensemble
            if chosen.perturb is not None:
                models = rigidity.perturbed(ensemble, copies=chosen.perturb, seed=chosen.seed)
            many = rigidity.together(models, chosen.energy, sites=shown.objects, run=run, **how)
    n_added, found = filled.n_sites - read.n_sites, rigidity.decompose(held, chosen.energy)
    flexibility = residue_flexibility(found, held, ensemble.sites)
    rigid = Rigidity(replace(held, notes=()), found, chosen.energy, flexibility, n_added, many)
    known: dict[str, Any] = {"recipe": "rigidity", "kind": "molecule", "n_pairs": len(held.bonds)}
    known["title"] = " ".join([title_of(ensemble.sources), *(chosen.chain or ())])
    made = Made.of(ensemble.sources, chosen, chosen.model_fields_set, **known)
    system = System.of(every, *shown)
    if n_added:
        system = replace(system, numbers=None)  # other than those in the files of the user
    analysis = Analysis(system, rigidity.dilute(held), made, rigidity=rigid)
    return finish(analysis, (*ensemble.notes, *held.notes, *warned))


def _read(
    source: Any, others: tuple[Any, ...], chosen: RigiditySettings, progress: Progress | None
) -> Ensemble:
    """Return all snapshots of an ensemble, else the only one that counts."""
    if chosen.ensemble:
        found = read_snapshots(source, others, chosen, progress)
        if found.n_snapshots < 2:
            raise ValueError(
                f"{found.prefix}an ensemble needs at least 2 models or frames, got 1: leave out "
                "ensemble=, or use perturb=20 for error bars of one structure"
            )
        return found
    if chosen.model_fields_set & {"begin", "end", "step"}:
        raise ValueError("begin=, end= and step= are for an ensemble: use model=, or add ensemble=")
    model, is_read = chosen.model or 1, isinstance(source, Ensemble)
    first = chosen if is_read else chosen.model_copy(update={"begin": 0, "end": model})
    found = read_snapshots(source, others, first, progress)
    count = found.n_snapshots if is_read else found.n_source
    if model > count:
        words = f"model= must be at most {count:,}, the number of models, got {model}"
        raise ValueError(f"{found.prefix}{words}")
    note = f"of {count:,} models or frames, the first was taken (model=, or ensemble= for all)"
    notes = (note,) if count > 1 and chosen.model is None else ()
    return replace(found[model - 1 : model], notes=(*found.notes, *notes))


def _with_hydrogens(ensemble: Ensemble, ph: float, progress: Progress | None) -> Ensemble:
    """Return structures with hydrogens, which turn to waters too."""
    if not (len(ensemble.sites.bonds) and lacks_hydrogens(ensemble.sites)):
        return ensemble
    models = range(ensemble.n_snapshots)
    filled = [rigidity.add_hydrogens(ensemble, model, ph=ph, progress=progress) for model in models]
    if len({each.n_sites for each in filled}) > 1:
        words = "models get different hydrogens: analyse one of them (model=)"
        raise ValueError(f"{ensemble.prefix}{words}")
    places = np.array([each.snapshot()[0] for each in filled])
    boxes = ensemble.frames.read(0, len(models))[1]
    source = ArraySource(places, boxes, ensemble.times)
    return replace(filled[0], frames=Frames.of(source))


def _without_waters(ensemble: Ensemble) -> Ensemble:
    water = is_water(ensemble.sites)
    if not water.any():
        return ensemble
    if water.all():
        raise ValueError(f"{ensemble.prefix}there are waters only: keep them with waters=True")
    count = len(np.unique(residue_index(ensemble.sites)[water]))
    note = f"left out {counted(count, 'water')} (waters=True keeps them)"
    return replace(ensemble.select(np.flatnonzero(~water)), notes=(*ensemble.notes, note))
