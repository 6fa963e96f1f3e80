"""Objects that sites and bonds give by themselves: points, links and bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints, frozen
from timme.objects.collection import Objects, check_reduction, make_objects, require_ensemble
from timme.settings.values import LINK_REDUCTION, REDUCTION, Reduction
from timme.system.ensemble import Ensemble
from timme.system.topology import site_bonds, within_bonds


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
    require_ensemble(ensemble, "points")
    sites = np.arange(ensemble.n_sites)
    names = [ensemble.site_label(site) for site in sites.tolist()]
    return make_objects(ensemble, "points", sites[:, None], names=names)


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
    require_ensemble(ensemble, "links")
    ends = site_bonds(ensemble) if bonds is None else _checked_links(bonds, ensemble.n_sites)
    if len(ends) == 0:
        raise ValueError("links need bonds, got none: pass bonds=, or use points")
    labels = [ensemble.site_label(site) for site in range(ensemble.n_sites)]
    names = [f"{labels[a]}–{labels[b]}" for a, b in ends.tolist()]
    made = make_objects(ensemble, "links", ends, names=names, reduction=reduction)
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
    require_ensemble(ensemble, "bodies")
    check_reduction(reduction)
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
