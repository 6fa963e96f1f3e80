"""How the documentation is built."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

project = "TIMME"
author = "The TIMME developers"
copyright = author  # noqa: A001
release = version("pytimme")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "results", "gallery/*.ipynb", "gallery/*.py"]
html_theme = "furo"
html_title = f"TIMME {release}"

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
numpydoc_show_class_members = False

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
sphinx_gallery_conf = {
    "examples_dirs": [str(EXAMPLES)],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_.*\.py$",
    "ignore_pattern": r"^(?!plot_)",  # simulations take an hour
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "capture_repr": (),
    "download_all_examples": False,
}
# Results whose figures the tutorials show, made by the commands that the tutorials give.
RESULTS = {
    "kinase": "demo --overwrite",
    "motion": "motion {results}/kinase --overwrite",
    "barnase": "demo barnase --overwrite",
    "rigidity": "demo rigidity --overwrite",
    "comparison": "compare {results}/rigidity {results}/barnase --overwrite",
    "tracks": "run {results}/tracks.csv --unit µm --overwrite",
}


def make_results(app: Any) -> None:  # noqa: ARG001, Sphinx passes itself
    """Run the commands of the tutorials, and copy the notebook into the pages."""
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    shutil.copy(EXAMPLES / "first-look.ipynb", HERE / "first-look.ipynb")
    subprocess.run([sys.executable, EXAMPLES / "tracks.py"], cwd=results, check=True)
    for name, text in RESULTS.items():
        words = text.format(results=results).split()
        command = [sys.executable, "-m", "timme", *words, "-o", results / name]
        subprocess.run(command, check=True, env={**os.environ, "MPLBACKEND": "Agg"})


def setup(app: Any) -> None:
    """Make results before pages are read."""
    app.connect("builder-inited", make_results)
