"""Lay the snapshots of an ensemble onto one of its bodies, and say how still sites are then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen, indices, numbers
from timme._html import Described
from timme.motion.cautions import cautions
from timme.motion.fits import Shape, degeneracy, fit, mean_shape
from timme.motion.whole import refuse_cut_molecules
from timme.system.derived_frames import MappedFrames
from timme.system.ensemble import Ensemble
from timme.system.frame_choices import rows_of
from timme.system.frames import Frames

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Superposition(Described):
    """Snapshots as an observer sees them who moves with a body."""

    ensemble: Ensemble  # the same sites, laid onto the body
    sites: Ints  # those of the body
    shape: Shape  # of the body, and where it was
    notes: tuple[str, ...] = ()

    @property
    def rest(self) -> float:
        """What no rigid motion of the body accounts for: rms distance from its mean shape."""
        return self.shape.rest


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaidFrames(MappedFrames):
    """Frames that are turned and shifted as a whole, each in its own way; in open space."""

    frames: Frames
    rotations: Floats  # (snapshots, dimensions, dimensions), of the body
    centres: Floats  # (snapshots, dimensions), of the body
    origin: Floats  # (dimensions,), where its middle is laid

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of snapshots, sites and dimensions."""
        return self.frames.shape

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        """Return a range of snapshots.

        Parameters
        ----------
        start, stop : int
            As for :class:`Frames`.

        Returns
        -------
        coordinates : ndarray, shape (stop - start, sites, dimensions)
            In the precision of the source; NaN in snapshots that could not be laid onto the body.
        boxes : None
            Boxes would have to turn as well.
        """
        coordinates, _ = self.frames.read(start, stop)
        about = coordinates - self.centres[start:stop, None]
        laid = about @ self.rotations[start:stop] + self.origin
        return laid.astype(coordinates.dtype, copy=False), None

    def keep(self, snapshots: Sequence[int]) -> LaidFrames:
        """Keep some of the snapshots.

        Parameters
        ----------
        snapshots : sequence of int
            As for :class:`Frames`.

        Returns
        -------
        LaidFrames
            The chosen ones, laid as before.
        """
        return replace(
            self,
            frames=self.frames.keep(snapshots),
            rotations=rows_of(self.rotations, snapshots),
            centres=rows_of(self.centres, snapshots),
        )

    def unfold(self) -> Frames | None:
        """Say that walls mean nothing here.

        Returns
        -------
        None
            Snapshots are in open space.
        """
        return None

    def marks(self) -> Iterator[npt.ArrayLike]:
        """Walk through all that tells these frames from others.

        Yields
        ------
        array_like
            Those of the other frames, and how they are laid.
        """
        yield from ("laid", *self.frames.marks(), self.rotations, self.centres, self.origin)


def superpose(
    ensemble: Ensemble,
    on: str | npt.ArrayLike | None = None,
    *,
    weights: Literal["mass"] | npt.ArrayLike | None = None,
    onto: npt.ArrayLike | None = None,
) -> Superposition:
    """Lay all snapshots onto a body: its mean shape, turned as in the first snapshot.

    The mean shape is found by fitting all snapshots to it, averaging, and repeating. Snapshots are
    read block by block; no more than one block is held.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots. In a periodic box, molecules must be whole.
    on : str or array_like, optional
        Sites of the body: a selection, indices (of a cluster: ``partition.members(0)``), or one
        truth value for each; all sites by default.
    weights : "mass" or array_like, optional
        How much each of these counts in the fit; all alike by default.
    onto : array_like, shape (sites of the body, dimensions), optional
        Positions to lay them onto in place of their mean shape.

    Returns
    -------
    Superposition
        Sites that are not seen stay unseen. Snapshots in which the body has no orientation, as too
        few of its sites are seen or its mirror image fits as well, are left out, and notes tell how
        many; others tell where the body is nearly a line, or hardly rigid.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> planted = moving((60, 40), 20, spans=[60.0])
    >>> still = superpose(planted.ensemble, planted.labels == 0)
    >>> bool(rmsf(still.ensemble)[:60].max() < 0.3 < rmsf(still.ensemble)[60:].min())
    True
    """
    sites = chosen_sites(ensemble, on)
    body = ensemble.select(sites)
    given = site_weights(body, weights)
    refuse_cut_molecules(body)
    start = None if onto is None else _reference(onto, body)

    def blocks() -> Iterable[tuple[Coordinates, Floats]]:
        return ((block.coordinates, block.weights) for block in body.blocks())

    shape = mean_shape(blocks, given)
    if not shape.n_fitted:
        raise ValueError(
            f"{ensemble.prefix}snapshots are laid onto a body that has an orientation, but of the "
            f"{len(sites)} sites chosen {shape.verdict}: choose more sites"
        )
    fitted = np.flatnonzero(shape.poses.unique)
    turn, origin = np.eye(ensemble.n_dimensions), shape.poses.centres[fitted[0]]
    if start is not None:
        pose = fit(shape.places, start[None], given)
        if not pose.unique[0]:
            why = degeneracy(start, given) or "its mirror image fits as well"
            raise ValueError(
                f"snapshots are laid onto positions that have an orientation, but here {why}: "
                "give those of more sites"
            )
        turn, origin = pose.rotations[0], pose.centres[0]
    rotations = shape.poses.rotations @ turn.T
    frames = LaidFrames(ensemble.frames, rotations, shape.poses.centres, origin)
    laid = replace(ensemble, frames=frames, images=None)
    if len(fitted) < ensemble.n_snapshots:
        laid = laid[fitted]
    notes = (*_left_out(shape), *cautions(shape, "the body"))
    return Superposition(laid, frozen(sites), shape, notes)


def _left_out(shape: Shape) -> Iterator[str]:
    """Why snapshots could not be laid onto a body, in words."""
    ties = int(shape.poses.ties.sum())
    lost = len(shape.poses.ties) - int(shape.poses.unique.sum()) - ties
    if lost:
        yield f"{lost} snapshots were left out: too few sites of the body are seen in them"
    if ties:
        yield f"{ties} snapshots were left out: the mirror image of the body fits them as well"


def rmsf(ensemble: Ensemble) -> Floats:
    """Say how far sites are from their mean places, root mean square.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots as they are: lay them onto a body first.

    Returns
    -------
    ndarray, shape (sites,)
        In the unit of the coordinates; NaN for sites that are never seen.

    Examples
    --------
    >>> rmsf(Ensemble.from_array([[[0.0, 0, 0]], [[2.0, 0, 0]]]))
    array([1.])
    """
    first = np.full((ensemble.n_sites, ensemble.n_dimensions), np.nan)
    total, shift = np.zeros(ensemble.n_sites), np.zeros_like(first)
    square = np.zeros(ensemble.n_sites)
    for block in ensemble.blocks():
        seen: Bools = np.asarray(np.isfinite(block.coordinates).all(axis=2))
        first = _first_seen(first, block.coordinates, seen)
        away = np.where(seen[:, :, None], block.coordinates - first, 0.0)
        share = block.weights[:, None] * seen
        total += share.sum(axis=0)
        shift += np.einsum("ts,tsd->sd", share, away)
        square += np.einsum("ts,tsd->s", share, away**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = square / total - ((shift / total[:, None]) ** 2).sum(axis=1)
    found: Floats = np.sqrt(np.maximum(variance, 0.0))
    return found


def chosen_sites(ensemble: Ensemble, on: str | npt.ArrayLike | None) -> Ints:
    """Find the sites of a body.

    Parameters
    ----------
    ensemble : Ensemble
        All sites.
    on : str or array_like or None
        A selection, indices, truth values, or None for all.

    Returns
    -------
    ndarray of int
        At least one.
    """
    if on is None:
        return np.arange(ensemble.n_sites)
    found = ensemble.find_sites(on) if isinstance(on, str) else on
    sites = indices(found, ensemble.n_sites, "sites of a body")
    if not len(sites):
        raise ValueError("a body needs at least 1 site, got none: choose some")
    return sites


def site_weights(body: Ensemble, weights: Literal["mass"] | npt.ArrayLike | None) -> Floats:
    """Say how much each site of a body counts.

    Parameters
    ----------
    body : Ensemble
        Its sites alone.
    weights : "mass" or array_like or None
        Masses, numbers, or None for all alike.

    Returns
    -------
    ndarray, shape (sites,)
        Not negative, with mean 1.
    """
    if weights is None:
        return np.ones(body.n_sites)
    named = isinstance(weights, str)
    if named and weights != "mass":
        raise ValueError(f'weights are "mass" or one number for each site, got {weights!r}')
    given = body.atoms.masses[body.site_atoms] if named else numbers(weights, "weights")
    wrong = ~(np.isfinite(given) & (given >= 0))
    if given.shape != (body.n_sites,) or wrong.any():
        got = f"shape {given.shape}" if given.shape != (body.n_sites,) else f"{given[wrong][0]:g}"
        raise ValueError(
            f"weights need one number, not negative, for each of {body.n_sites} sites, got {got}"
        )
    if not given.any():
        raise ValueError("at least one site of a body must have a weight above 0, got none")
    scaled: Floats = given / given.mean()
    return scaled


def _reference(onto: npt.ArrayLike, body: Ensemble) -> Floats:
    given = numbers(onto, "positions to lay snapshots onto")
    if given.shape != (body.n_sites, body.n_dimensions):
        raise ValueError(
            f"positions to lay {body.n_sites} sites onto need shape "
            f"{(body.n_sites, body.n_dimensions)}, got {given.shape}"
        )
    return given


def _first_seen(first: Floats, coordinates: Coordinates, seen: Bools) -> Floats:
    """Where each site was seen first, so that sums of squares are of small numbers."""
    new = np.isnan(first[:, 0]) & seen.any(axis=0)
    frames = seen.argmax(axis=0)
    return np.where(new[:, None], coordinates[frames, np.arange(len(new))], first)
