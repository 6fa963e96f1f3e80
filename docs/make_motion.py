"""Make the pictures of motion.md: python docs/make_motion.py 4ake.pdb 1ake.pdb 1bnr.pdb.

Adenylate kinase's trajectory is that of MDAnalysisTests. ``--table`` prints G of the systems that
are listed on that page and can be had from these files, for the rule in use.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import timme
from timme.motion import bodies
from timme.output.figures import draw
from timme.output.look import look_of

IMAGES = Path(__file__).parent / "images"


def save(analysis: timme.Analysis, name: str, image: str) -> None:
    draw(analysis, name, look_of(analysis)).savefig(IMAGES / f"motion-{image}.png", dpi=150)


def pictures(opened: str, closed: str, nmr: str) -> None:
    """Draw what timme motion draws of the examples."""
    from MDAnalysisTests.datafiles import DCD, PSF

    pair = timme.move(opened, closed, common_atoms=True, select="protein and chainID A")
    save(pair, "bodies", "kinase-pair")
    kinase = timme.move(PSF, DCD)
    for name in ("bodies", "angles", "variance", "modes", "covariance"):
        save(kinase, name, f"kinase-{name}")
    save(timme.move(nmr), "bodies", "barnase")
    save(timme.move(timme.synthetic.chain(200, 200)), "variance", "chain")
    fluid = timme.synthetic.suspension(40, 250, seed=3)
    correlated = timme.correlate(fluid, distances=[1, 2, 3, 4, 6, 8, 10], lags=(1, 2))
    save(correlated, "two-point", "fluid")


def table(files: list[str]) -> None:
    """Print G of what should be one body, and of what should be more."""
    for first, second, chains in (
        (files[0], files[1], "AA"),
        (files[0], files[0], "AB"),
        (files[1], files[1], "AB"),
    ):
        both = [
            timme.read(path).select(f"name CA and chainID {chain}")
            for path, chain in zip((first, second), chains, strict=True)
        ]
        places = np.array([each.snapshot()[0] for each in both])
        print(Path(first).stem, chains[0], Path(second).stem, chains[1], told(places))
    print(Path(files[2]).stem, told(timme.read(files[2]).select("name CA").coordinates()))


def told(places: np.ndarray) -> str:
    found = bodies(timme.Ensemble.from_array(places, unit="Å"))
    gaps = ", ".join(f"{level.n_bodies}: {level.gap:.1f}" for level in found.levels[1:])
    return f"{found.n_bodies} bodies; G of {gaps}"


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--table"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the header of the trajectory
        (table(given) if "--table" in sys.argv else pictures(*given))
