"""Which clusters to believe: enough data, support, separation, and levels worth looking at."""

from timme.confidence.assessing import assess, levels_of_matrix
from timme.confidence.records import ClusterRecord, Confidence
from timme.confidence.sampling import Sampling, count_independent

__all__ = [
    "ClusterRecord",
    "Confidence",
    "Sampling",
    "assess",
    "count_independent",
    "levels_of_matrix",
]
