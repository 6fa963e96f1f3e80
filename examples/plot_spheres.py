"""
Spheres that crowd one another
==============================

991 spheres in a dense suspension between two walls, as a confocal microscope would find them: they
rattle in cages of others, some of which last. Pairs that touch in at least one snapshot are
compared. The file comes with the package.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import timme
from timme import statistics
from timme.output import plots
from timme.output.colours import REST, colouring

diameter = 1.3  # µm
ensemble = timme.data.spheres(fluid=True, noisy=True)
analysis = timme.analyse(ensemble, radius=1.1 * diameter, length=diameter)
counted = statistics.curves(analysis.hierarchy)
cutoff = statistics.inflection(counted)
print(f"steepest rise at σc/a = {cutoff / diameter:.3f}")

# %%
# The fraction of spheres in clusters of ten or more rises like a sigmoid; the dashed line marks
# its steepest point, which the paper finds at 0.147 in a suspension of its own.

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
plots.fraction(counted, cutoff=cutoff, length=diameter, ax=axes)
plt.show()

# %%
# The same in the dilution plot. Spheres have no natural order, so they lie in the order of site
# labels, in which every cluster is one stripe.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
plots.dilution(analysis.hierarchy, cutoff=cutoff, length=diameter, ax=axes)
plt.show()

# %%
# The box from above: sticks join spheres of one cluster that touch in this snapshot (not
# through a wall), dark blue is what is left of the largest cluster, and spheres in clusters of
# fewer than three are small and grey.

found = colouring(analysis, cutoff, min_size=3)
first, second = analysis.fluctuations.pairs.T
points, width = analysis.system.coordinates, analysis.system.box[0, 0]
near = np.linalg.norm(points[first] - points[second], axis=1) < 1.1 * diameter
joined = near & (found.labels[first] == found.labels[second]) & (found.labels[first] >= 0)
pairs = np.column_stack([first, second])[joined]
pairs = pairs[np.argsort(points[pairs, 2].mean(axis=1))]  # the top ones are drawn last

figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
axes.scatter(*points[found.labels < 0, :2].T, s=12, color=REST, linewidths=0)
colours = found.object_colours[pairs[:, 0]]
axes.add_collection(LineCollection(points[pairs, :2], colors=colours, lw=5, capstyle="round"))
axes.set(aspect="equal", xlim=(0, width), ylim=(0, width), xlabel="x (µm)", ylabel="y (µm)")
plt.show()
