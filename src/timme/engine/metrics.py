"""Named metrics: which there are, what they need, and in what unit their distances are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from timme._kernels import metrics as kernel
from timme.system.ensemble import Ensemble

EUCLIDEAN = "euclidean"  # which goes through the walls of periodic boxes, as if none were named
HAVERSINE = "haversine"


@dataclass(frozen=True, slots=True)
class Named:
    """A metric with a loop of its own."""

    code: int  # by which the loop knows it
    unit: str  # of its distances, {} being that of the coordinates
    undefined: str = ""  # which points have no distance


NAMED = {
    "cityblock": Named(kernel.CITYBLOCK, "{}"),
    "chebyshev": Named(kernel.CHEBYSHEV, "{}"),
    "sqeuclidean": Named(kernel.SQEUCLIDEAN, "{}²"),
    "cosine": Named(kernel.COSINE, "", "a point at the origin has no direction"),
    "correlation": Named(kernel.CORRELATION, "", "a point of equal coordinates has no direction"),
    "braycurtis": Named(kernel.BRAYCURTIS, "", "two opposite points have no distance"),
    "canberra": Named(kernel.CANBERRA, ""),
    "hamming": Named(kernel.HAMMING, ""),
    "jensenshannon": Named(
        kernel.JENSENSHANNON, "", "shares of a whole are 0 or more, and not all of them 0"
    ),
    HAVERSINE: Named(
        kernel.HAVERSINE, "km", "the latitude comes first, and is from -90 to 90 degrees"
    ),
}


# Others that SciPy knows by name, and why they are not taken so.
_TRUTHS = "it compares truth values, and coordinates are numbers"
_REFUSED = {
    "seuclidean": "it needs variances: divide the coordinates by their standard deviations",
    "mahalanobis": "it needs a covariance matrix: write it as a function",
    **dict.fromkeys(("jaccard", "dice", "rogerstanimoto", "russellrao"), _TRUTHS),
    **dict.fromkeys(("sokalmichener", "sokalsneath", "yule"), _TRUTHS),
}
_SAME = {"minkowski": EUCLIDEAN}  # whose power is 2 unless one says otherwise


def known_metric(given: Any, ensemble: Ensemble) -> Any:
    """Refuse a metric that is not known, or has no meaning for these snapshots.

    Parameters
    ----------
    given : str, callable or None
        What the user chose; functions of SciPy stand for their names.
    ensemble : Ensemble
        Snapshots.

    Returns
    -------
    str, callable or None
        The same; None for the Euclidean one, which all loops know.
    """
    if _is_of_scipy(given):
        given = given.__name__  # for two vectors alone, where the same name takes all points
    if given is None or callable(given):
        return given
    if not isinstance(given, str):
        raise TypeError(f"metric= is a name or a function, got {type(given).__name__}")
    if _SAME.get(given, given) == EUCLIDEAN:
        return None
    if given in _REFUSED:
        raise ValueError(f"the metric {given!r} is not taken by its name: {_REFUSED[given]}")
    if given not in NAMED:
        raise ValueError(
            f"metric= is one of {EUCLIDEAN}, {', '.join(NAMED)}, or a function of two arrays of "
            f"points, got {given!r}: metrics that need more are written as functions"
        )
    box = ensemble.snapshot(0)[1]
    alone = ensemble.images is not None and ensemble.images.alone
    if box is not None and np.any(box) and not alone:
        raise ValueError(
            f"the metric {given!r} knows no periodic box: leave the box out (box=False), or the "
            "metric"
        )
    if given == HAVERSINE and ensemble.n_dimensions != 2:
        raise ValueError(
            f"the metric {given!r} needs 2 dimensions, latitude and longitude in degrees, got "
            f"{ensemble.n_dimensions}"
        )
    return given


def _is_of_scipy(given: Any) -> bool:
    """Tell a function of SciPy that has a name here from others."""
    if not callable(given) or getattr(given, "__module__", "") != "scipy.spatial.distance":
        return False
    return given.__name__ in {EUCLIDEAN, *NAMED, *_SAME, *_REFUSED}


def unit_of_distances(metric: Any, unit: str) -> str:
    """Say in what unit distances are.

    Parameters
    ----------
    metric : str, callable or None
        As :func:`known_metric` returns it.
    unit : str
        Of the coordinates.

    Returns
    -------
    str
        That of the coordinates for a function of the user's own; nothing where it is not known.

    Examples
    --------
    >>> unit_of_distances("haversine", "°"), unit_of_distances("sqeuclidean", "nm")
    ('km', 'nm²')
    """
    if not isinstance(metric, str):
        return unit
    form = NAMED[metric].unit
    return form.format(unit) if unit or "{}" not in form else ""


def refuse_undefined(metric: str, count: int) -> None:
    """Refuse points between which a metric is not defined.

    Parameters
    ----------
    metric : str
        Which metric.
    count : int
        How many distances are not defined.
    """
    if count:
        reason = NAMED[metric].undefined or "coordinates are too large"
        raise ValueError(
            f"the metric {metric!r} is not defined for {count:,} of the distances: {reason}; leave "
            "out such points, or choose another metric"
        )
