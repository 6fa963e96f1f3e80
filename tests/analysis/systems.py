"""Results put together by hand from few snapshots, for tests of tables and words."""

from __future__ import annotations

import numpy as np

from timme import objects, pairs
from timme.analysis.result import Analysis, Made, System
from timme.analysis.settings import Settings
from timme.confidence import Compared, assess
from timme.ensemble import Ensemble
from timme.fluctuations import measure
from timme.hierarchy.linking import link
from timme.motion.hinges import describe_motion


def analysis_of(
    ensemble: Ensemble, *, title: str = "made", molecule: bool = True, chance: bool = False
) -> Analysis:
    """Return an analysis of all sites, each of which is shown."""
    points, every = objects.points(ensemble), np.arange(ensemble.n_sites)
    sigma = measure(points, pairs.all(points))
    tree = link(sigma)
    film = ensemble.coordinates()
    names = np.array([ensemble.sites.label(site) for site in every.tolist()])
    system = System(
        *(names, every, every, ensemble.sites, film[0], every),
        shown_name="site",
        n_snapshots=ensemble.n_snapshots,
        unit=ensemble.unit,
        film=film,
    )
    made = Made(
        kind="molecule" if molecule else "particles", title=title, settings=Settings(min_size=10)
    )
    return Analysis(
        *(system, tree, made),
        fluctuations=sigma,
        confidence=assess(Compared(points, sigma), tree, chance=chance),
        motion=describe_motion(ensemble) if molecule else None,
    )
