"""
A crowd in the plane, points in fifty dimensions
================================================

Nothing in the method asks for three dimensions, or for molecules: a distance that can be measured
in every snapshot is enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme.output import plots
from timme.output.colours import REST, colouring

# %%
# People cross a square, ten parties and thirty alone. They come and go, so that a pair is measured
# while both are there, and those are compared who come within 2.5 m of one another.

made = timme.synthetic.crowd(seed=1)
crowd = made.ensemble.block(0).coordinates
analysis = timme.analyse(made.ensemble, radius=2.5, min_overlap=15)
cutoff = 0.25
print(analysis.hierarchy.cut(cutoff).sizes[:12], np.bincount(made.labels[0])[:12])

# %%
# A cutoff of 0.25 m, about the room that people leave one another, finds the parties; those who
# walk alone stay grey.

colours = colouring(analysis, cutoff, min_size=2).object_colours
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for person in np.argsort(colours != REST, kind="stable"):
    left.plot(*crowd[:, person].T, color=colours[person], alpha=0.35, linewidth=1)
left.scatter(*crowd[60].T, c=colours, s=14, zorder=3)
left.set(aspect="equal", xlabel="x (m)", ylabel="y (m)")
plots.dilution(analysis.hierarchy, cutoff=cutoff, ax=right)
plt.show()

# %%
# Fifty dimensions: three parts of three parts of ten points, displaced by 1, 0.3 and 0.05 at the
# three levels. Both planted levels are there, at their own cutoffs.

planted = timme.synthetic.planted((3, 3, 10), motions=(1.0, 0.3, 0.05), n_dimensions=50)
hierarchy = timme.analyse(planted.ensemble).hierarchy
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
plots.dilution(hierarchy, ax=axes)
for cutoff in (0.12, 0.7):
    print(cutoff, hierarchy.cut(cutoff).sizes)
plt.show()
