"""Make the pictures of `trusted.md`: python docs/make_sure.py NMR WATER_PDB WATER_XTC TRACKS.

NMR is 1bnr.pdb, WATER a trajectory of liquid water with its topology, TRACKS a table of particles;
adenylate kinase comes from MDAnalysisTests, spheres come with TIMME. What each run says is printed.
"""

import sys
from pathlib import Path
from typing import Any

import timme
from timme.analysis import Judged, summary
from timme.output.figures import draw
from timme.output.look import look_of
from timme.workflow.demo import analyse_demo

IMAGES = Path(__file__).parent / "images"
ROWS = {"sampling", "trusted", "level", "converged", "by chance", "windows", "cutoffs"}


def show(name: str, analysis: timme.Analysis, *figures: str) -> None:
    """Draw some figures of a result, and print what is said of it."""
    for figure in figures:
        made = draw(analysis, figure, look_of(analysis))
        made.savefig(IMAGES / f"sure-{name}-{figure}.png", dpi=150)
    print(f"== {name}")
    for row, text in summary(analysis):
        if row in ROWS:
            print(f"{row:12} {text}")
    part: Any = analysis.part(Judged)
    for record in () if part is None else part.confidence.trusted:
        print("  ", record.sentence(f"{record.sites[0]}…", analysis.hierarchy.unit))


if __name__ == "__main__":
    nmr, water_pdb, water_xtc, tracks = sys.argv[1:]
    from MDAnalysisTests.datafiles import DCD, PSF

    IMAGES.mkdir(exist_ok=True)
    show("barnase", timme.analyse(nmr), "dilution", "mobility")
    show("kinase", timme.analyse(PSF, DCD, windows=6), "dilution", "convergence", "windows")
    for name in ("spheres", "fluid"):
        show(name, analyse_demo(name), "dilution")
    show("tracks", timme.analyse(tracks, gaps=True, unit="px"), "dilution")
    show("water", timme.analyse(water_pdb, water_xtc), "dilution")
