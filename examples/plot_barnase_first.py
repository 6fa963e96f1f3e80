"""
Barnase: constraints beside fluctuations
========================================

A snapshot of barnase has rigid clusters, which follow from counting the constraints of its bonds
(FIRST). Diluting hydrogen bonds by energy gives a hierarchy that can be compared with that of a
simulation. The snapshot is the first of the simulation in the package. With the network, entry
1BNR is compared, too.
"""

import matplotlib.pyplot as plt

import timme

bonds = timme.analyse_rigidity(timme.data.path("barnase_md.pdb"))
motion = timme.analyse(timme.data.barnase_md())
print(bonds)

# %%
# Top: clusters held by hydrogen bonds at least as strong as E. Bottom: clusters of fluctuations.
# Clusters that share most residues have the same colour.

compared = timme.compare(bonds, motion)
print(compared)
timme.plot(compared, "dilutions")
plt.show()

# %%
# Agreement at every pair of cutoffs.

timme.plot(compared, "agreement")
plt.show()

# %%
# The NMR models, if they can be downloaded.

try:
    timme.plot(timme.compare(bonds, timme.analyse("pdb:1bnr")), "dilutions")
    plt.show()
except OSError as error:
    print(f"The figure is left out: {error}")
