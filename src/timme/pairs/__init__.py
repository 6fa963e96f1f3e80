"""Who is compared with whom: all pairs, those in contact, neighbours, or the user's own."""

from timme.pairs.choices import all, given, nearest, sequence, sharing, within  # noqa: A004
from timme.pairs.lists import Pairs

__all__ = ["Pairs", "all", "given", "nearest", "sequence", "sharing", "within"]
