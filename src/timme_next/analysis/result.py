"""The result of an analysis: what was analysed, how it was made, and all that was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self

import numpy as np

from timme_next._arrays import Coordinates, Floats, Ints, Strings
from timme_next._text import Described
from timme_next.analysis.finding import Finding
from timme_next.analysis.settings import Model, Settings
from timme_next.confidence.assessment import Confidence
from timme_next.confidence.windows import Windows
from timme_next.ensemble.atoms import Atoms
from timme_next.fluctuations import Fluctuations
from timme_next.hierarchy.tree import Hierarchy
from timme_next.motion.correlation import TwoPoint
from timme_next.motion.motions import Motions, SplitMotion
from timme_next.motion.variance import Components
from timme_next.rigidity.decomposition import Decomposition
from timme_next.rigidity.ensemble import Stability, Together
from timme_next.rigidity.networks import Network


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
    unit: str = ""  # of the coordinates
    box: Floats | None = None  # (dimensions, dimensions), of the first snapshot
    film: Coordinates | None = None  # (frames, sites, dimensions), some snapshots in order
    film_frames: Ints | None = None  # (frames,), which snapshots these are
    numbers: Ints | None = None  # (sites,), ids or places in the files of the user

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Made(Described):
    """How a result was made."""

    recipe: Literal["run", "rigidity", "motion", "compare"] = "run"
    kind: Literal["molecule", "particles", "matrix"] = "particles"
    title: str = ""  # "1bnr", "4ake → 1ake"
    objects: str = ""  # what was compared: "bodies", "points"
    pairs: str = ""  # which pairs, in words
    n_pairs: int | None = None
    settings: Model = field(default_factory=Settings)  # as carried out
    given: tuple[str, ...] = ()  # names of those that the user gave
    length: float | None = None  # the length a of σ/a
    length_name: str = ""  # what it is: "C–C bond"
    theory: str = ""  # model whose closed forms are drawn: "freely-jointed chain"
    sources: tuple[Source, ...] = ()
    command: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rigidity(Described):
    """Rigid clusters of one structure, beside the hierarchy of its energies."""

    network: Network
    decomposition: Decomposition  # at `cutoff`
    cutoff: float  # energy of the bonds that hold, in kcal/mol
    n_added: int = 0  # hydrogens that were added
    together: Together | None = None  # over the models of an ensemble, or perturbed copies
    stability: Stability | None = None  # of the shown sites


@dataclass(frozen=True, eq=False, repr=False)  # without slots: properties are kept
class Analysis(Described):
    """A hierarchy with what it clusters, what was found, and how surely."""

    system: System
    atom_hierarchy: Hierarchy  # of all objects
    made: Made = field(default_factory=Made)
    notes: tuple[str, ...] = ()  # every note; the console shows those of the finding
    finding: Finding | None = None  # set once, at the end of a recipe
    fluctuations: Fluctuations | None = None  # σ of the pairs that were compared
    confidence: Confidence | None = None
    motion: Motions | None = None  # of the shown sites
    splits: tuple[SplitMotion, ...] = ()  # how clusters of the shown sites move apart
    modes: Components | None = None  # of the shown sites
    halves: float = np.nan  # how far modes of both halves of a run agree (RMSIP), beside 1
    rigidity: Rigidity | None = None
    windows: Windows | None = None
    lags: Floats | None = None  # (lags, 2): lag in snapshots, median σ within it
    correlation: TwoPoint | None = None

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the shown objects."""
        return self.atom_hierarchy.restrict(self.system.shown)

    @cached_property
    def shown_atoms(self) -> Atoms:
        """Names of the sites that stand for the shown objects."""
        return self.system.sites.take(self.system.object_sites[self.system.shown])
