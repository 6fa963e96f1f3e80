"""What is drawn, listed and shown of one kind of part: declared once, and found by all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from timme.analysis import Analysis, Part
from timme.output.look import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = TypeVar("P", bound=Part)


@dataclass(frozen=True, slots=True)
class PartFigure(Generic[P]):
    """A figure that is drawn of a part."""

    name: str
    draw: Callable[[P, Analysis, Look], Axes]
    reason: str  # why there is none of a result that lacks it
    suits: Callable[[Analysis], bool] = lambda _: True  # whether a result with the part has it


@dataclass(frozen=True, slots=True)
class PartOutput(Generic[P]):
    """All that is drawn, listed and shown of one kind of part."""

    kind: type[P]
    figures: tuple[PartFigure[P], ...] = ()
    files: tuple[str, ...] = ()  # the tables
    tables: Callable[[P, Analysis, Look], dict[str, str]] = lambda *_: {}  # text of each file
    panels: Callable[[P, Analysis], dict[str, Any]] = lambda *_: {}  # entries of the scene
