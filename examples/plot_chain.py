"""
The freely-jointed chain
========================

Rods of length a, each turning freely about the joint it shares with the next: the one system for
which every curve is known. Theory is dashed, the simulated chain of ten thousand links solid.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme import statistics, theory
from timme.output import plots

# %%
# Two snapshots. Neighbouring links are compared by the distance of their far ends, and a cluster
# is an unbroken run of joined links.


def counted(n_snapshots: int) -> statistics.Curves:
    """Count the clusters of a chain at every cutoff."""
    links = timme.objects.links(timme.synthetic.chain(10_000, n_snapshots, seed=1))
    return statistics.curves(timme.cluster(links, timme.pairs.sharing(links)))


def sizes(cutoffs: np.ndarray) -> np.ndarray:
    """Fractions in clusters of 1 to 5 links, Eq. (15)."""
    return theory.size_fraction(np.arange(1, 6)[:, None], theory.join_probability(cutoffs))


def large(cutoffs: np.ndarray) -> np.ndarray:
    """Fraction in clusters of 10 or more links, Eq. (21)."""
    return theory.tail_fraction(theory.join_probability(cutoffs), large=10)


two = counted(2)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
plots.size_distribution(two, theory=sizes, ax=left)
plots.fraction(two, theory=large, ax=right)
plt.show()

# %%
# More snapshots. The variance of σ² falls as 1/N, Eq. (20), so every pair of neighbours comes to
# the same σ and the rise sharpens to a step at σ/a = √(2/9).

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
numbers = (2, 4, 16, 64, 256)
for n_snapshots, colour in zip(numbers, plt.cm.viridis(np.linspace(0, 0.9, 5)), strict=True):
    curve = counted(n_snapshots)
    axes.step(curve.cutoffs[1:], curve.large_fraction[1:], where="post", color=colour,
              label=f"N = {n_snapshots}")  # fmt: skip
axes.axvline(theory.step(), color="0.3", linestyle="--", label="N → ∞")
axes.set(xlim=(0, 0.8), xlabel="σc / a", ylabel="Fraction in clusters of 10 or more")
axes.legend(frameon=False)
plt.show()
