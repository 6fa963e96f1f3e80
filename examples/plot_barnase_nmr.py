"""
Barnase: NMR models
===================

The 20 models of entry 1BNR as snapshots. The entry is downloaded, unless it is in the cache.
"""

import matplotlib.pyplot as plt

import timme

try:
    models = timme.analyse("pdb:1bnr")
except OSError as error:
    models = None
    print(f"The figures are left out: {error}")

# %%
# The fraction of residues in clusters of at least ten, and the dilution plot.

if models is not None:
    print(models)
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    timme.plot(models, "fraction", panels[0])
    timme.plot(models, "dilution", panels[1])
    plt.show()
