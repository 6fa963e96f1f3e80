"""Objects of many sites: the user's own groups, residues and molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Ints, indices
from timme.objects.collection import Objects, make_objects, require_ensemble
from timme.settings.values import CENTRE, MOLECULE_CENTRE, REDUCTION, Centre, Reduction
from timme.system.ensemble import Ensemble
from timme.system.residues import gathered_residues
from timme.system.topology import adjacency
from timme.system.traces import joined_atoms


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
    require_ensemble(ensemble, "groups")
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
    return make_objects(ensemble, kind, members, names=labels, reduction=reduction, masses=masses)


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
    require_ensemble(ensemble, "residues")
    numbers = gathered_residues(ensemble.atoms)[ensemble.site_atoms]
    return _labelled_groups(ensemble, numbers, "residues", reduction, centre)


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
    require_ensemble(ensemble, "molecules")
    numbers = _molecule_numbers(ensemble)
    chosen = numbers[ensemble.site_atoms]
    return _labelled_groups(ensemble, chosen, "molecules", reduction, centre)


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


def _molecule_numbers(ensemble: Ensemble) -> Ints:
    """Number the molecules: pieces that bonds hold together, or as the file does."""
    given = ensemble.molecules
    bonds = joined_atoms(ensemble.atoms.bonds, ensemble.steps)
    if len(bonds) == 0 and given is not None:
        alone = np.arange(len(given)) + int(given.max()) + 1
        return np.where(given == 0, alone, given)
    if len(bonds) == 0:
        raise ValueError(
            "molecules need covalent bonds, and none are known: read a topology with bonds, "
            "or use residues or points"
        )
    graph = adjacency(bonds, len(ensemble.atoms))
    _, numbers = sparse.csgraph.connected_components(graph, directed=False)
    return numbers.astype(np.int64)
