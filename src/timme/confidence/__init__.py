"""How well supported clusters are: sampling, bootstrap support, separation, chance, levels."""

from timme.confidence.assessment import ClusterRecord, Confidence, assess, levels_of_matrix
from timme.confidence.bootstrap import Compared, Sampling, count_independent

__all__ = [
    "ClusterRecord", "Compared", "Confidence", "Sampling", "assess", "count_independent",
    "levels_of_matrix",
]  # fmt: skip
