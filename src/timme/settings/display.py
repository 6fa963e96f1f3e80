"""What a user can choose of pictures alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from timme._html import Described
from timme.settings.schema import choose, settings_of, settle
from timme.settings.shared import choose_min_size, choose_palette
from timme.settings.values import BOND, LARGE, WATER_BOND


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Display(Described):
    """What a user can choose of pictures alone."""

    cutoff: float | None = choose(
        "Cutoff (σc, or energy) of the picture and the structure",
        group="shown",
        usual="the first that is suggested",
    )
    large: int = choose(
        "R of the fraction in clusters of R or more", default=LARGE, group="shown", least=1
    )
    min_size: int = choose_min_size()
    palette: str = choose_palette()
    length: float | None = choose(
        "Length a for the axis σ/a",
        group="shown",
        usual=f"{BOND} Å with carbon, {WATER_BOND} Å for water, their mean for links",
        positive=True,
    )

    def __post_init__(self) -> None:
        """Understand texts, and refuse what means nothing."""
        settle(self)

    def _facts(self) -> Iterable[tuple[str, object]]:
        """What differs from the defaults."""
        plain = self.plain()
        changed = [
            (setting.name, plain[setting.name])
            for setting in settings_of(type(self))
            if repr(plain[setting.name]) != repr(setting.default)
        ]
        return changed or [("all", "at their defaults")]

    def plain(self) -> dict[str, Any]:
        """Return the settings as they can be written in a file.

        Returns
        -------
        dict
            By name; arrays become lists, and objects of other libraries what they print.
        """
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


DISPLAY = tuple(field.name for field in fields(Display))
