"""Built-in systems, analysed with the options that suit them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from timme import data, synthetic
from timme.analysis.recipe import analyse, finish
from timme.analysis.result import Analysis
from timme.analysis.rigidity import analyse_rigidity
from timme.engine.checkpoint import Progress

_SPHERES: dict[str, Any] = {"pairs": "contact:1.43", "length": 1.3, "cutoff": 0.19, "min_size": 5}
_HINGE: dict[str, Any] = {"spans": (90.0, 120.0), "jitter": 0.02}

# Files of the package, or what makes an ensemble; options; and what else is known of the result.
# Cutoffs, where given, are those at which the paper shows these systems.
DEMOS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "kinase": (("kinase.pdb", "kinase.xtc"), {}, {}),
    "barnase": (("barnase_md.pdb", "barnase_md.xtc"), {}, {"title": "barnase_md"}),
    "rigidity": (("barnase_md.pdb",), {}, {"title": "barnase_md"}),
    "spheres": (partial(data.spheres, noisy=True), _SPHERES, {"length_name": "diameter"}),
    "fluid": (partial(data.spheres, fluid=True, noisy=True), _SPHERES, {"length_name": "diameter"}),
    "water": (
        ("water_drop.pdb", "water_drop.xtc"),
        {"end": 10, "pairs": "contact:3.5", "length": 0.96, "cutoff": 0.52},
        {"length_name": "O–H bond"},
    ),
    "chain": (
        synthetic.chain,
        {"length": 1.0, "cutoff": 0.481},
        {"theory": "freely-jointed chain", "length_name": "link"},
    ),
    "hinge": (lambda: synthetic.bodies((30, 30, 30), 100, **_HINGE).ensemble, {}, {}),
    "crowd": (data.crowd, {"pairs": "contact:2.5", "min_overlap": 15, "min_size": 2}, {}),
    "road": (
        ("ring_road.csv",),
        {"columns": "frame,particle,x,y", "unit": "m", "pairs": "contact:400", "min_size": 2},
        {},
    ),
}


def analyse_demo(name: str = "kinase", *, progress: Progress | None = None) -> Analysis:
    """Analyse a built-in system.

    Parameters
    ----------
    name : str, optional
        One of ``DEMOS``.
    progress : callable, optional
        Called with the work done and the whole work.

    Returns
    -------
    Analysis
        As of any other input.
    """
    if name not in DEMOS:
        raise ValueError(f"a demo is one of {', '.join(DEMOS)}, got {name!r}")
    source, options, known = DEMOS[name]
    recipe = analyse_rigidity if name == "rigidity" else analyse
    given = [source()] if callable(source) else [data.path(file) for file in source]
    found = recipe(*given, progress=progress, **options)
    return finish(replace(found, made=replace(found.made, **{"title": name} | known)))
