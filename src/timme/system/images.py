"""Which periodic image of one site another one sees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Sites of one molecule see one another as they are, and others by their nearest images.

    With an origin, the nearest images there are seen in all snapshots, wherever they go.
    """

    molecules: Ints  # (sites,)
    origin: Floats | None = None  # (sites, dimensions), centres of their molecules
    box: Floats | None = None  # (dimensions, dimensions), around the origin

    @property
    def alone(self) -> bool:
        """Whether there is one molecule, which needs no images at all."""
        return bool((self.molecules == self.molecules[:1]).all())

    @property
    def single(self) -> bool:
        """Whether every site is a molecule, so that nearest images are all there is to it."""
        return self.origin is None and len(np.unique(self.molecules)) == len(self.molecules)

    def select(self, sites: Ints) -> Images:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        Images
            Of these.
        """
        origin = None if self.origin is None else self.origin[sites]
        return replace(self, molecules=self.molecules[sites], origin=origin)

    def of_groups(self, members: Ints, offsets: Ints) -> Images:
        """See groups of sites as points.

        Parameters
        ----------
        members, offsets : ndarray of int
            Sites of all groups in a row, and where each group begins.

        Returns
        -------
        Images
            A group has the molecule of all its sites, or is one by itself.
        """
        first = members[offsets[:-1]]
        owners = np.repeat(np.arange(len(first)), np.diff(offsets))
        mixed = np.zeros(len(first), np.bool_)
        mixed[owners[self.molecules[members] != self.molecules[first][owners]]] = True
        own = self.molecules.max(initial=0) + 1 + np.arange(len(first))
        groups = self.select(first)
        return replace(groups, molecules=np.where(mixed, own, groups.molecules))
