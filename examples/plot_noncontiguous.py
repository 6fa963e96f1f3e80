"""
Two pieces, one cluster
=======================

A cluster need not be contiguous. Two plates, joined by a rod that was not observed, move as one,
while the particles between them move freely. No particle of one plate ever touches the other, so
contacts alone find two clusters; only a comparison of all pairs finds that they move together.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme

rng = np.random.default_rng(0)
across, along = np.meshgrid([0.0, 0.5, 1.0], np.arange(0, 5, 0.5))
plate = np.column_stack([across.ravel(), along.ravel()])
plates = np.concatenate([plate, plate + np.array([7, 0])])
fluid = rng.uniform([1.8, 0], [6.2, 4.5], (60, 2))


def turn(points: np.ndarray, angle: float) -> np.ndarray:
    """Turn points about the origin."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return points @ np.array([[cosine, sine], [-sine, cosine]])


snapshots = [
    np.concatenate([turn(plates, angle), turn(fluid, angle) + rng.normal(0, 0.5, fluid.shape)])
    for angle in rng.normal(0, 0.3, 50)
]
snapshots += rng.normal(0, 0.02, np.shape(snapshots))  # noise on every position

# %%
# The first snapshot, with the clusters of at least five particles at σc = 0.1.

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for axes, pairs, name in zip(
    panels, ("contact:1", "all"), ("Pairs in contact", "All pairs"), strict=True
):
    found = timme.analyse(np.array(snapshots), pairs=pairs, confidence=False)
    clusters = found.hierarchy.cut(0.1)
    large = clusters.sizes >= 5
    colours = np.array(["tab:blue", "tab:orange"])[np.minimum(clusters.labels, 1)]
    colours[~large[clusters.labels]] = "0.8"
    axes.scatter(*snapshots[0].T, c=colours)
    axes.set(aspect="equal", xlabel="x", ylabel="y", title=f"{name}: {large.sum()} rigid")
plt.show()
