"""Write the table of shipped files into data.md, and draw its figures: python docs/make_data.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle

import timme
from timme._arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = Path(__file__).parent / "data.md"
IMAGES = Path(__file__).parent / "images"
BEGIN, END = "<!-- files: written by make_data.py -->", "<!-- end of files -->"
DIAMETER = 1.3  # µm
ARRESTED = 0.3  # diameters, between the two peaks of displacements


def table() -> str:
    """Tell of every file how large it is, what made it, and how to know it again."""
    lines = ["| file | kB | made by | seed | with | licence | SHA-256 |", "|" + " --- |" * 7]
    for record in timme.data.records().values():
        versions = ", ".join(f"{name} {number}" for name, number in record.versions.items())
        lines += [
            f"| `{file.name}` | {file.bytes / 1000:.0f} | `{record.script}` | {record.seed} | "
            f"{versions} | {record.licence} | `{file.sha256}` |"
            for file in record.files
        ]
    return "\n".join(lines)


def draw_displacements() -> Figure:
    """Draw how many spheres get how far in 46 snapshots, of the gel and of the fluid."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for axes, fluid in zip(panels, (False, True), strict=True):
        record = timme.data.records()["spheres_fluid" if fluid else "spheres"]
        modes, width = record.measured["log_displacements"], 0.08
        moved = np.log10(displacements(timme.data.spheres(fluid=fluid)))
        bins = np.arange(-2.2, 0.9, width)
        axes.hist(moved, bins, color="0.8")
        x = np.linspace(bins[0], bins[-1], 300)
        places = zip(modes["means"], modes["spreads"], modes["shares"], strict=True)
        for mean, spread, share in places:  # of natural logarithms
            middle, wide = mean / np.log(10), spread / np.log(10)
            height = share * len(moved) * width / (wide * np.sqrt(2 * np.pi))
            axes.plot(x, height * np.exp(-(((x - middle) / wide) ** 2) / 2))
        name = "Dense fluid, data.spheres(fluid=True)" if fluid else "Gel, data.spheres()"
        axes.set_title(f"{name}\nAshman's D = {modes['ashman_d']:.1f}", fontsize=10)
        axes.set_xticks([-2, -1, 0], ["0.01", "0.1", "1"])
        axes.set_xlabel("displacement / diameter")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("Spheres")
    return figure


def draw_network() -> Figure:
    """Draw layers of the gel, a diameter thick: who hardly moves, and who does."""
    ensemble = timme.data.spheres()
    places, box = ensemble.snapshot()
    width = float(np.asarray(box)[0, 0])
    slow = displacements(ensemble) < ARRESTED
    figure, panels = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained", sharey=True)
    for axes, low in zip(panels, np.arange(3, 7) * DIAMETER, strict=True):
        layer = (places[:, 2] >= low) & (places[:, 2] < low + DIAMETER)
        for kind, colour in ((slow, "#1f77b4"), (~slow, "#ff7f0e")):
            for place in places[layer & kind]:
                axes.add_patch(Circle(place[:2], DIAMETER / 2, color=colour, alpha=0.7, lw=0))
        axes.set(xlim=(0, width), ylim=(0, width), aspect="equal", xlabel="x (µm)")
        axes.set_title(f"{low:.1f} to {low + DIAMETER:.1f} µm", fontsize=10)
    panels[0].set_ylabel("y (µm)")
    return figure


def displacements(ensemble: timme.Ensemble) -> Floats:
    """How far each sphere gets from the first snapshot to the last, in diameters."""
    places = ensemble.block(0).coordinates.astype(float)
    widths = np.diag(np.asarray(ensemble.snapshot()[1]))[:2]
    steps = np.diff(places, axis=0)
    steps[..., :2] -= widths * np.rint(steps[..., :2] / widths)  # none is half a box long
    moved: Floats = np.linalg.norm(steps.sum(axis=0), axis=1) / DIAMETER
    return moved


def main() -> None:
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", "utf-8")
    figures = {"data-spheres": draw_displacements(), "data-network": draw_network()}
    for name, figure in figures.items():
        figure.savefig(IMAGES / f"{name}.png", dpi=150)
        plt.close(figure)


if __name__ == "__main__":
    main()
