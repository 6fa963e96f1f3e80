"""
Spheres that stick, and spheres that crowd one another
======================================================

991 spheres between two walls, twice: a gel, in which an arrested network that spans the room and
mobile spheres live side by side, and a dense fluid. Both files come with the package, as a confocal
microscope would find the spheres. Pairs that touch in at least one snapshot are compared.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import timme
from timme import statistics
from timme.output import plots
from timme.output.colours import REST, colouring

diameter = 1.3  # µm
systems = {
    "gel": timme.data.spheres(noisy=True),
    "dense fluid": timme.data.spheres(fluid=True, noisy=True),
}

# %%
# How far spheres get from the first snapshot to the last: in the gel there are two kinds of motion,
# in the fluid there is one. No step from snapshot to snapshot is half as long as the box, through
# the walls of which some of them go.

figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for axes, (name, ensemble) in zip(panels, systems.items(), strict=True):
    places, box = ensemble.block(0).coordinates.astype(float), ensemble.snapshot()[1]
    steps = np.diff(places, axis=0)
    steps[..., :2] -= box[0, 0] * np.rint(steps[..., :2] / box[0, 0])
    moved = np.linalg.norm(steps.sum(axis=0), axis=1) / diameter
    axes.hist(np.log10(moved), np.arange(-2, 0.8, 0.08), color="0.7")
    axes.set(title=name, xlabel="displacement / diameter")
    axes.set_xticks([-2, -1, 0], ["0.01", "0.1", "1"])
panels[0].set_ylabel("Spheres")
plt.show()

# %%
# The fraction of spheres in clusters of ten or more; the dashed lines mark where it is steepest.
# The gel is held by bonds that swing less than the microscope sees. The fluid rises like a sigmoid,
# near the paper's 0.147.

analyses = {
    name: timme.analyse(ensemble, radius=1.1 * diameter, length=diameter)
    for name, ensemble in systems.items()
}
figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for axes, (name, analysis) in zip(panels, analyses.items(), strict=True):
    counted = statistics.curves(analysis.hierarchy)
    steepest = statistics.inflection(counted)
    print(f"{name}: steepest rise at σc/a = {steepest / diameter:.3f}")
    plots.fraction(counted, cutoff=steepest, length=diameter, ax=axes)
    axes.set_title(name)
plt.show()

# %%
# The same in the dilution plot, with the cutoff of the paper's picture. Spheres have no natural
# order, so they lie in the order of site labels, in which every cluster is one stripe.

cutoff = 0.146 * diameter
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axes, (name, analysis) in zip(panels, analyses.items(), strict=True):
    plots.dilution(analysis.hierarchy, cutoff=cutoff, length=diameter, ax=axes)
    axes.set_title(name)
plt.show()

# %%
# Both from above: sticks join spheres of one cluster that touch in this snapshot (not through a
# wall), dark blue is the largest cluster, and spheres in clusters of fewer than three are small and
# grey. In the gel these are the network and what floats.

figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axes, (name, analysis) in zip(panels, analyses.items(), strict=True):
    found = colouring(analysis, cutoff, min_size=3)
    first, second = analysis.fluctuations.pairs.T
    points, width = analysis.system.coordinates, analysis.system.box[0, 0]
    near = np.linalg.norm(points[first] - points[second], axis=1) < 1.1 * diameter
    joined = near & (found.labels[first] == found.labels[second]) & (found.labels[first] >= 0)
    pairs = np.column_stack([first, second])[joined]
    pairs = pairs[np.argsort(points[pairs, 2].mean(axis=1))]  # the top ones are drawn last
    axes.scatter(*points[found.labels < 0, :2].T, s=8, color=REST, linewidths=0)
    lines = LineCollection(points[pairs, :2], colors=found.object_colours[pairs[:, 0]])
    lines.set(linewidth=70 / width, capstyle="round")
    axes.add_collection(lines)
    axes.set(aspect="equal", xlim=(0, width), ylim=(0, width), xlabel="x (µm)", ylabel="y (µm)")
    axes.set_title(name)
plt.show()
