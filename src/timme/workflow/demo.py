"""Built-in examples with known answers, which need no file."""

from __future__ import annotations

from dataclasses import replace

from timme import synthetic
from timme.analysis import FREELY_JOINTED, Analysis
from timme.system.frames import Progress
from timme.workflow.recipe import analyse

SYSTEMS = ("chain", "hinge", "spheres")


def analyse_demo(system: str, *, progress: Progress | None = None) -> Analysis:
    """Analyse a built-in example.

    Parameters
    ----------
    system : {"chain", "hinge", "spheres"}
        The freely-jointed chain of the paper, bodies joined by hinges, or attractive spheres.
    progress : callable, optional
        Called with the work done and the whole work.

    Returns
    -------
    Analysis
        As of any other input.
    """
    command = f"timme demo {system}"
    if system == "chain":
        made = analyse(synthetic.chain(), length=1.0, command=command, progress=progress)
        return replace(made, recipe=replace(made.recipe, theory=FREELY_JOINTED))
    if system == "hinge":
        ensemble = synthetic.hinged().ensemble
        made = analyse(ensemble, command=command, progress=progress)
        known = ((0.04, "the three bodies are side by side"),)
        return replace(made, recipe=replace(made.recipe, known=known))
    if system == "spheres":
        # Spheres of diameter 1.3 µm touch, or nearly so, when their centres are 10 % farther apart.
        ensemble = synthetic.spheres()
        return analyse(ensemble, radius=1.43, length=1.3, command=command, progress=progress)
    raise ValueError(f"a demo is one of {', '.join(SYSTEMS)}, got {system!r}")
