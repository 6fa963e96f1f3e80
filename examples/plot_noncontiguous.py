"""
A rigid cluster in two pieces
=============================

In three dimensions a rigid cluster need not be contiguous: two pieces may be rigid to one another
while everything between them moves. Two plates stand on six legs, each free to turn about its own
axis, in a fluid. Six fixed distances leave the plates no way to move against one another, though no
bar joins them and nothing near either of them is rigid to it.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme
from timme.output import plots
from timme.output.colours import REST, colouring

made = timme.synthetic.noncontiguous()
upper, lower, legs = slice(0, 10), slice(10, 20), slice(20, 38)  # then come the free sites

# %%
# All pairs show one cluster of twenty sites at the level of the noise. Contacts show two of ten,
# which the fluid joins at a σ of its own motion, some forty times as high.

cutoff = 0.03
choices = {"all pairs": {"pairs": "all"}, "contacts": {"radius": 1.5}}
analyses = {name: timme.analyse(made.ensemble, **chosen) for name, chosen in choices.items()}
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axes, (name, analysis) in zip(panels, analyses.items(), strict=True):
    print(name, analysis.hierarchy.cut(cutoff).sizes[:4])
    plots.dilution(analysis.hierarchy, cutoff=cutoff, ax=axes)
    axes.set_title(name)
plt.show()

# %%
# One snapshot from the side, in the colours of the clusters that all pairs show: dark blue above
# and below, the legs in their own colours, and the fluid grey.

colours = np.asarray(colouring(analyses["all pairs"], cutoff).object_colours)
places = made.ensemble.snapshot(0)[0]
axis = places[upper].mean(axis=0) - places[lower].mean(axis=0)
axis /= np.linalg.norm(axis)
across = np.cross(axis, [1.0, 0.0, 0.0])
across /= np.linalg.norm(across)
seen = (places - places[: legs.stop].mean(axis=0)) @ np.column_stack([across, axis])

figure, axes = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
held = (colours != REST).reshape(len(seen), -1).any(axis=1)
axes.scatter(*seen[~held].T, c=colours[~held], s=25)
axes.scatter(*seen[held].T, c=colours[held], s=60)
axes.set(aspect="equal", xticks=[], yticks=[])
plt.show()
