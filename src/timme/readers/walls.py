"""What the walls of a box cut apart: molecules made whole, and followed where they go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from timme._arrays import Coordinates, Ints
from timme._kernels.space import half_width
from timme.readers.complexes import links_of_complexes, members_of
from timme.system.ensemble import Ensemble
from timme.system.followed import centres, follow
from timme.system.frames import Progress
from timme.system.images import Images
from timme.system.pace import Pace
from timme.system.space import Boxes
from timme.system.traces import joined_atoms
from timme.system.wholes import Trees, WholeFrames, cut_free, endless

_NEAR = 0.5  # of half the box, within which neighbours in a molecule are


def unfold(ensemble: Ensemble) -> Ensemble:
    """Put sites where they went through walls, if the file counts how often they did.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, in the box of the source.

    Returns
    -------
    Ensemble
        The same, or with a note that says so.
    """
    frames = ensemble.frames.unfolded()
    if frames is None:
        return ensemble
    note = f"{ensemble.prefix}the file says how often sites went through the walls of the box"
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def with_whole_molecules(
    ensemble: Ensemble, *, together: bool = False, angstrom: float | None = None
) -> Ensemble:
    """Make molecules whole in every snapshot, so that distances within them are plain.

    Parameters
    ----------
    ensemble : Ensemble
        All sites with their bonds.
    together : bool, optional
        Whether sites that are selected later stay where they are in their whole molecules.
    angstrom : float, optional
        Length of the unit in Å, where chains that touch are kept beside one another; by default
        every molecule stays where the file has it.

    Returns
    -------
    Ensemble
        The same where there is no box, or neither bonds nor numbers of molecules. What is bound to
        its own image stays as it is, with a note.
    """
    points, matrices = ensemble.frames.read(0, 1)
    if matrices is None:
        return ensemble
    boxes, n_sites = Boxes.of(matrices, 1, ensemble.n_dimensions), ensemble.n_sites
    bonds = ensemble.atoms.bonds
    if not len(bonds) and ensemble.molecules is not None:
        bonds = _neighbours(points, boxes, ensemble.molecules)
    bonds = joined_atoms(bonds, ensemble.steps)
    if not len(bonds):
        return ensemble
    trees = Trees.of(bonds, n_sites)
    if angstrom is not None and ensemble.n_dimensions == 3:
        looked_at = chain([(points[0], boxes)], _later_snapshots(ensemble))
        links = links_of_complexes(ensemble.atoms, looked_at, trees.molecules, angstrom)
        trees = Trees.of(bonds, n_sites, links)
    through = endless(points[0], boxes, trees, bonds)
    notes = ensemble.notes
    if through.any():
        trees = cut_free(trees, through)
        note = (
            f"{ensemble.prefix}{np.count_nonzero(through):,} atoms are bound to their own images "
            "through the walls of the box and cannot be made whole"
        )
        notes = (*notes, note)
    frames = WholeFrames(ensemble.frames, trees, np.arange(n_sites), together)
    return replace(ensemble, frames=frames, images=Images(trees.molecules), notes=notes)


def is_wrapped(ensemble: Ensemble) -> bool:
    """Tell whether a file puts back into its cell what leaves it.

    Parameters
    ----------
    ensemble : Ensemble
        All sites with their bonds, in the cells of the file.

    Returns
    -------
    bool
        True if in any snapshot a bond reaches through more than half the cell, or a chain or ligand
        is more than half of it nearer to another one, or farther, than in the snapshot before.
    """
    bonds = joined_atoms(ensemble.atoms.bonds, ensemble.steps)
    molecules = Trees.of(bonds, ensemble.n_sites).molecules
    followed = np.any(members_of(ensemble.atoms, molecules), axis=0)
    sites = np.unique(molecules, return_index=True)[1][followed]
    before: Coordinates | None = None
    for snapshot in range(ensemble.n_snapshots):
        points, matrices = ensemble.frames.read(snapshot, snapshot + 1)
        if matrices is None or not matrices[0].any():
            return False
        inverse = np.linalg.pinv(matrices[0])
        along = (points[0, bonds[:, 1]] - points[0, bonds[:, 0]]) @ inverse
        between = (points[0, sites] - points[0, sites[:1]]) @ inverse
        step = between - (between if before is None else before)
        if max(np.abs(along).max(initial=0.0), np.abs(step).max(initial=0.0)) > 0.5:
            return True
        before = between
    return False


def _later_snapshots(ensemble: Ensemble) -> Iterator[tuple[Coordinates, Boxes]]:
    """Look at the middle and the last snapshot; one that is damaged is told when it is needed."""
    last = ensemble.n_snapshots - 1
    for snapshot in sorted({last // 2, last} - {0}):
        with suppress(ValueError):
            points, matrices = ensemble.frames.read(snapshot, snapshot + 1)
            yield points[0], Boxes.of(matrices, 1, ensemble.n_dimensions)


def _neighbours(points: Coordinates, boxes: Boxes, molecules: Ints) -> Ints:
    """Join the sites of numbered molecules in a row; none where one reaches far through the box.

    Molecules have numbers in some files that have no bonds; in others, the numbers mean something
    else, and what has the same is anywhere.
    """
    order = np.argsort(molecules, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    pairs = pairs[molecules[pairs[:, 0]] == molecules[pairs[:, 1]]]
    apart = np.linalg.norm(boxes.between(points, *pairs.T)[0], axis=1)
    near = bool((apart <= _NEAR * half_width(boxes.inverses[0])).all())
    joined: Ints = pairs if near else pairs[:0]
    return joined


def with_lasting_images(ensemble: Ensemble) -> Ensemble:
    """Let all see the same images of one another for ever: the nearest in the first snapshot.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, molecules whole, in a box.

    Returns
    -------
    Ensemble
        Which is yet to be followed. Images are those of molecules, whatever is selected of them.
    """
    points, boxes = ensemble.frames.read(0, 1)
    if boxes is None or not boxes.any():
        raise ValueError(f"{ensemble.prefix}unwrap=True needs a periodic box: leave it out")
    seen = ensemble.images
    molecules = np.arange(ensemble.n_sites) if seen is None else seen.molecules
    numbers = np.unique(molecules, return_inverse=True)[1]
    origin = centres(np.array(points, np.float64), numbers)[0, numbers]
    if np.isnan(origin).any():
        raise ValueError(
            f"{ensemble.prefix}unwrap=True needs all sites in the first snapshot, and "
            f"{np.count_nonzero(np.isnan(origin).any(axis=1)):,} are not seen there: begin with "
            "another, or leave these sites out"
        )
    return replace(ensemble, images=Images(molecules, origin, boxes[0]))


def with_nearest_images(ensemble: Ensemble) -> Ensemble:
    """Let molecules see the nearest images of one another in every snapshot again.

    Parameters
    ----------
    ensemble : Ensemble
        With lasting images, which mean nothing before it is followed.

    Returns
    -------
    Ensemble
        The same places.
    """
    assert ensemble.images is not None  # noqa: S101, for the type checker
    return replace(ensemble, images=Images(ensemble.images.molecules))


def follow_molecules(
    ensemble: Ensemble,
    progress: Progress | None = None,
    *,
    begins: Sequence[int] = (),
    first: int = 0,
) -> Ensemble:
    """Follow molecules, or sites without bonds, from snapshot to snapshot.

    Parameters
    ----------
    ensemble : Ensemble
        Whole molecules in a box, with lasting images.
    progress : callable, optional
        Called with the snapshots done and all of them.
    begins : sequence of int, optional
        Snapshots with which other runs begin; what lies beyond these snapshots does not count.
    first : int, optional
        Number of the first snapshot in the source, for messages.

    Returns
    -------
    Ensemble
        In which nothing jumps. Where the file says through which walls molecules went, they are
        there already.
    """
    assert ensemble.images is not None  # noqa: S101, for the type checker
    placed = ensemble.frames.unfolded() is not None
    own = [place for place in begins if 0 < place < ensemble.n_snapshots]
    pace, molecules = Pace.of(ensemble.frames, own, first), ensemble.images.molecules
    try:
        frames = follow(ensemble.frames, molecules, progress, placed=placed, pace=pace)
    except ValueError as error:
        raise ValueError(f"{ensemble.prefix}{error}") from None
    return replace(ensemble, frames=frames)


def take_away(ensemble: Ensemble) -> Ensemble:
    """Take away the walls through which molecules were made whole.

    Parameters
    ----------
    ensemble : Ensemble
        In a box.

    Returns
    -------
    Ensemble
        In open space.
    """
    return replace(ensemble, frames=ensemble.frames.with_boxes(None), images=None)
