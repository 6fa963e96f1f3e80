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


def draw(compared: timme.Comparison) -> None:
    """Draw the dilution plots of both results, one above the other."""
    _, panels = plt.subplots(2, 1, figsize=(7, 7), layout="constrained")
    for axes, side, name in zip(panels, compared.sides, compared.names, strict=True):
        timme.plot(side, "dilution", axes)
        axes.set_title(name)
    plt.show()


compared = timme.compare(bonds, motion)
print(compared)
draw(compared)

# %%
# Agreement at every pair of cutoffs.

figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
timme.plot(compared, "agreement", axes)
plt.show()

# %%
# The NMR models, if they can be downloaded.

try:
    draw(timme.compare(bonds, timme.analyse("pdb:1bnr")))
except OSError as error:
    print(f"The figure is left out: {error}")
