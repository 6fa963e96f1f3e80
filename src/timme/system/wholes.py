"""Molecules that the walls of a box cut apart, made whole along their bonds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import wholes as kernel
from timme._kernels.space import OPEN
from timme.system.derived_frames import BoxedFrames, MappedFrames
from timme.system.frames import Frames
from timme.system.space import Boxes


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A way along bonds through every molecule."""

    order: Ints  # (atoms,), every atom after the neighbour from which it is reached
    parents: Ints  # (atoms,), that neighbour, -1 for the first atom of a molecule
    molecules: Ints  # (atoms,), numbers in the order of the first atoms
    walks: Ints  # (atoms,), those of molecules that are reached from one another, too

    @classmethod
    def of(cls, bonds: Ints, n_atoms: int, links: Ints | None = None) -> Self:
        """Walk along bonds.

        Parameters
        ----------
        bonds : ndarray, shape (bonds, 2)
            Pairs of atoms.
        n_atoms : int
            Number of atoms.
        links : ndarray, shape (links, 2), optional
            Pairs of atoms of different molecules that are put beside one another.

        Returns
        -------
        Trees
            Of all atoms; one without a bond is a molecule by itself.

        Examples
        --------
        >>> Trees.of(np.array([[0, 2], [1, 3]]), 4).molecules
        array([0, 1, 0, 1])
        """
        ends = np.concatenate([bonds, bonds[:, ::-1]]).reshape(-1, 2)
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        indptr = np.searchsorted(ends[:, 0], np.arange(n_atoms + 1))
        order, parents, molecules = (np.empty(n_atoms, np.int64) for _ in range(3))
        kernel.grow_trees(indptr, np.array(ends[:, 1]), order, parents, molecules)
        if links is None or not len(links):
            return cls(order, parents, molecules, molecules)
        linked = cls.of(np.concatenate([bonds.reshape(-1, 2), links]), n_atoms)
        return replace(linked, molecules=molecules)

    def of_some(self, atoms: Ints) -> Trees:
        """Keep whole molecules, or single atoms of them, numbered anew.

        Parameters
        ----------
        atoms : ndarray of int
            Atoms to keep, ascending. Where the parent of one is not among them, no other of its
            walk is.

        Returns
        -------
        Trees
            Of these atoms.
        """
        place = np.full(len(self.parents), -1)
        place[atoms] = np.arange(len(atoms))
        parents = self.parents[atoms]
        order = place[self.order]
        return Trees(
            order[order >= 0],
            np.where(parents >= 0, place[parents], -1),
            np.unique(self.molecules[atoms], return_inverse=True)[1],
            np.unique(self.walks[atoms], return_inverse=True)[1],
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WholeFrames(MappedFrames):
    """Frames whose molecules are whole in every snapshot, wherever the walls of its box are."""

    frames: Frames  # of all atoms that are needed to make them so
    trees: Trees  # of the same atoms
    kept: Ints  # (sites,), which of them are the sites
    together: bool = False  # whether a site alone is where it is in its whole molecule

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        snapshots, _, dimensions = self.frames.shape
        return snapshots, len(self.kept), dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots and their boxes.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates, boxes
            As for :class:`Frames`.
        """
        coordinates, matrices = self.frames.read(start, stop)
        boxes = Boxes.of(matrices, *coordinates.shape[::2])
        if boxes.kind != OPEN:
            coordinates = np.array(coordinates)
            make_whole(coordinates, boxes, self.trees)
        every = np.arange(coordinates.shape[1])
        if np.array_equal(self.kept, every):
            return coordinates, matrices
        return np.take(coordinates, self.kept, axis=1), matrices

    def select(self, sites: Ints) -> WholeFrames:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        WholeFrames
            The same frames of fewer sites; no more is read than the molecules of these, and of a
            molecule with one site no more than that, if it may stand alone.
        """
        kept = self.kept[sites]
        walks = self.trees.walks
        fewest = 0 if self.together else 1
        several = np.bincount(walks[np.unique(kept)], minlength=len(walks)) > fewest
        needed = several[walks]
        needed[kept] = True
        atoms = np.flatnonzero(needed)
        place = np.cumsum(needed) - 1
        return replace(
            self,
            frames=self.frames.select(atoms),
            trees=self.trees.of_some(atoms),
            kept=place[kept],
        )

    def with_boxes(self, boxes: Floats | None) -> BoxedFrames:
        """Put other boxes in place of those through which molecules were made whole.

        Parameters
        ----------
        boxes : ndarray or None
            As for :class:`Frames`.

        Returns
        -------
        BoxedFrames
            The same whole molecules in these boxes.
        """
        return BoxedFrames(self, boxes)

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, the way along bonds, and the sites.
        """
        yield from ("whole", *self.frames.marks(), self.trees.parents, self.kept)


def make_whole(coordinates: Coordinates, boxes: Boxes, trees: Trees) -> None:
    """Put every atom beside the neighbour from which it is reached, in place.

    Parameters
    ----------
    coordinates : ndarray, shape (snapshots, atoms, dimensions)
        Positions; NaN where an atom is not seen.
    boxes : Boxes
        Of the snapshots.
    trees : Trees
        Ways along bonds.
    """
    kernel.make_whole(
        coordinates, boxes.matrices, boxes.inverses, boxes.kind, trees.order, trees.parents
    )


def endless(coordinates: Coordinates, boxes: Boxes, trees: Trees, bonds: Ints) -> Bools:
    """Tell which molecules are bound to their own images, so that nothing can make them whole.

    Parameters
    ----------
    coordinates : ndarray, shape (atoms, dimensions)
        Positions in one snapshot.
    boxes : Boxes
        Its box.
    trees : Trees
        Ways along bonds.
    bonds : ndarray, shape (bonds, 2)
        All bonds.

    Returns
    -------
    ndarray of bool, shape (atoms,)
        True for atoms of polymers, sheets and crystals that go on through the walls.
    """
    whole = np.array(coordinates, np.float64)[None]
    make_whole(whole, boxes, trees)
    vectors = whole[:, bonds[:, 0]] - whole[:, bonds[:, 1]]
    plain, nearest = (np.linalg.norm(v[0], axis=1) for v in (vectors, boxes.shorten(vectors)))
    torn = np.unique(trees.molecules[bonds[plain > nearest * (1 + 1e-6), 0]])
    found: Bools = np.isin(trees.molecules, torn)
    return found


def cut_free(trees: Trees, atoms: Bools) -> Trees:
    """Take atoms as molecules by themselves.

    Parameters
    ----------
    trees : Trees
        Ways along bonds.
    atoms : ndarray of bool, shape (atoms,)
        All atoms of some molecules.

    Returns
    -------
    Trees
        In which these are moved beside no other.
    """
    alone = np.where(atoms, len(trees.molecules) + np.arange(len(atoms)), trees.molecules)
    return replace(
        trees,
        parents=np.where(atoms, -1, trees.parents),
        molecules=np.unique(alone, return_inverse=True)[1],
    )
