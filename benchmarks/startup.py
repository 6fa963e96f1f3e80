"""How long a user waits for the first sign of life, and for a whole run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import ROOT, python, race

_BARNASE = ROOT.parent / "shared" / "data" / "nmr" / "1bnr.pdb"
_ATOMS, _MODELS = 1_727, 20  # of it
_LIBRARIES = (  # that a run of a PDB file uses
    "import numpy, numba, gemmi, matplotlib.backends.backend_svg, matplotlib.figure, scipy.fft, "
    "scipy.ndimage, scipy.cluster.hierarchy, scipy.sparse.csgraph, scipy.spatial, scipy.special"
)


def run(*, quick: bool) -> Results:
    """Time interpreters from start to end."""
    median = race(
        {
            "numpy": lambda: python("-c", "import numpy"),
            "help": lambda: python("-m", "timme", "--help"),
            "import": lambda: python("-c", "import timme"),
        },
        repetitions=5 if quick else 15,
    )
    peer = f"python -c 'import numpy' {seconds(median['numpy'])}"
    return Results(
        [
            _row("timme --help", median["help"], peer, median["numpy"], 2.0),
            _row("python -c 'import timme'", median["import"], peer, median["numpy"], None),
            _run_row(repetitions=1 if quick else 3),
        ]
    )


def _run_row(repetitions: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        if _BARNASE.exists():
            source, name = _BARNASE, f"barnase, {_ATOMS} atoms × {_MODELS}"
        else:
            source, name = Path(folder) / "solid.npy", f"points, {_ATOMS} × {_MODELS}"
            solid = timme.synthetic.elastic(_ATOMS, _MODELS)
            np.save(source, solid.frames.read(0, _MODELS)[0])
        output = str(Path(folder) / "out")
        median = race(
            {
                "libraries": lambda: python("-c", _LIBRARIES),
                "run": lambda: python(
                    "-m", "timme", "run", str(source), "-o", output, "--overwrite"
                ),
            },
            repetitions,
        )
    peer = f"importing the libraries alone {seconds(median['libraries'])}"
    return _row(f"timme run, {name}", median["run"], peer, median["libraries"], 2.5)


def _row(name: str, ours: float, peer: str, base: float, at_most: float | None) -> Row:
    return Row(name, seconds(ours), peer, ours / base, at_most=at_most)
