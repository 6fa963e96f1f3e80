"""Rigid clusters of every snapshot of an ensemble: how often two sites are in the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.engine import Engine, engine_of
from timme.ensemble import Ensemble
from timme.hierarchy import Hierarchy, link
from timme.moments import Progress
from timme.rigidity.decomposition import decompose
from timme.rigidity.network import network

_LARGEST = 20_000  # sites of which a matrix is made


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """In how many snapshots two sites are in one rigid cluster."""

    fractions: Floats  # (sites, sites), of the snapshots; 1 on the diagonal
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
    sites: Ints | None = None,
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
    sites : ndarray of int, optional
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
    counted = np.arange(ensemble.n_sites) if sites is None else np.asarray(sites)
    if len(counted) > _LARGEST:
        raise ValueError(
            f"{ensemble.prefix}fractions of {len(counted):,} sites are too many to hold: "
            "choose some of them (sites=), such as Cα"
        )
    n_snapshots = ensemble.n_snapshots
    count = np.zeros((len(counted), len(counted)), np.int64)
    modes, largest = np.empty(n_snapshots, np.int64), np.empty(n_snapshots, np.int64)
    shared = ensemble, cutoff, counted, options
    results = engine_of(workers).map(_clusters, shared, range(n_snapshots))
    for snapshot, (labels, n_modes) in enumerate(results):
        count += labels[:, None] == labels
        modes[snapshot] = n_modes
        largest[snapshot] = np.unique(labels, return_counts=True)[1].max()
        if progress is not None:
            progress(snapshot + 1, n_snapshots)
    return Together(frozen(count / n_snapshots), frozen(modes), frozen(largest), cutoff)


def _clusters(shared: tuple[Ensemble, float, Ints, dict[str, Any]], snapshot: int) -> Any:
    ensemble, cutoff, counted, options = shared
    found = decompose(network(ensemble, snapshot, **options), cutoff)
    return found.clusters[counted], found.floppy_modes
