"""What a user chose of pictures → how a result is shown."""

from __future__ import annotations

from timme.analysis import View
from timme.workflow.settings import DISPLAY, Display


def view_of(chosen: Display) -> View:
    """Keep of all settings how the result is to be shown.

    Parameters
    ----------
    chosen : Display
        What the user chose.

    Returns
    -------
    View
        The same choices.
    """
    return View(**{name: getattr(chosen, name) for name in DISPLAY})
