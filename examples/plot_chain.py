"""
Freely-jointed chain
====================

Links of length a turn freely about their joints. This is the only system for which every curve is
known exactly, so that measurement (solid) and theory (dashed) can be compared. Neighbouring links
are compared by the distance of their far ends; a cluster is an unbroken run of joined links.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme import theory

# %%
# Two snapshots of a chain of 30 links, seen from one side.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for snapshot in timme.synthetic.chain(30, 2, seed=3).coordinates():
    axes.plot(*snapshot[:, :2].T, "o-")
axes.set(aspect="equal", xlabel="x / a", ylabel="y / a")
plt.show()

# %%
# Distances of far ends in one snapshot, and their fluctuation over two, for 10,000 links.


def measure(n_snapshots: int) -> timme.Fluctuations:
    """Measure σ of neighbouring links."""
    links = timme.objects.links(timme.synthetic.chain(10_000, n_snapshots, seed=1))
    return timme.measure(links, timme.pairs.sharing(links))


joints = timme.synthetic.chain(10_000, 1, seed=1).coordinates()[0]
figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
panels[0].hist(np.linalg.norm(joints[2:] - joints[:-2], axis=1), 40, density=True, color="0.8")
panels[1].hist(measure(2).sigma, 40, density=True, color="0.8")
grids, densities = (
    np.linspace(0.001, [2, 1], 200).T,
    (theory.separation_density, theory.sigma_density),
)
for axes, grid, density, name in zip(panels, grids, densities, ("r / a", "σ / a"), strict=True):
    axes.plot(grid, density(grid), "k--")
    axes.set(xlabel=name, ylabel="Density")
plt.show()

# %%
# The fraction of links in clusters of r = 1 … 5, and of at least 10.

chain = timme.analyse(timme.synthetic.chain(10_000, 2, seed=1), length=1.0, confidence=False)
figure, panels = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
timme.plot(chain, "size-distribution", panels[0])
timme.plot(chain, "fraction", panels[1])
cutoffs = np.linspace(0, 1, 200)
joined = theory.join_probability(cutoffs)
panels[0].plot(cutoffs, theory.size_fraction(np.arange(1, 6), joined[:, None]), "k--", lw=0.8)
panels[1].plot(cutoffs, theory.tail_fraction(joined), "k--", lw=0.8)
plt.show()

# %%
# With more snapshots the rise sharpens to a step at σ/a = √(2/9): all joints come to the same σ.

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for n_snapshots in (2, 4, 16, 64, 256):
    sigma = np.sort(measure(n_snapshots).sigma)
    axes.plot(sigma, np.linspace(0, 1, len(sigma)), label=f"N = {n_snapshots}")
axes.axvline(theory.step(), color="0.3", linestyle="--", label="N → ∞")
axes.set(xlabel="σc / a", ylabel="Fraction of joined neighbours", xlim=(0, 1))
axes.legend()
plt.show()
