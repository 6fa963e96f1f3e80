"""Molecules: made whole across the faces of a box, and unwrapped from snapshot to snapshot.

**Unwrapping.** Each molecule goes to the image nearest to where it was. That is wrong if it moved
by more than half a box, so trajectories are refused in which this may be: if a step exceeds 0.4 of
the box along some axis; or if `1 - 2 step < 20 <step²>`, as then a step of the other way around,
1 - step, is less than exp(10) times less likely, were steps Gaussian; or if a molecule is not seen
for k usual steps and k times the longest step is above half a box. The last is a bound, if no step
is longer than the longest that was seen; the others are rules of thumb. Steps with heavy tails, and
a drift of all molecules by whole boxes, stay unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy import sparse

from timme_next._arrays import Bools, Coordinates, Floats, Ints
from timme_next._kernels import molecules as kernel
from timme_next._kernels.boxes import OPEN, half_width
from timme_next.ensemble.atoms import HYDROGENS, Atoms, angstroms
from timme_next.ensemble.bonds import bonds_and_traces
from timme_next.ensemble.frames import Frames, Step
from timme_next.ensemble.residues import is_ion, is_nucleic, is_protein, is_water
from timme_next.ensemble.space import Boxes, Images, invert, pairs_within

if TYPE_CHECKING:
    from timme_next.ensemble.ensemble import Ensemble

_TOUCHING = 4.5  # Å between heavy atoms of a complex
_FEW = 10  # ligands of one name; more are a solvent or a membrane
_NEAR = 0.5  # of half the box, within which neighbours in a numbered molecule are
_LONGEST_STEP = 0.4  # of the box
_STAND_IN = 20  # steps
_OTHER_SCALE = 1.5  # of boxes from one snapshot to the next, above which vectors are rescaled
_READ_BYTES = 50_000_000  # of coordinates, at once
_MOST_FRAMES = 64  # at once

Progress = Callable[[int, int], None]  # called with the snapshots done and all of them


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
        ends = np.concatenate([bonds, bonds[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        indptr = np.searchsorted(ends[:, 0], np.arange(n_atoms + 1))
        order, parents, molecules = (np.empty(n_atoms, np.int64) for _ in range(3))
        kernel.grow_trees(indptr, np.array(ends[:, 1]), order, parents, molecules)
        if links is None or not len(links):
            return cls(order, parents, molecules, molecules)
        return replace(cls.of(np.concatenate([bonds, links]), n_atoms), molecules=molecules)

    def of_some(self, atoms: Ints) -> Trees:
        """Return trees of whole walks, or of single atoms of them, numbered anew (ascending)."""
        place = np.full(len(self.parents), -1)
        place[atoms] = np.arange(len(atoms))
        order, parents = place[self.order], self.parents[atoms]
        return Trees(
            order[order >= 0],
            np.where(parents >= 0, place[parents], -1),
            np.unique(self.molecules[atoms], return_inverse=True)[1],
            np.unique(self.walks[atoms], return_inverse=True)[1],
        )

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

    def __call__(
        self,
        coordinates: Coordinates,
        boxes: Floats | None,
        numbers: Sequence[int],  # noqa: ARG002
    ) -> tuple[Coordinates, Floats | None]:
        """Return coordinates of the sites in whole molecules, and the same boxes."""
        around = Boxes.of(boxes, *coordinates.shape[::2])
        if around.kind != OPEN:
            coordinates = np.array(coordinates)
            self.trees.make_whole(coordinates, around)
        if np.array_equal(self.kept, np.arange(coordinates.shape[1])):
            return coordinates, boxes
        return coordinates[:, self.kept], boxes

    def select(self, sites: Ints) -> tuple[Whole, Ints]:
        """Return a step for some sites, which needs their molecules or single atoms."""
        kept, walks = self.kept[sites], self.trees.walks
        counts = np.bincount(walks[np.unique(kept)], minlength=len(walks))
        needed = (counts > (0 if self.together else 1))[walks]
        needed[kept] = True
        atoms = np.flatnonzero(needed)
        place = np.cumsum(needed) - 1
        return replace(self, trees=self.trees.of_some(atoms), kept=place[kept]), atoms

    def n_sites(self, before: int) -> int:  # noqa: ARG002
        """Return the number of sites."""
        return len(self.kept)


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
    bonds, notes = ensemble.atoms.bonds, list(ensemble.notes)
    if not len(bonds) and ensemble.molecules is not None:
        bonds, n_apart = numbered(points[0], boxes, ensemble.molecules)
        if n_apart:
            notes.append(
                f"{ensemble.prefix}{n_apart:,} molecules with numbers but no bonds reach too far "
                "through the box to be made whole; give a topology with bonds to join their atoms"
            )
    bonds = bonds_and_traces(bonds, ensemble.traces)
    if not len(bonds):
        return replace(ensemble, notes=tuple(notes))
    trees, angstrom = Trees.of(bonds, n_sites), angstroms(ensemble.unit)
    if complexes and angstrom is not None and ensemble.n_dimensions == 3:
        links = find_complexes(
            ensemble.atoms, points[0], boxes, trees.molecules, _TOUCHING / angstrom
        )
        trees = Trees.of(bonds, n_sites, links)
    endless = find_endless(points[0], boxes, trees, bonds)
    if endless.any():
        trees = trees.without(endless)
        notes.append(
            f"{ensemble.prefix}{np.count_nonzero(endless):,} atoms are bound to their own images "
            "across the faces of the box and cannot be made whole"
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
    none, count = np.empty((0, 2), np.int64), int(molecules.max(initial=-1)) + 1
    chains, solvent = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    chains[molecules[is_protein(atoms) | is_nucleic(atoms)]] = True
    solvent[molecules[is_water(atoms) | is_ion(atoms)]] = True
    first = np.unique(molecules, return_index=True)[1]
    _, names, counts = np.unique(atoms.resnames[first], return_inverse=True, return_counts=True)
    members = chains | (~solvent & (counts[names] <= _FEW))
    if not chains.any() or np.count_nonzero(members) < 2:
        return none
    heavy = np.flatnonzero(members[molecules] & ~np.isin(atoms.elements, HYDROGENS))
    near = heavy[pairs_within(points[heavy], radius, boxes)]
    ends = np.sort(molecules[near], axis=1)
    touching = (ends[:, 0] != ends[:, 1]) & chains[ends].any(axis=1)
    near, ends = near[touching], ends[touching]
    order = np.argsort(
        np.linalg.norm(boxes.between(points[None], *near.T)[0], axis=1), kind="stable"
    )
    pairs, nearest, contacts = np.unique(ends[order], axis=0, return_index=True, return_counts=True)
    graph = sparse.coo_array((1.0 / contacts, tuple(pairs.T)), shape=(count, count)).tocsr()
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
    far = np.unique(numbers[~(apart <= _NEAR * half_width(boxes.inverses[0]))])
    return pairs[~np.isin(numbers, far)], len(far)


def apply_image_flags(
    positions: Coordinates, images: Ints | None, box: Floats | None
) -> Coordinates:
    """Return positions (atoms, dimensions) moved by the boxes that each atom has crossed.

    ``box`` holds the vectors as the file has them, not reduced ones.
    """
    if images is None or box is None:
        return positions
    moved: Coordinates = positions + images @ box
    return moved


def fixed_images(ensemble: Ensemble) -> Images:
    """Return images that are chosen once for all: those nearest in the first snapshot.

    Unwrapped molecules drift apart by whole boxes, so that others become nearest.
    """
    points, boxes = ensemble.frames.read(0, 1)
    if boxes is None or not boxes.any():
        raise ValueError(f"{ensemble.prefix}unwrap=True needs a periodic box: leave it out")
    molecules = molecules_of(ensemble)
    owners = np.unique(molecules, return_inverse=True)[1]
    origin = _centres(points, owners)[0, owners]
    hidden = np.count_nonzero(np.isnan(origin).any(axis=1))
    if hidden:
        raise ValueError(
            f"{ensemble.prefix}unwrap=True needs all sites in the first snapshot, and {hidden:,} "
            "are not seen there: start with another (start=), or leave these sites out"
        )
    return Images(molecules, origin, boxes[0])


@dataclass(frozen=True, slots=True, eq=False)
class Unwrapped(Step):
    """Move molecules to the images that follow one another, by the box faces that they crossed."""

    molecules: Ints  # (sites,)
    numbers: Ints  # (snapshots,), in the source, ascending
    boxes: Floats  # (snapshots, dimensions, dimensions), each in the basis of the one before
    n_molecules: int
    snapshots: Ints  # (crossings,), places in numbers, ascending
    crossing: Ints  # (crossings,), molecules
    changes: Ints  # (crossings, dimensions), in box vectors

    def __call__(
        self,
        coordinates: Coordinates,
        boxes: Floats | None,  # noqa: ARG002
        numbers: Sequence[int],
    ) -> tuple[Coordinates, Floats | None]:
        """Return unwrapped coordinates in double precision, and boxes that follow one another."""
        places = np.searchsorted(self.numbers, np.asarray(numbers))
        ends = np.searchsorted(self.snapshots, places, side="right")
        moved, around = np.array(coordinates, np.float64), self.boxes[places]
        counts = np.zeros((self.n_molecules, moved.shape[2]), np.int64)
        for frame, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
            np.add.at(counts, self.crossing[start:end], self.changes[start:end])
            moved[frame] += (counts @ around[frame])[self.molecules]
        return moved, around

    def select(self, sites: Ints) -> tuple[Unwrapped, Ints]:
        """Return the same step for some sites, which go where their molecules go."""
        return replace(self, molecules=self.molecules[sites]), sites


def unwrap(
    frames: Frames,
    molecules: Ints,
    *,
    starts: Sequence[int] = (),
    strict: bool = True,
    progress: Progress | None = None,
) -> Unwrapped:
    """Return the step that unwraps molecules, found in one pass through all snapshots.

    Parameters
    ----------
    frames : Frames
        Whole molecules in a periodic box.
    molecules : ndarray of int, shape (sites,)
        Molecule of each site.
    starts : sequence of int, optional
        Snapshots with which later runs begin.
    strict : bool, optional
        Refuse steps and gaps after which the image is uncertain, and put molecules at the start of
        a later run to the image nearest to the first snapshot. Otherwise each run begins where the
        file has it.
    progress : callable, optional
        Called with the snapshots done and all of them.

    Returns
    -------
    Unwrapped
        To be done after the other steps of these frames.
    """
    n_snapshots, n_sites, n_dimensions = frames.shape
    owners = np.unique(molecules, return_inverse=True)[1]
    shape = int(owners.max()) + 1, n_dimensions
    lengths, boxes = _usual_steps(frames.times, starts), np.empty((n_snapshots, *shape[1:] * 2))
    noted, ages = _Steps.none(shape), np.zeros(shape[0], np.int64)
    last = origin = np.full(shape, np.nan)
    crossings, counts = list[tuple[Ints, Ints, Ints]](), np.zeros(shape, np.int64)
    most = min(max(1, _READ_BYTES // (8 * n_sites * n_dimensions)), _MOST_FRAMES)
    for start, stop in _chunks(n_snapshots, most, starts):
        coordinates, matrices = frames.read(start, stop)
        if matrices is None or not matrices.any(axis=(1, 2)).all():
            raise ValueError("unwrapping needs a periodic box in every snapshot")
        centres = _centres(coordinates, owners)
        begins, later = start in {0, *starts}, start > 0 and strict
        if begins:
            _refuse_hidden(centres[0], start, strict=strict)
            last = origin.copy() if later else np.full(shape, np.nan)
            ages[:] = 0
        before = boxes[start - 1] if not begins else boxes[0] if later else matrices[0]
        boxes[start:stop] = _in_one_basis(matrices, before)
        around = Boxes.of(np.concatenate([before[None], boxes[start:stop]]), 0, 0)
        images, steps = centres.copy(), _Steps.none(shape) if begins else noted
        kernel.unwrap(
            images, last, around.matrices, around.inverses, around.kind, lengths[start:stop],
            ages, *steps,
        )  # fmt: skip
        if begins and later:
            steps.refuse_uncertain(f"at snapshot {start + 1:,}, where another run starts,")
        origin = origin if start else last.copy()
        moved = np.einsum("fmd,fde->fme", images - centres, around.inverses[1:])
        counts = _note_crossings(crossings, moved, counts, start)
        if progress is not None:
            progress(stop, n_snapshots)
    if strict:
        noted.refuse_uncertain("from one snapshot to the next")
        noted.refuse_gaps()
    found = (np.concatenate(column) for column in zip(*crossings, strict=True))
    return Unwrapped(owners, np.asarray(frames.numbers, np.int64), boxes, shape[0], *found)


class _Steps(NamedTuple):
    """Ways of molecules as parts of the box."""

    n_steps: Ints  # (molecules,)
    longest: Floats  # (molecules, dimensions)
    squares: Floats  # (molecules, dimensions), sums over the steps
    longest_gaps: Ints  # (molecules,), in usual steps

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Self:
        n_molecules = shape[0]
        counts = np.zeros((2, n_molecules), np.int64)
        return cls(counts[0], np.zeros(shape), np.zeros(shape), counts[1])

    def refuse_uncertain(self, when: str) -> None:
        """Refuse steps after which a molecule may be in another image."""
        every = self.squares.sum(axis=0) / max(1, int(self.n_steps.sum()))
        # A molecule may have few steps; those of all stand in.
        usual = (self.squares + _STAND_IN * every) / (self.n_steps[:, None] + _STAND_IN)
        uncertain = (1 - 2 * self.longest < 20 * usual) | (self.longest > _LONGEST_STEP)
        count = np.count_nonzero(uncertain.any(axis=1))
        if count:
            raise ValueError(
                f"{count:,} of {len(uncertain):,} molecules or particles move by up to "
                f"{self.longest.max():.2g} of the box {when} so that the faces they cross are "
                "unknown: use snapshots closer in time or one run, or leave out unwrap=True"
            )

    def refuse_gaps(self) -> None:
        """Refuse gaps in which a molecule may go as far as half the box."""
        longest = self.longest.max(axis=0) if self.n_steps.any() else np.inf
        ways = (self.longest_gaps[:, None] * longest).max(axis=1, initial=0.0)
        count = np.count_nonzero(ways > 0.5)
        if count:
            raise ValueError(
                f"{count:,} of {len(ways):,} molecules or particles are not seen for up to "
                f"{self.longest_gaps.max():,} usual steps, in which they may move by "
                f"{ways.max():.2g} of the box, so that the faces they cross are unknown: choose "
                "snapshots before or after (start=, stop=), leave these particles out, or leave "
                "out unwrap=True"
            )


def molecules_of(ensemble: Ensemble) -> Ints:
    """Return the molecule of each site; without images each is one by itself."""
    images = ensemble.images
    return np.arange(ensemble.n_sites) if images is None else images.molecules


def _centres(coordinates: Coordinates, owners: Ints) -> Floats:
    """Return mean positions (frames, molecules, dimensions) of the sites that are seen."""
    places = np.asarray(coordinates, np.float64)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(int(owners.max()) + 1))
    seen: Bools = np.asarray(np.isfinite(places).all(axis=2, keepdims=True))
    sums = np.add.reduceat(np.where(seen, places, 0.0)[:, order], starts, axis=1)
    counts = np.add.reduceat(seen[:, order].astype(np.int64), starts, axis=1)
    with np.errstate(invalid="ignore"):  # NaN where no site is seen
        means: Floats = sums / counts
    return means


def _usual_steps(times: Floats, starts: Sequence[int]) -> Ints:
    """Return how many usual steps in time lie before each snapshot, at least 1."""
    intervals = np.abs(np.diff(times, prepend=np.nan))
    intervals[list(starts)] = np.nan
    moving = intervals[intervals > 0]  # not those that are unknown
    if not len(moving):
        return np.ones(len(times), np.int64)
    steps = np.rint(np.nan_to_num(intervals, nan=0.0) / np.median(moving))
    found: Ints = np.clip(steps, 1, 2**32).astype(np.int64)
    return found


def _chunks(n_snapshots: int, most: int, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most so many snapshots; the first snapshot of a run is one by itself."""
    first = {0, *starts}
    ends = {*first, *(start + 1 for start in first), *range(0, n_snapshots, most), n_snapshots}
    return pairwise(sorted(ends))


def _refuse_hidden(centres: Floats, start: int, *, strict: bool) -> None:
    if strict and np.isnan(centres).any():
        raise ValueError(
            "unwrapping needs all sites in the first snapshot of a run, and some are not seen in "
            f"snapshot {start + 1:,}: start with another (start=), or leave these sites out"
        )


def _note_crossings(
    crossings: list[tuple[Ints, Ints, Ints]], moved: Floats, before: Ints, start: int
) -> Ints:
    """Note where counts of box vectors change, and return the last ones (molecules, dimensions)."""
    counts = np.empty((len(moved) + 1, *before.shape), np.int64)
    counts[0] = before
    for frame, vectors in enumerate(moved):  # of what is not seen, counts stay
        hidden = np.isnan(vectors)
        counts[frame + 1] = np.where(hidden, counts[frame], np.rint(np.where(hidden, 0, vectors)))
    changes = np.diff(counts, axis=0)
    snapshots, who = np.nonzero(changes.any(axis=2))
    crossings.append((start + snapshots, who, changes[snapshots, who]))
    last: Ints = counts[-1]
    return last


def _in_one_basis(matrices: Floats, before: Floats) -> Floats:
    """Return vectors of each lattice (frames, d, d) that are nearly those of the one before."""
    boxes = np.empty_like(matrices)
    inverse = invert(before[None])[0][0]
    for frame, matrix in enumerate(matrices):
        if not np.array_equal(matrix, before):
            change: Floats = np.rint(_scale(matrix, before) * matrix @ inverse)
            closed = change.any(axis=1)
            change[~closed, ~closed] = 1.0  # an open direction
            if abs(np.linalg.det(change)) < 0.5:
                raise ValueError(
                    "the box changes so much from one snapshot to the next that the faces crossed "
                    "are unknown: use snapshots closer in time, or leave out unwrap=True"
                )
            before = np.linalg.solve(change, matrix)
            inverse = invert(before[None])[0][0]
        boxes[frame] = before
    return boxes


def _scale(matrix: Floats, before: Floats) -> float:
    """Return by how much a box has shrunk, if it is by much."""
    old, new = (np.linalg.norm(box[box.any(axis=1)], axis=1).min() for box in (before, matrix))
    ratio = float(old / new)
    return ratio if not 1 / _OTHER_SCALE < ratio < _OTHER_SCALE else 1.0
