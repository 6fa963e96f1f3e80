"""What was analysed: objects with their names and places, and which of them are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from timme._arrays import Coordinates, Floats, Ints, Strings
from timme._html import Described
from timme.system.atoms import Atoms


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class System(Described):
    """The names and places of what a hierarchy clusters.

    Objects are what the hierarchy clusters; sites are the points of the ensemble they consist of.
    Pictures and statistics show and count the objects ``shown`` only.
    """

    names: Strings  # (objects,), as people write them
    object_sites: Ints  # (objects,), the site that stands for each object
    site_objects: Ints  # (sites,), the object whose colour a site carries, -1 for none
    sites: Atoms  # (sites,), with the bonds between them
    coordinates: Coordinates  # (sites, dimensions), the first snapshot
    shown: Ints  # objects that are drawn and counted, in the order of the horizontal axis
    shown_name: str = "site"  # what the shown objects are: "Cα", "molecule", "particle"
    sequential: bool = True  # whether the shown objects have an order of their own (residues)
    n_snapshots: int = 0
    unit: str = ""  # of the coordinates
    box: Floats | None = None  # (dimensions, dimensions), of the first snapshot
    film: Coordinates | None = None  # (frames, sites, dimensions), some snapshots in order
    atom_numbers: Ints | None = None  # (sites,), ids or places in the user's files; None if unknown

    @classmethod
    def unplaced(cls, sites: Atoms, *, unit: str = "") -> Self:
        """Describe sites of which no places are known, each an object that is shown.

        Parameters
        ----------
        sites : Atoms
            Their names, or numbers in place of these.
        unit : str, optional
            Of the heights, which stands for that of the coordinates.

        Returns
        -------
        System
            Without dimensions.
        """
        every = np.arange(len(sites))
        return cls(
            names=np.array([sites.label(site) for site in every.tolist()]),
            object_sites=every,
            site_objects=every,
            sites=sites,
            coordinates=np.empty((len(sites), 0)),
            shown=every,
            unit=unit,
        )

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions; 0 where nothing is known of places."""
        return int(self.coordinates.shape[1])


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
