"""Systems that benchmarks share, as arrays of coordinates and bonds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

import timme

Snapshots = npt.NDArray[np.float32]


def adenylate_kinase() -> tuple[Snapshots, npt.NDArray[Any]]:
    """Coordinates (98, 3341, 3) and bonds of the DIMS transition of MDAnalysisTests."""
    import MDAnalysis as mda
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(PSF, DCD)
        snapshots = universe.trajectory.timeseries(order="fac")
    return np.ascontiguousarray(snapshots, np.float32), universe.bonds.indices.astype(np.int64)


def solid(n_sites: int, n_snapshots: int, density: float = 0.05) -> Snapshots:
    """Coordinates of an elastic solid with slow waves, in single precision."""
    ensemble = timme.synthetic.elastic(n_sites, n_snapshots, density=density)
    return ensemble.coordinates().astype(np.float32)


def as_points(package: Any, snapshots: Snapshots) -> Any:
    """Every site as an object, of either package."""
    return package.objects.points(package.Ensemble.from_array(snapshots))


def listed(pairs: Any) -> npt.NDArray[np.int64]:
    """Pairs (pairs, 2) of either package as one sorted array."""
    index = np.concatenate(list(pairs.chunks(10**9)))
    return index[np.lexsort((index[:, 1], index[:, 0]))]
