"""Rigid clusters of a solvated protein: the time per atom must hardly grow with its size."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import ROOT, race
from timme.rigidity import Decomposition, add_hydrogens, decompose, dilute, network
from timme.system.ensemble import Ensemble

_BARNASE = ROOT.parent / "shared" / "data" / "xray" / "1a2p.pdb"
_CUTOFF = -1.0  # kcal/mol: protein and water are one cluster, with thousands of redundant bonds
_LIMIT = 10.0  # seconds


def run(*, quick: bool) -> Results:
    """Decompose larger and larger parts of solvated adenylate kinase; dilute barnase."""
    whole = _solvated()
    sizes = (500, 2_000) if quick else (2_000, 10_000, whole.n_sites)
    systems = [_sphere(whole, size) for size in sizes]
    networks = [network(system, waters=True) for system in systems]
    both = {system.n_sites: partial(_both, system) for system in systems}
    alone = {made.n_bodies: partial(decompose, made, _CUTOFF) for made in networks}
    *_, (largest, decomposition) = alone.items()
    return Results(
        [
            *_growth_rows("rigidity with waters, network and decomposition", both),
            *_growth_rows("rigidity with waters, decomposition alone", alone),
            _timed_row(f"rigidity with waters, decomposition, {largest:,} atoms", decomposition),
            _dilution_row(),
        ]
    )


def _both(system: Ensemble) -> Decomposition:
    return decompose(network(system, waters=True), _CUTOFF)


def _growth_rows(name: str, steps: Mapping[int, Callable[[], object]]) -> list[Row]:
    """Compare the time per atom with that of the smallest system."""
    median = race({str(size): step for size, step in steps.items()}, repetitions=3)
    each = {size: median[str(size)] / size for size in steps}
    first, *others = each
    return [
        Row(
            f"{name}, {size:,} atoms",
            f"{1e6 * each[size]:.3g} µs per atom",
            f"at {first:,}: {1e6 * each[first]:.3g} µs",
            each[size] / each[first],
            at_most=3.0 if size == others[-1] else None,
        )
        for size in others
    ]


def _dilution_row() -> Row:
    """Of the crystal with hydrogens, or of what comes with the package, which has them."""
    name, made = "full dilution of barnase", None
    if _BARNASE.exists():
        with contextlib.suppress(ImportError):  # of what adds hydrogens
            made = network(add_hydrogens(timme.read(_BARNASE, select="chainID A")))
            name += ", 1a2p chain A"
    if made is None:
        made = network(timme.data.barnase_md())
        name += ", a snapshot"
    name += f", {made.n_bodies:,} atoms, {np.isfinite(made.energies).sum()} hydrogen bonds"
    return _timed_row(name, lambda: dilute(made))


def _timed_row(name: str, contender: Callable[[], object]) -> Row:
    taken = race({name: contender}, repetitions=3)[name]
    return Row(name, seconds(taken), f"limit {seconds(_LIMIT)}", taken / _LIMIT, at_most=1.0)


def _solvated() -> Ensemble:
    """Adenylate kinase in water, with hydrogens, of MDAnalysisTests."""
    from MDAnalysisTests.datafiles import GRO

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return timme.read(GRO)


def _sphere(whole: Ensemble, size: int) -> Ensemble:
    """Keep the molecules nearest to the atom farthest from the middle, about so many atoms."""
    molecules = timme.objects.molecules(whole)
    places, _ = whole.snapshot()
    corner = places[np.linalg.norm(places - places.mean(axis=0), axis=1).argmax()]
    away = np.linalg.norm(places - corner, axis=1)[molecules.members]
    nearest = np.argsort(np.minimum.reduceat(away, molecules.offsets[:-1]), kind="stable")
    count = np.searchsorted(np.cumsum(np.diff(molecules.offsets)[nearest]), size) + 1
    kept = [molecules.sites(int(molecule)) for molecule in nearest[:count]]
    return whole.select(np.sort(np.concatenate(kept)))
