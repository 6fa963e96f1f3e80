"""Rigid clusters of every snapshot of an ensemble: how often two sites are in the same one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, frozen, indices
from timme.engine import Engine, engine_of
from timme.ensemble import Ensemble
from timme.frames import Frames
from timme.hierarchy import Hierarchy, link
from timme.moments import Progress
from timme.rigidity.decomposition import checked_cutoff, decompose
from timme.rigidity.network import network

_LARGEST = 20_000  # sites of which a matrix is made

_reading = threading.Lock()


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """In how many snapshots two sites are in one rigid cluster."""

    fractions: Floats  # (sites, sites), of the snapshots by their weight; 1 on the diagonal
    floppy_modes: Ints  # (snapshots,)
    largest: Ints  # (snapshots,), sites in the largest cluster
    cutoff: float  # kcal/mol

    def hierarchy(self) -> Hierarchy:
        """Join sites that are together in most snapshots first.

        Returns
        -------
        Hierarchy
            Heights are the fraction of snapshots in which sites are apart.
        """
        return link(1.0 - self.fractions, quantity="apart")


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
        Weakest energy of a hydrogen bond, in kcal/mol.
    sites : array_like of int, optional
        Sites that are counted, such as Cα; all by default.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine, such as
        :class:`timme.distributed.Cluster`.
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
    weights = np.ones(n_snapshots) if ensemble.weights is None else ensemble.weights
    fractions, whole = np.zeros((len(counted), len(counted))), 0.0
    modes, largest = np.empty(n_snapshots, np.int64), np.empty(n_snapshots, np.int64)
    shared = replace(ensemble, frames=_OneByOne(ensemble.frames)), cutoff, counted, options
    results = engine_of(workers).map(_clusters, shared, range(n_snapshots))
    for snapshot, (labels, n_modes) in enumerate(results):
        np.add(fractions, weights[snapshot], out=fractions, where=labels[:, None] == labels)
        whole += weights[snapshot]
        modes[snapshot] = n_modes
        largest[snapshot] = np.unique(labels, return_counts=True)[1].max()
        if progress is not None:
            progress(snapshot + 1, n_snapshots)
    fractions /= whole
    return Together(frozen(fractions), frozen(modes), frozen(largest), cutoff)


@dataclass(frozen=True, slots=True, eq=False)
class _OneByOne:
    """Frames that one thread reads at a time: a trajectory has but one place at which it stands."""

    frames: Frames

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.frames.shape

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        with _reading:
            return self.frames.read(start, stop)


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


def _clusters(shared: tuple[Ensemble, float, Ints, dict[str, Any]], snapshot: int) -> Any:
    ensemble, cutoff, counted, options = shared
    found = decompose(network(ensemble, snapshot, **options), cutoff)
    return found.clusters[counted], found.floppy_modes
