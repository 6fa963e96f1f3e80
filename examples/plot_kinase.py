"""
Adenylate kinase: bodies, clusters and hinges
=============================================

150 snapshots of a simulation in which the enzyme closes. The lid and the AMP-binding domain turn
against the core.
"""

import matplotlib.pyplot as plt

import timme

moving = timme.analyse(timme.data.kinase())
print(moving)

# %%
# Three rigid bodies and the dilution plot of fluctuations.

timme.plot(moving, "finding")
plt.show()

# %%
# Residues that move together have a small σ, those of different bodies a large one.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
timme.plot(moving, "fraction", panels[0])
timme.plot(moving, "sigma-matrix", panels[1])
plt.show()

# %%
# The angle of both mobile bodies against the core, in the order of the snapshots.

motion = timme.analyse_motion(moving)
timme.plot(motion, "angles")
plt.show()
