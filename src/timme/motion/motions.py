"""Motions: the bodies of an ensemble and how each moves against one of them, all at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.ensemble import Ensemble
from timme.motion.fits import fit, rmsf, superpose
from timme.motion.hinges import Hinge, hinge
from timme.motion.rigid_bodies import Bodies, bodies
from timme.motion.screws import Screw, screw
from timme.motion.variance import Explained, explained_variance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Motions(Described):
    """The rigid bodies of an ensemble, and how they move."""

    bodies: Bodies
    reference: int  # body that is held still for the fluctuation
    moving: tuple[int, ...]  # all others
    relative_to: tuple[int, ...]  # body against which each of these moves
    hinges: tuple[Hinge, ...]  # how each of these moves
    explained: Explained  # by the bodies of every level
    fluctuation: Floats  # (sites,), rms distance from the mean position
    known: tuple[Screw, ...] = ()  # of a known transition, one for each moving body


def describe_motion(
    ensemble: Ensemble,
    *,
    n_bodies: int | None = None,
    reference: npt.ArrayLike | None = None,
    transition: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Motions:
    """Find the bodies of an ensemble, and how each moves against one of them.

    In an assembly each body moves against the largest body of its chain, and the largest bodies of
    other chains against the largest of all.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots in 2 or 3 dimensions; of a protein, select Cα first.
    n_bodies : int, optional
        Number of bodies; by default as many as stand out.
    reference : array_like of int, optional
        Sites of which the body that has most of them is the reference of all others.
    transition : array_like, shape (2, sites, 3), optional
        Positions before and after a known transition, NaN where unknown: the angles of each body
        are measured about the axis about which it turns there.
    seed : int, optional
        Seed of the draws of snapshots.

    Returns
    -------
    Motions
        Without hinges where there is one body.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> found = describe_motion(bodies((60, 40), spans=[60.0]).ensemble)
    >>> found.hinges[0].kind, round(found.hinges[0].range)
    ('hinge', 60)
    """
    found = bodies(ensemble, n_bodies=n_bodies)
    still = 0 if reference is None else _body_of(found, np.asarray(reference))
    moving = tuple(body for body in range(found.n_bodies) if body != still)
    fixed = tuple(
        still if reference is not None else _largest_of_chain(ensemble, found, body)
        for body in moving
    )
    known, hinges = list[Screw](), list[Hinge]()
    for number, against in zip(moving, fixed, strict=True):
        body, core, axis = found.members(number), found.members(against), None
        if transition is not None:
            known.append(_known_screw(np.asarray(transition, np.float64), ensemble, body, core))
            axis = known[-1].axis
        hinges.append(hinge(ensemble, body=body, reference=core, axis=axis, seed=seed))
    return Motions(
        bodies=found,
        reference=still,
        moving=moving,
        relative_to=fixed,
        hinges=tuple(hinges),
        explained=explained_variance(ensemble, [level.labels for level in found.levels]),
        fluctuation=frozen(rmsf(superpose(ensemble, found.members(still)).ensemble)),
        known=tuple(known),
    )


def _body_of(found: Bodies, sites: Ints) -> int:
    labels = found.labels[sites]
    if not (labels >= 0).any():
        raise ValueError("the reference sites belong to no body: choose others, or none")
    return int(np.bincount(labels[labels >= 0]).argmax())


def _largest_of_chain(ensemble: Ensemble, found: Bodies, body: int) -> int:
    """Body with most sites of the chain of another, or the largest of all if it is that one."""
    in_chain = (ensemble.sites.chains == found.chains[body]) & (found.labels >= 0)
    largest = int(np.bincount(found.labels[in_chain]).argmax())
    return largest if largest != body else 0


def _known_screw(pair: Floats, ensemble: Ensemble, body: Ints, core: Ints) -> Screw:
    """Screw of a body in a known transition, brought into the frame in which hinges are."""
    if pair.shape != (2, ensemble.n_sites, 3) or ensemble.n_dimensions != 3:
        raise ValueError(
            f"a known transition needs positions of shape (2, {ensemble.n_sites}, 3), got "
            f"{pair.shape}"
        )
    found = screw(*pair, body=body, reference=core)
    if not np.isfinite(found.axis).all() or found.kind == "translation":
        raise ValueError(
            f"the body of {len(body)} sites turns about no axis in the known transition "
            f"({found.verdict or found.kind}): choose structures in which it does"
        )
    laid = superpose(ensemble, core).ensemble.snapshot()[0]
    here = fit(pair[0, core], np.asarray(laid, np.float64)[None, core])
    turn, centre = here.rotations[0], here.centres[0]
    axis, point = frozen(turn @ found.axis), frozen(turn @ found.point + centre)
    return replace(found, axis=axis, point=point, move=frozen(turn @ found.move))
