"""How the work is done: sums over parts of the frames, by threads or a cluster, resumable."""
