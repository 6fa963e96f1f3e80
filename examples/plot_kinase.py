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
# The dilution plot, and the fraction of residues in clusters of at least ten.

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
timme.plot(moving, "dilution", panels[0])
timme.plot(moving, "fraction", panels[1])
plt.show()

# %%
# σ of the pairs in contact: small within bodies and at hinges, large where bodies close on each
# other. Beside it, the cutoff at which each pair of residues joins.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
timme.plot(moving, "sigma-matrix", panels[0])
timme.plot(moving, "joining", panels[1])
plt.show()

# %%
# The angle of both mobile bodies against the core, in the order of the snapshots.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
timme.plot(timme.analyse_motion(moving), "angles", axes)
plt.show()
