"""What the walls of a box cut apart: molecules made whole, and followed where they go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from timme._arrays import Coordinates
from timme.readers.complexes import links_of_complexes, members_of
from timme.readers.numbered import join_molecules
from timme.system.counted import follow_counted
from timme.system.ensemble import Ensemble
from timme.system.followed import centres, follow
from timme.system.frames import Progress
from timme.system.images import Images
from timme.system.pace import Pace
from timme.system.space import Boxes
from timme.system.traces import joined_atoms
from timme.system.wholes import Trees, WholeFrames, cut_free, endless


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
    frames = ensemble.frames.unfold()
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
    bonds, notes = ensemble.atoms.bonds, ensemble.notes
    if not len(bonds) and ensemble.molecules is not None:
        some = [(points[0], boxes), *_later_snapshots(ensemble)]
        bonds, n_apart, n_molecules = join_molecules(some, ensemble.molecules)
        notes = (*notes, *_note_apart(ensemble.prefix, n_apart, n_molecules))
    bonds = joined_atoms(bonds, ensemble.steps)
    if not len(bonds):
        return replace(ensemble, notes=notes)
    trees = Trees.of(bonds, n_sites)
    if angstrom is not None and ensemble.n_dimensions == 3:
        looked_at = chain([(points[0], boxes)], _later_snapshots(ensemble))
        links = links_of_complexes(ensemble.atoms, looked_at, trees.molecules, angstrom)
        trees = Trees.of(bonds, n_sites, links)
    through = endless(points[0], boxes, trees, bonds)
    if through.any():
        trees = cut_free(trees, through)
        note = (
            f"{ensemble.prefix}{np.count_nonzero(through):,} atoms are bound to their own images "
            "through the walls of the box and cannot be made whole"
        )
        notes = (*notes, note)
    frames = WholeFrames(ensemble.frames, trees, np.arange(n_sites), together)
    return replace(ensemble, frames=frames, images=Images(trees.molecules), notes=notes)


def _note_apart(prefix: str, n_apart: int, n_molecules: int) -> Iterator[str]:
    """Say how many molecules are not made whole, though the file numbers them."""
    if n_apart:
        yield (
            f"{prefix}{n_apart:,} of {n_molecules:,} molecules that have numbers and no bonds "
            "reach far through the box and cannot be made whole, so that each of their atoms goes "
            "by itself: give a topology with bonds to join them"
        )


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


def has_lasting_images(ensemble: Ensemble) -> bool:
    """Tell whether an ensemble is yet to be followed.

    Parameters
    ----------
    ensemble : Ensemble
        As it was opened.

    Returns
    -------
    bool
        True if sites see the same images of one another for ever.
    """
    return ensemble.images is not None and ensemble.images.origin is not None


def is_counted(ensemble: Ensemble) -> bool:
    """Tell whether a file counts walls of a box, through which more than one molecule goes.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, where the file puts them.

    Returns
    -------
    bool
        False where all sites are one molecule, for which it does not matter where it is.
    """
    if ensemble.frames.unfold() is None:
        return False
    boxes = ensemble.frames.read(0, 1)[1]
    one = ensemble.images is not None and not ensemble.images.molecules.any()
    return boxes is not None and bool(boxes.any()) and not one


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
    files: Sequence[int] = (),
    first: int = 0,
    trusted: bool = False,
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
    files : sequence of int, optional
        Snapshots with which files begin.
    first : int, optional
        Number of the first snapshot in the source, for messages.
    trusted : bool, optional
        As for :func:`~timme.system.counted.follow_counted`.

    Returns
    -------
    Ensemble
        In which nothing jumps. Where the file says through which walls molecules went, they are
        there already, and go on where it begins to count again, with a note.
    """
    assert ensemble.images is not None  # noqa: S101, for the type checker
    own = [place for place in begins if 0 < place < ensemble.n_snapshots]
    pace, molecules = Pace.of(ensemble.frames, own, first), ensemble.images.molecules
    notes = ensemble.notes
    try:
        if ensemble.frames.unfold() is None:
            frames = follow(ensemble.frames, molecules, progress, pace=pace)
        else:
            frames, told = follow_counted(
                ensemble.frames, molecules, progress, pace=pace, files=files, trusted=trusted
            )
            notes = (*notes, *(f"{ensemble.prefix}{note}" for note in told))
    except ValueError as error:
        raise ValueError(f"{ensemble.prefix}{error}") from None
    return replace(ensemble, frames=frames, notes=notes)


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
