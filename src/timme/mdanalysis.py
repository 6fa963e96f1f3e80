"""For users of MDAnalysis: co-moving clusters as an analysis class with its backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from MDAnalysis.analysis.backends import BackendBase
from MDAnalysis.analysis.base import AnalysisBase
from MDAnalysis.analysis.results import Results, ResultsGroup

from timme import objects as make
from timme import pairs as choose
from timme._arrays import Coordinates, Floats, Ints
from timme._html import in_two_lines
from timme.analysis import Analysis
from timme.engine.compile_lock import merge_tiles
from timme.engine.moments import Moments, PreparedBlock
from timme.fluctuations.crossing import Crossing
from timme.fluctuations.measuring import measure_in_chunks
from timme.hierarchy.linking import link
from timme.notebook import view
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.readers import read_shown
from timme.readers.boundaries import box_finder
from timme.readers.universes import UniverseFrames
from timme.settings.values import MIN_BONDS, RADIUS
from timme.system.boxes import boxes_of_frames
from timme.system.derived_frames import made_of, source_of
from timme.system.ensemble import Ensemble
from timme.system.held_frames import ArrayFrames, WindowFrames
from timme.system.holes import Resting
from timme.workflow import gather
from timme.workflow.defaults import kind_of
from timme.workflow.noise import without_noise

if TYPE_CHECKING:
    from distributed import Client

Kind = Literal["points", "bodies", "residues", "molecules"]


class CoMovingClusters(AnalysisBase):  # type: ignore[misc]
    """The hierarchy of co-moving clusters of a trajectory.

    σ is the same to the last bit as that of :func:`timme.measure` if one worker reads the frames.
    Several take whole blocks of frames each, and σ differs by the last rounding of their sums.

    Parameters
    ----------
    atoms : Universe or AtomGroup
        Sites.
    select : str, optional
        Those of them that are compared, in the MDAnalysis language; all by default.
    objects : {"bodies", "points", "residues", "molecules"}, optional
        What is compared, see :mod:`timme.objects`.
    pairs : {"contact", "all"}, optional
        Who is compared with whom. Contacts are looked for in all frames of a run before it.
    radius : float, optional
        Of contacts, in Å.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.
    noise : float or sequence of float, optional
        Error of positions in Å, or one for each axis, that is taken off σ² of points as by
        :func:`timme.analyse`.
    cutoff : float, optional
        Cutoff σc in Å at which ``results.partition`` is wanted.
    **options
        As for any analysis of MDAnalysis: ``verbose``.

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

    _analysis_algorithm_is_parallelizable = True

    def __init__(  # noqa: PLR0913, what is compared, and how
        self,
        atoms: Any,
        *,
        select: str | None = None,
        objects: Kind = "bodies",
        pairs: Literal["contact", "all"] = "contact",
        radius: float = RADIUS,
        min_bonds: int = MIN_BONDS,
        noise: str | float | Sequence[float] | None = None,
        cutoff: float | None = None,
        **options: Any,
    ) -> None:
        unknown = options.keys() - {"verbose"}  # which MDAnalysis would take without a word
        if unknown:
            raise TypeError(f"CoMovingClusters has no keyword {min(unknown)}=: leave it out")
        super().__init__(atoms.universe.trajectory, **options)
        if objects not in get_args(Kind):
            raise ValueError(f"objects are {', '.join(get_args(Kind))}, got {objects!r}")
        if pairs not in {"contact", "all"}:
            raise ValueError(f"pairs are contact or all, got {pairs!r}")
        self._atoms = atoms.atoms if select is None else atoms.select_atoms(select)
        self._objects, self._pairs = objects, pairs
        self._radius, self._min_bonds, self._cutoff = radius, min_bonds, cutoff
        self._noise = noise
        self._measured: tuple[Objects, Pairs] | None = None

    def __repr__(self) -> str:
        told = [("atoms", f"{len(self._atoms):,}"), ("objects", self._objects)]
        told.append(("pairs", self._pairs))
        if self._measured is None:
            told.append(("results", "none before .run()"))
        else:
            told.append(("frames", f"{self.n_frames:,}"))
            told.append(("results", f"σ of {len(self._measured[1]):,} pairs"))
        return in_two_lines(type(self).__name__, told)

    @classmethod
    def get_supported_backends(cls) -> tuple[str, ...]:
        """Name the backends of MDAnalysis that can do the work.

        Returns
        -------
        tuple of str
            All of them; :class:`ClientBackend` is one more.
        """
        return "serial", "multiprocessing", "dask"

    def run(
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        frames: Sequence[int] | None = None,
        **options: Any,
    ) -> CoMovingClusters:
        """Measure σ over frames and link it.

        Parameters
        ----------
        start, stop, step : int, optional
            Frames, as in a slice.
        frames : sequence of int or bool, optional
            Frames one by one instead, or whether each is taken.
        **options
            As for any analysis of MDAnalysis: ``backend``, ``n_workers``, ``n_parts``,
            ``verbose``.

        Returns
        -------
        CoMovingClusters
            Itself, with results.
        """
        chosen = {"start": start, "stop": stop, "step": step, "frames": frames}
        if isinstance(options.get("backend"), ClientBackend):
            options["unsupported_backend"] = True
        self._setup_frames(self._trajectory, **chosen)  # refuses frames and start, stop or step
        compared = self._compared(slice(start, stop, step) if frames is None else list(frames))
        walk = partial(super().run, **chosen, **options)

        def over_frames(crossing: Crossing, *_: Any) -> Moments:
            self._plan = _Plan.of(crossing.ensemble, crossing.site_pairs)
            walk()
            found: Moments = self.results.moments
            return found

        partners = self._partners(compared)
        (sigma,) = measure_in_chunks(compared, partners, chunk=len(compared) ** 2, sums=over_frames)
        kind = kind_of(compared.ensemble)
        sigma = without_noise(compared, partners, sigma, self._noise, kind=kind)
        self.results = Results(sigma=sigma, hierarchy=link(sigma))
        if self._cutoff is not None:
            self.results.partition = self.results.hierarchy.cut(self._cutoff)
        self._measured = compared, partners
        return self

    def gather(self, **display: Any) -> Analysis:
        """Make a result of the run, to be written, viewed, saved and compared.

        Parameters
        ----------
        **display
            As for :func:`timme.gather`: ``show``, ``cutoff``, ``large``, ``min_size``, ``palette``,
            ``length``; the cutoff is that of the analysis by default.

        Returns
        -------
        Analysis
            The result, ready for :func:`timme.write`.
        """
        if self._measured is None:
            raise ValueError("a result needs a run: call .run() first")
        compared, partners = self._measured
        look = {"cutoff": self._cutoff} | display
        sigma, hierarchy = self.results.sigma, self.results.hierarchy
        return gather(compared, sigma, hierarchy, pairs=partners, **look)

    def view(self, *, height: int = 760, **display: Any) -> Any:
        """Show the result of the run in a notebook.

        Parameters
        ----------
        height : int, optional
            Height of the page in pixels.
        **display
            As for :meth:`gather`.

        Returns
        -------
        anywidget.AnyWidget
            A widget that Jupyter shows.
        """
        return view(self.gather(**display), height=height)

    def _compared(self, frames: Any) -> Objects:
        ensemble = read_shown(self._atoms)
        numbers = np.arange(ensemble.n_snapshots)[frames].tolist()
        maker: Callable[[Ensemble], Objects] = getattr(make, self._objects)
        return maker(replace(ensemble, frames=ensemble.frames.keep(numbers)))

    def _partners(self, compared: Objects) -> Pairs:
        if self._pairs == "all":
            return choose.all(compared, min_bonds=self._min_bonds)
        return choose.within(compared, self._radius, min_bonds=self._min_bonds)

    # ---- what MDAnalysis calls, in this process or in others -----------------------------------

    def _setup_computation_groups(self, n_parts: int, **chosen: Any) -> list[Ints]:
        """Give each part whole blocks, so that sums over a block are the same everywhere."""
        (whole,) = super()._setup_computation_groups(n_parts=1, **chosen)
        length = self._plan.ensemble.block_length
        blocks = np.split(whole, range(length, len(whole), length))
        shares = np.array_split(np.arange(len(blocks)), min(n_parts, len(blocks)))
        return [np.concatenate([blocks[index] for index in share]) for share in shares]

    def _compute(self, indexed_frames: Ints, *arguments: Any, **options: Any) -> _Part:
        self._first = int(indexed_frames[0, 0])
        super()._compute(indexed_frames, *arguments, **options)
        return _Part(self.frames, self.times, self.results)

    def _prepare(self) -> None:
        self.results = Results(moments=Moments.empty(len(self._plan.pairs)))
        self._steps = list[Any]()
        self._frames = self._plan.frames(self._trajectory)
        self._find_box = box_finder(self._trajectory)

    def _single_frame(self) -> None:
        box = self._frames.judge_box(self._find_box(self._ts), self._ts.frame)
        self._steps.append((self._frames.places(self._ts), box))
        done = self._frame_index + 1
        if len(self._steps) == self._plan.ensemble.block_length or done == self.n_frames:
            self._plan.merge(self._steps, self._first + done, self.results.moments)
            self._steps = []

    def _get_aggregator(self) -> ResultsGroup:
        return ResultsGroup(lookup={"moments": partial(reduce, Moments.merge)})


class ClientBackend(BackendBase):  # type: ignore[misc]
    """A backend of MDAnalysis that runs on the workers of a dask cluster.

    That of MDAnalysis itself, ``backend="dask"``, starts processes on one computer.

    Parameters
    ----------
    client : Client
        Connected to a cluster whose workers can open the same files.
    """

    def __init__(self, client: Client) -> None:
        super().__init__(n_workers=max(1, len(client.nthreads())))
        self.client = client

    def apply(self, func: Callable[[Any], Any], computations: list[Any]) -> list[Any]:
        """Call a function for each part of the work.

        Parameters
        ----------
        func : callable
            What is called.
        computations : list
            Its arguments.

        Returns
        -------
        list
            Results, in order.
        """
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            tasks = self.client.map(func, computations, pure=False)
        return list(self.client.gather(tasks))


@dataclass(frozen=True, slots=True)
class _Part:
    """What MDAnalysis takes from a worker: no more of the analysis need travel back."""

    frames: Ints
    times: Floats
    results: Results


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What to measure: the ensemble without its frames, what it needs of these, and pairs."""

    ensemble: Ensemble
    sites: Ints  # atoms of the Universe that are read
    periodic: bool
    walls: tuple[bool, ...] | None
    resting: Resting
    pairs: Ints

    @classmethod
    def of(cls, ensemble: Ensemble, pairs: Ints) -> _Plan:
        frames = cast("UniverseFrames", source_of(ensemble.frames))
        snapshots, *shape = frames.shape
        elsewhere = WindowFrames(ArrayFrames(np.empty((0, *shape))), 0, snapshots)
        bare = replace(ensemble, frames=made_of(ensemble.frames, elsewhere))
        judged = frames.walls, frames.resting
        return cls(bare, frames.sites, frames.periodic, *judged, pairs)

    def frames(self, reader: Any) -> UniverseFrames:
        """What is read, by the reader of this process."""
        shared, judged = True, (self.walls, self.resting)
        return UniverseFrames(reader, range(0), self.sites, self.periodic, shared, *judged)

    def merge(
        self, steps: list[tuple[Coordinates, Floats | None]], stop: int, into: Moments
    ) -> None:
        """Measure a block of frames, the last of them before ``stop``."""
        coordinates = np.array([positions for positions, _ in steps], dtype=np.float32)
        boxes = boxes_of_frames([box for _, box in steps]) if self.periodic else None
        first = stop - len(steps)
        held = ArrayFrames(coordinates, boxes)
        window = WindowFrames(held, first, self.ensemble.n_snapshots)
        frames = made_of(self.ensemble.frames, window)
        merge_tiles(
            PreparedBlock(replace(self.ensemble, frames=frames).block(first)), self.pairs, into
        )
