"""
Attracting spheres
==================

991 spheres, 1.3 µm across, between two plates: a gel, whose network is arrested while other
spheres move, and a dense fluid. Both were simulated and carry the localization error of a
confocal microscope. Spheres that touch in at least one snapshot are compared.
"""

import matplotlib.pyplot as plt

import timme

diameter = 1.3  # µm
settings = {"pairs": f"contact:{1.1 * diameter}", "length": diameter, "cutoff": 0.19, "min_size": 5}
systems = {
    "gel": timme.analyse(timme.data.spheres(noisy=True), **settings),
    "dense fluid": timme.analyse(timme.data.spheres(fluid=True, noisy=True), **settings),
}
for name, analysis in systems.items():
    print(name, analysis.finding.text(80), sep="\n")


def draw(figure_name: str) -> None:
    """Draw a figure of both systems."""
    _, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axes, (name, analysis) in zip(panels, systems.items(), strict=True):
        timme.plot(analysis, figure_name, axes)
        axes.set_title(name)
    plt.show()


# %%
# The fraction of spheres in clusters of at least five, beside that of independent walkers with
# the same steps. The network of the gel is a single cluster because its spheres hardly move:
# walkers with such steps form one as well. In the fluid they do not.

draw("fraction")

# %%
# In the dilution plot the network of the gel is one stripe that only grows; the fluid has no
# lasting clusters.

draw("dilution")

# %%
# Both from above, with spheres of the largest cluster in dark blue.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axes, (name, analysis) in zip(panels, systems.items(), strict=True):
    labels = analysis.hierarchy.cut(0.19).labels
    x, y, _ = analysis.system.coordinates.T
    axes.scatter(x, y, s=60, c=["darkblue" if label == 0 else "0.8" for label in labels])
    axes.set(aspect="equal", title=name, xlabel="x (µm)", ylabel="y (µm)")
plt.show()
