"""The result of an analysis: what was analysed, how it was made, and all that was found."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from timme._arrays import Coordinates, Floats, Ints, Strings, indices
from timme._text import Described, counted, shown_name
from timme.analysis import tables
from timme.analysis.finding import Finding
from timme.analysis.settings import Model, Settings
from timme.comparison.agreement import Agreement, Difference
from timme.comparison.sites import Common
from timme.confidence.assessment import ClusterRecord, Confidence
from timme.ensemble import Atoms
from timme.fluctuations import Fluctuations
from timme.hierarchy.condensed import condense
from timme.hierarchy.tree import Hierarchy
from timme.io.files import STRUCTURES, kind
from timme.motion.correlation import TwoPoint
from timme.motion.fits import shape_of
from timme.motion.hinges import Hinge, Motions
from timme.motion.variance import Components
from timme.objects import Objects
from timme.rigidity.decomposition import Decomposition
from timme.rigidity.ensemble import Together
from timme.rigidity.networks import Network

_FILM_FRAMES, _FILM_NUMBERS = 100, 2_000_000  # no more than a page plays well
_UNFINISHED = Finding("none", "", "", (), (), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class System(Described):
    """Names and places of what a hierarchy clusters.

    Objects are what the hierarchy clusters; sites are the points of the ensemble of which they
    consist. Pictures and statistics show and count the objects ``shown``.
    """

    names: Strings  # (objects,), as people write them
    object_sites: Ints  # (objects,), the site that stands for each object
    site_objects: Ints  # (sites,), the object whose colour a site carries, -1 for none
    sites: Atoms  # (sites,), with the bonds between them
    coordinates: Coordinates  # (sites, dimensions), the first snapshot; no dimensions of a matrix
    shown: Ints  # objects that are drawn and counted, in the order of the axis
    shown_name: str = "site"  # what these are: "Cα", "molecule", "particle"
    sequential: bool = True  # whether they have an order of their own, as residues have
    n_snapshots: int = 0  # 0 for a ready-made matrix
    duration: float = np.nan  # from the first snapshot to the last, in ps
    unit: str = ""  # of the coordinates
    box: Floats | None = None  # (dimensions, dimensions), of the first snapshot
    film: Coordinates | None = None  # (frames, sites, dimensions), some snapshots in order
    film_frames: Ints | None = None  # (frames,), which snapshots these are
    numbers: Ints | None = None  # (sites,), ids or places in the files of the user

    def restrict(self, objects: Ints) -> Self:
        """Return a system of some of the objects, all of them shown; sites stay."""
        place = np.full(len(self.names) + 1, -1)
        place[objects] = every = np.arange(len(objects))
        return replace(
            self,
            names=self.names[objects],
            object_sites=self.object_sites[objects],
            site_objects=place[self.site_objects],
            shown=every,
        )

    @classmethod
    def of(cls, objects: Objects, shown: Ints, name: str, sequential: bool) -> Self:  # noqa: FBT001
        """Return names and places of objects, and a film of some of the snapshots."""
        ensemble = objects.ensemble
        places, box = ensemble.snapshot(0)
        if ensemble.gaps:  # sites stand where they are first seen
            every = ensemble.coordinates()
            first = np.isfinite(every).all(axis=2).argmax(axis=0)
            places = every[first, np.arange(len(first))]
        most = _FILM_NUMBERS // (ensemble.n_sites * ensemble.n_dimensions)
        count = min(ensemble.n_snapshots, max(1, most), _FILM_FRAMES)
        frames = np.linspace(0, ensemble.n_snapshots - 1, count).round().astype(np.int64)
        members, counts = objects.members, np.diff(objects.offsets)
        if objects.centred_on_sites:
            members, counts = objects.anchors, np.ones(len(objects), np.int64)
        numbers = np.repeat(np.arange(len(objects)), counts)
        owner = np.full(ensemble.n_sites, -1)
        owner[members[::-1]] = numbers[::-1]  # a site of several has the colour of the first
        ids = None if ensemble.independent else ensemble.site_atoms + 1
        if ensemble.numbers is not None:
            ids = ensemble.numbers[ensemble.site_atoms]
        times, files = ensemble.times, getattr(ensemble.frames.source, "files", ())
        timed = len(ensemble.replicas) == 1 and not (ensemble.gaps or ensemble.independent)
        timed = timed and not any(file.in_steps for file in files)
        return cls(
            *(objects.names, objects.anchors, owner, ensemble.sites, places),
            *(shown, name, sequential, ensemble.n_snapshots),
            duration=float(times[-1] - times[0]) if timed else math.nan,
            unit=ensemble.unit,
            box=box,
            film=np.array([ensemble.snapshot(frame)[0] for frame in frames.tolist()]),
            film_frames=frames,
            numbers=ids,
        )

    @classmethod
    def without_places(cls, sites: Atoms, *, unit: str = "") -> Self:
        """Return the sites of a matrix: each is an object that is shown."""
        every = np.arange(len(sites.names))
        names = np.array([sites.label(site) for site in every.tolist()])
        return cls(names, every, every, sites, np.empty((len(every), 0)), every, unit=unit)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source(Described):
    """A file that was read."""

    name: str
    sha256: str = ""
    path: str = ""  # as it was given

    @classmethod
    def of(cls, path: str) -> Self:
        """Return name and checksum of what was read."""
        if not Path(path).is_file():
            return cls(path)
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(Path(path).name, digest, path)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Made(Described):
    """How a result was made."""

    recipe: Literal["run", "rigidity", "motion", "compare"] = "run"
    kind: Literal["molecule", "particles", "matrix"] = "particles"
    title: str = ""  # "1bnr", "4ake → 1ake"
    objects: str = ""  # what was compared: "bodies", "points"
    pairs: str = ""  # which pairs, in words
    n_pairs: int | None = None
    used: str = ""  # which tracks were long enough, in words
    settings: Model = field(default_factory=Settings)  # as carried out
    given: tuple[str, ...] = ()  # names of those that the user gave
    length: float | None = None  # the length a of σ/a
    length_name: str = ""  # what it is: "C–C bond"
    theory: str = ""  # model whose closed forms are drawn: "freely-jointed chain"
    sources: tuple[Source, ...] = ()
    command: str = ""
    version: str = ""

    @classmethod
    def of(cls, paths: Sequence[str], settings: Model, given: Iterable[str], **known: Any) -> Self:
        """Return from what, and with which settings, a result was made."""
        return cls(
            settings=settings,
            given=tuple(sorted(given)),
            version=version("pytimme"),
            **{"title": title_of(paths), "sources": tuple(map(Source.of, paths)), **known},
        )


def title_of(paths: Sequence[str]) -> str:
    r"""Return what a result is called: by its trajectory, or by its structures.

    Examples
    --------
    >>> title_of(["adk.psf", "runs/adk_dims.dcd"]), title_of(["4ake.pdb.gz", "1ake.pdb.gz"])
    ('adk_dims', '4ake → 1ake')
    >>> title_of(["a\x1b[31m.pdb"]), len(title_of([f"{'x' * 200}.pdb"]))
    ('a [31m', 60)
    """
    files = [Path(path) for path in paths if kind(Path(path))]
    names = [shown_name(re.sub(r"\.[^.]+(\.gz|\.bz2)?$", "", path.name), 60) for path in files]
    if files and all(kind(path) in STRUCTURES for path in files):
        return " → ".join(names if len(names) < 3 else [names[0], names[-1]])
    own = names[1:] or names or ["snapshots"]
    return f"{own[0]} and {len(own) - 1} more" if len(own) > 1 else own[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rigidity(Described):
    """Rigid clusters of one structure, beside the hierarchy of its energies."""

    network: Network
    decomposition: Decomposition  # at `cutoff`
    cutoff: float  # energy of the bonds that hold, in kcal/mol
    flexibility: Floats  # (residues,), index of the backbone of each, NaN where it has none
    n_added: int = 0  # hydrogens that were added
    together: Together | None = None  # over the models of an ensemble, or perturbed copies


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A rigid body, and how it moves against another."""

    name: str  # "1" is the largest
    members: str  # "A 1-29, 68-115"
    sites: Ints  # of the shown, ascending
    chain: str
    fit: float  # rms distance of its sites from a rigid shape; NaN unknown
    relative_to: str = ""  # name of the body against which it moves; "" for one held still
    motion: Hinge | None = None

    @property
    def angle(self) -> float:
        """Range of its angles in degrees; NaN for one held still."""
        return float("nan") if self.motion is None else self.motion.range


@dataclass(frozen=True, eq=False, repr=False)  # without slots: properties are kept
class Analysis(Described):
    """Result of an analysis: a hierarchy, what it clusters, and the finding."""

    system: System
    atom_hierarchy: Hierarchy  # of all objects
    made: Made = field(default_factory=Made)
    notes: tuple[str, ...] = ()  # every note; the console shows those of the finding
    finding: Finding = _UNFINISHED  # set once, at the end of a recipe
    fluctuations: Fluctuations | None = None  # σ of the pairs that were compared
    confidence: Confidence | None = None
    motion: Motions | None = None  # of the shown sites
    modes: Components | None = None  # of the shown sites
    halves: float = np.nan  # how far modes of both halves of a run agree (RMSIP), beside 1
    rigidity: Rigidity | None = None
    correlation: TwoPoint | None = None

    def __post_init__(self) -> None:
        """Refuse names and places of another system than that of the hierarchy."""
        system, n_objects = self.system, self.atom_hierarchy.n_sites
        indices(system.shown, n_objects, "shown objects")
        known = np.isin(system.object_sites, np.arange(len(system.sites)))
        if not known.all() or not len(system.names) == len(known) == n_objects:
            raise ValueError(f"a result needs one system, got arrays that do not fit: {system!r}")

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the shown objects."""
        return self.atom_hierarchy.restrict(self.system.shown)

    @cached_property
    def shown_atoms(self) -> Atoms:
        """Names of the sites that stand for the shown objects."""
        return self.system.sites.take(self.system.object_sites[self.system.shown])

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """Rigid bodies, the largest first; none where they were not looked for."""
        motion, made = self.motion, list[Body]()
        if motion is None:
            return ()
        for number, chain in enumerate(motion.bodies.chains):
            sites, against, hinge = motion.bodies.members(number), "", None
            if number in motion.moving:
                place = motion.moving.index(number)
                against, hinge = str(motion.relative_to[place] + 1), motion.hinges[place]
            members, fit = tables.runs(self.shown_atoms, sites), self.fit(sites)
            made.append(Body(str(number + 1), members, sites, chain, fit, against, hinge))
        return tuple(made)

    @cached_property
    def clusters(self) -> tuple[ClusterRecord, ...]:
        """Clusters of the condensed tree, parents before their parts."""
        if self.confidence is not None:
            return self.confidence.records
        tree = condense(self.hierarchy, min_size=max(2, tables.min_size(self)))
        each = enumerate(zip(tree.parents.tolist(), tree.births, tree.deaths, strict=True))
        return tuple(
            ClusterRecord(tree.members(place), parent, float(low), float(high), 0.0)
            for place, (parent, low, high) in each
        )

    @cached_property
    def sites(self) -> tables.Table:
        """One row for each shown site."""
        return tables.sites(self)

    @property
    def size(self) -> list[str]:
        """How much was analysed: "214 Cα", "98 snapshots"."""
        shown = counted(len(self.system.shown), self.system.shown_name).replace("Cαs", "Cα")
        n_snapshots = self.system.n_snapshots
        return [shown, counted(n_snapshots, "snapshot")] if n_snapshots else [shown]

    def fit(self, shown: Ints) -> float:
        """Rms distance of shown sites from a rigid shape, over the snapshots that are kept."""
        film, sites = self.system.film, self.system.object_sites[self.system.shown]
        return float("nan") if film is None else shape_of(film[:, sites[shown]]).rest

    def __str__(self) -> str:
        return self.finding.text() or repr(self)

    def __repr__(self) -> str:
        """One line: the source, what was found, and of what."""
        found = ": ".join(filter(None, [self.made.title, self.finding.brief]))
        return f"<Analysis {found}; {', '.join(self.size)}>"


@dataclass(frozen=True, eq=False, repr=False)  # without slots: properties are kept
class Comparison(Described):
    """Two results of the same sites, and how far their clusters agree."""

    first: Analysis
    second: Analysis
    common: Common  # places among the shown sites of both
    agreement: Agreement  # of these sites
    names: tuple[str, str]  # of the results
    made: Made
    difference: Difference | None = None  # of two results of one quantity
    notes: tuple[str, ...] = ()
    finding: Finding = _UNFINISHED

    @cached_property
    def sides(self) -> tuple[Analysis, Analysis]:
        """Both hierarchies of the common sites, in one structure and with the same finding."""
        found, clusters = self.agreement, self.agreement.clusters
        given = (self.first, self.common.first), (self.second, self.common.second)
        placed = [(each, rows) for each, rows in given if each.system.coordinates.shape[1]]
        base, rows = (placed or given)[0]
        system = base.system.restrict(base.system.shown[rows])
        made = replace(self.made, kind=base.made.kind)

        def side(tree: Hierarchy, cutoff: float) -> Analysis:
            return Analysis(system, tree, made, self.notes, replace(self.finding, cutoff=cutoff))

        return side(found.first, clusters.first.cutoff), side(found.second, clusters.second.cutoff)

    def __str__(self) -> str:
        return self.finding.text() or repr(self)


def announce(progress: object, what: str) -> None:
    """Name what is done next to a progress that shows it, which has a method ``begin``."""
    begin = getattr(progress, "begin", None)
    if begin is not None:
        begin(what)
