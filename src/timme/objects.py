"""What is rigid by itself: points, links, bodies and groups, the objects that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Coordinates, Floats, Ints, Strings, frozen, indices
from timme._errors import require
from timme._html import Described
from timme.settings.values import (
    CENTRE,
    LINK_REDUCTION,
    MOLECULE_CENTRE,
    REDUCTION,
    Centre,
    Reduction,
)
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames, MappedFrames
from timme.system.images import Images
from timme.system.space import Boxes
from timme.system.topology import adjacency, site_bonds, within_bonds


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
        frames = _CentreFrames(
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


def points(ensemble: Ensemble) -> Objects:
    """Take every site as an object: atoms, particles, Cα, cars.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.

    Returns
    -------
    Objects
        As many as there are sites.
    """
    _require_ensemble(ensemble, "points")
    sites = np.arange(ensemble.n_sites)
    names = [ensemble.site_label(site) for site in sites.tolist()]
    return _objects(ensemble, "points", sites[:, None], names=names)


def links(
    ensemble: Ensemble, bonds: npt.ArrayLike | None = None, *, reduction: Reduction = LINK_REDUCTION
) -> Objects:
    """Take every bond as a rigid rod between its two ends.

    For two links that share a joint, ``max`` gives σ of the two far ends, ``rms`` half of it: the
    other distances are lengths of links, which do not count as fluctuating.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the joints.
    bonds : array_like, shape (bonds, 2), optional
        Pairs of sites; the bonds of the ensemble by default.
    reduction : {"max", "rms", "centre"}, optional
        How σ of the cross pairs become σ of two links.

    Returns
    -------
    Objects
        One per bond, in the order of the bonds.
    """
    _require_ensemble(ensemble, "links")
    ends = site_bonds(ensemble) if bonds is None else _checked_links(bonds, ensemble.n_sites)
    if len(ends) == 0:
        raise ValueError("links need bonds, got none: pass bonds=, or use points")
    labels = [ensemble.site_label(site) for site in range(ensemble.n_sites)]
    names = [f"{labels[a]}–{labels[b]}" for a, b in ends.tolist()]
    made = _objects(ensemble, "links", ends, names=names, reduction=reduction)
    return replace(made, rigid=frozen(np.sort(ends, axis=1)))


def bodies(ensemble: Ensemble, *, reach: int = 1, reduction: Reduction = REDUCTION) -> Objects:
    """Take every atom with its covalent neighbours as a rigid body.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    reach : int, optional
        Neighbours up to this many bonds away belong to a body.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two bodies.

    Returns
    -------
    Objects
        One per site, centred on it.
    """
    _require_ensemble(ensemble, "bodies")
    _check_reduction(reduction)
    if reach < 0:
        raise ValueError(f"bodies reach at least 0 bonds, got {reach}")
    n_sites = ensemble.n_sites
    near = within_bonds(site_bonds(ensemble), n_sites, reach)
    owner, member = near.nonzero()
    ranked = np.lexsort((member, owner != member, owner))  # the atom itself comes first
    owner, member = owner[ranked], member[ranked]
    names = [ensemble.site_label(site) for site in range(n_sites)]
    return Objects(
        ensemble=ensemble,
        kind="bodies",
        members=frozen(member.astype(np.int64)),
        offsets=frozen(np.searchsorted(owner, np.arange(n_sites + 1))),
        centre_weights=frozen((owner == member).astype(np.float64)),
        reduction=reduction,
        names=np.array(names),
    )


def groups(
    ensemble: Ensemble,
    sets: Sequence[npt.ArrayLike | None] | Mapping[str, str | npt.ArrayLike] | npt.ArrayLike,
    *,
    reduction: Reduction = REDUCTION,
    centre: Centre = CENTRE,
    names: Sequence[str] | None = None,
    kind: str = "groups",
) -> Objects:
    """Take the user's own sets of sites as objects.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    sets : sequence of array_like of int, mapping, or labels
        Sites of each group; a site may be in several groups, or in none. Of a mapping, the keys
        are names, and its values are sites, or selections such as ``resid 6:18``. Labels, one for
        each site, put equal ones into one group, in ascending order; what is labelled below 0, NaN,
        None or by an empty text is in no group.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two groups; "centre" compares their centres alone.
    centre : {"geometry", "mass"}, optional
        What the centre of a group is.
    names : sequence of str, optional
        Names of the groups, where their sets give none.
    kind : str, optional
        What they are, for messages.

    Returns
    -------
    Objects
        One per set.

    Examples
    --------
    >>> import timme
    >>> ensemble = timme.synthetic.chain(5, 2)
    >>> groups(ensemble, {"head": [0, 1], "tail": [4, 5]}).names.tolist()
    ['head', 'tail']
    >>> groups(ensemble, [0, 0, 0, 1, 1, -1]).sites(1)
    array([3, 4])
    """
    _require_ensemble(ensemble, "groups")
    if centre not in get_args(Centre):
        raise ValueError(f"a centre is that of geometry or mass, got {centre!r}")
    sets, known = _named_sets(ensemble, sets)
    names = known if names is None else names
    members = []
    for number, sites in enumerate(sets, start=1):
        members.append(indices(sites, ensemble.n_sites, f"sites of group {number}"))
        if len(members[-1]) == 0:
            raise ValueError(f"a group needs at least 1 site: group {number} is empty")
    labels = (
        [f"group {number}" for number in range(1, len(members) + 1)] if names is None else names
    )
    masses = ensemble.atoms.masses[ensemble.site_atoms] if centre == "mass" else None
    return _objects(ensemble, kind, members, names=labels, reduction=reduction, masses=masses)


def residues(
    ensemble: Ensemble, *, reduction: Reduction = REDUCTION, centre: Centre = CENTRE
) -> Objects:
    """Take every residue as an object.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    reduction, centre
        As for :func:`groups`.

    Returns
    -------
    Objects
        In the order of their first sites.
    """
    _require_ensemble(ensemble, "residues")
    atoms, chosen = ensemble.atoms, ensemble.site_atoms
    keys = [
        atoms.chains[chosen],
        atoms.resids[chosen],
        atoms.icodes[chosen],
        atoms.resnames[chosen],
    ]
    _, numbers = np.unique(
        np.column_stack([np.unique(key, return_inverse=True)[1] for key in keys]),
        axis=0,
        return_inverse=True,
    )
    return _labelled_groups(ensemble, numbers.ravel(), "residues", reduction, centre)


def molecules(
    ensemble: Ensemble, *, reduction: Reduction = REDUCTION, centre: Centre = MOLECULE_CENTRE
) -> Objects:
    """Take every molecule, a piece that bonds hold together, as an object.

    Where no bonds are known, molecules are those that the file numbers, as LAMMPS dumps do.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    reduction, centre
        As for :func:`groups`.

    Returns
    -------
    Objects
        In the order of their first sites.
    """
    _require_ensemble(ensemble, "molecules")
    numbers = _molecule_numbers(ensemble)
    chosen = numbers[ensemble.site_atoms]
    return _labelled_groups(ensemble, chosen, "molecules", reduction, centre)


def _molecule_numbers(ensemble: Ensemble) -> Ints:
    """Number the molecules: pieces that bonds hold together, or as the file does."""
    given = ensemble.molecules
    if len(ensemble.atoms.bonds) == 0 and given is not None:
        alone = np.arange(len(given)) + int(given.max()) + 1
        return np.where(given == 0, alone, given)
    if len(ensemble.atoms.bonds) == 0:
        raise ValueError(
            "molecules need covalent bonds, and none are known: read a topology with bonds, "
            "or use residues or points"
        )
    graph = adjacency(ensemble.atoms.bonds, len(ensemble.atoms))
    _, numbers = sparse.csgraph.connected_components(graph, directed=False)
    return numbers.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _CentreFrames(MappedFrames):
    """Centres of groups of sites of other frames."""

    frames: Frames
    members: Ints
    offsets: Ints
    weights: Floats
    images: Images | None

    @property
    def shape(self) -> tuple[int, int, int]:
        snapshots, _, dimensions = self.frames.shape
        return snapshots, len(self.offsets) - 1, dimensions

    def read(self, start: int, stop: int) -> tuple[Coordinates, Floats | None]:
        coordinates, boxes = self.frames.read(start, stop)
        n_frames, _, n_dimensions = coordinates.shape
        walk = coordinates[:, self.members].astype(np.float64)
        first = self.offsets[:-1]
        origins = walk[:, first].copy()
        # Steps from each member to the next, through the walls of the box, make a group whole.
        before = np.concatenate([self.members[:1], self.members[:-1]])
        around = Boxes.of(boxes, n_frames, n_dimensions, self.images)
        steps = around.between(coordinates, before, self.members)
        steps[:, first] = 0.0
        offsets = np.nancumsum(steps, axis=1)
        offsets -= np.repeat(offsets[:, first], np.diff(self.offsets), axis=1)
        offsets[np.isnan(walk)] = np.nan  # a group with a member that is not seen is not seen
        moved = np.add.reduceat(offsets * self.weights[:, None], first, axis=1)
        return origins + moved, boxes

    def marks(self) -> Iterator[npt.ArrayLike]:
        yield from ("centres", *self.frames.marks(), self.members, self.offsets, self.weights)
        yield "nearest" if self.images is None else self.images.molecules


def _require_ensemble(given: Any, kind: str) -> None:
    remedy = "pass timme.read(...) of the file, array or object"
    require(given, Ensemble, f"objects.{kind}", {"other": remedy})


def _objects(
    ensemble: Ensemble,
    kind: str,
    members: Sequence[Ints] | Ints,
    *,
    names: Sequence[str],
    reduction: Reduction = REDUCTION,
    masses: Floats | None = None,
) -> Objects:
    if len(members) == 0:
        raise ValueError(f"{kind} need at least 1 object, got none")
    _check_reduction(reduction)
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


def _named_sets(ensemble: Ensemble, given: Any) -> tuple[list[Any], list[str] | None]:
    """Sets of sites and, where they have any, their names."""
    if isinstance(given, Mapping):
        found = given.values()
        sets = [ensemble.find_sites(each) if isinstance(each, str) else each for each in found]
        return sets, list(map(str, given))
    if isinstance(given, str):
        raise TypeError(f"groups are several, got {given!r}: pass a dict of names and selections")
    if len(given) and all(np.ndim(each) == 0 for each in given):
        return _sets_of_labels(list(given), ensemble.n_sites)
    return list(given), None


def _sets_of_labels(labels: list[Any], n_sites: int) -> tuple[list[Ints], list[str]]:
    if len(labels) != n_sites:
        raise ValueError(
            f"labels of groups need one for each of {n_sites} sites, got {len(labels)}: "
            "to name the sites of groups, pass a list of lists"
        )
    texts = any(isinstance(each, str) for each in labels)
    grouped = dict[Any, list[int]]()
    for site, label in enumerate(labels):
        if label is None or label != label or (label == "" if texts else label < 0):  # noqa: PLR0124, NaN
            continue
        grouped.setdefault(label, []).append(site)
    ranked = sorted(grouped)
    names = [str(label) if texts else f"group {label}" for label in ranked]
    return [np.array(grouped[label]) for label in ranked], names


def _labelled_groups(
    ensemble: Ensemble, labels: Ints, kind: str, reduction: Reduction, centre: Centre
) -> Objects:
    """Group sites by label, in the order in which labels first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[inverse]
    sets = np.split(np.argsort(rank, kind="stable"), np.cumsum(np.bincount(rank))[:-1])
    names = [ensemble.site_label(int(sites[0])).rsplit("/", 1)[0] for sites in sets]
    return groups(ensemble, sets, reduction=reduction, centre=centre, names=names, kind=kind)


def _checked_links(bonds: npt.ArrayLike, n_sites: int) -> Ints:
    array = np.asarray(bonds)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"links need two sites each, got {array.dtype} of shape {array.shape}")
    if array.min() < 0 or array.max() >= n_sites:
        raise ValueError(f"links join sites 0 to {n_sites - 1}, got {array.min()} to {array.max()}")
    ends = np.sort(array.astype(np.int64), axis=1)
    if (ends[:, 0] == ends[:, 1]).any() or len(np.unique(ends, axis=0)) != len(ends):
        raise ValueError("links join two different sites, and each pair of sites once")
    return array.astype(np.int64)


def _check_reduction(reduction: str) -> None:
    if reduction not in get_args(Reduction):
        raise ValueError(
            f"a reduction is one of {', '.join(get_args(Reduction))}, got {reduction!r}"
        )
