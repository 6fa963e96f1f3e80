"""Systems that come with the package, as ensembles."""

from __future__ import annotations

import numpy as np

from timme.data.shipped import path, records
from timme.readers import read
from timme.system.ensemble import Ensemble


def barnase_md(*, dense: bool = False) -> Ensemble:
    """Read barnase, simulated in water at 300 K from its crystal structure; the protein alone.

    Parameters
    ----------
    dense : bool, optional
        Every ps for 0.1 ns, as long as the paper's run, instead of every 2 ps for 0.5 ns.

    Returns
    -------
    Ensemble
        All atoms, in open space.
    """
    return _trajectory("barnase_md", dense=dense)


def water_drop(*, dense: bool = False) -> Ensemble:
    """Read a drop of 1000 molecules of water in vacuum at 273.15 K.

    Parameters
    ----------
    dense : bool, optional
        All atoms every 0.05 ps for 5 ps, instead of oxygens every ps for 0.2 ns.

    Returns
    -------
    Ensemble
        In open space.
    """
    return _trajectory("water_drop", dense=dense)


def spheres(*, fluid: bool = False, noisy: bool = False) -> Ensemble:
    """Read 991 attracting spheres, 1.3 µm across, between two walls.

    Parameters
    ----------
    fluid : bool, optional
        A dense fluid, in which spheres rattle in cages of others, instead of a gel: a network at
        rest among spheres that move.
    noisy : bool, optional
        As a confocal microscope would find them, 0.03 µm off in the plane and 0.05 µm in depth.

    Returns
    -------
    Ensemble
        In µm; periodic along the walls, open across them.
    """
    name = f"spheres{'_fluid' * fluid}{'_noisy' * noisy}.npz"
    with np.load(path(name)) as kept:
        return Ensemble.from_array(kept["positions"], boxes=kept["box"], unit="µm")


def crowd() -> Ensemble:
    """Read people who come and go, some of them in parties.

    Returns
    -------
    Ensemble
        In m, with gaps where a person is not there.
    """
    return read(path("crowd.csv"), unit="m")


def ring_road() -> Ensemble:
    """Read cars on a ring road, most of them in platoons.

    Returns
    -------
    Ensemble
        Places along the road in m, of one dimension that is periodic.
    """
    length = records()["ring_road"].measured["length_m"]
    columns = ("frame", "particle", "along")
    return read(path("ring_road.csv"), columns=columns, box=[length], unit="m")


def _trajectory(name: str, *, dense: bool) -> Ensemble:
    stem = name + "_dense" * dense
    return read(path(f"{stem}.pdb"), path(f"{stem}.xtc"))
