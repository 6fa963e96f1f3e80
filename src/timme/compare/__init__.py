"""Set two hierarchies side by side: where they agree, how far, and which cluster is which."""

import sys
from types import ModuleType
from typing import Any

from timme.compare.clusters import Overlap, overlap
from timme.compare.cutoffs import Comparison, compare
from timme.compare.sites import Common, common_sites

__all__ = ["Common", "Comparison", "Overlap", "common_sites", "compare", "overlap"]


class _Callable(ModuleType):
    """The module stands for its chief function: ``timme.compare(a, b)`` is what people write."""

    def __call__(self, *given: Any, **named: Any) -> Comparison:
        return compare(*given, **named)


sys.modules[__name__].__class__ = _Callable
