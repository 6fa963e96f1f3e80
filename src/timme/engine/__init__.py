"""How distances are summed: moments and metrics, workers, the one reduction, checkpoints."""
