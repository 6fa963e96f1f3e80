"""Rigid clusters of every snapshot of an ensemble: how often two sites are in the same one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, indices
from timme._html import Described
from timme.engine.protocol import Engine
from timme.engine.run import Run
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import Hierarchy
from timme.rigidity.checks import checked_cutoff
from timme.rigidity.decomposition import decompose
from timme.rigidity.network import network
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.held_frames import ArrayFrames, WindowFrames

APART = Quantity("fraction apart", words="fraction of snapshots apart")

_LARGEST = 20_000  # sites of which a matrix is made


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Together(Described):
    """In how many snapshots two sites are in one rigid cluster."""

    fractions: Floats  # (sites, sites), of the snapshots by their weight; 1 on the diagonal
    apart: Floats  # (sites, sites), the other fraction: k/n, which 1 - (n - k)/n often is not
    floppy_modes: Ints  # (snapshots,)
    largest: Ints  # (snapshots,), sites in the largest cluster
    cutoff: float  # kcal/mol

    def hierarchy(self) -> Hierarchy:
        """Join sites that are together in most snapshots first.

        Returns
        -------
        Hierarchy
            Heights are the fraction of snapshots in which sites are apart. Sites that are never
            together do not join: at the cutoff 1 all would be one cluster.
        """
        apart = np.where(self.fractions > 0, self.apart, np.inf)
        return link(apart, quantity=APART)


def together(
    ensemble: Ensemble,
    cutoff: float,
    *,
    sites: npt.ArrayLike | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Together:
    """Decompose every snapshot; count in how many of them sites are rigid with one another.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with hydrogens in several snapshots.
    cutoff : float
        Weakest energy of a hydrogen bond, in kcal/mol; above 0 those that repel count as well.
    sites : array_like of int, optional
        Sites that are counted, such as Cα; all by default.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine, such as
        :class:`timme.engine.dask.Cluster`.
    progress : callable, optional
        Called with snapshots done and their number.
    **options
        As for :func:`timme.rigidity.network`.

    Returns
    -------
    Together
        Fractions of the snapshots.
    """
    counted = _counted(ensemble, sites)
    cutoff = checked_cutoff(cutoff)
    n_snapshots = ensemble.n_snapshots
    weights = _weights(ensemble)
    held, apart = np.zeros((2, len(counted), len(counted)))
    modes, largest = np.empty(n_snapshots, np.int64), np.empty(n_snapshots, np.int64)
    starts = range(0, n_snapshots, ensemble.block_length)
    shared = _Task(_without_frames(ensemble), n_snapshots, cutoff, counted, options)
    run = Run.of(workers=workers, progress=progress)
    blocks = run.engine.blocks(_clusters, shared, ensemble, starts)
    results = chain.from_iterable(chain.from_iterable(blocks))
    for snapshot, (labels, n_modes) in enumerate(results):
        same = labels[:, None] == labels
        np.add(held, weights[snapshot], out=held, where=same)
        np.add(apart, weights[snapshot], out=apart, where=~same)
        modes[snapshot] = n_modes
        largest[snapshot] = np.unique(labels, return_counts=True)[1].max()
        run.tell(snapshot + 1, n_snapshots)
    whole = held[0, 0]  # a site is with itself in all of them
    held /= whole
    apart /= whole
    return Together(frozen(held), frozen(apart), frozen(modes), frozen(largest), cutoff)


def _weights(ensemble: Ensemble) -> Floats:
    """Weights of the snapshots; where all are equal, each counts 1, so that sums are exact."""
    weights = ensemble.weights
    if weights is None or (weights == weights[0]).all():
        return np.ones(ensemble.n_snapshots)
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What all snapshots have in common."""

    ensemble: Ensemble  # without frames
    n_snapshots: int
    cutoff: float
    counted: Ints
    options: dict[str, Any]


def _without_frames(ensemble: Ensemble) -> Ensemble:
    none = np.empty((0, ensemble.n_sites, ensemble.n_dimensions))
    return replace(ensemble, frames=ArrayFrames(none, None), weights=None)


def _counted(ensemble: Ensemble, sites: npt.ArrayLike | None) -> Ints:
    n_sites = ensemble.n_sites
    counted = np.arange(n_sites) if sites is None else indices(sites, n_sites, "sites")
    if not len(counted):
        raise ValueError(
            f"{ensemble.prefix}at least 1 of the {n_sites} sites must be counted, got none: "
            "check the names in the selection"
        )
    if len(counted) > _LARGEST:
        raise ValueError(
            f"{ensemble.prefix}fractions of {len(counted):,} sites are too many to hold: "
            "choose some of them (sites=), such as Cα"
        )
    return counted


def _clusters(task: _Task, block: Block) -> list[tuple[Ints, int]]:
    """Labels of the counted sites and floppy modes, for each snapshot."""
    held = ArrayFrames(block.coordinates, block.boxes)
    window = WindowFrames(held, block.start, task.n_snapshots)
    ensemble = replace(task.ensemble, frames=window)
    # A network holds bonds up to 0 by default: above that, the cutoff must be its own as well.
    networks = (
        network(ensemble, block.start + frame, cutoff=task.cutoff, **task.options)
        for frame in range(len(block.weights))
    )
    found = [decompose(one, task.cutoff) for one in networks]
    return [(each.clusters[task.counted], each.floppy_modes) for each in found]
