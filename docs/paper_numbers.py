"""Write the tables of numbers.md: every number of the paper beside ours.

``python docs/paper_numbers.py FOLDER`` takes 1bnr.pdb, 1a2p.pdb, 1ake.pdb, 4ake.pdb and 1p4s.pdb
from a folder or its subfolders, and from the PDB what is not there. It takes a few minutes.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

import timme
from timme import theory
from timme.hierarchy.curves import count_clusters, inflection

PAGE = Path(__file__).with_name("numbers.md")
CARBON, WATER, SPHERE = 1.54, 0.96, 1.3  # Å, Å, µm: the length a of each system
CHAINS = 40  # freely-jointed chains that give the rest of a sigmoid by chance


class Row(NamedTuple):
    """One line of the table."""

    what: str
    paper: str
    ours: str
    why: str


def cluster_near(positions: Any, radius: float, **box: Any) -> timme.Hierarchy:
    """Cluster points that come within a radius of one another."""
    ensemble = timme.Ensemble.from_array(positions, **box)
    points = timme.objects.points(ensemble)
    return timme.cluster(points, timme.pairs.within(points, radius))


# ---- chain, spheres, water ---------------------------------------------------------------------


@cache
def chain(n_links: int, n_snapshots: int, seed: int = 0) -> tuple[Any, timme.Hierarchy]:
    links = timme.objects.links(timme.synthetic.chain(n_links, n_snapshots, seed=seed))
    measured = timme.measure(links, timme.pairs.sharing(links))
    return measured.sigma, timme.link(measured)


def cutoffs_at(tree: timme.Hierarchy, *fractions: float) -> str:
    counted = count_clusters(tree)
    places = np.searchsorted(counted.large_fraction, fractions)
    return ", ".join(f"{cutoff:.3f}" for cutoff in counted.cutoffs[places])


def chain_rows() -> list[Row]:
    rows = [
        Row("chain, 2 snapshots: σc/a at P(r ≥ 10) = 0.1, 0.5, 0.9", "0.328, 0.481, 0.645",
            cutoffs_at(chain(10_000, 2)[1], 0.1, 0.5, 0.9),
            "noise of one chain; eight chains agree with theory within their errors (a test)"),
        Row("chain, many snapshots: σc/a of the step", "0.471",
            f"{cutoffs_at(chain(10_000, 200)[1], 0.5)} for 200 snapshots",
            "0.471 is the limit; theory gives 0.49 for 200"),
    ]  # fmt: skip
    for n in (2, 200):
        squares = chain(10_000, n)[0] ** 2
        spread = (squares - squares.mean()) ** 2
        errors = [values.std() / np.sqrt(len(values)) for values in (squares, spread)]
        moments = theory.sigma_second_moment(n), theory.sigma_squared_variance(n)
        rows.append(
            Row(f"chain, {n} snapshots: ⟨σ²⟩/a², Var(σ²)/a⁴", "{:.4f}, {:.6f}".format(*moments),
                f"{squares.mean():.4f}, {squares.var():.6f}",
                "standard errors of {:.4f} and {:.6f}".format(*errors))
        )  # fmt: skip
    return rows


def spheres(*, fluid: bool) -> timme.Hierarchy:
    points = timme.objects.points(timme.data.spheres(fluid=fluid, noisy=True))
    return timme.cluster(points, timme.pairs.within(points, 1.1 * SPHERE))


def sphere_rows(gel: timme.Hierarchy, fluid: timme.Hierarchy) -> list[Row]:
    rises = [(inflection(count_clusters(tree)) or np.nan) / SPHERE for tree in (gel, fluid)]
    cores = [int(tree.cut(0.146 * SPHERE).sizes[0]) for tree in (gel, fluid)]
    return [
        Row("spheres: σc/a of the inflection", "0.147",
            "{:.3f} in the gel, {:.3f} in the fluid".format(*rises),
            "the suspension of the paper is not described: in a gel σ is small; in a dense fluid "
            "it grows with the interval between snapshots"),
        Row("spheres: largest cluster at 0.146", "not given",
            "{} of 991 in the gel, {} in the fluid".format(*cores),
            "a figure of the paper shows a large, incomplete core, as in the fluid"),
    ]  # fmt: skip


def water(first: int, length: int, radius: float) -> timme.Hierarchy:
    drop = timme.data.water_drop().coordinates()[first : first + length + 1]
    return cluster_near(drop, radius, unit="Å")


def largest_water(length: int, radius: float) -> str:
    """Largest cluster at the paper's cutoff in ten stretches of so many ps, ± their spread."""
    starts = np.unique(np.linspace(0, 198 - length, 10).astype(int)).tolist()
    sizes = [int(water(first, length, radius).cut(0.54 * WATER).sizes[0]) for first in starts]
    return f"{np.mean(sizes):.0f} ± {np.std(sizes):.0f}" if len(sizes) > 1 else f"{sizes[0]}"


def water_rows() -> list[Row]:
    near, far = ([largest_water(ps, r) for ps in (9, 12, 198)] for r in (3.5, 10.0))
    return [
        Row("water: largest cluster at σc/a = 0.54", "17 in 0.2 ns",
            "pairs within 3.5 Å: {} in 9 ps, {} in 12 ps, {} in 198 ps; within 10 Å: {}, {}, {}"
            .format(*near, *far),
            "molecules diffuse by 5 Å in 10 ps, so no pair keeps its distance to 0.5 Å for "
            "0.2 ns; 17 is reached in 9 to 13 ps. The paper does not state its pairs"),
    ]  # fmt: skip


# ---- proteins ----------------------------------------------------------------------------------


def find_entry(code: str) -> Path | str:
    found = [path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob(f"{code}.pdb"))]
    return found[0] if found else f"pdb:{code}"


def compare(static: timme.Analysis, moving: timme.Analysis, energy: float, cutoff: float) -> str:
    """Describe agreement where it is best, and at the cutoffs of the paper."""
    found = timme.compare(static, moving).agreement
    best = tuple(found.best_cutoffs)
    text = f"{best[0]:.3f} kcal/mol, {best[1] / CARBON:.3f}: {agreement(found, best)}"
    level = f" (chance: {found.chance.median:.2f})" if found.chance else ""
    return f"{text}{level}; there: {agreement(found, (energy, cutoff * CARBON))}".replace("-", "−")


def agreement(found: Any, cutoffs: tuple[float, float]) -> str:
    cuts = found.first.cut(cutoffs[0]), found.second.cut(cutoffs[1])
    overlap = timme.comparison.overlap(*cuts)
    cores = [cut.labels == 0 for cut in cuts]
    jaccard = (cores[0] & cores[1]).sum() / (cores[0] | cores[1]).sum()
    sizes = " and ".join(str(core.sum()) for core in cores)
    return f"Rand {overlap.rand:.2f}, cores of {sizes} (Jaccard {jaccard:.2f})"


def barnase_rows(crystal: timme.Analysis, nmr: timme.Analysis, md: timme.Analysis) -> list[Row]:
    both = timme.compare(nmr, md).agreement
    return [
        Row("barnase, FIRST (1a2p) and NMR (1bnr)", "−0.048 kcal/mol, 0.04",
            compare(crystal, nmr, -0.048, 0.04),
            "the cores agree at cutoffs near those of the paper; at its own they overlap, and the "
            "rest depends on weak bonds and tethers, whose rules differ"),
        Row("barnase, FIRST and 0.1 ns of MD", "−0.048 kcal/mol, 0.068",
            compare(crystal, md, -0.048, 0.068),
            "in 0.1 ns nearly all residues move as one; the index depends on the few others"),
        Row("barnase, NMR at 0.04 and MD at 0.068", "“significant overlap”",
            agreement(both, (0.04 * CARBON, 0.068 * CARBON)).replace("-", "−"),
            "the cores overlap; NMR models also differ where restraints are missing"),
    ]  # fmt: skip


def kinase_rows() -> list[Row]:
    options: dict[str, Any] = {"confidence": False}
    static = timme.analyse_rigidity(find_entry("4ake"), chain="A")
    ends = timme.analyse(find_entry("4ake"), find_entry("1ake"), common_atoms=True,
                         chain="A", **options)  # fmt: skip
    closing = timme.analyse(timme.data.kinase(), **options)
    few = "two snapshots, not 20 models: at the paper's cutoffs nearly all residues join in both"
    large = "a structure-based model, in which residues move more than in NMR models"
    systems = [
        ("the crystals 4ake and 1ake", ends, few),
        ("the shipped trajectory", closing, large),
    ]
    rows = [
        Row(f"adenylate kinase, FIRST (4ake) and {name}", "−0.185 kcal/mol, 0.09 (1p4s)",
            compare(static, moving, -0.185, 0.09), why)
        for name, moving, why in systems
    ]  # fmt: skip
    try:
        models = find_entry("1p4s")
        first = timme.analyse_rigidity(models, model=1), timme.analyse(models, **options)
        result = compare(*first, -0.185, 0.09), "other rules for bonds and tethers"
    except (OSError, ValueError) as error:
        print(f"1p4s: {error}", file=sys.stderr)
        result = "not computed", "1p4s is not shipped and could not be fetched for this page"
    return [Row("adenylate kinase, FIRST and NMR (1p4s)", "−0.185 kcal/mol, 0.09", *result), *rows]


# ---- sigmoid or not ----------------------------------------------------------------------------


def sigmoid_rest(tree: timme.Hierarchy) -> float:
    """Rms distance of the fraction in large clusters from the best generalised sigmoid."""
    counted = count_clusters(tree)
    fraction = counted.large_fraction / counted.large_fraction[-1]
    ends = counted.cutoffs[[np.argmax(fraction > 0), np.argmax(fraction >= 0.99)]]
    grid = np.linspace(max(0.0, ends[0] - 0.1 * np.ptp(ends)), ends[1] + 0.1 * np.ptp(ends), 200)
    y = fraction[np.searchsorted(counted.cutoffs, grid, side="right") - 1]
    x = np.linspace(0, 1, len(grid))

    def rest(parameters: Any) -> Any:
        middle, width, lean = parameters
        steps = np.clip((middle - x) / np.exp(width), -500, 500)
        return (1 + np.exp(steps)) ** -np.exp(lean) - y

    starts = [(x[np.argmax(y >= 0.5)], np.log(w), k) for w in (0.03, 0.1) for k in (-1.0, 0.0, 1.0)]
    bounds = [-5, -7, -4], [5, 3, 4]
    return float(min(np.sqrt(2 * least_squares(rest, start, bounds=bounds).cost / len(x))
                     for start in starts))  # fmt: skip


def form_row(name: str, tree: timme.Hierarchy, paper: str) -> list[str]:
    rests = [sigmoid_rest(chain(tree.n_sites, 2, seed)[1]) for seed in range(1, CHAINS + 1)]
    found, usual = sigmoid_rest(tree), np.quantile(rests, 0.95)
    verdict = "too few sites" if usual > 0.03 else "sigmoid"
    verdict = "no sigmoid" if found > max(rests) else verdict
    return [name, f"{tree.n_sites:,}", f"{found:.3f}", f"{usual:.3f}", verdict, paper]


def write(mark: str, rows: list[Any]) -> None:
    """Put rows between the marks of the page, below the heading that is there."""
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    pattern = re.compile(rf"(<!-- {mark} -->\n(?:.*\n){{2}})(?:\|.*\n)*")
    text, count = pattern.subn(lambda found: f"{found[1]}{lines}\n", PAGE.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{PAGE} needs the mark {mark} once, got {count}")
    PAGE.write_text(text, "utf-8")


def main() -> None:
    gel, fluid = spheres(fluid=False), spheres(fluid=True)
    crystal = timme.analyse_rigidity(find_entry("1a2p"), chain="A")
    nmr = timme.analyse(find_entry("1bnr"), confidence=False)
    md = timme.analyse(timme.data.barnase_md(dense=True), confidence=False)
    proteins = [*barnase_rows(crystal, nmr, md), *kinase_rows()]
    write("numbers", [*chain_rows(), *sphere_rows(gel, fluid), *water_rows(), *proteins])
    forms = [("chain", chain(1_000, 2)[1]), ("spheres, fluid", fluid), ("spheres, gel", gel),
             ("water, 9 ps", water(0, 9, 3.5)), ("barnase, Cα, NMR", nmr.hierarchy),
             ("barnase, atoms, NMR", nmr.atom_hierarchy),
             ("barnase, atoms, MD", md.atom_hierarchy)]  # fmt: skip
    write("forms", [form_row(name, tree, "no sigmoid" if "barnase" in name else "sigmoid")
                    for name, tree in forms])  # fmt: skip


if __name__ == "__main__":
    main()
