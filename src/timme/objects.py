"""Objects: groups of one or more sites that are compared as units, each with a centre."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Coordinates, Floats, Ints, Strings, frozen, index_pairs, indices, whole
from timme._text import Described, require
from timme.ensemble.bonds import adjacency, bonds_and_traces, site_bonds, within_bonds
from timme.ensemble.ensemble import Ensemble
from timme.ensemble.frames import Step
from timme.ensemble.residues import residue_index
from timme.ensemble.space import Boxes, Images

Reduction = Literal["rms", "max", "centre"]
Centre = Literal["geometry", "mass"]

_REMEDY = "pass timme.read(...) of the file, array or object"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Objects(Described):
    """Groups of one or more sites, each with a centre.

    Attributes
    ----------
    ensemble : Ensemble
        Snapshots of the sites.
    kind : str
        What the objects are, for messages: "points", "links", "bodies", "residues" and so on.
    members : ndarray of int, shape (members,)
        Sites of all objects; those of object ``k`` are ``members[offsets[k]:offsets[k + 1]]``.
    offsets : ndarray of int, shape (objects + 1,)
        Where the members of each object begin.
    centre_weights : ndarray, shape (members,)
        Weight of each member in the centre of its object; they sum to 1 for each object.
    reduction : {"rms", "max", "centre"}
        How σ of the cross pairs of sites become σ of two objects; with "centre", the centres are
        compared instead.
    names : ndarray of str, shape (objects,)
        Names of the objects.
    rigid : ndarray of int, shape (site pairs, 2)
        Pairs of sites whose σ is 0 by definition, the lower first.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Ensemble
    >>> ensemble = Ensemble.from_array(np.zeros((2, 4, 3)))
    >>> halves = groups(ensemble, [[0, 1], [2, 3]])
    >>> len(halves), halves.sites(1)
    (2, array([2, 3]))
    """

    ensemble: Ensemble
    kind: str
    members: Ints
    offsets: Ints
    centre_weights: Floats
    reduction: Reduction
    names: Strings
    rigid: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.offsets) - 1

    def sites(self, index: int) -> Ints:
        """Sites of one object."""
        return self.members[self.offsets[index] : self.offsets[index + 1]]

    @property
    def are_points(self) -> bool:
        """Whether every object is compared by one point: its only site or its centre."""
        return self.reduction == "centre" or len(self.members) == len(self)

    @property
    def anchors(self) -> Ints:
        """Site that stands for each object: the first of largest weight in its centre."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.lexsort((np.arange(len(owners)), -self.centre_weights, owners))
        return self.members[order[self.offsets[:-1]]]

    @property
    def centred_on_sites(self) -> bool:
        """Whether every centre is one of the sites, as for points and bodies."""
        return bool(np.count_nonzero(self.centre_weights) == len(self))

    def centres(self) -> Ensemble:
        """Centres of the objects, as an ensemble with one site for each object."""
        ensemble, anchors = self.ensemble, self.anchors
        if self.centred_on_sites and np.bincount(anchors).max(initial=0) <= 1:
            same = np.array_equal(anchors, np.arange(ensemble.n_sites))
            return ensemble if same else ensemble.select(anchors)
        images = ensemble.images
        step = Centres(self.members, self.offsets, self.centre_weights, images)
        return replace(
            ensemble,
            frames=ensemble.frames.then(step),
            site_atoms=ensemble.site_atoms[anchors],
            images=None if images is None else images.of_groups(self.members, self.offsets),
        )

    def membership(self) -> sparse.csr_array:
        """Which sites belong to which object, of shape (objects, sites)."""
        shape = (len(self), self.ensemble.n_sites)
        held = np.ones(len(self.members), np.bool_)
        return sparse.csr_array((held, self.members, self.offsets), shape=shape)


@dataclass(frozen=True, slots=True, eq=False)
class Centres(Step):
    """Replaces sites by the centres of groups of them, made whole in a periodic box."""

    members: Ints
    offsets: Ints
    weights: Floats
    images: Images | None

    def __call__(
        self,
        coordinates: Coordinates,
        boxes: Floats | None,
        numbers: Sequence[int],  # noqa: ARG002, every snapshot is treated alike
    ) -> tuple[Coordinates, Floats | None]:
        """Centres in each snapshot; NaN where a member is missing."""
        n_frames, _, n_dimensions = coordinates.shape
        seen = coordinates[:, self.members].astype(np.float64)
        firsts = self.offsets[:-1]
        # Each member is placed at the nearest image of the one before it.
        before = np.concatenate([self.members[:1], self.members[:-1]])
        around = Boxes.of(boxes, n_frames, n_dimensions, self.images)
        steps = around.between(coordinates, before, self.members)
        steps[:, firsts] = 0.0
        offsets = np.nancumsum(steps, axis=1)
        offsets -= np.repeat(offsets[:, firsts], np.diff(self.offsets), axis=1)
        offsets[np.isnan(seen)] = np.nan
        shifts = np.add.reduceat(offsets * self.weights[:, None], firsts, axis=1)
        return seen[:, firsts] + shifts, boxes

    def shape(self, n_sites: int, n_dimensions: int) -> tuple[int, int]:  # noqa: ARG002
        """Return the numbers of groups and dimensions."""
        return len(self.offsets) - 1, n_dimensions

    def select(self, sites: Ints) -> tuple[Centres, Ints]:
        """Keep some of the groups, and return which sites they need."""
        places = np.concatenate([np.arange(*self.offsets[k : k + 2]) for k in sites])
        needed, members = np.unique(self.members[places], return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[sites])])
        images = None if self.images is None else self.images.select(needed)
        return Centres(members, offsets, self.weights[places], images), needed


def points(ensemble: Ensemble) -> Objects:
    """Every site as an object: atoms, particles, Cα, pedestrians.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.

    Returns
    -------
    Objects
        One for each site.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Ensemble
    >>> len(points(Ensemble.from_array(np.zeros((2, 5, 3)))))
    5
    """
    labels = _labels(ensemble, "points")
    return _objects(ensemble, "points", np.arange(len(labels) + 1), np.arange(len(labels)), labels)


def links(
    ensemble: Ensemble, bonds: npt.ArrayLike | None = None, *, reduction: Reduction = "max"
) -> Objects:
    """Every bond as a rigid rod between its two ends.

    Two links that share a joint are compared by their far ends: "max" gives σ of these, and "rms"
    half of it, because the other distances are lengths of links, which do not fluctuate.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of the joints.
    bonds : array_like of int, shape (links, 2), optional
        Pairs of sites. The bonds of the ensemble by default.
    reduction : {"max", "rms", "centre"}, optional
        How σ of the cross pairs become σ of two links.

    Returns
    -------
    Objects
        One for each bond, in the order of the bonds.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Ensemble
    >>> links(Ensemble.from_array(np.zeros((2, 3, 3))), [(0, 1), (1, 2)]).sites(1)
    array([1, 2])
    """
    labels = _labels(ensemble, "links")
    given = site_bonds(ensemble) if bonds is None else bonds
    ends = index_pairs(given, len(labels), "ends of links")
    rigid = np.unique(np.sort(ends, axis=1), axis=0)
    if len(rigid) == 0 or len(rigid) < len(ends) or (rigid[:, 0] == rigid[:, 1]).any():
        raise ValueError("links need at least 1 bond, each of two different sites, none twice")
    names = [f"{labels[one]}–{labels[other]}" for one, other in ends.tolist()]
    offsets = 2 * np.arange(len(ends) + 1)
    made = _objects(ensemble, "links", offsets, ends.ravel(), names, reduction=reduction)
    return replace(made, rigid=frozen(rigid))


def bodies(ensemble: Ensemble, *, reach: int = 1, reduction: Reduction = "rms") -> Objects:
    """Every atom with its covalent neighbours as a rigid body.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of atoms with bonds.
    reach : int, optional
        Number of bonds up to which neighbours belong to a body.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two bodies.

    Returns
    -------
    Objects
        One for each site, centred on it; the site itself is its first member.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Atoms, Ensemble
    >>> chain = Atoms.unnamed(4, bonds=[(0, 1), (1, 2), (2, 3)])
    >>> bodies(Ensemble.from_array(np.zeros((2, 4, 3)), atoms=chain)).sites(1)
    array([1, 0, 2])
    """
    labels = _labels(ensemble, "bodies")
    whole(reach, 0, "reach=")
    near = within_bonds(site_bonds(ensemble), len(labels), reach).nonzero()
    owners, members = (ends.astype(np.int64) for ends in near)
    order = np.lexsort((members, owners != members, owners))
    owners, members = owners[order], members[order]
    offsets = np.searchsorted(owners, np.arange(len(labels) + 1))
    weights = (owners == members).astype(np.float64)
    return _objects(ensemble, "bodies", offsets, members, labels, weights, reduction=reduction)


def residues(
    ensemble: Ensemble, *, reduction: Reduction = "rms", centre: Centre = "geometry"
) -> Objects:
    """Every residue as an object.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of atoms with residues.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two residues; "centre" compares their centres.
    centre : {"geometry", "mass"}, optional
        What the centre of a residue is.

    Returns
    -------
    Objects
        In the order of their first sites.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from timme.ensemble import Atoms, Ensemble
    >>> atoms = replace(Atoms.unnamed(4), resids=np.array([7, 7, 8, 8]))
    >>> residues(Ensemble.from_array(np.zeros((2, 4, 3)), atoms=atoms)).sites(1)
    array([2, 3])
    """
    require(ensemble, Ensemble, "objects.residues", _REMEDY)
    numbers = residue_index(ensemble.atoms)[ensemble.site_atoms]
    return _numbered(ensemble, numbers, "residues", reduction, centre)


def molecules(
    ensemble: Ensemble, *, reduction: Reduction = "rms", centre: Centre = "mass"
) -> Objects:
    """Every molecule, which is a set of sites that bonds connect, as an object.

    Without bonds, molecules are those that the file numbers, as LAMMPS dumps do.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots of atoms with bonds or numbered molecules.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two molecules; "centre" compares their centres.
    centre : {"mass", "geometry"}, optional
        What the centre of a molecule is.

    Returns
    -------
    Objects
        In the order of their first sites.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Atoms, Ensemble
    >>> dimers = Atoms.unnamed(4, bonds=[(0, 2), (1, 3)])
    >>> ensemble = Ensemble.from_array(np.zeros((2, 4, 3)), atoms=dimers)
    >>> molecules(ensemble, centre="geometry").sites(1)
    array([1, 3])
    """
    require(ensemble, Ensemble, "objects.molecules", _REMEDY)
    numbers, n_atoms = ensemble.molecules, len(ensemble.atoms)
    bonds = bonds_and_traces(ensemble.atoms.bonds, ensemble.traces)
    if len(bonds) > 0:
        _, found = sparse.csgraph.connected_components(adjacency(bonds, n_atoms), directed=False)
        numbers = found.astype(np.int64)
    elif numbers is None:
        raise ValueError("molecules need bonds: read a topology, or use residues or points")
    else:  # an atom that the file numbers 0 is a molecule by itself
        numbers = np.where(numbers == 0, numbers.max() + 1 + np.arange(n_atoms), numbers)
    return _numbered(ensemble, numbers[ensemble.site_atoms], "molecules", reduction, centre)


def groups(
    ensemble: Ensemble,
    sets: Sequence[npt.ArrayLike | None] | Mapping[str, str | npt.ArrayLike] | npt.ArrayLike,
    *,
    reduction: Reduction = "rms",
    centre: Centre = "geometry",
    names: Sequence[str] | None = None,
    kind: str = "groups",
) -> Objects:
    """Sets of sites chosen by the user as objects.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    sets : sequence of array_like of int, mapping, or sequence of labels
        Sites of each group; a site may be in several groups or in none. The keys of a mapping are
        names, its values sites or selections such as ``resid 6:18``. Labels, one for each site, put
        sites of one label into one group, in ascending order of labels; a negative label, NaN, None
        or an empty text puts a site into no group.
    reduction : {"rms", "max", "centre"}, optional
        How σ of the cross pairs become σ of two groups; "centre" compares their centres.
    centre : {"geometry", "mass"}, optional
        What the centre of a group is.
    names : sequence of str, optional
        Names of the groups, unless ``sets`` gives them.
    kind : str, optional
        What the groups are, for messages.

    Returns
    -------
    Objects
        One for each set.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.ensemble import Ensemble
    >>> ensemble = Ensemble.from_array(np.zeros((2, 6, 3)))
    >>> groups(ensemble, {"head": [0, 1], "tail": [4, 5]}).names.tolist()
    ['head', 'tail']
    >>> groups(ensemble, [0, 0, 0, 1, 1, -1]).sites(1)
    array([3, 4])
    """
    require(ensemble, Ensemble, "objects.groups", _REMEDY)
    if isinstance(sets, str):
        raise TypeError(f"groups need several sets, got {sets!r}: pass a dict of selections")
    given: Any = sets
    if isinstance(sets, Mapping):
        names, given = list(map(str, sets)), sets.values()
        given = [ensemble.find_sites(each) if isinstance(each, str) else each for each in given]
    elif len(given) > 0 and all(np.ndim(each) == 0 for each in given):
        names, given = _sets_of_labels(list(given), ensemble.n_sites)
    members = [
        indices(sites, ensemble.n_sites, f"sites of group {number}")
        for number, sites in enumerate(given, start=1)
    ]
    if not members or min(map(len, members)) == 0:
        raise ValueError(
            f"{kind} need at least 1 group, and at least 1 site in each, got "
            f"{[len(sites) for sites in members[:10]]} sites"
        )
    if centre not in get_args(Centre):
        raise ValueError(f"centre= is geometry or mass, got {centre!r}")
    flat, offsets = np.concatenate(members), np.cumsum([0, *map(len, members)])
    weights = ensemble.atoms.masses[ensemble.site_atoms[flat]] if centre == "mass" else None
    names = names or [f"group {number}" for number in range(1, len(members) + 1)]
    return _objects(ensemble, kind, offsets, flat, names, weights, reduction=reduction)


def require_objects(given: object, step: str) -> None:
    """Raise an error for anything but objects, and say how to make them."""
    made = "pass timme.objects.points(ensemble), or its bodies, residues, …"
    require(given, Objects, step, made)


def require_flat(objects: Objects, metric: object) -> None:
    """Refuse centres of groups on a sphere, where a centre is not a mean of coordinates."""
    if metric == "haversine" and objects.are_points and not objects.centred_on_sites:
        raise ValueError(
            f"centres of {objects.kind} on a sphere are not means of latitudes and longitudes: "
            "compare all their sites (reduction='rms'), with pairs that need no centres "
            "(pairs='all')"
        )


def _labels(ensemble: Ensemble, kind: str) -> list[str]:
    require(ensemble, Ensemble, f"objects.{kind}", _REMEDY)
    return [ensemble.site_label(site) for site in range(ensemble.n_sites)]


def _objects(
    ensemble: Ensemble,
    kind: str,
    offsets: Ints,
    members: Ints,
    names: Sequence[str],
    weights: Floats | None = None,
    *,
    reduction: Reduction = "rms",
) -> Objects:
    """Check what users chose, and scale centre weights so that they sum to 1."""
    if reduction not in get_args(Reduction):
        raise ValueError(f"reduction= is rms, max or centre, got {reduction!r}")
    if len(names) != len(offsets) - 1:
        raise ValueError(f"names= needs {len(offsets) - 1} names, got {len(names)}")
    weights = np.ones(len(members)) if weights is None else weights
    totals = np.add.reduceat(weights, offsets[:-1])
    if not (totals > 0).all():
        raise ValueError("centres of mass need masses above 0: use centre='geometry'")
    weights = weights / np.repeat(totals, np.diff(offsets))
    arrays = frozen(members), frozen(offsets), frozen(weights)
    return Objects(ensemble, kind, *arrays, reduction, np.array(names))


def _numbered(
    ensemble: Ensemble, numbers: Ints, kind: str, reduction: Reduction, centre: Centre
) -> Objects:
    """Groups of sites of one number, in the order in which numbers first appear."""
    _, firsts, places = np.unique(numbers, return_index=True, return_inverse=True)
    sets = _split(np.argsort(np.argsort(firsts))[places])
    names = [ensemble.site_label(int(sites[0])).rsplit("/", 1)[0] for sites in sets]
    return groups(ensemble, sets, reduction=reduction, centre=centre, names=names, kind=kind)


def _sets_of_labels(labels: list[Any], n_sites: int) -> tuple[list[str], list[Ints]]:
    """Name and sites of each label, in ascending order."""
    if len(labels) != n_sites:
        raise ValueError(
            f"labels of groups need one for each of {n_sites} sites, got {len(labels)}: to name "
            "the sites of each group, pass a list of lists"
        )
    texts = any(isinstance(each, str) for each in labels)
    none = "" if texts else -1
    known = np.array([none if each is None or each != each else each for each in labels])  # noqa: PLR0124, NaN
    sites = np.flatnonzero(known != "" if texts else known >= 0)
    found, places = np.unique(known[sites], return_inverse=True)
    names = [str(each) if texts else f"group {each}" for each in found.tolist()]
    return names, [sites[chosen] for chosen in _split(places)]


def _split(numbers: Ints) -> list[Ints]:
    """Places of each number from 0 on."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1])
