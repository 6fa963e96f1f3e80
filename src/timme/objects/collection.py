"""Objects: groups of one or more sites, each with a centre."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from scipy import sparse

from timme._arrays import Floats, Ints, Strings, frozen
from timme._errors import require
from timme._html import Described
from timme.objects.centres import CentreFrames
from timme.settings.values import REDUCTION, Reduction
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Objects(Described):
    """Groups of one or more sites, each with a centre.

    The members of object ``k`` are ``members[offsets[k]:offsets[k + 1]]``.
    """

    ensemble: Ensemble
    kind: str  # what they are, for messages: "points", "links", "bodies", "residues", …
    members: Ints  # sites of all objects, one after another
    offsets: Ints  # (objects + 1,)
    centre_weights: Floats  # (members,), weight of each member in the centre, 1 in all per object
    reduction: Reduction  # from σ of cross pairs to σ of objects; "centre": σ of the centres
    names: Strings  # (objects,)
    rigid: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))  # site pairs of σ = 0

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.offsets) - 1

    def sites(self, index: int) -> Ints:
        """Return the members of one object.

        Parameters
        ----------
        index : int
            Which object.

        Returns
        -------
        ndarray of int
            Its sites.
        """
        return self.members[self.offsets[index] : self.offsets[index + 1]]

    @property
    def are_points(self) -> bool:
        """Whether every object is compared by one point: its only site, or its centre."""
        return self.reduction == "centre" or len(self.members) == len(self)

    @property
    def anchors(self) -> Ints:
        """The site that stands for each object: the heaviest in its centre, the first of equals."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        ranked = np.lexsort((np.arange(len(owner)), -self.centre_weights, owner))
        return self.members[ranked[self.offsets[:-1]]]

    @property
    def centred_on_sites(self) -> bool:
        """Whether every centre is one of the sites (atoms and bodies, not residues)."""
        return bool(np.count_nonzero(self.centre_weights) == len(self))

    def centres(self) -> Ensemble:
        """Return the centres of the objects as an ensemble of as many sites.

        Returns
        -------
        Ensemble
            In a periodic box, members are first brought next to one another.
        """
        anchors = self.anchors
        if self.centred_on_sites and np.bincount(anchors).max(initial=0) <= 1:
            whole = np.array_equal(anchors, np.arange(self.ensemble.n_sites))
            return self.ensemble if whole else self.ensemble.select(anchors)
        seen = self.ensemble.images
        frames = CentreFrames(
            self.ensemble.frames, self.members, self.offsets, self.centre_weights, seen
        )
        return replace(
            self.ensemble,
            frames=frames,
            site_atoms=self.ensemble.site_atoms[anchors],
            images=None if seen is None else seen.of_groups(self.members, self.offsets),
        )

    def _facts(self) -> Iterable[tuple[str, object]]:
        first = ", ".join(map(str, self.names[:3]))
        return (
            ("kind", self.kind),
            ("objects", len(self)),
            ("sites", self.ensemble.n_sites),
            ("snapshots", self.ensemble.n_snapshots),
            ("reduction", self.reduction),
            ("names", f"{first}, …" if len(self) > 3 else first),
        )

    def membership(self) -> sparse.csr_array:
        """Return which sites belong to which object.

        Returns
        -------
        csr_array of bool, shape (objects, sites)
            True for members.
        """
        shape = (len(self), self.ensemble.n_sites)
        return sparse.csr_array(
            (np.ones(len(self.members), bool), self.members, self.offsets), shape=shape
        )


def make_objects(
    ensemble: Ensemble,
    kind: str,
    members: Sequence[Ints] | Ints,
    *,
    names: Sequence[str],
    reduction: Reduction = REDUCTION,
    masses: Floats | None = None,
) -> Objects:
    """Make objects of the sites of each.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    kind : str
        What they are, for messages.
    members : sequence of ndarray of int, or ndarray, shape (objects, members)
        Sites of each object.
    names : sequence of str
        Names of the objects.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two objects.
    masses : ndarray, shape (sites,), optional
        For centres of mass; those of geometry by default.

    Returns
    -------
    Objects
        As many as there are members.
    """
    if len(members) == 0:
        raise ValueError(f"{kind} need at least 1 object, got none")
    check_reduction(reduction)
    if len(names) != len(members):
        raise ValueError(f"names need one for each of {len(members)} objects, got {len(names)}")
    flat = np.concatenate(list(members)).astype(np.int64)
    counts = np.array([len(sites) for sites in members])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    weights = np.ones(len(flat)) if masses is None else masses[flat]
    totals = np.add.reduceat(weights, offsets[:-1])
    if not (totals > 0).all():
        raise ValueError("centres of mass need masses above 0: use centres of geometry")
    weights = weights / np.repeat(totals, counts)
    return Objects(
        ensemble, kind, frozen(flat), frozen(offsets), frozen(weights), reduction, np.array(names)
    )


def require_objects(given: Any, step: str) -> None:
    """Refuse what are no objects, and say how they are made.

    Parameters
    ----------
    given : Any
        What the user passed.
    step : str
        Which step needs objects.
    """
    remedies = {
        "Ensemble": "pass timme.objects.points(ensemble), or its bodies, residues, …",
        "other": "pass what timme.objects makes of an Ensemble, such as timme.objects.points",
    }
    require(given, Objects, step, remedies)


def require_ensemble(given: Any, kind: str) -> None:
    """Refuse what is no ensemble, and say how one is made.

    Parameters
    ----------
    given : Any
        What the user passed.
    kind : str
        Which objects need an ensemble.
    """
    remedy = "pass timme.read(...) of the file, array or object"
    require(given, Ensemble, f"objects.{kind}", {"other": remedy})


def require_places_on_sphere(compared: Objects, metric: object) -> None:
    """Refuse centres of groups where a centre is no mean of coordinates.

    Parameters
    ----------
    compared : Objects
        What is compared, by its centres.
    metric : str, callable or None
        How far apart two of them are.
    """
    if metric == "haversine" and not compared.centred_on_sites:
        raise ValueError(
            f"centres of {compared.kind} on a sphere are no means of latitudes and longitudes: "
            "compare all their sites (reduction='rms'), with pairs that need no centres "
            "(pairs='all')"
        )


def check_reduction(reduction: str) -> None:
    """Refuse a reduction that is none.

    Parameters
    ----------
    reduction : str
        What the user passed.
    """
    if reduction not in get_args(Reduction):
        raise ValueError(
            f"a reduction is one of {', '.join(get_args(Reduction))}, got {reduction!r}"
        )
