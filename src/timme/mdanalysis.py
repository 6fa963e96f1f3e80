"""Co-moving clusters as an analysis class of MDAnalysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from MDAnalysis.analysis.base import AnalysisBase
from MDAnalysis.analysis.results import Results
from tqdm import tqdm

from timme.analysis.recipe import analyse
from timme.io import read


class CoMovingClusters(AnalysisBase):  # type: ignore[misc]
    """The hierarchy of co-moving clusters of a trajectory.

    Parameters
    ----------
    atoms : Universe or AtomGroup
        Sites; water and ions are left out unless ``select`` names them.
    verbose : bool, optional
        Whether to show progress.
    **options
        As for :func:`timme.analyse`, such as ``select``, ``objects``, ``pairs`` and ``cutoff``.

    Attributes
    ----------
    results.analysis : Analysis
        With its finding, to be shown, saved, exported and compared.
    results.sigma : Fluctuations
        σ of pairs that were compared; of millions, those that pictures need.
    results.hierarchy : Hierarchy
        Clusters within clusters, of all objects.
    results.partition : Partition
        Clusters at the cutoff, if one was given.

    Examples
    --------
    >>> import MDAnalysis
    >>> import numpy as np
    >>> universe = MDAnalysis.Universe.empty(3, trajectory=True)
    >>> positions = np.array([[0, 1, 5], [0, 1, 6], [0, 1, 7]], dtype=np.float32)
    >>> _ = universe.load_new(positions[..., None] * np.float32([1, 0, 0]))
    >>> analysis = CoMovingClusters(universe, objects="points", pairs="all", cutoff=0.1).run()
    >>> analysis.results.partition.labels
    array([0, 0, 1])
    """

    def __init__(self, atoms: Any, *, verbose: bool = False, **options: Any) -> None:
        super().__init__(atoms.universe.trajectory, verbose=verbose)
        self._atoms, self._options = atoms.atoms, options

    def run(
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        frames: Sequence[int] | None = None,
        verbose: bool | None = None,  # noqa: FBT001
        **how: Any,
    ) -> Self:
        """Analyse frames.

        Parameters
        ----------
        start, stop, step : int, optional
            Frames, as in a slice.
        frames : sequence of int or bool, optional
            Indices of frames instead, or one truth value for each frame.
        verbose : bool, optional
            Whether to show progress.
        **how
            ``workers``, a number of threads, or ``client``, a dask cluster: these share the work
            in place of backends of MDAnalysis.

        Returns
        -------
        CoMovingClusters
            Itself, with results.
        """
        self._setup_frames(self._trajectory, start=start, stop=stop, step=step, frames=frames)
        chosen: Any = slice(start, stop, step) if frames is None else frames
        ensemble = read(self._atoms)[chosen]
        self.frames, self.times = np.arange(len(self._trajectory))[chosen], ensemble.times
        with tqdm(disable=not (self._verbose if verbose is None else verbose)) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            found = analyse(ensemble, progress=progress, **self._options, **how)
        sigma, hierarchy = found.fluctuations, found.atom_hierarchy
        self.results = Results(analysis=found, sigma=sigma, hierarchy=hierarchy)
        if (cutoff := self._options.get("cutoff")) is not None:
            self.results.partition = hierarchy.cut(cutoff)
        return self
