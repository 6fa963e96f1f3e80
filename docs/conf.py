"""How the documentation is built."""

import contextlib
import importlib.metadata
import runpy
import shutil
from pathlib import Path
from typing import Any

from timme.cli import commands

project = "TIMME"
author = "The TIMME developers"
copyright = author  # noqa: A001
release = importlib.metadata.version("pytimme")

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
html_css_files = ["wide.css"]
html_static_path = ["_static"]
html_title = f"TIMME {release}"

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_in_temp = True
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds; a first run compiles
autosummary_generate = ["generated/python.rst"]  # by options.py
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the sections on parameters name them

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
COMMANDS = [
    "demo -o kinase",
    "motion kinase -o motion",
    "export motion figures -o motion",
    "demo rigidity -o rigidity",
    "run tracks.csv --unit µm --noise 0.05 -o tracks",
]


def make_results(_: Any) -> None:
    """Run the commands of the tutorials, and copy the notebook into the pages."""
    shutil.copy(EXAMPLES / "first-look.ipynb", HERE / "first-look.ipynb")
    shutil.rmtree(HERE / "results", ignore_errors=True)
    (HERE / "results").mkdir()
    with contextlib.chdir(HERE / "results"):
        runpy.run_path(str(EXAMPLES / "tracks.py"))
        for command in COMMANDS:
            commands.app.main(command.split(), standalone_mode=False, obj=command.split())


def setup(app: Any) -> None:
    """Make results before pages are read."""
    app.connect("builder-inited", make_results)
