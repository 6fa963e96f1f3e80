"""Make the pictures of the pages: python docs/make_images.py 1bnr.pdb."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme import statistics, theory
from timme.output import plots
from timme.output.axes import places_of

IMAGES = Path(__file__).parent / "images"


def barnase(path: str) -> None:
    """Draw the dilution of barnase: all atoms analysed, Cα shown."""
    analysis = timme.analyse(path)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    plots.dilution(
        analysis.shown_hierarchy,
        places=places_of(analysis),
        cutoff=0.06,
        length=analysis.length,
        ax=axes,
    )
    figure.savefig(IMAGES / "barnase-dilution.png", dpi=150)


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
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/make_images.py 1bnr.pdb")
    IMAGES.mkdir(exist_ok=True)
    barnase(sys.argv[1])
    chain()
