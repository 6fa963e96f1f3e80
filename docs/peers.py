"""Run TIMME and other programs on the same two systems: the figures of comparison.md.

``python docs/peers.py`` needs the package and, for the other rows, hdbscan, fast_hdbscan,
scikit-learn, prody and pyCapsid; what is not installed is left out.
"""

from __future__ import annotations

import io
import tempfile
import time
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

import timme

# Domains of adenylate kinase, the NMP-binding domain and the lid, as two publications list them:
# Whitford and others 2007, and Müller and others 1996. All other residues are the core.
DOMAINS = (range(30, 68), range(118, 161)), (range(30, 60), range(122, 160))


def find_domains(name: str, ensemble: Any, sigma: Any, count: int) -> Any:
    """Label sites by a program; -1 for none."""
    first = ensemble.snapshot()[0].astype(float)
    if name == "timme":
        return timme.analyse(ensemble).finding.labels
    if name in ("hdbscan", "fast_hdbscan"):
        graph = sparse.csr_array(sigma + 1e-9) if name == "fast_hdbscan" else sigma
        model = import_module(name).HDBSCAN(min_cluster_size=10, metric="precomputed")
        return model.fit_predict(graph)
    if name == "sklearn.cluster":  # is given the number of clusters
        model = import_module(name).SpectralClustering(count, affinity="precomputed")
        return model.fit_predict(np.exp(-(sigma**2) / (2 * sigma.mean() ** 2)))
    if name == "pyCapsid.QRC":  # pairs in contact, as the program takes them
        squares = sparse.coo_matrix(np.where(cdist(first, first) < 10, sigma**2, 0))
        with tempfile.TemporaryDirectory() as folder:
            find = import_module(name).findQuasiRigidClusters
            return find("", squares, np.arange(2, 11), save_results_path=f"{folder}/")[0]
    model = import_module("prody").GNM()  # of one structure; one mode less than clusters
    model.buildKirchhoff(first)
    model.calcModes(count - 1)
    return import_module(name).calcGNMDomains(model)


METHODS = "timme hdbscan fast_hdbscan sklearn.cluster prody.chromatin.cluster pyCapsid.QRC".split()


def main() -> None:
    kinase = timme.data.kinase().select("ca")
    numbers = kinase.sites.resids
    published = [np.isin(numbers, nmp) + 2 * np.isin(numbers, lid) for nmp, lid in DOMAINS]
    planted = timme.synthetic.planted((4, 25), 100, motions=(1.0, 0.1))
    for ensemble, truths in ((kinase, published), (planted.ensemble, [planted.labels[0]])):
        points = timme.objects.points(ensemble)
        sigma = timme.measure(points, timme.pairs.all(points)).matrix()
        for name in METHODS:
            try:
                with redirect_stdout(io.StringIO()):
                    for _ in range(2):  # the first call compiles
                        start = time.process_time()
                        labels = find_domains(name, ensemble, sigma, int(truths[0].max()) + 1)
                        taken = time.process_time() - start
            except ImportError:
                continue
            rands = [timme.comparison.overlap(labels - labels.min(), each).rand for each in truths]
            rand = ", ".join(f"{each:.2f}" for each in rands)
            n_clusters, n_out = labels.max() + 1, (labels < 0).sum()
            print(f"| {name} | {n_clusters} | {n_out} | {rand} | {taken:.2f} s |")


if __name__ == "__main__":
    main()
