"""Write tracks.csv: 100 particles under a microscope, of which 1 to 20 drift together."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n_frames, n_particles = 200, 100
steps = rng.normal(0.0, 0.1, (n_frames, n_particles, 2))  # µm, each particle by itself
steps[:, :20] = steps[:, :1]  # but 20 of them together,
places = rng.uniform(0.0, 30.0, (n_particles, 2))
places[:20] = rng.uniform(10.0, 18.0, (20, 2))
tracks = places + steps.cumsum(axis=0)
tracks[:, :20] += rng.normal(0.0, 0.1, (n_frames, 20, 2))  # rattling in their places
tracks += rng.normal(0.0, 0.05, tracks.shape)  # localization error
frame, particle = np.nonzero(rng.random((n_frames, n_particles)) < 0.9)  # 10 % are missed
x, y = tracks[frame, particle].T.round(3)
table = pd.DataFrame({"frame": frame, "particle": particle + 1, "x": x, "y": y})
table.to_csv("tracks.csv", index=False)
