"""σ: how much the distance of each pair of objects fluctuates over the snapshots."""

from timme.fluctuations.matrix import from_matrix
from timme.fluctuations.measuring import measure
from timme.fluctuations.sigma import Fluctuations

__all__ = ["Fluctuations", "from_matrix", "measure"]
