"""The result of one run as frozen data: what was analysed, its hierarchy, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from timme._arrays import Coordinates, Floats, Ints, Strings
from timme._html import table
from timme.fluctuations import Fluctuations
from timme.hierarchy import Hierarchy
from timme.rigidity import Network
from timme.system.atoms import Atoms


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A hierarchy with the names and places of what it clusters.

    Objects are what the hierarchy clusters; sites are the points of the ensemble they consist of.
    Pictures and statistics show and count the objects ``shown`` only.
    """

    hierarchy: Hierarchy  # of all objects
    shown: Ints  # objects that are drawn and counted, in the order of the horizontal axis
    names: Strings  # (objects,), as people write them
    object_sites: Ints  # (objects,), the site that stands for each object
    site_objects: Ints  # (sites,), the object whose colour a site carries, -1 for none
    sites: Atoms  # (sites,), with the bonds between them
    coordinates: Coordinates  # (sites, dimensions), the first snapshot
    box: Floats | None  # (dimensions, dimensions), of the first snapshot
    fluctuations: Fluctuations | None  # None where σ of pairs was not kept
    length: float | None  # the length a that cutoffs are divided by
    length_name: str  # what that length is: "C–C bond"
    shown_name: str  # what the shown objects are: "Cα", "molecule", "particle"
    sequential: (
        bool  # whether the natural order of the axis is that of the shown objects (residues)
    )
    n_snapshots: int
    settings: Mapping[str, object]  # the recipe as it was carried out
    provenance: Mapping[str, object]  # version, command, inputs with SHA-256
    notes: tuple[str, ...]  # what was chosen or left out, and why
    network: Network | None = None  # constraints between sites, where rigidity was counted
    snapshots: Coordinates | None = None  # (frames, sites, dimensions), some of them, in order

    @property
    def coordinate_unit(self) -> str:
        """Unit of the coordinates: that of heights that are lengths, else Å."""
        return self.hierarchy.unit if self.hierarchy.quantity.is_length else "Å"

    @property
    def shown_hierarchy(self) -> Hierarchy:
        """The hierarchy as the shown objects see it."""
        return self.hierarchy.restrict(self.shown)

    def view(self, *, height: int = 760) -> Any:
        """Show the interactive page in a notebook (extra ``jupyter``).

        Parameters
        ----------
        height : int, optional
            Height of the page in pixels.

        Returns
        -------
        anywidget.AnyWidget
            A widget that Jupyter shows.
        """
        return _above("timme.notebook").view(self, height=height)

    def _repr_html_(self) -> str:
        return table("Analysis", _above("timme.workflow").summary(self))


def _above(name: str) -> Any:
    """Import a module that shows results: results know of it by name alone, as it knows them."""
    return import_module(name)


def evenly_chosen(n_snapshots: int, n_frames: int) -> Ints:
    """Choose snapshots for a film: the first, the last, and others evenly between.

    Parameters
    ----------
    n_snapshots : int
        How many there are.
    n_frames : int
        How many to take, at most that many.

    Returns
    -------
    ndarray of int, shape (frames,)
        Snapshots, counted from 0, ascending.

    Examples
    --------
    >>> evenly_chosen(9, 3)
    array([0, 4, 8])
    """
    return np.rint(np.linspace(0, n_snapshots - 1, n_frames)).astype(np.int64)
