"""Say how the two sides of every split of a hierarchy move against each other."""

from __future__ import annotations

from dataclasses import dataclass

from timme._arrays import Ints, frozen
from timme._html import Described
from timme.hierarchy.condensed import MIN_SIZE, condense
from timme.hierarchy.tree import Hierarchy
from timme.motion.hinges import Hinge, hinge
from timme.motion.whole import hold
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SplitMotion(Described):
    """How a cluster moves against the larger one that it joins."""

    height: float  # at which they join
    reference: Ints  # sites of the larger
    body: Ints  # sites of the other
    motion: Hinge


def split_motions(
    ensemble: Ensemble, hierarchy: Hierarchy, *, min_size: int = MIN_SIZE
) -> tuple[SplitMotion, ...]:
    """Say how clusters move against the larger one that they join, split by split.

    Most merges of a hierarchy add a stray site; splits are those of its condensed tree, that have
    at least so many sites on both sides.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    hierarchy : Hierarchy
        Of its sites: of σ, or of rigid bodies.
    min_size : int, optional
        Sites on each side of a split.

    Returns
    -------
    tuple of SplitMotion
        The highest split first.

    Examples
    --------
    >>> from timme.motion import bodies
    >>> from timme.synthetic import moving
    >>> ensemble = moving((60, 40), 20, spans=[30.0]).ensemble
    >>> found = split_motions(ensemble, bodies(ensemble).hierarchy)
    >>> found[0].motion.kind
    'hinge'
    """
    if hierarchy.n_sites != ensemble.n_sites:
        raise ValueError(
            f"splits are those of a hierarchy of the same {ensemble.n_sites} sites, got one of "
            f"{hierarchy.n_sites}"
        )
    ensemble = hold(ensemble)
    tree = condense(hierarchy, min_size=min_size)
    found = []
    for larger, *others in tree.splits:
        still = tree.members(int(larger))
        for other in others:
            body = tree.members(int(other))
            height = float(tree.deaths[other])
            motion = hinge(ensemble, body=body, reference=still)
            found.append(SplitMotion(height, frozen(still), frozen(body), motion))
    return tuple(found)
