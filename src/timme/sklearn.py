"""For users of scikit-learn: co-moving clusters as an estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from timme import pairs as choose
from timme._arrays import Ints
from timme.engine.metrics import HAVERSINE, known_metric
from timme.engine.threads import available_cores
from timme.fluctuations.measuring import measure
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import sigma_by
from timme.objects import points
from timme.statistics import suggest
from timme.system.ensemble import Ensemble
from timme.workflow import gather
from timme.workflow.noise import without_noise

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError as missing:
    raise ImportError(
        "an estimator needs scikit-learn 1.6 or newer: pip install 'pytimme[sklearn]'"
    ) from missing


# For `check_estimator` of scikit-learn: what does not apply, and why.
EXPECTED_FAILED_CHECKS = {
    "check_clustering": "it wants blobs of points at rest found; here a row is the way of a site "
    "through snapshots, and two ways are near if the distance between them changes little",
}


class CoMovingClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster sites by how little the distances between them fluctuate.

    Parameters
    ----------
    cutoff : float, optional
        Cutoff σc, in the unit of the coordinates; by default the first that is suggested.
    min_size : int, optional
        Sites that a cluster needs; those of smaller ones are labelled -1.
    radius : float, optional
        Compare sites that are no farther apart in at least one snapshot; all pairs by default. It
        is a Euclidean distance whatever the metric, but for ``haversine``, where it is in km.
    metric : str or callable, optional
        How far apart two sites are, as for :func:`timme.measure`.
    noise : float, array_like or {"auto"}, optional
        Error of positions, or one for each axis, in the unit of the coordinates, that is taken off
        σ² as by :func:`timme.analyse`; "auto" estimates it from the steps of each site.
    n_dimensions : int, optional
        Of an array with a row for each site: how many of its numbers make up a snapshot.
    n_jobs : int, optional
        Number of threads, all cores by default or for -1, all but one for -2; the result is the
        same.

    Attributes
    ----------
    labels_ : ndarray, shape (sites,)
        Cluster of each site, 0 the largest; -1 where it is in none that is large enough.
    n_clusters_ : int
        How many clusters are large enough.
    cutoff_ : float
        At which the hierarchy was cut.
    hierarchy_ : Hierarchy
        Clusters within clusters, at all cutoffs.
    analysis_ : Analysis
        The whole result, for :func:`timme.write` and :func:`timme.view`.
    n_features_in_ : int
        Size of the second axis of what was fitted, as scikit-learn counts it.

    Examples
    --------
    >>> import timme
    >>> snapshots = timme.synthetic.planted().ensemble.coordinates()
    >>> labels = CoMovingClustering(cutoff=0.2).fit_predict(snapshots)
    >>> [int((labels == cluster).sum()) for cluster in range(3)]
    [10, 10, 10]
    """

    def __init__(
        self,
        *,
        cutoff: float | None = None,
        min_size: int = 1,
        radius: float | None = None,
        metric: Any = "euclidean",
        noise: Any = None,
        n_dimensions: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.cutoff = cutoff
        self.min_size = min_size
        self.radius = radius
        self.metric = metric
        self.noise = noise
        self.n_dimensions = n_dimensions
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure σ, link it, and cut the hierarchy.

        Parameters
        ----------
        X : array_like, shape (snapshots, sites, dimensions) or (sites, snapshots × dimensions)
            Positions. In two dimensions, scikit-learn's samples are the sites, and the row of one
            is its way, snapshot after snapshot.
        y : None
            There to fit into pipelines.

        Returns
        -------
        CoMovingClustering
            Itself, with labels.
        """
        del y
        _refuse_texts(X)
        array = validate_data(self, X, allow_nd=True, dtype=[np.float64, np.float32])
        for name in ("min_size", "n_dimensions"):
            _refuse_less_than_one(name, getattr(self, name))
        objects = points(Ensemble.from_array(_snapshots(array, self.n_dimensions)))
        metric, workers = known_metric(self.metric, objects.ensemble), _threads(self.n_jobs)
        pairs = choose.all(objects)
        if self.radius is not None:
            near = HAVERSINE if metric == HAVERSINE else None
            pairs = choose.within(objects, self.radius, metric=near, workers=workers)
            if metric != near:
                text = f"{pairs.description} by Euclidean distances"
                pairs = replace(pairs, description=text)
        sigma = measure(objects, pairs, metric=metric, workers=workers)
        sigma = without_noise(objects, pairs, sigma, self.noise, kind="particles", metric=metric)
        self.hierarchy_ = link(sigma, quantity=sigma_by(metric))
        self.cutoff_ = self._cutoff() if self.cutoff is None else float(self.cutoff)
        self.analysis_ = gather(objects, sigma, self.hierarchy_, pairs=pairs, cutoff=self.cutoff_)
        self.labels_, self.n_clusters_ = self._labels()
        return self

    def _cutoff(self) -> float:
        """First cutoff that is suggested; any where no two sites ever join."""
        found = suggest(self.hierarchy_)
        return found[0].cutoff if found else 0.0

    def _labels(self) -> tuple[Ints, int]:
        """Clusters that are large enough, which are the first as the largest come first."""
        partition = self.hierarchy_.cut(self.cutoff_)
        n_clusters = int(np.count_nonzero(partition.sizes >= self.min_size))
        return np.where(partition.labels < n_clusters, partition.labels, -1), n_clusters

    def __sklearn_tags__(self) -> Any:
        """Say what is taken: two dimensions, or three."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _refuse_texts(X: Any) -> None:
    """Refuse numbers that are written out, which scikit-learn would convert."""
    try:
        array = np.asarray(X)
    except ValueError:  # which is told by who validates
        return
    found = array.dtype.kind in "UST"
    if found or (array.dtype == object and any(isinstance(one, str | bytes) for one in array.flat)):
        raise ValueError(
            "positions must be numbers, got texts: convert them first, as with X.astype(float)"
        )


def _refuse_less_than_one(name: str, value: Any) -> None:
    if not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}= must be a whole number, 1 or more, got {value!r}")


def _threads(n_jobs: int | None) -> int | None:
    """Count threads as scikit-learn does: below 0, from the number of cores on."""
    if n_jobs is None or n_jobs >= 0:
        return n_jobs
    return max(1, available_cores() + 1 + n_jobs)


def _snapshots(array: Any, n_dimensions: int) -> Any:
    """Lay out positions as snapshots × sites × dimensions."""
    if array.ndim == 3:
        return array
    if array.ndim != 2:
        raise ValueError(
            "positions need the shape (snapshots, sites, dimensions), or a row for each site, "
            f"got {array.ndim} dimensions of shape {array.shape}"
        )
    n_sites, n_features = array.shape
    if n_features % n_dimensions:
        raise ValueError(
            f"rows hold {n_dimensions} numbers for each snapshot (n_dimensions=), "
            f"got {n_features}: give whole snapshots"
        )
    if n_features // n_dimensions < 2:
        raise ValueError(
            f"fluctuations need at least 2 snapshots, got {n_features // n_dimensions} "
            f"(n_features = {n_features}): give rows of more snapshots"
        )
    return np.ascontiguousarray(array.reshape(n_sites, -1, n_dimensions).transpose(1, 0, 2))
