"""What the walls of a box cut apart: molecules made whole, and followed where they go through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme.system.ensemble import Ensemble
from timme.system.followed import follow
from timme.system.frames import Progress
from timme.system.images import Images
from timme.system.space import Boxes
from timme.system.wholes import Trees, WholeFrames, cut_free, endless


def unfolded(ensemble: Ensemble) -> Ensemble:
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
    note = f"{ensemble.prefix}the images of the file say how often sites went through the walls"
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def with_whole_molecules(ensemble: Ensemble) -> Ensemble:
    """Make molecules whole in every snapshot, so that distances within them are plain.

    Parameters
    ----------
    ensemble : Ensemble
        All sites with their bonds.

    Returns
    -------
    Ensemble
        The same where there is no box, or no bond. What is bound to its own image stays as it is,
        with a note.
    """
    points, matrices = ensemble.frames.read(0, 1)
    bonds, n_sites = ensemble.atoms.bonds, ensemble.n_sites
    if matrices is None or not len(bonds):
        return ensemble
    trees = Trees.of(bonds, n_sites)
    boxes = Boxes.of(matrices, 1, ensemble.n_dimensions)
    through = endless(points[0], boxes, trees, bonds)
    notes = ensemble.notes
    if through.any():
        trees = cut_free(trees, through)
        note = (
            f"{ensemble.prefix}{np.count_nonzero(through):,} atoms are bound to their own images "
            "through the walls of the box and cannot be made whole"
        )
        notes = (*notes, note)
    frames = WholeFrames(ensemble.frames, trees, np.arange(n_sites))
    return replace(ensemble, frames=frames, images=Images(trees.molecules), notes=notes)


def followed(ensemble: Ensemble, progress: Progress | None = None) -> Ensemble:
    """Follow molecules, or sites without bonds, from snapshot to snapshot.

    Parameters
    ----------
    ensemble : Ensemble
        Whole molecules in a box.
    progress : callable, optional
        Called with the snapshots done and all of them.

    Returns
    -------
    Ensemble
        In which nothing jumps, and all see the same images of one another for ever.
    """
    seen = ensemble.images
    molecules = np.arange(ensemble.n_sites) if seen is None else seen.molecules
    try:
        frames = follow(ensemble.frames, molecules, progress)
    except ValueError as error:
        raise ValueError(f"{ensemble.prefix}{error}") from None
    images = Images(molecules, frames.origin, frames.anchors.boxes[0])
    return replace(ensemble, frames=frames, images=images)


def left_out(ensemble: Ensemble) -> Ensemble:
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
