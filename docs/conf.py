"""How the documentation is built."""

from importlib.metadata import version
from pathlib import Path

project = "TIMME"
author = "The TIMME developers"
copyright = author  # noqa: A001
release = version("pytimme")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"TIMME {release}"

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False

examples = Path(__file__).parent.parent / "examples"
if examples.is_dir():
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": [str(examples)],
        "gallery_dirs": ["gallery"],
        "filename_pattern": r"\.py$",
        "ignore_pattern": r"^(?!plot_)",  # simulations take an hour
        "within_subsection_order": "FileNameSortKey",
        "show_memory": False,
        "capture_repr": (),
    }
