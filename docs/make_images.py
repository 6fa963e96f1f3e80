"""Make the pictures of the pages: python docs/make_images.py 1bnr.pdb 1a2p.pdb."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme import statistics, theory
from timme.output import comparison, plots
from timme.output.axes import places_of
from timme.output.common import on_common_sites
from timme.output.figures import Look, draw
from timme.output.look import look_of

IMAGES = Path(__file__).parent / "images"


def barnase(analysis: timme.Analysis) -> None:
    """Draw the dilution of barnase as its run does, wider: all atoms analysed, Cα shown."""
    figure = draw(analysis, "dilution", look_of(analysis))
    figure.set_size_inches(6, 3.8)
    figure.savefig(IMAGES / "barnase-dilution.png", dpi=150)


def rigid_barnase(crystal: timme.Analysis, nmr: timme.Analysis) -> None:
    """Draw the flexibility of the crystal, and set it beside the NMR ensemble."""
    energy = statistics.suggest(crystal.shown_hierarchy)[0].cutoff
    figure = draw(crystal, "flexibility", Look(cutoff=energy))
    figure.savefig(IMAGES / "barnase-flexibility.png", dpi=200)
    first, second, _ = on_common_sites(crystal, nmr)
    found = timme.compare.compare(first.shown_hierarchy, second.shown_hierarchy)
    shared = {
        "names": ("1a2p, hydrogen bonds", "1bnr, fluctuations"),
        "lengths": (crystal.length, nmr.length),
    }
    figure = comparison.dilutions(found, places=places_of(first), **shared)
    figure.savefig(IMAGES / "barnase-dilutions.png", dpi=150)
    axes = comparison.heatmap(found, asked=(-0.048, 0.04 * 1.54), **shared)
    axes.figure.savefig(IMAGES / "barnase-agreement.png", dpi=150)


def chain() -> None:
    """Draw the fractions in clusters of 1 to 5 links, theory dashed."""
    links = timme.objects.links(timme.synthetic.chain())
    counted = statistics.curves(timme.cluster(links, timme.pairs.sharing(links)))

    def expected(cutoffs: np.ndarray) -> np.ndarray:
        return theory.size_fraction(np.arange(1, 6)[:, None], theory.join_probability(cutoffs))

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    plots.size_distribution(counted, theory=expected, ax=axes)
    figure.savefig(IMAGES / "chain-sizes.png", dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python docs/make_images.py 1bnr.pdb 1a2p.pdb")
    IMAGES.mkdir(exist_ok=True)
    ensemble = timme.analyse(sys.argv[1])
    barnase(ensemble)
    rigid_barnase(timme.rigid(sys.argv[2], chain="A"), ensemble)
    chain()
