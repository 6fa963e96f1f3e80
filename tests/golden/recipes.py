"""Runs of the default recipe: sources and options of each, without the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.golden import systems
from tests.golden.systems import SHARED, SHIPPED, Plain


@dataclass(frozen=True, slots=True)
class Run:
    """What is analysed, and what is asked for beyond the defaults."""

    source: Callable[[], Any]  # a path, an array, or a system
    trajectories: tuple[Path, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    bonds: Any = None  # of an array


def _file(*parts: str) -> Path:
    return SHARED.joinpath(*parts)


def _run(source: Path | Callable[[], Any], *trajectories: Path, **options: Any) -> Run:
    made = (lambda: source) if isinstance(source, Path) else source
    return Run(made, trajectories, options)


def _tests(*names: str) -> tuple[Path, ...]:
    """Files of MDAnalysisTests by their names there."""
    from MDAnalysisTests import datafiles

    return tuple(Path(str(getattr(datafiles, name))) for name in names)


def _coordinates(make: Callable[[], Plain]) -> Callable[[], Any]:
    return lambda: make().coordinates


def runs() -> dict[str, Run]:
    """List the runs by name."""
    xray = {name: _file("xray", f"{name}.pdb") for name in "1omp 1anf 4ake 1ake 1a2p".split()}
    dims = _tests("PSF", "DCD")
    solvated = _tests("GRO", "XTC")
    water = _file("water", "tip3p_300K_1ATM.pdb"), _file("water", "tip3p_300K_1ATM.xtc")
    drop = SHIPPED / "water_drop.pdb", SHIPPED / "water_drop.xtc"
    dense = SHIPPED / "water_drop_dense.pdb", SHIPPED / "water_drop_dense.xtc"
    barnase = SHIPPED / "barnase_md.pdb", SHIPPED / "barnase_md.xtc"
    chain, boxed = systems.chain(), systems.in_box([20, 18, 19])
    found = {
        "1bnr": _run(_file("nmr", "1bnr.pdb")),
        "1bnr-ca": _run(_file("nmr", "1bnr.pdb"), select="ca"),
        "1d3z": _run(_file("nmr", "1d3z.pdb")),
        "1omp-1anf": _run(xray["1omp"], xray["1anf"], common_atoms=True),
        "4ake-1ake": _run(xray["4ake"], xray["1ake"], common_atoms=True),
        "4ake-1ake-refused": _run(xray["4ake"], xray["1ake"]),
        "1a2p-refused": _run(xray["1a2p"]),
        "adk": _run(*dims),
        "adk-ca": _run(*dims, select="ca"),
        "adk-ca-average": _run(*dims, select="ca", linkage="average"),
        "adk-ca-nm": _run(*dims, select="ca", unit="nm"),
        "adk-backbone": _run(*dims, select="backbone"),
        "adk-residues": _run(*dims, objects="residues"),
        "adk-half": _run(*dims, select="ca", replicas=(49, 49)),
        "adk-oplsaa": _run(*solvated, select="protein"),
        "barnase-md": _run(*barnase),
        "barnase-md-times": _run(*barnase, start="100ps", stop="300ps", step=2),
        "water-box": _run(*water),
        "water-box-unwrapped": _run(*water, unwrap=True),
        "water-box-oxygens": _run(*water, select="water-oxygen"),
        "water-drop": _run(*drop),
        "water-drop-dense": _run(*dense),
        "latex": _run(_file("tracks", "bulk_water_tracks.csv")),
        "crowd": _run(SHIPPED / "crowd.csv", unit="m"),
        "ring-road": _run(
            SHIPPED / "ring_road.csv", columns=("frame", "particle", "along"), box=[2950.0]
        ),
        "spheres": _run(_coordinates(systems.spheres), box=systems.spheres().box, unit="µm"),
        "chain": Run(lambda: chain.coordinates, bonds=chain.bonds),
        "open": _run(_coordinates(systems.clusters)),
        "straight": _run(lambda: boxed.coordinates, box=boxed.box),
        "tilted": _run(lambda: systems.in_box(systems.TILTED).coordinates, box=systems.TILTED),
        "gapped": _run(lambda: systems.gapped(systems.clusters()).coordinates, gaps=True),
        "cloud": _run(_coordinates(systems.cloud)),
        "sphere-tracks": _run(_coordinates(systems.sphere_tracks), metric="haversine"),
        "aligned-errors": _run(systems.worst_errors),
    }
    found["weighted"] = _run(
        _coordinates(systems.clusters), weights=systems.weighted(systems.clusters()).weights
    )
    return found
