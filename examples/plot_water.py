"""
A drop of water
===============

1,000 water molecules in vacuum at 273 K, ten snapshots over 9 ps, simulated again. Molecules
whose oxygens come closer than 3.5 Å are compared. Clusters of molecules form and dissolve: none
of them lasts.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme

drop = timme.analyse(timme.data.water_drop()[:10], pairs="contact:3.5", length=0.96, cutoff=0.52)
print(drop)

# %%
# The fraction of molecules in clusters of at least ten rises far above that of independent
# walkers: neighbours are correlated.

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
timme.plot(drop, "fraction", panels[0])
timme.plot(drop, "dilution", panels[1])
plt.show()

# %%
# The drop, with the largest clusters at σc = 0.52 Å in colour.

labels, places = drop.hierarchy.cut(0.52).labels, drop.system.coordinates
figure = plt.figure(figsize=(6, 5), layout="constrained")
axes = figure.add_subplot(projection="3d")
axes.scatter(*places[labels > 9].T, s=8, color="0.85")
axes.scatter(*places[labels <= 9].T, s=30, c=labels[labels <= 9], cmap="tab10")
axes.set(xlabel="x (Å)", ylabel="y (Å)", zlabel="z (Å)", box_aspect=np.ones(3))
plt.show()
