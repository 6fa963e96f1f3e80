"""Find the bodies of an ensemble and how each moves against one of them, all at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme.motion.domains import Bodies, bodies
from timme.motion.fits import fit
from timme.motion.gaps import fill_gaps
from timme.motion.hinges import Hinge, hinge
from timme.motion.screws import Screw, screw
from timme.motion.superposition import rmsf, superpose
from timme.motion.variance import Explained, explained_variance
from timme.motion.whole import hold
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Motions(Described):
    """The rigid bodies of an ensemble, and how they move."""

    bodies: Bodies
    reference: int  # body that the others move against
    moving: tuple[int, ...]  # the others
    hinges: tuple[Hinge, ...]  # how each of these moves
    explained: Explained  # by the bodies of every level
    fluctuation: Floats  # (sites,), rms distance from the mean place, the reference held still
    known: tuple[Screw, ...] = ()  # of a known transition, whose axes angles are about; or none

    def _facts(self) -> Iterable[tuple[str, object]]:
        kinds = ", ".join(f"{each.kind} {each.range:.0f}°" for each in self.hinges)
        return (("bodies", self.bodies.n_bodies), ("motions", kinds or "none"))


def describe_motion(
    ensemble: Ensemble,
    *,
    n_bodies: int | None = None,
    reference: npt.ArrayLike | None = None,
    transition: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Motions:
    """Find the bodies of an ensemble, and how each moves against one of them.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; of a protein, select its Cα first. Short gaps are
        filled (see :func:`fill_gaps`).
    n_bodies : int, optional
        How many bodies are wanted; by default as many as stand out.
    reference : array_like of int, optional
        Sites of which the body that has most of them is held still; the largest by default.
    transition : array_like, shape (2, sites, 3), optional
        Where the sites are before and after a known transition, NaN where they are not known: the
        angles of each body are then measured about the axis about which it turns there.
    seed : int, optional
        Of the random numbers by which snapshots are drawn anew.

    Returns
    -------
    Motions
        Of one body, nothing moves against anything.
    """
    ensemble = fill_gaps(hold(ensemble))
    found = bodies(ensemble, n_bodies=n_bodies)
    still = 0 if reference is None else _body_of(found, np.asarray(reference))
    others = tuple(body for body in range(found.n_bodies) if body != still)
    core = found.members(still)
    laid = superpose(ensemble, core).ensemble
    known = tuple[Screw, ...]()
    if transition is not None:
        pair = np.asarray(transition, np.float64)
        known = tuple(_known(pair, laid, found.members(body), core, body) for body in others)
    axes: list[Floats | None] = [each.axis for each in known]
    axes = axes or [None] * len(others)
    return Motions(
        bodies=found,
        reference=still,
        moving=others,
        hinges=tuple(
            hinge(ensemble, body=found.members(body), reference=core, axis=axis, seed=seed)
            for body, axis in zip(others, axes, strict=True)
        ),
        explained=explained_variance(ensemble, _seen_labels(found)),
        fluctuation=frozen(rmsf(laid)),
        known=known,
    )


def _known(pair: Floats, laid: Ensemble, body: Ints, core: Ints, number: int) -> Screw:
    """Screw of a body in a known transition, brought into the frame that snapshots are laid in."""
    seen: Bools = np.asarray(np.isfinite(pair).all(axis=(0, 2)))
    found = screw(*pair, body=body[seen[body]], reference=core[seen[core]])
    if not np.isfinite(found.axis).all() or found.kind == "translation":
        raise ValueError(
            f"in the known transition body {number + 1} turns about no axis "
            f"({found.verdict or found.kind}): choose structures in which it does"
        )
    here = fit(pair[0, core], np.asarray(laid.snapshot()[0], np.float64)[None, core])
    turn = here.rotations[0]
    return replace(
        found,
        axis=frozen(turn @ found.axis),
        point=frozen(turn @ found.point + here.centres[0]),
        move=frozen(turn @ found.move),
    )


def _body_of(found: Bodies, sites: Ints) -> int:
    labels = found.labels[sites]
    if not (labels >= 0).any():
        raise ValueError(
            "the sites that should be held still belong to no body: choose others, or none"
        )
    return int(np.bincount(labels[labels >= 0]).argmax())


def _seen_labels(found: Bodies) -> list[Ints]:
    return [level.labels for level in found.levels]
