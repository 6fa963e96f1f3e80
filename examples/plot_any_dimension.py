"""
A crowd in the plane, points in ten dimensions
==============================================

Nothing in the method asks for three dimensions, or for molecules: a distance that can be measured
in every snapshot is enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme.output import plots
from timme.output.colours import REST, colouring

# %%
# People on a square: four groups walk together, each its own way, while others wander alone.

rng = np.random.default_rng(3)
sizes = (12, 9, 7, 5, *[1] * 40)
group = np.repeat(np.arange(len(sizes)), sizes)
turns = rng.normal(0, 0.4, (60, len(sizes)))
heading = rng.uniform(0, 2 * np.pi, len(sizes)) + np.cumsum(turns, axis=0)
walk = np.cumsum(0.5 * np.stack([np.cos(heading), np.sin(heading)], axis=2), axis=0)
place = rng.uniform(0, 40, (len(sizes), 2))[group] + rng.normal(0, 1.2, (len(group), 2))
crowd = place + walk[:, group] + rng.normal(0, 0.15, (60, len(group), 2))

analysis = timme.analyse(crowd, unit="m")
cutoff = 0.4
print(analysis.hierarchy.cut(cutoff).sizes[:6])

# %%
# A cutoff of 0.4 m, twice the jitter of a distance, finds the groups; lone walkers stay grey.

colours = colouring(analysis, cutoff).object_colours
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for person in np.argsort(colours != REST, kind="stable"):
    left.plot(*crowd[:, person].T, color=colours[person], alpha=0.35, linewidth=1)
left.scatter(*crowd[-1].T, c=colours, s=14, zorder=3)
left.set(aspect="equal", xlabel="x (m)", ylabel="y (m)")
plots.dilution(analysis.hierarchy, cutoff=cutoff, ax=right)
plt.show()

# %%
# Ten dimensions: three parts of three parts of ten points, displaced by 1, 0.3 and 0.05 at the
# three levels. Both planted levels are there, at their own cutoffs.

planted = timme.synthetic.planted((3, 3, 10), motions=(1.0, 0.3, 0.05), n_dimensions=10)
hierarchy = timme.analyse(planted.ensemble).hierarchy
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
plots.dilution(hierarchy, ax=axes)
for cutoff in (0.12, 0.7):
    print(cutoff, hierarchy.cut(cutoff).sizes)
plt.show()
