"""How figures, tables and panels are declared: once, with a line that says what they show.

The names and captions that are declared are all that the command line, the folder, the server and
its pages know of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from timme.analysis import Analysis, Part
from timme.output.look import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = TypeVar("P", bound=Part)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OwnFigure:
    """A figure that is drawn of every result."""

    name: str
    draw: Callable[[Analysis, Look], Axes]
    caption: str  # what it shows, in one line without a full stop
    first: bool = True  # whether it is one to look at first


@dataclass(frozen=True, slots=True)
class PartFigure(Generic[P]):
    """A figure that is drawn of a part."""

    name: str
    draw: Callable[[P, Analysis, Look], Axes]
    reason: str  # why there is none of a result that lacks it
    caption: str  # what it shows, in one line without a full stop
    first: bool = True  # whether it is one to look at first
    suits: Callable[[Analysis], bool] = lambda _: True  # whether a result with the part has it


@dataclass(frozen=True, slots=True)
class PartOutput(Generic[P]):
    """All that is drawn, listed and shown of one kind of part."""

    kind: type[P]
    figures: tuple[PartFigure[P], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # the tables, and what each lists
    tables: Callable[[P, Analysis, Look], dict[str, str]] = lambda *_: {}  # text of each file
    # Entries of the scene, by names of which each is that of one kind of part alone.
    panels: Mapping[str, Callable[[P, Analysis], Any]] = field(default_factory=dict)


def collect(declared: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Collect what was declared by name, and refuse what would silently replace another.

    Parameters
    ----------
    declared : iterable of (str, T)
        Names, and what has them.

    Returns
    -------
    dict
        In the same order.
    """
    found: dict[str, T] = {}
    for name, thing in declared:
        if name in found:
            raise ValueError(
                f"two figures, tables or panels are called {name!r}: name them apart where they "
                "are declared"
            )
        found[name] = thing
    return found
