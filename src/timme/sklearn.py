"""Co-moving clusters as an estimator of scikit-learn (extra ``sklearn``)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from timme.analysis.recipe import analyse

try:
    from joblib import effective_n_jobs
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError as missing:
    raise ImportError(
        "an estimator needs scikit-learn 1.6 or newer: pip install 'pytimme[sklearn]'"
    ) from missing

# For `check_estimator` of scikit-learn: what does not apply, and why.
EXPECTED_FAILED_CHECKS = {
    "check_clustering": "its blobs are points at rest; here a row is the path of a site through "
    "snapshots, and two paths are near if the distance between them changes little",
}


class CoMovingClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster sites by how little the distances between them fluctuate.

    Parameters
    ----------
    cutoff : float, optional
        Cutoff σc, in the unit of the coordinates; by default that of :func:`timme.analyse`.
    min_size : int, optional
        Sites that a cluster needs; those of smaller ones are labelled -1.
    radius : float, optional
        Compare sites that are no farther apart in at least one snapshot; all pairs by default.
    metric : str or callable, optional
        Distance of two sites, as for :func:`timme.measure`; Euclidean by default.
    noise : float, sequence of float or {"auto"}, optional
        Error of positions that is subtracted from σ, as by :func:`timme.analyse`.
    n_dimensions : int, optional
        For an array with a row for each site: how many numbers make up one snapshot.
    n_jobs : int, optional
        Number of threads, all cores by default or for -1, all but one for -2.

    Attributes
    ----------
    labels_ : ndarray, shape (sites,)
        Cluster of each site, 0 the largest; -1 where it is in none that is large enough.
    n_clusters_ : int
        Number of clusters that are large enough.
    cutoff_ : float
        Cutoff at which the hierarchy was cut.
    hierarchy_ : Hierarchy
        Clusters within clusters, at all cutoffs.
    analysis_ : Analysis
        The whole result.
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
        metric: Any = None,
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

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, scikit-learn passes y
        """Measure σ, link it, and cut the hierarchy.

        Parameters
        ----------
        X : array_like, shape (snapshots, sites, dimensions) or (sites, snapshots × dimensions)
            Positions. In two dimensions, scikit-learn's samples are the sites, and the row of one
            is its path, snapshot after snapshot.
        y : None
            For pipelines.

        Returns
        -------
        CoMovingClustering
            Itself, with labels.
        """
        for name in ("min_size", "n_dimensions"):
            given = getattr(self, name)
            if not isinstance(given, int | np.integer) or given < 1:
                raise ValueError(f"{name}= must be a whole number, 1 or more, got {given!r}")
        shape = {"ensure_min_samples": 2, "ensure_min_features": 2 * self.n_dimensions}
        kinds = [np.float64, np.float32]
        array = validate_data(self, X, allow_nd=True, dtype=kinds, **shape)
        self.analysis_ = analyse(
            self._snapshots(array),
            pairs="all" if self.radius is None else f"contact:{self.radius}",
            metric=self.metric,
            noise=self.noise,
            cutoff=self.cutoff,
            workers=effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs),
        )
        self.hierarchy_ = self.analysis_.hierarchy
        found = self.analysis_.finding.cutoff or 0.0
        self.cutoff_ = float(found if self.cutoff is None else self.cutoff)
        partition = self.hierarchy_.cut(self.cutoff_)
        self.n_clusters_ = int(np.count_nonzero(partition.sizes >= self.min_size))
        self.labels_ = np.where(partition.labels < self.n_clusters_, partition.labels, -1)
        return self

    def _snapshots(self, array: Any) -> Any:
        """Lay out positions as snapshots × sites × dimensions."""
        if array.ndim != 2:
            return array
        n_sites, n_features = array.shape
        if n_features % self.n_dimensions:
            raise ValueError(
                f"rows hold {self.n_dimensions} numbers for each snapshot (n_dimensions=), got "
                f"{n_features}: give whole snapshots"
            )
        rows = array.reshape(n_sites, -1, self.n_dimensions)
        return np.ascontiguousarray(rows.transpose(1, 0, 2))

    def __sklearn_tags__(self) -> Any:
        """Return what is taken: two dimensions, or three."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
