"""How long a user waits for the first sign of life, and for a whole run."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

import timme
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import ROOT, python, race

_BARNASE = ROOT.parent / "shared" / "data" / "nmr" / "1bnr.pdb"
_ATOMS, _MODELS = 1_727, 20  # of it

# What a run imports, but for what is ours or Python's own.
_NAME_LIBRARIES = """
import contextlib, json, sys
from timme.cli import main
with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
own = {"timme", "__main__", *sys.stdlib_module_names}
print(json.dumps([name for name in sys.modules if name.split(".")[0] not in own]))
"""
_IMPORT = """
import contextlib, importlib, sys
for name in sys.argv[1].split():
    with contextlib.suppress(ImportError):  # names that libraries make up
        importlib.import_module(name)
"""


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
            _run_row(repetitions=1 if quick else 5),
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
        asked = ["run", str(source), "-o", str(Path(folder) / "out"), "--overwrite"]
        libraries = " ".join(json.loads(python("-c", _NAME_LIBRARIES, *asked)))
        median = race(
            {
                "libraries": lambda: python("-c", _IMPORT, libraries),
                "run": lambda: python("-m", "timme", *asked),
            },
            repetitions,
        )
    peer = f"importing the same libraries {seconds(median['libraries'])}"
    return _row(f"timme run, {name}", median["run"], peer, median["libraries"], 2.5)


def _row(name: str, ours: float, peer: str, base: float, at_most: float | None) -> Row:
    return Row(name, seconds(ours), peer, ours / base, at_most=at_most)
