"""Superpositions: ensembles as seen from one of their bodies, and the snapshots to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints, indices, numbers
from timme._text import Described
from timme.ensemble import Boxes, Ensemble
from timme.ensemble.frames import Step
from timme.motion.fits import Shape, shape_of, warnings_of

_SEEN = (0.5, 0.75, 0.9, 1.0)  # shares of the snapshots in which sites may have to be seen
_LOOKED_AT = 1000  # snapshots where there are gaps
_FEWEST = 4  # sites that may be more than one body
_STRETCH = 1e-4  # by which a step along a chain may be longer than to the nearest image


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Superposition(Described):
    """Snapshots as seen by an observer who moves with a body."""

    ensemble: Ensemble  # the same sites, laid onto the body, in open space
    shape: Shape  # of the body, and where it was
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LaidOnto(Step):
    """Turn and shift every snapshot as a whole; boxes are taken away, since they would turn too."""

    numbers: Ints  # (snapshots,), in the source, ascending
    rotations: Floats  # (snapshots, dimensions, dimensions), of the body
    centres: Floats  # (snapshots, dimensions), of the body
    origin: Floats  # (dimensions,), where its centre is laid

    def __call__(
        self, coordinates: Coordinates, boxes: Floats | None, numbers: Sequence[int]
    ) -> tuple[Coordinates, Floats | None]:
        """Return coordinates as seen from the body; NaN where it has no orientation."""
        del boxes
        places = np.searchsorted(self.numbers, np.asarray(numbers, np.int64))
        about = coordinates - self.centres[places, None]
        laid = about @ self.rotations[places] + self.origin
        return laid.astype(coordinates.dtype, copy=False), None


def superpose(
    ensemble: Ensemble,
    on: str | npt.ArrayLike | None = None,
    *,
    weights: npt.ArrayLike | None = None,
) -> Superposition:
    """Lay all snapshots onto a body: its mean shape, turned as in the first snapshot.

    No more than the body and one block of snapshots are held in memory.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots; in a periodic box, molecules must be whole.
    on : str or array_like, optional
        Sites of the body: a selection, indices, or one truth value for each; all by default.
    weights : array_like, optional
        Weights of these sites in the fit, such as masses; equal by default.

    Returns
    -------
    Superposition
        Snapshots in which the body has no orientation are left out, with a note.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[60.0])
    >>> still = superpose(planted.ensemble, planted.labels == 0)
    >>> bool(rmsf(still.ensemble)[:60].max() < 0.3 < rmsf(still.ensemble)[60:].min())
    True
    """
    require_dimensions(ensemble, "superpositions")
    sites = body_sites(ensemble, on)
    body = ensemble.select(sites)
    given = site_weights(weights, len(sites))
    refuse_torn(body)
    shape = shape_of(body.coordinates(), given, ensemble.weights)
    if not shape.n_fitted:
        raise ValueError(
            f"{ensemble.prefix}superposing needs a body with an orientation, but of the "
            f"{len(sites)} sites chosen {shape.verdict}: select more sites"
        )
    fitted = np.flatnonzero(shape.poses.unique)
    poses, places = shape.poses, np.asarray(ensemble.frames.numbers, np.int64)
    step = LaidOnto(places, poses.rotations, poses.centres, poses.centres[fitted[0]])
    laid = replace(ensemble, frames=ensemble.frames.then(step), images=None)
    laid = laid if len(fitted) == ensemble.n_snapshots else laid[fitted]
    ties = int(poses.ties.sum())
    reasons = {
        "too few sites of the body are seen in them": ensemble.n_snapshots - len(fitted) - ties,
        "the mirror image of the body fits as well": ties,
    }
    notes = [f"{count} snapshots were left out: {why}" for why, count in reasons.items() if count]
    return Superposition(laid, shape, (*notes, *warnings_of(shape)))


def rmsf(ensemble: Ensemble) -> Floats:
    """Return the root mean square distance of sites from their mean positions.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots, which are not superposed here.

    Returns
    -------
    ndarray, shape (sites,)
        In the unit of the coordinates; NaN for sites that are never seen.

    Examples
    --------
    >>> rmsf(Ensemble.from_array([[[0.0, 0, 0]], [[2.0, 0, 0]]]))
    array([1.])
    """
    positions = np.asarray(ensemble.coordinates(), np.float64)
    weights = np.ones(len(positions)) if ensemble.weights is None else ensemble.weights
    share = weights[:, None] * np.isfinite(positions[:, :, 0])
    with np.errstate(invalid="ignore"):
        share = (share / share.sum(axis=0))[:, :, None]
    away = np.nan_to_num(positions - (share * np.nan_to_num(positions)).sum(axis=0))
    return np.asarray(np.sqrt((share * away**2).sum(axis=(0, 2))))


def body_sites(ensemble: Ensemble, on: str | npt.ArrayLike | None) -> Ints:
    """Indices of the sites of a body, at least one; all for None."""
    if on is None:
        return np.arange(ensemble.n_sites)
    found = ensemble.find_sites(on) if isinstance(on, str) else on
    sites = indices(found, ensemble.n_sites, "sites of a body")
    if not len(sites):
        raise ValueError("a body needs at least 1 site, got none: select some")
    return sites


def site_weights(weights: npt.ArrayLike | None, n_sites: int) -> Floats:
    """Weights (sites,) in fits, with mean 1."""
    given = np.ones(n_sites) if weights is None else numbers(weights, "weights")
    if given.shape != (n_sites,) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
        raise ValueError(
            f"weights need one number, not negative, for each of {n_sites} sites, and at least one "
            f"above 0, got shape {given.shape} and {given.min(initial=0):g} at least"
        )
    return np.asarray(given / given.mean())


def require_dimensions(ensemble: Ensemble, what: str) -> None:
    """Refuse ensembles that are neither in space nor in a plane."""
    if ensemble.n_dimensions not in (2, 3):
        raise ValueError(
            f"{ensemble.prefix}{what} need 2 or 3 dimensions, got {ensemble.n_dimensions}"
        )


def body_labels(given: npt.ArrayLike, n_sites: int) -> Ints:
    """Check labels of bodies, a whole number for each site."""
    labels = np.asarray(given)
    if labels.shape != (n_sites,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"bodies need a whole number for each of {n_sites} sites, got {labels.dtype} of shape "
            f"{labels.shape}"
        )
    return labels.astype(np.int64)


def some_snapshots(
    ensemble: Ensemble, most: int, *, all_sites: bool = False
) -> tuple[Floats, Ints, Ints]:
    """Snapshots spread over an ensemble in which the same sites are seen.

    Of sites that are seen in at least 50, 75, 90 and 100 % of the snapshots, those are taken that
    keep most positions in whole snapshots; with ``all_sites`` none is left out.

    Returns
    -------
    snapshots : ndarray, shape (snapshots, sites, dimensions)
        At most ``most``, in double precision.
    sites, chosen : ndarray of int
        Which sites and snapshots these are.
    """
    fewest = 1 if all_sites else _FEWEST
    counts = (("snapshots", ensemble.n_snapshots, 2), ("sites", ensemble.n_sites, fewest))
    for what, got, needed in counts:
        if got < needed:
            raise ValueError(
                f"{ensemble.prefix}rigid motion needs at least {needed} {what}, got {got}: read or "
                "select more of them"
            )
    counting = np.arange(ensemble.n_snapshots)
    if ensemble.weights is not None:
        counting = np.flatnonzero(ensemble.weights)
    # With gaps, most snapshots may not be whole: more are looked at.
    chosen = _spread(counting, max(most, _LOOKED_AT) if ensemble.gaps else most)
    some = ensemble[chosen]
    refuse_torn(some)
    snapshots = np.asarray(some.coordinates(), np.float64)
    seen: Bools = np.asarray(np.isfinite(snapshots).all(axis=2))
    shares = (0.0,) if all_sites else _SEEN
    choices = [np.flatnonzero(seen.mean(axis=0) >= share) for share in shares]
    kept = [(np.flatnonzero(seen[:, sites].all(axis=1)), sites) for sites in choices]
    kept = [(whole, sites) for whole, sites in kept if len(whole) > 1 and len(sites) >= fewest]
    if not kept:
        raise ValueError(
            f"{ensemble.prefix}rigid motion needs at least 2 snapshots in which the same sites are "
            "seen, got fewer: select sites that are mostly seen"
        )
    whole, sites = max(kept, key=lambda each: len(each[0]) * len(each[1]))
    whole = _spread(whole, most)
    return snapshots[np.ix_(whole, sites)], sites, chosen[whole]


def refuse_torn(ensemble: Ensemble) -> None:
    """Refuse molecules that the faces of a box cut apart."""
    atoms = ensemble.sites
    follows = np.flatnonzero((atoms.chains[1:] == atoms.chains[:-1]) & (np.diff(atoms.resids) <= 1))
    for block in ensemble.blocks():
        if block.boxes is None:
            return
        vectors = np.diff(block.coordinates.astype(np.float64), axis=1)[:, follows]
        boxes = Boxes.of(block.boxes, len(vectors), ensemble.n_dimensions)
        plain, nearest = (np.linalg.norm(v, axis=2) for v in (vectors, boxes.shorten(vectors)))
        for frame, place in np.argwhere(plain > nearest * (1 + _STRETCH))[:1].tolist():
            raise ValueError(
                f"{ensemble.prefix}rigid motion needs whole molecules, but in snapshot "
                f"{block.start + frame + 1} the box cuts the chain after "
                f"{ensemble.site_label(int(follows[place]))}: read it with bonds, so that "
                "molecules are made whole"
            )


def _spread(places: Ints, most: int) -> Ints:
    """At most so many of some places, evenly spread."""
    spread = np.linspace(0, len(places) - 1, min(most, len(places))).round()
    return np.asarray(places[np.unique(spread.astype(np.int64))])
