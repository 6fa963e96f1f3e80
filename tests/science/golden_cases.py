"""Golden systems whose clusters were judged, measured and linked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from tests.core.test_golden import ensemble_of
from tests.golden import load_science, systems
from timme import objects, pairs
from timme._arrays import Ints
from timme.confidence.bootstrap import Compared
from timme.confidence.noise import PositionErrors, take_off
from timme.fluctuations import Fluctuations, measure
from timme.hierarchy import Hierarchy
from timme.hierarchy.linking import link
from timme.objects import Objects


@dataclass(frozen=True)
class Choice:
    """How a system was compared."""

    system: str
    near: bool = False  # pairs within 10 Å, at least 4 bonds apart; else all
    objects: str = "points"
    replicas: tuple[int, ...] | None = None
    linkage: Literal["single", "braced", "average"] = "single"
    metric: str | None = None
    noise: float | None = None
    double: bool = True


CHOICES = {
    "adk-ca": Choice("adk-ca", near=True),
    "adk-ca-all": Choice("adk-ca"),
    "adk-bodies": Choice("adk", near=True, objects="bodies", double=False),
    "barnase-md-halves": Choice("barnase-md-ca", near=True, replicas=(125, 125)),
    "1bnr-ca": Choice("1bnr-ca", near=True),
    "open-replicas": Choice("open", replicas=(100, 100, 100)),
    "open-braced": Choice("open", linkage="braced"),
    "open-average": Choice("open", linkage="average"),
    "open-noise": Choice("open", noise=0.05),
    "tilted": Choice("tilted"),
    "weighted": Choice("weighted"),
    "gapped": Choice("gapped"),
    "hinged": Choice("hinged"),
    "sphere-tracks": Choice("sphere-tracks", metric="haversine"),
}


@dataclass(frozen=True)
class Judged:
    """A system as it was judged, and what was found."""

    objects: Objects
    sigma: Fluctuations
    tree: Hierarchy  # of the shown objects
    shown: Ints
    options: dict[str, Any]  # linkage, metric and noise
    golden: dict[str, Any]

    @property
    def compared(self) -> Compared:
        """What was compared, and how."""
        return Compared(self.objects, self.sigma, shown=self.shown, **self.options)

    def of_records(self, key: str) -> list[Any]:
        """Values of one field of all records."""
        count = self.golden["n_records"]
        return [self.golden.get(f"records.{number}.{key}") for number in range(count)]


@cache
def judged(name: str) -> Judged:
    """Measure and link a system, with pairs in the order of the frozen results."""
    chosen = CHOICES[name]
    made = systems.SYSTEMS[chosen.system]()
    ensemble = ensemble_of(made.double() if chosen.double else made)
    runs = None
    if chosen.replicas is not None:
        runs = np.repeat(np.arange(len(chosen.replicas)), chosen.replicas)
    ensemble = replace(ensemble, independent=name.startswith("1bnr"), runs=runs)
    compared = getattr(objects, chosen.objects)(ensemble)
    within = pairs.within(compared, 10.0, min_bonds=4) if chosen.near else pairs.all(compared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pairs beyond half the box
        sigma = measure(compared, within, metric=chosen.metric)
    order = np.lexsort(sigma.pairs.T[::-1])
    sigma = replace(
        sigma, pairs=sigma.pairs[order], sigma=sigma.sigma[order], common=sigma.common[order]
    )
    noise = None
    if chosen.noise is not None:
        errors = np.full((ensemble.n_sites, ensemble.n_dimensions), chosen.noise**2)
        noise = PositionErrors(ensemble, errors).variance
        sigma, _ = take_off(sigma, noise)
    shown = np.arange(len(compared))
    if chosen.objects == "bodies":
        shown = np.flatnonzero(ensemble.atoms.names == "CA")
    tree = link(sigma, linkage=chosen.linkage).restrict(shown)
    options = {"linkage": chosen.linkage, "metric": chosen.metric, "noise": noise}
    golden = load_science(f"confidence-{name}")
    return Judged(compared, sigma, tree, shown, options, golden)
