"""Co-moving clusters as an analysis class of MDAnalysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from MDAnalysis.analysis.base import AnalysisBase
from MDAnalysis.analysis.results import Results
from tqdm import tqdm

from timme import objects as choose_objects
from timme import pairs as choose_pairs
from timme.analysis.result import Analysis
from timme.analysis.settings import split_rule
from timme.fluctuations import measure
from timme.hierarchy.linking import link
from timme.io import read
from timme.objects import Objects

if TYPE_CHECKING:
    from distributed import Client

_KINDS = ("points", "bodies", "residues", "molecules")


class CoMovingClusters(AnalysisBase):  # type: ignore[misc]
    """The hierarchy of co-moving clusters of a trajectory.

    Parameters
    ----------
    atoms : Universe or AtomGroup
        Sites.
    select : str, optional
        Which of them are compared, in the MDAnalysis language; all by default.
    objects : {"bodies", "points", "residues", "molecules"}, optional
        What is compared.
    pairs : str, optional
        Which objects are compared: "contact:RADIUS" with the radius in Å, or "all".
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.
    cutoff : float, optional
        Cutoff σc in Å of ``results.partition``.
    verbose : bool, optional
        Whether to show progress.

    Attributes
    ----------
    results.sigma : Fluctuations
        σ of all pairs that were compared.
    results.hierarchy : Hierarchy
        Clusters within clusters.
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

    def __init__(
        self,
        atoms: Any,
        *,
        select: str | None = None,
        objects: Literal["points", "bodies", "residues", "molecules"] = "bodies",
        pairs: str = "contact:10",
        min_bonds: int = 4,
        cutoff: float | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(atoms.universe.trajectory, verbose=verbose)
        if objects not in _KINDS:
            raise ValueError(f"objects= takes {', '.join(_KINDS)}, got {objects!r}")
        rule, radius = split_rule(pairs)
        if rule not in {"contact", "all"}:
            raise ValueError(f"pairs= takes contact:RADIUS or all, got {pairs!r}")
        self._atoms = atoms.atoms if select is None else atoms.select_atoms(select)
        self._objects, self._all, self._radius = objects, rule == "all", radius or 10.0
        self._min_bonds, self._cutoff = min_bonds, cutoff
        self._compared: Objects | None = None

    def run(  # noqa: PLR0913, the first five are those of every analysis of MDAnalysis
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        frames: Sequence[int] | None = None,
        verbose: bool | None = None,  # noqa: FBT001
        *,
        workers: int | None = None,
        client: Client | str | None = None,
        backend: str = "serial",
    ) -> Self:
        """Measure σ over frames and link it.

        Parameters
        ----------
        start, stop, step : int, optional
            Frames, as in a slice.
        frames : sequence of int or bool, optional
            Indices of frames instead, or one truth value for each frame.
        verbose : bool, optional
            Whether to show progress.
        workers : int, optional
            Number of threads, all cores by default.
        client : distributed.Client or str, optional
            Dask cluster that does the work, or the address of its scheduler.
        backend : {"serial"}, optional
            Threads or a dask cluster share the work in place of backends of MDAnalysis.

        Returns
        -------
        CoMovingClusters
            Itself, with results.
        """
        if backend != "serial":
            raise ValueError(
                f"backend={backend!r} is not used: give workers= for threads, or client= for dask"
            )
        self._setup_frames(self._trajectory, start=start, stop=stop, step=step, frames=frames)
        chosen: Any = slice(start, stop, step) if frames is None else frames
        ensemble = read(self._atoms)[chosen]
        self.frames, self.times = np.arange(len(self._trajectory))[chosen], ensemble.times
        compared: Objects = getattr(choose_objects, self._objects)(ensemble)
        shared: dict[str, Any] = {"workers": workers, "client": client}
        if self._all:
            pairs = choose_pairs.all(compared, min_bonds=self._min_bonds)
        else:
            limits = {"min_bonds": self._min_bonds, **shared}
            pairs = choose_pairs.within(compared, self._radius, **limits)
        with tqdm(disable=not (self._verbose if verbose is None else verbose)) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            sigma = measure(compared, pairs, progress=progress, **shared)
        self.results = Results(sigma=sigma, hierarchy=link(sigma))
        if self._cutoff is not None:
            self.results.partition = self.results.hierarchy.cut(self._cutoff)
        self._compared = compared
        return self

    def to_analysis(self, **display: Any) -> Analysis:
        """Return a result to be shown, saved, exported and compared.

        Parameters
        ----------
        **display
            Settings of pictures: ``shown``, ``cutoff``, ``min_size``, ``palette``, ``length``; the
            cutoff is that of the analysis by default.

        Returns
        -------
        Analysis
            With its finding.
        """
        from timme.analysis.recipe import assemble

        if self._compared is None:
            raise ValueError("a result needs a run: call .run() first")
        found = self.results
        options = {"cutoff": self._cutoff} | display
        return assemble(self._compared, found.sigma, found.hierarchy, **options)
