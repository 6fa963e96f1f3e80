"""
Any dimension
=============

Snapshots may be points of any space. Here, ninety points of ten dimensions are scattered at random;
they belong to three groups of thirty that move together, and each group to three subgroups. The
positions show none of this. The motion does.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme

rng = np.random.default_rng(0)
groups, subgroups = np.arange(90) // 30, np.arange(90) // 10
places = rng.normal(0.0, 3.0, (90, 10))
motion = rng.normal(0.0, 1.0, (100, 3, 10))[:, groups]
motion += rng.normal(0.0, 0.3, (100, 9, 10))[:, subgroups]
snapshots = places + motion + rng.normal(0.0, 0.05, motion.shape)
found = timme.analyse(snapshots, min_size=5)
print(found)

# %%
# Left: the first snapshot along its two principal axes, coloured by group. Right: the dilution
# plot. Nine subgroups form near σc = 0.1, and three groups near 0.5.

centred = snapshots[0] - snapshots[0].mean(axis=0)
principal = np.linalg.svd(centred, full_matrices=False)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
panels[0].scatter(*(principal.U * principal.S)[:, :2].T, c=groups, cmap="tab10", vmax=9)
panels[0].set(xlabel="First principal axis", ylabel="Second principal axis")
timme.plot(found, "dilution", panels[1])
plt.show()

# %%
# The distance need not be Euclidean either. The same groups with the city-block metric:

print(timme.analyse(snapshots, min_size=5, metric="cityblock"))
