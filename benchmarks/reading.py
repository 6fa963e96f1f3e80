"""A compressed trajectory of many atoms, beside the fastest readers there are."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds


def run(*, quick: bool) -> Results:
    """Read adenylate kinase in water; all must read the same numbers."""
    from biotite.structure.io.xtc import XTCFile
    from MDAnalysis.lib.formats import libmdaxdr
    from MDAnalysisTests.datafiles import GRO, XTC
    from mdtraj.formats import XTCTrajectoryFile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole, plain = timme.read(GRO, XTC), timme.read(GRO, XTC, bonds="none")

    def with_mdanalysis() -> object:
        with libmdaxdr.XTCFile(XTC) as file:
            return np.stack([frame.x for frame in file])

    def with_mdtraj() -> object:
        with XTCTrajectoryFile(XTC) as file:
            return file.read()[0]

    contenders: dict[str, Callable[[], object]] = {
        "ours": lambda: [block.coordinates for block in plain.blocks()],
        "ours, molecules made whole": lambda: [block.coordinates for block in whole.blocks()],
        "MDAnalysis' libmdaxdr": with_mdanalysis,
        "mdtraj": with_mdtraj,
        "biotite": lambda: XTCFile.read(XTC).get_coord(),
    }
    here = np.concatenate([block.coordinates for block in plain.blocks()])
    if not np.allclose(here, 10 * np.asarray(with_mdtraj()), rtol=1e-6, atol=1e-5):
        raise AssertionError("mdtraj reads other coordinates")
    taken = _cpu(contenders, 3 if quick else 9)
    name = f"XTC, {plain.n_sites:,} atoms × {plain.n_snapshots}, CPU time"
    peers = [peer for peer in contenders if not peer.startswith("ours")]
    best = min(peers, key=taken.__getitem__)
    rows = [
        Row(
            name if each == "ours" else f"{name}, molecules made whole",
            seconds(taken[each]),
            f"{peer} {seconds(taken[peer])}",
            taken[each] / taken[peer],
            at_most=1.1 if each == "ours" and peer == best and not quick else None,
        )
        for each, peer in [
            *(("ours", peer) for peer in peers),
            ("ours, molecules made whole", best),
        ]
    ]
    return Results([*rows, _placeholder(quick=quick)])


def _placeholder(*, quick: bool) -> Row:
    """Read adenylate kinase with a cell of 1 Å, which counts as none, beside no cell."""
    import MDAnalysis
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        universe = MDAnalysis.Universe(PSF, DCD)
        top = Path(folder, "top.pdb")  # which has no bonds, so that they are guessed
        universe.atoms.write(str(top), bonds=None)
        paths = {cell: Path(folder, f"{cell}.dcd") for cell in ("no cell", "a cell of 1 Å")}
        for path, length in zip(paths.values(), (0.0, 1.0), strict=True):
            with MDAnalysis.Writer(str(path), universe.atoms.n_atoms) as writer:
                for _ in universe.trajectory:
                    universe.dimensions = [length] * 3 + [90.0] * 3
                    writer.write(universe.atoms)

        def read_all(path: Path) -> Callable[[], object]:
            return lambda: timme.read(top, path).coordinates()

        taken = _cpu({cell: read_all(path) for cell, path in paths.items()}, 3 if quick else 15)
    bare, celled = taken.values()
    return Row(
        f"DCD, {universe.atoms.n_atoms:,} atoms × {len(universe.trajectory)}, a cell of 1 Å in "
        "each frame: read, bonds guessed, CPU time",
        seconds(celled),
        f"no cell {seconds(bare)}",
        celled / bare,
        at_most=None if quick else 1.2,
    )


def _cpu(contenders: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            start = time.process_time()
            contender()
            taken[name].append(time.process_time() - start)
    return {name: median(times) for name, times in taken.items()}
