"""A structure → its rigid clusters as an Analysis: the one recipe of static rigidity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from timme import objects as make
from timme._arrays import Ints, frozen
from timme.analysis import Analysis, Apart, Constraints, Recipe, System
from timme.engine.run import Run
from timme.fluctuations.matrix import from_matrix
from timme.readers import read, read_model
from timme.rigidity.checks import lacks_hydrogens, refuse_without_bonds
from timme.rigidity.decomposition import base_energy, dilute
from timme.rigidity.hydrogens import add_hydrogens
from timme.rigidity.lists import read_constraints
from timme.rigidity.network import network
from timme.rigidity.snapshots import Together, together
from timme.rigidity.structure import structure
from timme.settings import TETHERS, RigidSettings
from timme.settings.schema import change
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.held_frames import ArrayFrames
from timme.system.residues import is_water, residue_index
from timme.system.topology import atoms_of_sites
from timme.workflow.defaults import Shown, choose_shown
from timme.workflow.gathering import complete
from timme.workflow.identity import fingerprints
from timme.workflow.recipe import choose_engine
from timme.workflow.remarks import note_warnings

_MOST_SITES = 2000  # whose fractions of all pairs are kept
_UNJUDGED = (
    "how sure clusters are is not told: one structure is no sample, of which others could be drawn"
)
_UNJUDGED_TOGETHER = (
    "how sure clusters are is not told: fractions of snapshots in which sites are apart are not "
    "resampled"
)
_READING = ("start", "stop", "step", "allow_truncated")  # settings of timme.read


def rigid(
    source: Any,
    trajectories: Any = (),
    *,
    settings: RigidSettings | None = None,
    command: str = "",
    progress: Progress | None = None,
    workers: int | str | None = None,
    client: Any = None,
    **options: Any,
) -> Analysis:
    """Find the rigid clusters of a structure, and how hydrogen bonds join them.

    Hydrogens are added where there are none. Waters are left out, unless you ask for them; metals
    stay. With ``ensemble=-1.0`` every model or frame is decomposed at that energy, and the
    hierarchy is that of the fraction of snapshots in which two sites are apart.

    Parameters
    ----------
    source : path, Universe, Ensemble, …
        Anything that :func:`timme.read` takes, or an Ensemble: all atoms of a structure.
    trajectories : path or sequence of paths, optional
        Trajectories that belong to the topology `source`.
    settings : RigidSettings, optional
        All choices at once.
    command : str, optional
        Command line to be kept with the result.
    progress : callable, optional
        Called with snapshots done and their number.
    workers : int or str, optional
        Number of threads for an ensemble, all cores by default.
    client : dask.distributed.Client, optional
        Cluster that decomposes the snapshots of an ensemble, in place of threads.
    **options
        Fields of :class:`RigidSettings` that differ from it: ``chain="A"``, ``model=2``,
        ``waters=True``, ``tethers="none"``, ``constraints="constraints.csv"`` and others.

    Returns
    -------
    Analysis
        The result, ready for :func:`timme.write`; its ``network`` are the constraints.
    """
    chosen: RigidSettings = change(
        settings or RigidSettings(), "rigid", "workers", "client", "settings", **options
    )
    if chosen.ensemble is None and not (workers is None and client is None):
        raise ValueError(
            "one structure is decomposed by one thread: leave out workers and cluster, or give the "
            "energy of an ensemble"
        )
    with note_warnings() as noted:
        ensemble = _read(source, trajectories, chosen)
        inputs = fingerprints(ensemble.sources)
        whole = _prepare(_keep_chains(ensemble, chosen), chosen)
        if chosen.ensemble is None:
            made = _analyse_structure(whole, chosen)
        else:
            run = Run.of(workers=choose_engine(workers, client), progress=progress)
            made = _analyse_ensemble(whole, chosen.ensemble, chosen, run)
    return complete(made, command=command, inputs=inputs, notes=noted)


def _read(source: Any, trajectories: Any, chosen: RigidSettings) -> Ensemble:
    """Read all snapshots of an ensemble, and else one only, to which no other one matters."""
    options: dict[str, Any] = {name: getattr(chosen, name) for name in _READING}
    model = chosen.model or 1
    if chosen.ensemble is not None:
        if isinstance(source, Ensemble):
            return source
        return read(source, trajectories, common_atoms=chosen.common_atoms, **options)
    if isinstance(source, Ensemble):
        ensemble, count = _one_snapshot(source, model), source.n_snapshots
    else:
        ensemble, count = read_model(source, trajectories, model=model, **options)
    note = (
        f"there are {count:,} models or frames: the first was taken "
        "(model= takes another, ensemble= all of them)"
    )
    notes = (note,) if count > 1 and chosen.model is None else ()
    return replace(ensemble, notes=(*ensemble.notes, *notes))


def _one_snapshot(ensemble: Ensemble, model: int) -> Ensemble:
    count = ensemble.n_snapshots
    if model > count:
        raise ValueError(
            f"{ensemble.prefix}model {model} is not there: there are {count}, counted from 1"
        )
    frames = ArrayFrames(*ensemble.frames.read(model - 1, model))
    return replace(ensemble, frames=frames, weights=None)


def _analyse_structure(ensemble: Ensemble, chosen: RigidSettings) -> Analysis:
    if chosen.constraints is None:
        held = network(ensemble, waters=chosen.waters, tethers=_tethers(chosen))
    else:
        held = read_constraints(chosen.constraints, ensemble)
    base = base_energy(held)
    if chosen.cutoff is not None and chosen.cutoff < base:
        raise ValueError(
            f"{ensemble.prefix}a cutoff is {base:g} kcal/mol, where all is joined that is rigid "
            f"without any hydrogen bond, or higher, got {chosen.cutoff:g}"
        )
    sites, shown = np.arange(ensemble.n_sites), _choose_shown(ensemble, chosen)
    return Analysis(
        system=_system(ensemble, sites, shown),
        hierarchy=dilute(held),
        recipe=_recipe(chosen),
        notes=(*ensemble.notes, *held.notes, _UNJUDGED),
        parts=(Constraints(replace(held, notes=())),),
    )


def _analyse_ensemble(
    ensemble: Ensemble, energy: float, chosen: RigidSettings, run: Run
) -> Analysis:
    how: dict[str, Any] = {"waters": chosen.waters, "tethers": chosen.tethers}
    shown = _choose_shown(ensemble, chosen)
    sites = shown.objects  # the only ones that are clustered
    notes = network(ensemble, **how).notes  # those of the first stand for all
    how |= {"workers": run.engine, "progress": run.progress}
    found = together(ensemble, energy, sites=sites, **how)
    return Analysis(
        system=_system(ensemble, sites, replace(shown, objects=np.arange(len(sites)))),
        hierarchy=found.hierarchy(),
        recipe=_recipe(chosen),
        notes=(*ensemble.notes, *notes, _counts(found, shown.name), _UNJUDGED_TOGETHER),
        parts=(Apart(from_matrix(found.apart)),) if len(sites) <= _MOST_SITES else (),
    )


def _recipe(chosen: RigidSettings) -> Recipe:
    return Recipe(kind="atoms", settings=chosen)


def _system(ensemble: Ensemble, sites: Ints, shown: Shown) -> System:
    """Describe some sites of a structure as objects; other sites go with those of their residue."""
    snapshot = structure(ensemble)
    residues, every = residue_index(snapshot.atoms), np.arange(len(sites))
    of_residue = np.full(residues[-1] + 1, -1)
    of_residue[residues[sites]] = every
    owner = of_residue[residues]
    owner[sites] = every
    box = snapshot.boxes.matrices[0]
    return System(
        names=np.array([snapshot.atoms.label(site) for site in sites.tolist()]),
        object_sites=sites,
        site_objects=frozen(owner),
        sites=snapshot.atoms,
        coordinates=snapshot.coordinates,
        shown=shown.objects,
        shown_name=shown.name,
        sequential=shown.sequential,
        n_snapshots=ensemble.n_snapshots,
        unit="Å",  # in which energies are known
        box=box if box.any() else None,
    )


def _choose_shown(ensemble: Ensemble, chosen: RigidSettings) -> Shown:
    return choose_shown(replace(make.points(ensemble), kind="atoms"), chosen.show)


def _keep_chains(ensemble: Ensemble, chosen: RigidSettings) -> Ensemble:
    if chosen.chains is None:
        return ensemble
    names = atoms_of_sites(ensemble).chains
    for chain in chosen.chains:
        if chain not in names:
            known = ", ".join(repr(str(name)) for name in dict.fromkeys(names.tolist()))
            raise ValueError(f"{ensemble.prefix}there is no chain {chain!r}: there are {known}")
    return ensemble.select(np.flatnonzero(np.isin(names, chosen.chains)))


def _prepare(ensemble: Ensemble, chosen: RigidSettings) -> Ensemble:
    """Add hydrogens, which turn to waters too, and only then leave out the waters."""
    prepared = _leave_out_waters(_complete_hydrogens(ensemble), chosen)
    if prepared.n_sites < 2:
        raise ValueError(
            f"{ensemble.prefix}rigidity needs at least 2 atoms, got {prepared.n_sites}: "
            "read a whole structure"
        )
    return prepared


def _leave_out_waters(ensemble: Ensemble, chosen: RigidSettings) -> Ensemble:
    atoms = atoms_of_sites(ensemble)
    water = is_water(atoms)
    if chosen.waters or not water.any():
        return ensemble
    if water.all():
        raise ValueError(
            f"{ensemble.prefix}there are waters only: keep them (waters=True), or read a "
            "structure that holds a molecule"
        )
    count = len(np.unique(residue_index(atoms)[water]))
    note = f"left out {count:,} water{'s' * (count != 1)} (waters=True keeps them)"
    return replace(ensemble.select(np.flatnonzero(~water)), notes=(*ensemble.notes, note))


def _complete_hydrogens(ensemble: Ensemble) -> Ensemble:
    """Add hydrogens to all snapshots of a structure that needs them and has none."""
    snapshot = structure(ensemble)
    if len(snapshot.atoms) < 2 or not lacks_hydrogens(snapshot):
        return ensemble
    refuse_without_bonds(snapshot, ensemble.prefix)
    filled = [add_hydrogens(ensemble, model) for model in range(ensemble.n_snapshots)]
    coordinates, boxes = zip(*(one.frames.read(0, 1) for one in filled), strict=True)
    known = [box for box in boxes if box is not None]
    frames = ArrayFrames(
        frozen(np.concatenate(coordinates)), np.concatenate(known) if known else None
    )
    return replace(filled[0], frames=frames)


def _tethers(chosen: RigidSettings) -> Literal["shortest", "all", "none"]:
    return next(known for known in TETHERS if known == chosen.tethers)


def _counts(found: Together, shown_name: str) -> str:
    modes = found.floppy_modes
    several = len(modes) > 1
    who = f"the {len(modes):,} snapshots have" if several else "the only snapshot has"
    mean = f" (mean {modes.mean():.1f})" if several else ""
    name = "floppy mode" if modes.max() == 1 else "floppy modes"
    return (
        f"at {found.cutoff:g} kcal/mol {who} {_span(modes)} {name}{mean} and a largest cluster of "
        f"{_span(found.largest)} {shown_name}"
    )


def _span(values: Ints) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
