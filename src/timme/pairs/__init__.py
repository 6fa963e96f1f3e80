"""Who is compared with whom: all pairs, those in contact, neighbours, or the user's own."""

from typing import TYPE_CHECKING, NoReturn

from timme.pairs.choices import all, given, nearest, sequence, sharing, within  # noqa: A004
from timme.pairs.lists import Pairs

__all__ = ["Pairs", "all", "given", "nearest", "sequence", "sharing", "within"]


if not TYPE_CHECKING:  # which would believe that any name is there

    def __getattr__(name: str) -> NoReturn:
        """Say what pairs in contact are called here, where nothing has the name."""
        advice = ": pairs in contact are timme.pairs.within(objects, distance)"
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{advice if 'contact' in name else ''}"
        )
