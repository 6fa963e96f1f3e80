"""Rigid clusters of every snapshot: error bars of a rigid core, and how bonds hold its sites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints, frozen, indices
from timme._text import Described
from timme.engine.checkpoint import DEFAULT, Run
from timme.ensemble import Ensemble, Frames
from timme.ensemble.atoms import angstroms
from timme.ensemble.frames import ArraySource
from timme.hierarchy import Hierarchy, Quantity, link
from timme.rigidity.decomposition import decompose, dilute
from timme.rigidity.networks import Network, checked_energy, network

APART = Quantity("fraction apart", words="fraction of snapshots apart")

_LARGEST = 20_000  # sites of which a matrix is made


class Stability(NamedTuple):
    """How strongly hydrogen bonds hold sites: energies in kcal/mol, NaN where none does."""

    sites: Floats  # (sites,), at which each joins the core
    pairs: Floats  # (sites, sites), at which two are in one rigid cluster; -inf on the diagonal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Together(Described):
    """Rigid clusters of all snapshots.

    Attributes
    ----------
    fractions, apart : ndarray, shape (sites, sites)
        Of the snapshots, by their weight, those in which two sites are in one rigid cluster, and
        the others: exactly k/n where all weigh the same.
    floppy_modes, largest : ndarray of int, shape (snapshots,)
        Internal degrees of freedom, and sites in the largest cluster.
    stability : ndarray, shape (snapshots, sites)
        Energy at which each site joins the core in kcal/mol, NaN where it never does.
    """

    fractions: Floats
    apart: Floats
    floppy_modes: Ints
    largest: Ints
    stability: Floats

    def hierarchy(self) -> Hierarchy:
        """Join sites that are together in most snapshots first.

        Returns
        -------
        Hierarchy
            Heights are the fraction of snapshots in which sites are apart. Sites that are never
            together do not join: at the cutoff 1 all would be one cluster.
        """
        return link(np.where(self.fractions > 0, self.apart, np.inf), quantity=APART)


def together(
    ensemble: Ensemble,
    cutoff: float,
    *,
    sites: npt.ArrayLike | None = None,
    run: Run = DEFAULT,
    **options: Any,
) -> Together:
    """Decompose every snapshot; count in how many of them sites are rigid with one another.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with hydrogens in several snapshots: models, frames, or copies of :func:`perturbed`.
    cutoff : float
        Highest energy of a hydrogen bond in kcal/mol; above 0 those that repel count as well.
    sites : array_like of int, optional
        Sites that are counted, such as Cα; all by default.
    run : Run, optional
        How it is carried out: by which threads or cluster, and where progress is reported.
    **options
        As for :func:`timme.rigidity.network`.

    Returns
    -------
    Together
        Fractions of the snapshots, and the result of each snapshot.

    Examples
    --------
    >>> from timme.ensemble import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> places = np.array([[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]])
    >>> together(Ensemble.from_array([places, 1.01 * places], atoms=ethane), -1.0).largest
    array([2, 2])
    """
    n_snapshots, n_sites = ensemble.n_snapshots, ensemble.n_sites
    counted = np.arange(n_sites) if sites is None else indices(sites, n_sites, "sites")
    if not 0 < len(counted) <= _LARGEST:
        raise ValueError(
            f"{ensemble.prefix}fractions need 1 to {_LARGEST:,} sites, got {len(counted):,} of "
            f"{n_sites:,}: choose others (sites=), such as Cα"
        )
    weights = np.ones(n_snapshots) if ensemble.weights is None else ensemble.weights
    weights = np.where((weights == weights[0]).all(), 1.0, weights)  # so that sums are exact
    shared = (_of_frames(ensemble, []), checked_energy(cutoff), counted, options)
    frames = ((place, *ensemble.snapshot(place)) for place in range(n_snapshots))
    held = np.zeros((len(counted), len(counted)))
    found = list[tuple[int, int, Floats]]()
    for clusters, floppy_modes, heights in run.engine.map(_analyse_snapshot, shared, frames):
        held[clusters[:, None] == clusters] += weights[len(found)]
        found.append((floppy_modes, np.bincount(clusters).max(), heights))
        run.tell(len(found), n_snapshots)
    modes, largest, stable = (frozen(np.array(values)) for values in zip(*found, strict=True))
    return Together(
        fractions=frozen(held / held[0, 0]),  # a site is with itself in all of them
        apart=frozen((held[0, 0] - held) / held[0, 0]),
        floppy_modes=modes,
        largest=largest,
        stability=stable,
    )


def stability(network: Network, sites: npt.ArrayLike) -> Stability:
    """Return how strongly hydrogen bonds hold sites to the core and to one another.

    Parameters
    ----------
    network : Network
        Of one structure.
    sites : array_like of int
        Bodies that are looked at, such as Cα.

    Returns
    -------
    Stability
        Energies at which sites join the core, and pairs a cluster, as bonds are added.

    Examples
    --------
    >>> ends, kinds = np.array([[0, 1], [1, 2], [0, 2]]), np.full(3, "hydrogen bond")
    >>> held = Network(3, ends, np.full(3, 5), kinds, np.array([-3.0, -1.0, -2.0]))
    >>> stability(held, [0, 2]).sites
    array([-1., -1.])
    """
    tree = dilute(network).restrict(sites)
    one, other = np.indices((tree.n_sites, tree.n_sites)).reshape(2, -1)
    pairs = tree.heights_between(one, other).reshape(tree.n_sites, -1)
    return Stability(tree.core_heights(), np.where(pairs == np.inf, np.nan, pairs))


def perturbed(
    ensemble: Ensemble, *, sigma: float = 0.1, copies: int = 20, seed: int = 0
) -> Ensemble:
    """Return copies of one structure whose atoms are moved at random.

    The rigid core of one structure depends on a few hydrogen bonds near the cutoff; its spread over
    copies is its error bar.

    Parameters
    ----------
    ensemble : Ensemble
        One structure, the first of several snapshots.
    sigma : float, optional
        Standard deviation of each coordinate in Å: the error of a good crystal structure.
    copies : int, optional
        Number of copies.
    seed : int, optional
        Seed of the random numbers.

    Returns
    -------
    Ensemble
        As many snapshots as copies, without order in time.

    Examples
    --------
    >>> pair = Ensemble.from_array([[[0.0, 0.0, 0.0], [1.5, 0.0, 0.0]]])
    >>> perturbed(pair, copies=3).n_snapshots
    3
    """
    length = angstroms(ensemble.unit)
    if length is None or not (sigma > 0 and np.isfinite(sigma)) or copies < 2:
        raise ValueError(
            f"{ensemble.prefix}at least 2 copies of atoms in Å or nm, moved by more than 0 Å, are "
            f"needed, got {copies} with {sigma!r} Å of coordinates in {ensemble.unit or 'no unit'}"
        )
    places, box = ensemble.snapshot(0)
    noise = np.random.default_rng(seed).normal(scale=sigma / length, size=(copies, *places.shape))
    return replace(_of_frames(ensemble, places + noise, box), independent=True)


def _analyse_snapshot(
    shared: tuple[Ensemble, float, Ints, dict[str, Any]],
    frame: tuple[int, Coordinates, Floats | None],
) -> tuple[Ints, int, Floats]:
    """Return clusters and core heights of the sites that count, and floppy modes."""
    (ensemble, cutoff, counted, options), (number, places, box) = shared, frame
    try:
        held = network(_of_frames(ensemble, [places], box), cutoff=max(cutoff, 0.0), **options)
    except ValueError as error:
        raise ValueError(f"snapshot {number + 1}: {error}") from None
    found = decompose(held, cutoff)
    heights = dilute(held).restrict(counted).core_heights()
    return found.clusters[counted], found.floppy_modes, heights


def _of_frames(ensemble: Ensemble, places: npt.ArrayLike, box: Floats | None = None) -> Ensemble:
    """Return the sites of an ensemble in other places (frames, sites, dimensions)."""
    array = np.reshape(places, (-1, *ensemble.frames.shape[1:]))
    boxes = None if box is None else np.broadcast_to(box, (len(array), *box.shape))
    source = ArraySource(array, boxes, np.full(len(array), np.nan))
    return replace(ensemble, frames=Frames.of(source), weights=None, runs=None)
