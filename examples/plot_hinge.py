"""
Bodies joined by hinges
=======================

Three rigid bodies in a row swing about two hinges, every snapshot is turned and moved as a whole at
random, and every site jitters. The bodies come back without superposition and without saying how
many they are.
"""

import matplotlib.pyplot as plt

import timme
from timme import statistics
from timme.output import matrices, plots
from timme.output.colours import colouring

planted = timme.synthetic.hinged(n_bodies=3, sites_per_body=30, n_snapshots=100)
analysis = timme.analyse(planted.ensemble)
hierarchy = analysis.hierarchy

# %%
# Some cutoffs are better places to look than others, and each comes with its reason. The longest
# life is that of the three bodies.

for suggestion in statistics.suggest(hierarchy):
    print(f"{suggestion.cutoff:.3f}  {suggestion.reason}")
low, high = statistics.long_lived(hierarchy)[0]
cutoff = (low + high) / 2
clusters = hierarchy.cut(cutoff)
print(clusters.sizes, "as planted:", (clusters.labels == planted.labels[0]).all())

# %%
# The dilution plot, and σ of all pairs in the order of site labels: three blocks of small σ.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plots.dilution(hierarchy, cutoff=cutoff, ax=left)
matrices.sigma_matrix(analysis.fluctuations, order=hierarchy.order, ax=right)
plt.show()

# %%
# Four snapshots, each seen from its own side: what keeps its shape is one colour.

colours = colouring(analysis, cutoff).object_colours
figure, panels = plt.subplots(1, 4, figsize=(9, 2.4), subplot_kw={"projection": "3d"})
for axes, frame in zip(panels, (0, 25, 50, 75), strict=True):
    axes.scatter(*planted.ensemble.snapshot(frame)[0].T, c=colours, s=14, depthshade=False)
    axes.set_axis_off()
    axes.set_aspect("equal")
figure.subplots_adjust(0, 0, 1, 1, 0, 0)
plt.show()
