"""Set the numbers of the paper beside ours, in the page numbers.md and its figures.

``python -m docs.make_numbers --data FOLDER``, from the top folder of a checkout, takes 1bnr, 1a2p
and others from files of that folder, such as ``FOLDER/nmr/1bnr.pdb``, and fetches what is not there
from the PDB. All else comes with the package and with MDAnalysisTests. It takes some five minutes.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

import timme
from docs.forms import Form, form
from docs.panels import Panel, draw_panels, matched, minus, overlap_at
from timme import statistics, theory
from timme.compare import Comparison, Overlap
from timme.output.axes import stairs
from timme.output.colours import CORE
from timme.output.common import on_common_sites

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
PAGE, IMAGES = HERE / "numbers.md", HERE / "images"
CARBON, WATER, SPHERE = 1.54, 0.96, 1.3  # Å, Å, µm: the a of proteins, water and spheres
TOUCHING = 1.1 * SPHERE  # µm within which spheres are compared
NEIGHBOURS, FAR = 3.5, 10.0  # Å within which waters are: next ones, and as of proteins
WINDOWS = 10  # stretches of the drop's run, of which the mean is given


@dataclass(frozen=True)
class Row:
    """One number of the paper, ours, and why they differ."""

    what: str
    paper: str
    ours: str
    why: str

    @property
    def cells(self) -> list[str]:
        """Of the table."""
        return [self.what, self.paper, self.ours, self.why]


class Source:
    """Where structures are: in a folder, else in the PDB."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def __call__(self, code: str) -> Path | str:
        found = sorted(self._folder.rglob(f"{code}.pdb")) if self._folder else []
        return found[0] if found else f"pdb:{code}"


# ---- the chain, spheres -------------------------------------------------------------------------


def chain_rows() -> tuple[list[Row], dict[str, timme.Hierarchy]]:
    two, many = measured_chain(2), measured_chain(200)
    of_two = timme.link(two)
    reached = [f"{cutoff_at(of_two, fraction):.3f}" for fraction in (0.1, 0.5, 0.9)]
    noise = "one chain of 10,000 links: its clusters at half height are some 300 pieces"
    return [
        Row("chain, 2 snapshots: σc/a of P(r ≥ 10) = 0.1, 0.5, 0.9", "0.328, 0.481, 0.645 (theory)",
            ", ".join(reached), noise),
        Row("chain, many snapshots: σc/a of the step", "0.471",
            f"{cutoff_at(timme.link(many), 0.5):.3f} for 200",
            "0.471 is for infinitely many; theory has 0.49 for 200"),
        moments_row(two, 2),
        moments_row(many, 200),
    ], {"chain": of_two}  # fmt: skip


def measured_chain(n_snapshots: int) -> timme.Fluctuations:
    links = timme.objects.links(timme.synthetic.chain(10_000, n_snapshots))
    return timme.measure(links, timme.pairs.sharing(links))


def moments_row(measured: timme.Fluctuations, n_snapshots: int) -> Row:
    """⟨σ²⟩ and Var(σ²) of all joints, by how much chance moves them: each joint is by itself."""
    squares = measured.sigma**2
    expected = theory.sigma_second_moment(n_snapshots), theory.sigma_squared_variance(n_snapshots)
    spread = (squares - squares.mean()) ** 2
    errors = [each.std() / np.sqrt(len(squares)) for each in (squares, spread)]
    return Row(
        f"chain, {n_snapshots} snapshots: ⟨σ²⟩/a², Var(σ²)/a⁴",
        "{:.4f}, {:.6f} (theory)".format(*expected),
        f"{squares.mean():.4f}, {squares.var():.6f}",
        "9,999 joints: standard errors of {:.4f} and {:.6f}".format(*errors),
    )


def sphere_rows() -> tuple[list[Row], dict[str, timme.Hierarchy]]:
    fluid, gel = (
        near(timme.data.spheres(fluid=fluid, noisy=True), TOUCHING) for fluid in (True, False)
    )
    rows = [
        Row(
            "spheres: σc/a of the steepest rise",
            "0.147",
            f"{steepest(gel) / SPHERE:.3f} in the gel, "
            f"{steepest(fluid) / SPHERE:.3f} in the dense fluid",
            "the paper's suspension is known by a name only. Where spheres stick, bonds swing by "
            "0.01 a and less than a microscope sees; where they crowd, σ grows with the time from "
            "snapshot to snapshot, here as long as tracking allows but for a few steps. Compared "
            "are pairs within 1.1 a, in files with errors of places",
        ),
        Row(
            "spheres: largest cluster at 0.146",
            "not told",
            f"{sizes(gel, 0.146 * SPHERE, 1)} of 991 in the gel, "
            f"{sizes(fluid, 0.146 * SPHERE, 1)} in the fluid",
            "beyond the rise of the gel, whose core is the arrested network and what rolls over "
            "it; within that of the fluid, as of the paper: a core is there, and incomplete",
        ),
    ]
    return rows, {"spheres, dense fluid": fluid, "spheres, gel": gel}


# ---- water --------------------------------------------------------------------------------------


def water_row() -> tuple[Row, dict[str, timme.Hierarchy]]:
    drop = oxygens_each_ps()
    shown = near(timme.read(drop[:10], unit="Å"), NEIGHBOURS)
    row = Row(
        "water: largest cluster at 0.54",
        "17 molecules in 0.2 ns",
        f"mean of ten stretches of the run, compared within 3.5 Å: "
        f"{mean_water(drop, 9, NEIGHBOURS)} in 9 ps ({sizes(shown, 0.54 * WATER, 1)} in the first, "
        f"which the demo shows), {largest_water(drop, NEIGHBOURS)} in all 0.2 ns; within 10 Å: "
        f"{mean_water(drop, 9, FAR)} in 9 ps, {mean_water(drop, 12, FAR)} in 12 ps, "
        f"{largest_water(drop, FAR)} in all 0.2 ns",
        "molecules diffuse by 5 Å in 10 ps: no pair of a liquid keeps its distance to half an "
        "Å for 0.2 ns. Within 3.5 Å the paper's number is among those of 9 ps, within 10 Å of a "
        "little more than 12 ps: it compared a stretch of its run, or a stiffer water",
    )
    return row, {"water, 9 ps": shown}


def oxygens_each_ps() -> np.ndarray:
    return timme.data.water_drop().block(0).coordinates.astype(float)


def mean_water(drop: np.ndarray, length: int, radius: float) -> str:
    """Largest cluster in stretches of so many ps, ± how much these differ."""
    return mean_cells(stretches(drop, length), radius)[0]


def stretches(positions: np.ndarray, span: int, stride: int = 1) -> list[np.ndarray]:
    """Parts of a run that begin at equal distances, as far apart as it is long."""
    starts = np.unique(np.linspace(0, len(positions) - 1 - span, WINDOWS).astype(int))
    return [positions[first : first + span + 1 : stride] for first in starts.tolist()]


def largest_water(positions: np.ndarray, radius: float) -> str:
    return sizes(near(timme.read(positions, unit="Å"), radius), 0.54 * WATER, 1)


def water_study() -> str:
    """Tabulate the drop for each length and interval, and draw it."""
    drop, every = oxygens_each_ps(), timme.data.water_drop(dense=True)
    oxygens = np.flatnonzero(every.atoms.elements == "O")
    dense = every.block(0).coordinates[:, oxygens].astype(float)
    study = list(window_rows(dense, 0.05, (1.0, 2.0, 4.5), (0.05, 0.1, 0.5)))
    study += window_rows(drop, 1.0, (3.0, 6.0, 9.0, 12.0, 18.0, 45.0, 99.0, 198.0), (1.0, 3.0, 9.0))
    draw_water(drop)
    measured = "largest at 0.54 a", "steepest rise, σc/a"
    columns = [f"{what}, {radius:g} Å" for radius in (NEIGHBOURS, FAR) for what in measured]
    return table(["length (ps)", "interval (ps)", "snapshots", *columns], study)


def window_rows(
    positions: np.ndarray, step: float, lengths: tuple[float, ...], intervals: tuple[float, ...]
) -> Iterator[list[str]]:
    """Means over stretches of a run, for each length and interval that it has."""
    for length in lengths:
        for interval in intervals:
            count, stride = round(length / interval), round(interval / step)
            if count < 1 or abs(count * interval - length) > 1e-6:
                continue
            windows = stretches(positions, count * stride, stride)
            cells = [cell for radius in (NEIGHBOURS, FAR) for cell in mean_cells(windows, radius)]
            yield [f"{length:g}", f"{interval:g}", f"{count + 1}", *cells]
            print(length, interval, *cells, file=sys.stderr, flush=True)


def mean_cells(windows: list[np.ndarray], radius: float) -> tuple[str, str]:
    """Largest cluster at the paper's cutoff, and the steepest rise, within a radius."""
    found = [near(timme.read(positions, unit="Å"), radius) for positions in windows]
    largest = [float(hierarchy.cut(0.54 * WATER).sizes[0]) for hierarchy in found]
    rises = [steepest(hierarchy) / WATER for hierarchy in found]
    return f"{np.mean(largest):.0f} ± {np.std(largest):.0f}", f"{np.mean(rises):.2f}"


def draw_water(drop: np.ndarray) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    lengths = (2, 5, 9, 20, 50, 198)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(lengths)))
    for length, colour in zip(lengths, colours, strict=True):
        counted = statistics.curves(near(timme.read(drop[: length + 1], unit="Å"), NEIGHBOURS))
        for axes, values in (
            (left, counted.large_fraction),
            (right, counted.largest.astype(float)),
        ):
            x, y = stairs(counted, values, 3 * WATER)
            x[0] = 0.0  # where every molecule is by itself
            axes.step(x / WATER, y, where="post", color=colour, label=f"{length} ps")
    for axes in (left, right):
        axes.axvline(0.54, color="0.3", linestyle="--", linewidth=1)
        axes.set(xlim=(0, 3), xlabel="σc / a   (a = 0.96 Å)")
    right.axhline(17, color="0.3", linestyle=":", linewidth=1)
    right.annotate("17, as in the paper", (1.42, 19), color="0.3")
    left.set_ylabel("Fraction in clusters of 10 or more")
    right.set(ylabel="Molecules in the largest cluster", yscale="log")
    left.legend(frameon=False, title="snapshots 1 ps\napart, over", loc=(0.57, 0.08))
    save(figure, "numbers-water")


# ---- proteins -----------------------------------------------------------------------------------


def barnase_rows(source: Source) -> tuple[list[Row], dict[str, timme.Hierarchy]]:
    crystal, nmr = timme.rigid(source("1a2p"), chain="A"), quiet(source("1bnr"))
    energy, models, run = -0.048, 0.04 * CARBON, 0.068 * CARBON
    panels = [
        Panel("FIRST, 1a2p", crystal, energy, f"{minus(energy)} kcal/mol"),
        Panel("TIMME, NMR 1bnr", nmr, models, "σc/a = 0.04"),
    ]
    rows = [
        Row(
            "barnase, FIRST with NMR: cutoffs that agree best",
            "−0.048 kcal/mol, σc/a = 0.04",
            best_pair(crystal, nmr, (energy, models)),
            "weak bonds and tethers decide: see [rigidity](rigidity.md#barnase-x-ray-constraints-"
            "against-nmr-fluctuations)",
        )
    ]
    md = quiet(timme.data.barnase_md(dense=True))
    panels.append(Panel("TIMME, MD 0.1 ns", md, run, "σc/a = 0.068"))
    rows += md_rows(crystal, nmr, md, (energy, models, run))
    save(draw_panels(panels), "numbers-barnase")
    return rows, {
        "barnase, Cα, NMR": nmr.shown_hierarchy,
        "barnase, Cα, MD": md.shown_hierarchy,
        "barnase, atoms, NMR": nmr.hierarchy,
        "barnase, atoms, MD": md.hierarchy,
    }


def md_rows(
    crystal: timme.Analysis,
    nmr: timme.Analysis,
    md: timme.Analysis,
    cutoffs: tuple[float, float, float],
) -> list[Row]:
    energy, models, run = cutoffs
    return [
        Row(
            "barnase, FIRST with 0.1 ns of MD: cutoffs that agree best",
            "−0.048 kcal/mol, σc/a = 0.068",
            best_pair(crystal, md, (energy, run)),
            "nearly all is one core in both, and the index hangs on the few sites outside: loops "
            "57–62 and 77–82 are held by weaker bonds only and yet hardly move in 0.1 ns, while "
            "the last strand swings; at 0.070 all but two residues are in the core",
        ),
        Row(
            "barnase, NMR with 0.1 ns of MD at 0.04 and 0.068",
            "“significant overlap”",
            agreement(overlap_at(nmr, md, (models, run))),
            "models of an NMR ensemble differ by what was not determined as well, and 0.1 ns shows "
            "fast motion only",
        ),
    ]


def kinase_rows(source: Source) -> list[Row]:
    from MDAnalysisTests.datafiles import DCD, PSF

    energy, cutoff = -0.185, 0.09 * CARBON
    dims = quiet(PSF, DCD)
    pair = quiet(
        [source("4ake"), source("1ake")], select="chainID A and protein", common_atoms=True
    )
    first = timme.rigid(PSF, DCD, model=1)
    crystal = timme.rigid(source("4ake"), chain="A")
    path = "a path from closed to open of the enzyme of another species, not an NMR ensemble"
    ends = "two snapshots: pairs beside a hinge differ by little, and join all that swings about it"
    rows = [
        Row(
            f"adenylate kinase, FIRST with {what}: cutoffs that agree best",
            "−0.185 kcal/mol, σc/a = 0.09 (1p4s)",
            best_pair(static, moving, (energy, cutoff)),
            why,
        )
        for what, static, moving, why in (
            ("DIMS", first, dims, path),
            ("the crystals 4ake and 1ake", crystal, pair, ends),
        )
    ]
    try:
        models = source("1p4s")
        nmr, static = quiet(models), timme.rigid(models, model=1)
    except (OSError, ValueError) as error:
        print(f"without 1p4s: {error}", file=sys.stderr)
        missing = "not fetched", "its 20 models come from the PDB, which was out of reach here"
        return [Row("adenylate kinase, 1p4s", "−0.185 kcal/mol, σc/a = 0.09", *missing), *rows]
    told = best_pair(static, nmr, (energy, cutoff)), "other rules for tethers and energies"
    return [Row("adenylate kinase, 1p4s", "−0.185 kcal/mol, σc/a = 0.09", *told), *rows]


def best_pair(first: timme.Analysis, second: timme.Analysis, asked: tuple[float, float]) -> str:
    """Tell where a static and a moving hierarchy agree best, and how far where the paper has it."""
    one, other, _ = on_common_sites(first, second)
    found: Comparison = timme.compare.compare(one.shown_hierarchy, other.shown_hierarchy)
    energy, cutoff = found.best_cutoffs
    return (
        f"{minus(energy)} kcal/mol, {cutoff / CARBON:.3f}: {agreement(found.clusters)}; "
        f"at the paper's cutoffs {agreement(overlap_at(one, other, asked))}"
    )


def agreement(at: Overlap) -> str:
    """Tell how far two partitions agree, and what their largest clusters share."""
    pair = np.flatnonzero((at.pairs == 0).all(axis=1))
    jaccard = float(at.jaccard[pair[0]]) if len(pair) else 0.0
    return (
        f"adjusted Rand {minus(at.rand, 2)}, cores of {at.first.sizes[0]} and "
        f"{at.second.sizes[0]} Cα (Jaccard {jaccard:.2f}), "
        f"{matched(at)}"
    )


# ---- forms --------------------------------------------------------------------------------------


def draw_forms(forms: dict[str, Form]) -> None:
    figure, panels = plt.subplots(2, 4, figsize=(11, 5), layout="constrained")
    for axes, (name, found) in zip(panels.flat, forms.items(), strict=True):
        axes.step(found.cutoffs, found.fraction, where="post", color=CORE)
        axes.plot(found.cutoffs, found.fitted, color="#d62728", linestyle="--")
        axes.set_title(f"{name}:\n{found.verdict}", fontsize=9)
    figure.supxlabel("σc, in the unit of each system", fontsize=9)
    figure.supylabel("Fraction in clusters of 10 or more", fontsize=9)
    save(figure, "numbers-forms")


def form_table(forms: dict[str, Form]) -> str:
    told = {"chain": "sigmoid", "spheres": "sigmoid", "water": "sigmoid", "barnase": "no sigmoid"}
    return table(
        ["system", "sites", "rms distance from a sigmoid", "95 % of chains: at most",
         "chains that are farther", "form", "the paper"],
        [
            [name, f"{found.n_sites:,}", f"{found.rest:.3f}", f"{found.chance:.3f}",
             f"{100 * found.farther:.1f} %", found.verdict, told[name.split(",")[0]]]
            for name, found in forms.items()
        ],
    )  # fmt: skip


# ---- helpers ------------------------------------------------------------------------------------


def near(ensemble: timme.Ensemble, radius: float) -> timme.Hierarchy:
    points = timme.objects.points(ensemble)
    return timme.cluster(points, timme.pairs.within(points, radius))


def quiet(source: Any, *trajectories: Any, **options: Any) -> timme.Analysis:
    """Analyse without judging, which no number here needs."""
    return timme.analyse(source, trajectories, confidence=False, **options)


def steepest(hierarchy: timme.Hierarchy) -> float:
    return float(statistics.inflection(statistics.curves(hierarchy)) or np.nan)


def cutoff_at(hierarchy: timme.Hierarchy, fraction: float) -> float:
    counted = statistics.curves(hierarchy)
    return float(counted.cutoffs[np.argmax(counted.large_fraction >= fraction)])


def sizes(hierarchy: timme.Hierarchy, cutoff: float, count: int) -> str:
    return ", ".join(map(str, hierarchy.cut(cutoff).sizes[:count].tolist()))


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def save(figure: Figure, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.png", dpi=150)
    plt.close(figure)


def put(text: str, name: str, content: str) -> str:
    """Replace what is between two marks of the page."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    head, rest = text.split(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.split(end)[1]}"


def main(folder: Path | None) -> None:
    warnings.simplefilter("ignore")
    source = Source(folder)
    chain, curves = chain_rows()
    spheres, of_spheres = sphere_rows()
    water, of_water = water_row()
    barnase, of_barnase = barnase_rows(source)
    rows = [*chain, *spheres, water, *barnase, *kinase_rows(source)]
    curves |= of_spheres | of_water | of_barnase
    forms = {name: form(hierarchy) for name, hierarchy in curves.items()}
    draw_forms(forms)
    text = PAGE.read_text("utf-8")
    listed = [row.cells for row in rows]
    text = put(text, "numbers", table(["what", "the paper", "here", "why they differ"], listed))
    text = put(text, "forms", form_table(forms))
    PAGE.write_text(put(text, "water", water_study()), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with files such as 1bnr.pdb")
    main(parser.parse_args().data)
