"""Run TIMME and other programs on the same two systems: the figures of docs/comparison.md.

``python -m benchmarks.programs`` needs the package and, for the other rows, hdbscan, fast_hdbscan,
scikit-learn, prody, pyCapsid, and R with Bio3D; a program that is not installed is left out.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
import time
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

import timme
from timme.hierarchy.partition import rand_index

# Domains of adenylate kinase, the NMP-binding domain and the lid, as two publications list them:
# Whitford and others 2007, and Müller and others 1996. All other residues are the core.
DOMAINS = (range(30, 68), range(118, 161)), (range(30, 60), range(122, 160))
GEOSTAS = """
suppressMessages(library(bio3d)); set.seed(0)
xyz <- as.xyz(as.matrix(read.table("{path}")))
for (i in 1:2) time <- system.time(found <- geostas.xyz(xyz, k={count}, verbose=FALSE))
cat(found$grps, "\\n", time[["user.self"]] + time[["sys.self"]])
"""


def find_domains(name: str, ensemble: Any, sigma: Any, count: int) -> Any:
    """Label sites by a program; -1 for none."""
    first = ensemble.snapshot()[0].astype(float)
    if name == "timme":
        found: Any = timme.analyse(ensemble)
        return found.finding.labels
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


def geostas(ensemble: Any, count: int) -> tuple[Any, float]:
    """Return labels by GeoStaS of Bio3D and its CPU time; FileNotFoundError without R."""
    program = shutil.which("Rscript")
    if program is None:
        raise FileNotFoundError("R is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coordinates.txt"
        np.savetxt(path, ensemble.coordinates().reshape(ensemble.n_snapshots, -1))
        script = Path(folder) / "geostas.R"
        script.write_text(GEOSTAS.format(path=path, count=count), "utf-8")
        printed = subprocess.run(
            [program, script], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    return np.array(printed[-2].split(), int), float(printed[-1])


def timed(name: str, ensemble: Any, sigma: Any, count: int) -> tuple[Any, float]:
    """Return labels by a program and its CPU time in a second call; the first one compiles."""
    if name == "geostas":
        return geostas(ensemble, count)
    with redirect_stdout(io.StringIO()):
        find_domains(name, ensemble, sigma, count)
        start = time.process_time()
        labels = find_domains(name, ensemble, sigma, count)
    return labels, time.process_time() - start


METHODS = (
    "timme hdbscan fast_hdbscan sklearn.cluster prody.chromatin.cluster pyCapsid.QRC geostas"
).split()


def main() -> None:
    """Print a row for each system and program."""
    kinase = timme.data.kinase().select("ca")
    numbers = kinase.sites.resids
    published = [np.isin(numbers, nmp) + 2 * np.isin(numbers, lid) for nmp, lid in DOMAINS]
    planted = timme.synthetic.planted((4, 25), 100, motions=(1.0, 0.1))
    for ensemble, truths in ((kinase, published), (planted.ensemble, [planted.labels[0]])):
        points = timme.objects.points(ensemble)
        sigma = timme.measure(points, timme.pairs.all(points)).matrix()
        for name in METHODS:
            try:
                labels, taken = timed(name, ensemble, sigma, int(truths[0].max()) + 1)
            except (FileNotFoundError, ImportError):
                continue
            labels = labels - labels[labels >= 0].min() * (labels >= 0)
            rands = [rand_index(labels, each) for each in truths]
            rand = ", ".join(f"{each:.2f}" for each in rands)
            n_clusters, n_out = labels.max() + 1, (labels < 0).sum()
            print(f"| {name} | {n_clusters} | {n_out} | {rand} | {taken:.2f} s |")


if __name__ == "__main__":
    main()
