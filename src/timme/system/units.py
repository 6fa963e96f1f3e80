"""Units of length: how long they are, and how they are written."""

from __future__ import annotations

_ANGSTROM = {
    **dict.fromkeys(("", "å", "a", "ang", "angstrom", "angstroms", "ångström"), 1.0),
    **dict.fromkeys(("nm", "nanometer", "nanometre"), 10.0),
    **dict.fromkeys(("pm", "picometer", "picometre"), 0.01),
    **dict.fromkeys(("bohr", "au", "a0"), 0.529177210903),
}


def unit_in_angstrom(unit: str) -> float | None:
    """Tell how long a unit is.

    Parameters
    ----------
    unit : str
        Name of the unit, such as ``Å`` or ``nm``.

    Returns
    -------
    float or None
        Its length in Å, None for a unit at which covalent bonds make no sense.
    """
    return _ANGSTROM.get(unit.strip().lower())


def unit_label(unit: str) -> str:
    """Write a unit as it stands on axes.

    Parameters
    ----------
    unit : str
        Name of the unit, as it is typed.

    Returns
    -------
    str
        ``Å`` for all ways to write it, ``µm`` for ``um``, and others as they are.

    Examples
    --------
    >>> unit_label("angstrom"), unit_label("um"), unit_label("px")
    ('Å', 'µm', 'px')
    """
    plain = unit.strip()
    if plain and _ANGSTROM.get(plain.lower()) == 1.0:
        return "Å"
    return {"um": "µm", "μm": "µm", "micron": "µm"}.get(plain, plain)
