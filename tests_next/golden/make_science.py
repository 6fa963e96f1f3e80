"""Freeze rigidity, motion, confidence and comparisons of the golden systems."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import timme
from tests_next.golden import rigid_lists, systems
from tests_next.golden.digests import digest
from tests_next.golden.flatten import Arrays, Facts, flatten
from tests_next.golden.make_core import FOLDER, arrays_of_tree, atoms_of, ensemble_of, store
from tests_next.golden.systems import SHARED, Ints, Plain
from timme import confidence, motion, rigidity
from timme.confidence.noise import PositionErrors, estimate_errors, take_off
from timme.confidence.null import null_band
from timme.confidence.windows import sigma_by_time, slide
from timme.fluctuations.matrix import from_matrix
from timme.hierarchy import Hierarchy
from timme.hierarchy.linkages import Linkage
from timme.system.residues import is_protein

ENERGIES = (0.0, -0.1, -0.5, -1.0, -1.5, -2.0, -2.3, -3.0)  # kcal/mol, of the dilution
KINDS = ("covalent", "locked", "hydrogen bond", "salt bridge", "tether")

Results = Iterator[tuple[str, Any]]


def freeze_science(only: list[str]) -> None:
    """Compute every part that is wanted, and store it."""
    makers: dict[str, Callable[[], Results]] = {
        **{f"rigidity-{name}": _maker(_rigidity, name) for name in RIGID},
        "rigidity-1bck-lists": _rigid_lists,
        "rigidity-1bnr-together": _together,
        **{f"motion-{name}": _maker(_motion, name) for name in MOVING},
        "motion-two-point": _two_points,
        "motion-adk-bending": _bending,
        **{f"confidence-{name}": _maker(_confidence, name) for name in JUDGED},
        "confidence-series": _series,
        "confidence-aligned-errors": _levels_of_errors,
        "comparison": _comparisons,
    }
    folder = FOLDER / "science"
    folder.mkdir(exist_ok=True)
    for name, make in makers.items():
        if only and name not in only:
            continue
        arrays, facts = dict[str, Any](), dict[str, Any]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for key, value in make():
                flatten(key, value, arrays, facts)
        _write(folder / f"{name}.npz", arrays, facts)
        sys.stderr.write(f"{name}: {len(arrays)} arrays, {len(facts)} facts\n")


def _maker(function: Callable[[str], Results], name: str) -> Callable[[], Results]:
    return lambda: function(name)


def _write(path: Path, arrays: Arrays, facts: Facts) -> None:
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True)
    store(path, arrays | {"facts": np.array(text)})


# ---- rigidity ------------------------------------------------------------------------------------

RIGID = ("1a2p-a", "4ake-a", "1bnr", "1bck")


def _structure(name: str) -> timme.Ensemble:
    """One structure with hydrogens: chain A of a crystal, an NMR model, or the oracle's atoms."""
    if name == "1bnr":
        made = systems.barnase_nmr()
        return ensemble_of(replace(made, coordinates=made.coordinates[:1]))
    if name == "1bck":
        with TemporaryDirectory() as folder:
            path = Path(folder) / "1bck.pdb"
            path.write_text(rigid_lists.structure())
            return timme.read(path)
    whole = timme.read(SHARED / "xray" / f"{name[:4]}.pdb")
    in_chain = is_protein(whole.atoms) & (whole.atoms.chains == "A")
    return rigidity.add_hydrogens(whole.select(np.flatnonzero(in_chain)))


def _rigidity(name: str) -> Results:
    """Atoms, network, dilution, and decompositions at several energies."""
    ensemble = _structure(name)
    atoms = ensemble.atoms.take(ensemble.site_atoms)
    yield "coordinates", ensemble.snapshot()[0].astype(np.float64)
    yield "bonds", atoms.bonds
    for column in ("names", "elements", "resnames", "resids", "chains"):
        yield f"atoms.{column}", np.asarray(getattr(atoms, column))
    held = rigidity.network(ensemble)
    yield from _network(held)
    if name == "1bck":
        yield from _network(rigidity.network(ensemble, tethers="all"), "all_tethers")
        yield from _network(rigidity.network(ensemble, cutoff=-2.3), "at_cutoff")
    yield from _decompositions(held, np.flatnonzero(atoms.names == "CA"), atoms)


def _network(held: rigidity.Network, name: str = "network") -> Results:
    kinds = np.array([KINDS.index(kind) for kind in held.kinds.tolist()])
    yield f"{name}.n_bodies", held.n_bodies
    yield f"{name}.bonds", held.bonds
    yield f"{name}.bars", held.bars
    yield f"{name}.kinds", kinds
    yield f"{name}.energies", held.energies[np.isfinite(held.energies)]
    yield f"{name}.with_energy", np.flatnonzero(np.isfinite(held.energies))
    yield f"{name}.counts", {kind: int((held.kinds == kind).sum()) for kind in KINDS}


def _decompositions(held: rigidity.Network, shown: Ints, atoms: timme.Atoms | None) -> Results:
    from timme.rigidity.flexibility import residue_flexibility

    tree = rigidity.dilute(held)
    yield "dilution", tree
    if len(shown):
        yield "shown_dilution", tree.restrict(shown)
    for energy in ENERGIES:
        found, name = rigidity.decompose(held, energy), f"at {energy:g}"
        sizes = np.sort(np.bincount(found.clusters))[::-1]
        yield f"{name}.floppy_modes", found.floppy_modes
        yield f"{name}.freedoms", found.freedoms
        yield f"{name}.n_objects", found.n_objects
        yield f"{name}.largest", sizes[:10]
        yield f"{name}.n_clusters", len(sizes)
        yield f"{name}.n_hinges", int(found.hinges.sum())
        yield f"{name}.n_redundant", int(found.redundant.sum())
        if len(shown):
            yield f"{name}.core", np.flatnonzero(found.clusters[shown] == 0)
        if energy == -1.0:
            for column in ("clusters", "independent", "redundant", "stress", "regions"):
                yield f"{name}.{column}", getattr(found, column)
            yield f"{name}.hinges", np.flatnonzero(found.hinges)
            if atoms is not None:
                flexible = residue_flexibility(found.flexibility, held, atoms)
                yield f"{name}.residue_flexibility", flexible


def _rigid_lists() -> Results:
    """The lists of another program, decomposed and diluted."""
    held = rigidity.Network(**rigid_lists.constraints())
    yield from _network(held)
    yield from _decompositions(held, np.empty(0, np.int64), None)


def _together() -> Results:
    """Residues of 1bnr that are rigid with one another, over all models."""
    ensemble = ensemble_of(systems.barnase_nmr())
    shown = np.flatnonzero(ensemble.atoms.names == "CA")
    for energy in (-0.5, -1.0):
        yield f"at {energy:g}", rigidity.together(ensemble, energy, sites=shown)


# ---- motion --------------------------------------------------------------------------------------

MOVING = (
    *("adk-ca", "1omp-1anf-ca", "4ake-1ake-ca", "barnase-md-ca", "1bnr-ca"),
    *("hinged", "hinged-missed", "hinged-weighted"),
)


def _motion(name: str) -> Results:
    """Bodies and their motion, components, superpositions and splits."""
    ensemble = ensemble_of(systems.SYSTEMS[name]().double())
    if ensemble.gaps:
        ensemble = motion.fill_gaps(ensemble)
        yield "filled", digest(ensemble.coordinates().astype(np.float64))
        yield "filled_sums", np.nansum(ensemble.coordinates(), axis=(0, 2))
    found = motion.describe_motion(ensemble)
    yield "motion", found
    for count in (2, 3):
        yield f"with {count} bodies", motion.bodies(ensemble, n_bodies=count)
    tree, _ = _linked(ensemble, near=ensemble.atoms.names[0] == "CA")
    for number, each in enumerate(motion.split_motions(ensemble, tree)[:6]):
        yield f"splits.{number}", each
    laid = motion.superpose(ensemble)
    yield "rmsf", motion.rmsf(laid.ensemble)
    core = found.bodies.members(found.reference)
    yield "rmsf_on_core", motion.rmsf(motion.superpose(ensemble, core).ensemble)
    yield from _components(ensemble, core, found.bodies.labels)
    yield from _screws(ensemble, found)


def _components(ensemble: timme.Ensemble, core: Ints, labels: Ints) -> Results:
    principal = motion.principal_components(ensemble, on=core, n_components=10)
    real = int((principal.variances > 1e-9 * principal.total).sum())  # others are rounding alone
    yield "components.variances", principal.variances[:real]
    yield "components.total", principal.total
    yield "components.projections", np.abs(principal.projections[:, : min(real, 5)])  # signs: free
    yield "components.modes", np.abs(principal.modes[: min(real, 3)])
    yield "components.overlap", motion.overlap_with_bodies(principal, labels)[:real]
    apart = motion.distance_components(ensemble, n_components=10)
    real = int((apart.variances > 1e-9 * apart.total).sum())
    yield "distance_components.variances", apart.variances[:real]
    yield "distance_components.total", apart.total
    yield "distance_components.projections", np.abs(apart.projections[:, : min(real, 5)])
    block = motion.block_covariance(ensemble, labels, on=core)
    yield "covariance.order", block.order
    yield "covariance.bounds", block.bounds
    yield "covariance.diagonal", np.diag(block.covariance)
    yield "covariance.correlation", block.correlation
    if ensemble.n_snapshots >= 8:
        half = ensemble.n_snapshots // 2
        yield "halves", motion.halves(ensemble, on=core)
        first, second = (
            motion.principal_components(part, on=core)
            for part in (ensemble[:half], ensemble[half:])
        )
        yield "rmsip", motion.rmsip(first, second)


def _screws(ensemble: timme.Ensemble, found: motion.Motions) -> Results:
    """Screws of each body from the first to the last snapshot."""
    before, after = (ensemble.snapshot(place)[0].astype(np.float64) for place in (0, -1))
    core = found.bodies.members(found.reference)
    for body in found.moving:
        members, name = found.bodies.members(body), f"screws.{body}"
        made = motion.screw(before, after, body=members, reference=core)
        yield name, made
        yield f"{name}.closure", motion.closure(made, before, members, core)
        yield f"{name}.interdomain", motion.interdomain_ratio(before, after, members, core)
        if made.kind in {"hinge", "screw"}:
            effective = motion.effective_rotation(made, before, after, body=members, reference=core)
            yield f"{name}.effective", effective
        about = None if np.isnan(made.axis).any() else made.axis
        hinge = motion.hinge(ensemble, body=members, reference=core, axis=about)
        yield f"hinges.{body}.about_axis", hinge


def _bending() -> Results:
    """Residues that bend between the bodies of adenylate kinase, and restless sites."""
    made = systems.adenylate_dims()
    assert made.atoms is not None
    backbone = made.take(np.flatnonzero(np.isin(made.atoms.names, ["N", "CA", "C"]))).double()
    assert backbone.atoms is not None
    alpha = ensemble_of(systems.ca(made).double())
    found = motion.bodies(alpha)
    residues = np.unique(backbone.atoms.resids, return_inverse=True)[1]
    before, after = backbone.coordinates[0], backbone.coordinates[-1]
    yield "labels", found.labels
    yield "bending", motion.bending_residues(before, after, residues, found.labels)
    yield "restless", motion.restless_sites(alpha, found.labels)
    levels = [level.labels for level in found.levels]
    yield "explained", motion.explained_variance(alpha, levels)


def _two_points() -> Results:
    """Correlated displacements in open space, boxes, gaps and with weights."""
    edges = [0.0, 2.0, 4.0, 8.0, 16.0]
    for name in "open straight tilted slab gapped weighted plane gapped-straight".split():
        ensemble = ensemble_of(systems.SYSTEMS[name]())
        yield name, motion.two_point(ensemble, edges, lags=(1, 5, 20))
        yield f"{name} less drift", motion.two_point(ensemble, edges, lags=(3,), drift=True)
    drop = ensemble_of(systems.water_drop())
    yield "water-drop", motion.two_point(drop, [0.0, 3.5, 6.0, 10.0, 20.0], lags=(1, 10))


# ---- confidence ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Judged:
    """A golden system whose clusters are judged."""

    system: str
    near: bool = False  # pairs in contact within 10 Å, at least 4 bonds apart; else all
    objects: str = "points"
    replicas: tuple[int, ...] | None = None
    linkage: Linkage = "single"
    metric: str | None = None
    noise: float | None = None
    double: bool = True


JUDGED = {
    "adk-ca": _Judged("adk-ca", near=True),
    "adk-ca-single": _Judged("adk-ca", near=True, double=False),
    "adk-ca-all": _Judged("adk-ca"),
    "adk-bodies": _Judged("adk", near=True, objects="bodies", double=False),
    "barnase-md-ca": _Judged("barnase-md-ca", near=True),
    "barnase-md-halves": _Judged("barnase-md-ca", near=True, replicas=(125, 125)),
    "1bnr-ca": _Judged("1bnr-ca", near=True),
    "1bnr-bodies": _Judged("1bnr", near=True, objects="bodies"),
    "open": _Judged("open"),
    "open-replicas": _Judged("open", replicas=(100, 100, 100)),
    "open-braced": _Judged("open", linkage="braced"),
    "open-average": _Judged("open", linkage="average"),
    "open-noise": _Judged("open", noise=0.05),
    "tilted": _Judged("tilted"),
    "weighted": _Judged("weighted"),
    "gapped": _Judged("gapped"),
    "hinged": _Judged("hinged"),
    "sphere-tracks": _Judged("sphere-tracks", metric="haversine"),
    "spheres": _Judged("spheres", double=False),
    "water-drop": _Judged("water-drop", double=False),
}


def _confidence(name: str) -> Results:
    """Sampling, records, silhouettes, draws and convergence."""
    chosen = JUDGED[name]
    made = systems.SYSTEMS[chosen.system]()
    ensemble = ensemble_of(made.double() if chosen.double else made)
    ensemble = replace(ensemble, independent=chosen.system.startswith("1bnr"))
    objects = getattr(timme.objects, chosen.objects)(ensemble)
    tree, sigma = _linked(ensemble, objects, near=chosen.near, chosen=chosen)
    noise = None
    if chosen.noise is not None:
        errors = np.full((ensemble.n_sites, ensemble.n_dimensions), chosen.noise**2)
        noise = PositionErrors(ensemble, errors).variance
        sigma, n_clipped = take_off(sigma, noise)
        tree = timme.link(sigma)
        yield "n_clipped", n_clipped
    shown = None
    if chosen.objects == "bodies":
        shown = np.flatnonzero(ensemble.atoms.names == "CA")
    found = confidence.assess(
        objects,
        sigma,
        tree,
        shown=shown,
        replicas=chosen.replicas,
        linkage=chosen.linkage,
        metric=chosen.metric,
        noise=noise,
    )
    yield "sampling", found.sampling
    yield "tree", {key: getattr(found.tree, key) for key in ("min_size", "nodes", "parents")}
    for number, record in enumerate(found.records):
        yield f"records.{number}", record
        yield f"records.{number}.trusted", record in found.trusted
        if record.separation is not None:
            yield f"records.{number}.ratio", record.separation.ratio
    yield "n_records", len(found.records)
    yield "silhouettes", found.silhouettes
    yield "draws", found.draws
    yield "convergence", found.convergence
    yield "n_notes", len(found.notes)


def _series() -> Results:
    """Errors of positions, walkers, windows and times of a few systems."""
    for name in ("open", "gapped", "slab"):
        ensemble = ensemble_of(systems.SYSTEMS[name]())
        yield f"{name}.errors", estimate_errors(ensemble)
    ensemble = ensemble_of(systems.clusters())
    points = timme.objects.points(ensemble)
    tree, sigma = _linked(ensemble, points)
    yield "open.chance", null_band(ensemble, sigma.pairs)
    cutoff = float(np.median(tree.heights))
    yield "open.windows", slide(points, sigma.pairs, 5, cutoff=cutoff)
    yield "open.by_time", sigma_by_time(points, sigma.pairs[::50], [2, 10, 50])
    yield "open.replicas", slide(points, sigma.pairs, 6, cutoff=cutoff, replicas=[150, 150])
    drop = ensemble_of(systems.water_drop())[::10]
    near = timme.pairs.within(timme.objects.points(drop), 6.0)
    yield "water-drop.chance", null_band(drop, near.index, n_draws=5)  # type: ignore[arg-type]


def _levels_of_errors() -> Results:
    """Hierarchies of a matrix of aligned errors by three linkages, and its levels."""
    sigma = from_matrix(systems.worst_errors(), unit="Å")
    linkages: tuple[Linkage, ...] = ("single", "braced", "average")
    for linkage in linkages:
        tree = timme.link(sigma, linkage=linkage)
        yield linkage, arrays_of_tree(tree)
        found = confidence.levels_of_matrix(systems.worst_errors(), tree)
        yield f"{linkage}.silhouettes", found.silhouettes


def _linked(
    ensemble: timme.Ensemble, objects: Any = None, *, near: bool = False, chosen: Any = None
) -> tuple[Hierarchy, timme.Fluctuations]:
    """Hierarchy and σ of pairs in contact, or of all pairs."""
    made = timme.objects.points(ensemble) if objects is None else objects
    within = timme.pairs.within(made, 10.0, min_bonds=4) if near else timme.pairs.all(made)
    sigma = timme.measure(made, within, metric=None if chosen is None else chosen.metric)
    return timme.link(sigma, linkage="single" if chosen is None else chosen.linkage), sigma


# ---- comparison ----------------------------------------------------------------------------------


_CUTOFFS = 50  # of each hierarchy


def _comparisons() -> Results:
    """Agreement of pairs of hierarchies at all cutoffs, and of partitions."""

    def tree(name: str, *, near: bool = True) -> Hierarchy:
        return _linked(ensemble_of(systems.SYSTEMS[name]().double()), near=near)[0]

    def alpha(made: Plain) -> timme.Atoms:
        found = atoms_of(made)
        assert found is not None
        return found

    adk, xray = tree("adk-ca"), tree("4ake-1ake-ca")
    yield "adk, 4ake-1ake", timme.compare.compare(adk, xray, most=_CUTOFFS)
    nmr, md = systems.ca(systems.barnase_nmr()), systems.ca(systems.barnase_md())
    common = timme.compare.common_sites(alpha(nmr), alpha(md))
    yield "barnase.first", common.first
    yield "barnase.second", common.second
    first, second = tree("1bnr-ca"), tree("barnase-md-ca")
    pair = first.restrict(common.first), second.restrict(common.second)
    yield "barnase", timme.compare.compare(*pair, most=_CUTOFFS)
    loose, gapped = tree("open", near=False), tree("weighted", near=False)
    yield "open, weighted", timme.compare.compare(loose, gapped, most=_CUTOFFS)
    yield "open, groups", timme.compare.compare(loose, np.repeat(np.arange(4), 30), most=_CUTOFFS)
    labels = [np.repeat(np.arange(6), 20), np.repeat(np.arange(4), 30)]
    yield "overlap", timme.compare.overlap(*labels)
    rng = np.random.default_rng(13)
    yield "overlap by chance", timme.compare.overlap(*rng.integers(0, 7, (2, 200)))
