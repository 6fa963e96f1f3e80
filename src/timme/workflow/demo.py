"""Built-in examples: systems that come with the package, and others whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from timme import data, synthetic
from timme.analysis import FREELY_JOINTED, Analysis
from timme.settings import DEMOS, CompareSettings
from timme.system.frames import Progress
from timme.workflow.comparison import Compared, compare_results
from timme.workflow.recipe import analyse
from timme.workflow.rigidity import rigid

_CARBON, _WATER, _SPHERE = 1.54, 0.96, 1.3  # Å of C-C and O-H, µm across: the paper's a
_BARNASE, _ENERGY = 0.068 * _CARBON, -0.048  # Å, kcal/mol: where the paper compares the two


def analyse_demo(system: str, *, progress: Progress | None = None) -> Analysis:
    """Analyse a built-in example.

    Parameters
    ----------
    system : str
        One of ``timme.settings.DEMOS``.
    progress : callable, optional
        Called with the work done and the whole work.

    Returns
    -------
    Analysis
        As of any other input.
    """
    if system not in _ANALYSES:
        raise ValueError(f"a demo is one of {', '.join(DEMOS)}, got {system!r}")
    title, analyse_system = _ANALYSES[system]
    return _head(analyse_system(command=f"timme demo {system}", progress=progress), title)


def compare_demo(analysis: Analysis) -> Compared:
    """Find the rigid clusters of the first snapshot of barnase, and compare.

    Parameters
    ----------
    analysis : Analysis
        Of the demo of barnase.

    Returns
    -------
    Compared
        Rigid clusters first, those of the trajectory second; at the paper's cutoffs as well.
    """
    static = rigid(data.path("barnase_md.pdb"), command="timme demo barnase")
    static = _mark(static, _ENERGY, "where the paper compares barnase with its motion")
    static = _head(static, "Barnase, rigid clusters of one snapshot")
    look = CompareSettings(cutoffs=(_ENERGY, _BARNASE))
    names = "hydrogen bonds of one snapshot", "fluctuations over 0.5 ns"
    return compare_results(static, analysis, look, names=names)


def _barnase(**run: Any) -> Analysis:
    files = data.path("barnase_md.pdb"), data.path("barnase_md.xtc")
    return _mark(analyse(*files, **run), _BARNASE, "as in the paper's picture of barnase")


def _chain(**run: Any) -> Analysis:
    """Two snapshots: the paper's step, at 0.471 in many of them, is a rise about 0.481 in these."""
    made = analyse(synthetic.chain(), length=1.0, **run)
    made = replace(made, recipe=replace(made.recipe, theory=FREELY_JOINTED))
    return _mark(made, 0.481, "where half of the links are in clusters of 10 or more, by theory")


def _hinge(**run: Any) -> Analysis:
    made = analyse(synthetic.hinged().ensemble, **run)
    return _mark(made, 0.04, "the three bodies are side by side")


def _water(**run: Any) -> Analysis:
    """Ten snapshots: in 9 ps the largest cluster is about the paper's, and later there is none."""
    files = data.path("water_drop.pdb"), data.path("water_drop.xtc")
    made = analyse(*files, stop=10, radius=3.5, length=_WATER, min_size=2, **run)
    return _mark(made, 0.54 * _WATER, "as in the paper's picture of a drop")


def _spheres(*, fluid: bool = False, **run: Any) -> Analysis:
    """Spheres touch, or nearly so, when their centres are 10 % farther apart."""
    ensemble = data.spheres(fluid=fluid, noisy=True)
    made = analyse(ensemble, radius=1.1 * _SPHERE, length=_SPHERE, **run)
    return _mark(made, 0.146 * _SPHERE, "as in the paper's picture of spheres")


def _crowd(**run: Any) -> Analysis:
    made = analyse(data.crowd(), radius=2.5, min_overlap=15, min_size=2, large=2, **run)
    return _mark(made, 0.25, "people who walk together")


def _road(**run: Any) -> Analysis:
    """On the ring in the plane, which is more of a picture than the way along it."""
    table, columns = data.path("ring_road.csv"), ("frame", "particle", "x", "y")
    made = analyse(table, columns=columns, unit="m", radius=400.0, min_size=2, large=2, **run)
    return _mark(made, 4.0, "cars of one platoon")


def _head(analysis: Analysis, title: str) -> Analysis:
    """Give a result the title of its page."""
    provenance = replace(analysis.recipe.provenance, title=title)
    return replace(analysis, recipe=replace(analysis.recipe, provenance=provenance))


def _mark(analysis: Analysis, cutoff: float, meaning: str) -> Analysis:
    """Name a cutoff that means something in this system, at which it is shown first."""
    return replace(analysis, recipe=replace(analysis.recipe, known=((cutoff, meaning),)))


_ANALYSES: dict[str, tuple[str, Callable[..., Analysis]]] = {  # what the page is headed, and how
    "barnase": ("Barnase, simulated for 0.5 ns", _barnase),
    "chain": ("A freely jointed chain, two snapshots", _chain),
    "hinge": ("Three bodies joined by hinges", _hinge),
    "water": ("A drop of water: 9 ps of 1 ns", _water),
    "spheres": ("Spheres that stick: an arrested network among mobile ones", _spheres),
    "fluid": ("Spheres in a dense suspension", partial(_spheres, fluid=True)),
    "crowd": ("A crowd that crosses a square", _crowd),
    "road": ("Cars on a ring road", _road),
}
