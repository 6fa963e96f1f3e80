"""Molecules: which atoms they are, made whole across the faces of a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme._kernels import boxes as kernel
from timme.ensemble.atoms import HYDROGENS, Atoms, angstroms
from timme.ensemble.bonds import adjacency, bonds_and_traces
from timme.ensemble.frames import Numbers, Placed, Step
from timme.ensemble.residues import is_ion, is_nucleic, is_protein, is_water
from timme.ensemble.space import Boxes, Images, pairs_within

if TYPE_CHECKING:
    from timme.ensemble.ensemble import Ensemble

_TOUCHING = 4.5  # Å between heavy atoms of a complex
_FEW = 10  # ligands of one name; more are a solvent or a membrane
_NEAR = 0.5  # of half the box, within which neighbours in a numbered molecule are


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A way along bonds through every molecule."""

    order: Ints  # (atoms,), every atom after the neighbour from which it is reached
    parents: Ints  # (atoms,), that neighbour, -1 for the first atom of a molecule
    molecules: Ints  # (atoms,), numbers in the order of the first atoms
    walks: Ints  # (atoms,), the same for molecules that are kept beside one another

    @classmethod
    def of(cls, bonds: Ints, n_atoms: int, links: Ints | None = None) -> Self:
        """Return trees along bonds; links join atoms of molecules that are kept together.

        Examples
        --------
        >>> Trees.of(np.array([[0, 2], [1, 3]]), 4).molecules
        array([0, 1, 0, 1])
        """
        _, found = sparse.csgraph.connected_components(adjacency(bonds, n_atoms), directed=False)
        molecules = found.astype(np.int64)
        # The walk begins at one more node, which is bonded to the first atom of every molecule.
        firsts = np.unique(molecules, return_index=True)[1]
        extra = np.column_stack([np.full(len(firsts), n_atoms), firsts])
        graph = adjacency(np.concatenate([bonds, extra]), n_atoms + 1)
        walked, before = sparse.csgraph.breadth_first_order(graph, n_atoms, directed=False)
        order = walked[1:].astype(np.int64)
        order = order[np.argsort(molecules[order], kind="stable")]
        parents = np.where(before[:-1] < n_atoms, before[:-1], -1).astype(np.int64)
        if links is None or not len(links):
            return cls(order, parents, molecules, molecules)
        return replace(cls.of(np.concatenate([bonds, links]), n_atoms), molecules=molecules)

    def of_some(self, atoms: Ints) -> Trees:
        """Return trees of whole walks, or of single atoms of them, numbered anew (ascending)."""
        place = np.full(len(self.parents) + 1, -1)  # the last is of no parent
        place[atoms] = np.arange(len(atoms))
        order, walks = place[self.order], np.unique(self.walks[atoms], return_inverse=True)[1]
        parents = place[self.parents[atoms]]
        return Trees(order[order >= 0], parents, self.molecules[atoms], walks)

    def without(self, atoms: Bools) -> Trees:
        """Return trees in which the atoms of some molecules are molecules by themselves."""
        alone = np.where(atoms, len(atoms) + np.arange(len(atoms)), self.molecules)
        molecules = np.unique(alone, return_inverse=True)[1]
        return replace(self, parents=np.where(atoms, -1, self.parents), molecules=molecules)

    def make_whole(self, coordinates: Coordinates, boxes: Boxes) -> None:
        """Move every atom of (frames, atoms, dimensions) beside its parent, in place."""
        kernel.make_whole(
            coordinates, boxes.matrices, boxes.inverses, boxes.kind, self.order, self.parents
        )


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Step):
    """Make molecules whole in every snapshot."""

    trees: Trees
    kept: Ints  # (sites,), which atoms of the trees are the sites
    together: bool = False  # whether a site alone must be where it is in its whole molecule

    def __call__(self, coordinates: Coordinates, boxes: Floats | None, _n: Numbers) -> Placed:
        """Return coordinates of the sites in whole molecules, and the same boxes."""
        around = Boxes.of(boxes, *coordinates.shape[::2])
        if around.kind != kernel.OPEN:
            coordinates = np.array(coordinates)
            self.trees.make_whole(coordinates, around)
        if not np.array_equal(self.kept, np.arange(coordinates.shape[1])):
            coordinates = coordinates[:, self.kept]
        return coordinates, boxes

    def select(self, sites: Ints) -> tuple[Whole, Ints]:
        """Return a step for some sites, which needs their molecules or single atoms."""
        kept, walks = self.kept[sites], self.trees.walks
        counts = np.bincount(walks[np.unique(kept)], minlength=len(walks))
        needed = (counts > (0 if self.together else 1))[walks]
        needed[kept] = True
        atoms = np.flatnonzero(needed)
        place = np.cumsum(needed) - 1
        return replace(self, trees=self.trees.of_some(atoms), kept=place[kept]), atoms

    def shape(self, n_sites: int, n_dimensions: int) -> tuple[int, int]:  # noqa: ARG002
        """Return the numbers of sites and dimensions."""
        return len(self.kept), n_dimensions


def with_whole_molecules(
    ensemble: Ensemble, *, complexes: bool = True, together: bool = False
) -> Ensemble:
    """Return an ensemble in whose box every molecule is whole, so that it sees itself as it is.

    Molecules follow bonds and traces, or numbers of the file where it has no bonds. What is bound
    to its own image stays as it is, with a note.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms with their bonds.
    complexes : bool, optional
        Keep chains and ligands beside one another that touch in the first snapshot.
    together : bool, optional
        Whether sites selected later stay where they are in their whole molecules.

    Returns
    -------
    Ensemble
        The same where there is no box, or neither bonds nor numbers.
    """
    points, matrices = ensemble.frames.read(0, 1)
    if matrices is None:
        return ensemble
    boxes, n_sites = Boxes.of(matrices, 1, ensemble.n_dimensions), ensemble.n_sites
    bonds, notes, prefix = ensemble.atoms.bonds, list(ensemble.notes), ensemble.prefix
    if not len(bonds) and ensemble.molecules is not None:
        bonds, n_apart = numbered(points[0], boxes, ensemble.molecules)
        if n_apart:
            notes.append(f"{prefix}{n_apart:,} numbered molecules reach too far: give their bonds")
    bonds = bonds_and_traces(bonds, ensemble.traces)
    if not len(bonds):
        return replace(ensemble, notes=tuple(notes))
    trees, angstrom = Trees.of(bonds, n_sites), angstroms(ensemble.unit)
    if complexes and angstrom is not None and ensemble.n_dimensions == 3:
        radius = _TOUCHING / angstrom
        links = find_complexes(ensemble.atoms, points[0], boxes, trees.molecules, radius)
        trees = Trees.of(bonds, n_sites, links)
    endless = find_endless(points[0], boxes, trees, bonds)
    if endless.any():
        trees = trees.without(endless)
        notes.append(
            f"{prefix}{endless.sum():,} atoms are bound to their own images: none is whole"
        )
    frames = ensemble.frames.then(Whole(trees, np.arange(n_sites), together))
    return replace(ensemble, frames=frames, images=Images(trees.molecules), notes=tuple(notes))


def find_endless(points: Coordinates, boxes: Boxes, trees: Trees, bonds: Ints) -> Bools:
    """Return which atoms belong to molecules that are bound to their own images.

    No image is nearest to all neighbours in polymers, sheets and crystals that fill the box.
    ``points`` (atoms, dimensions) are those of one snapshot.
    """
    whole = np.array(points, np.float64)[None]
    trees.make_whole(whole, boxes)
    vectors = whole[:, bonds[:, 0]] - whole[:, bonds[:, 1]]
    plain, nearest = (np.linalg.norm(v[0], axis=1) for v in (vectors, boxes.shorten(vectors)))
    torn = np.unique(trees.molecules[bonds[plain > nearest * (1 + 1e-6), 0]])
    found: Bools = np.isin(trees.molecules, torn)
    return found


def find_complexes(
    atoms: Atoms, points: Coordinates, boxes: Boxes, molecules: Ints, radius: float
) -> Ints:
    """Return the nearest atoms (links, 2) of chains and ligands that touch in one snapshot.

    Chains are proteins and nucleic acids. Ligands are other molecules but solvent, few of a name;
    they are held by chains, not by one another. Each complex is joined once through, along the
    molecules with most contacts.
    """
    count = int(molecules.max()) + 1
    chains, solvent = np.zeros((2, count), np.bool_)
    chains[molecules[is_protein(atoms) | is_nucleic(atoms)]] = True
    solvent[molecules[is_water(atoms) | is_ion(atoms)]] = True
    first = np.unique(molecules, return_index=True)[1]
    _, names, counts = np.unique(atoms.resnames[first], return_inverse=True, return_counts=True)
    members = chains | (~solvent & (counts[names] <= _FEW))
    heavy = np.flatnonzero(members[molecules] & ~np.isin(atoms.elements, HYDROGENS))
    near = heavy[pairs_within(points[heavy], radius, boxes)]
    ends = np.sort(molecules[near], axis=1)
    touching = (ends[:, 0] != ends[:, 1]) & chains[ends].any(axis=1)
    near, ends = near[touching], ends[touching]
    apart = np.linalg.norm(boxes.between(points[None], *near.T)[0], axis=1)
    order = np.argsort(apart, kind="stable")
    pairs, nearest, contacts = np.unique(ends[order], axis=0, return_index=True, return_counts=True)
    places = tuple(pairs.T.astype(np.int32))  # older SciPy knows no other trees
    graph = sparse.coo_array((1.0 / contacts, places), shape=(count, count)).tocsr()
    tree = np.column_stack(sparse.csgraph.minimum_spanning_tree(graph).nonzero())
    kept = np.isin(pairs @ (count, 1), tree @ (count, 1))
    links: Ints = near[order][nearest[kept]]
    return links


def numbered(points: Coordinates, boxes: Boxes, molecules: Ints) -> tuple[Ints, int]:
    """Return pairs that join the atoms of numbered molecules, and how many cannot be joined.

    Neighbours in the order of the file are joined, if all of a molecule are near in the first
    snapshot; in some files numbers mean something else than molecules. 0 is no molecule.
    """
    order = np.argsort(molecules, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    numbers = molecules[pairs]
    inside = (numbers[:, 0] == numbers[:, 1]) & (numbers[:, 0] != 0)
    pairs, numbers = pairs[inside], numbers[inside, 0]
    apart = np.linalg.norm(boxes.between(points[None], *pairs.T)[0], axis=1)
    far = np.unique(numbers[~(apart <= _NEAR * kernel.half_width(boxes.inverses[0]))])
    return pairs[~np.isin(numbers, far)], len(far)
