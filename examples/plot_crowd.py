"""
A crowd and a ring road
=======================

People who cross a square, and cars on a ring road. In both, some travel together. The method finds
them from the distances between those who come near each other, although people come and go.
"""

import matplotlib.pyplot as plt
import numpy as np

import timme

crowd = timme.data.crowd()
people = timme.analyse(crowd, pairs="contact:2.5", min_overlap=15, min_size=2)
print(people)
road = timme.data.ring_road()
cars = timme.analyse(road, pairs="contact:400", min_size=2)
print(cars)

# %%
# Left: paths of the people, coloured by group; those who walk alone are grey. Right: cars along the
# road, which closes on itself. Each platoon follows its first car.


def colour(label: int) -> tuple[float, ...] | str:
    """Colour of a group; grey outside of groups."""
    return plt.cm.tab20(label % 20) if label >= 0 else "0.8"


figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for track, label in zip(crowd.coordinates().transpose(1, 2, 0), people.finding.labels, strict=True):
    panels[0].plot(*track, color=colour(label), zorder=int(label))
seconds = np.arange(road.n_snapshots)
for track, label in zip(road.coordinates()[..., 0].T, cars.finding.labels, strict=True):
    panels[1].plot(seconds, track, ".", markersize=1.5, color=colour(label))
panels[0].set(aspect="equal", xlabel="x (m)", ylabel="y (m)")
panels[1].set(xlabel="Time (s)", ylabel="Place along the road (m)")
plt.show()
