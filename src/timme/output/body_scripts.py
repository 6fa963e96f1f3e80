"""Scripts for PyMOL, ChimeraX and VMD that draw rigid bodies and the axes about which they turn.

A script draws what those of clusters do, of a structure with the body of every atom as its
B-factor, and an arrow for every axis, within a translucent cone that holds it in 95 of 100 draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from timme._arrays import Floats
from timme._files import write_atomically
from timme.analysis import Analysis, Moved
from timme.output.colours import Colouring
from timme.output.motion import body_colours
from timme.output.picture import picture
from timme.output.scripts import chimerax, pymol, vmd
from timme.output.structures import file_coordinates, mmcif_text, structure

FILES = {
    "bodies.cif": "structure with the rigid body as B-factor",
    "bodies.pml": "script for PyMOL: bodies and axes",
    "bodies.cxc": "script for ChimeraX: bodies and axes",
    "bodies.tcl": "script for VMD: bodies and axes",
}


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """The axis of a body, as it is drawn."""

    name: str
    start: Floats  # (3,)
    end: Floats  # (3,)
    colour: str
    width: float  # of the cone about it at its end; 0 for none


def write_body_scripts(analysis: Analysis, folder: str | Path) -> tuple[Path, ...]:
    """Write bodies as a structure, and a script for each viewer that draws them and their axes.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.

    Returns
    -------
    tuple of Path
        The files; none where no bodies were looked for.
    """
    part = analysis.part(Moved)
    if part is None:
        return ()
    found = body_colouring(part, analysis)
    drawn = picture(analysis, found, "bodies.cif")
    arrows = body_arrows(part, analysis)
    programs: tuple[tuple[str, Callable[[], str]], ...] = (
        ("bodies.cif", lambda: mmcif_text(structure(analysis, found))),
        ("bodies.pml", lambda: pymol(drawn) + pymol_arrows(arrows)),
        ("bodies.cxc", lambda: chimerax(drawn) + chimerax_arrows(arrows)),
        ("bodies.tcl", lambda: vmd(drawn) + vmd_arrows(arrows)),
    )
    return tuple(write_atomically(Path(folder) / name, made()) for name, made in programs)


def body_colouring(part: Moved, analysis: Analysis) -> Colouring:
    """Colour objects by their bodies.

    Parameters
    ----------
    part : Moved
        Bodies among the shown objects.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    Colouring
        Objects that are not shown take the body of the shown one of their residue.
    """
    system, labels = analysis.system, part.found.bodies.labels
    residue = _residues(analysis)
    known = dict(zip(residue[system.shown].tolist(), labels.tolist(), strict=True))
    of_objects = np.array([known.get(each, -1) for each in residue.tolist()])
    of_objects[system.shown] = labels
    return Colouring(
        cutoff=part.found.bodies.cutoff,
        min_size=1,
        labels=of_objects,
        colours=body_colours(part.found.bodies.n_bodies)[:-1],
        sizes=part.found.bodies.sizes,
    )


def body_arrows(part: Moved, analysis: Analysis) -> tuple[Arrow, ...]:
    """Lay out the axes of bodies as arrows, as long as the structure is wide.

    Parameters
    ----------
    part : Moved
        Bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of Arrow
        In the coordinates of the structure file.
    """
    scale = 10.0 if analysis.system.unit == "nm" else 1.0
    reach = 0.4 * float(np.ptp(file_coordinates(analysis), axis=0).max())
    colours = body_colours(part.found.bodies.n_bodies)
    arrows = []
    for body, each in zip(part.found.moving, part.found.hinges, strict=True):
        if np.isfinite(each.axis).all() and np.isfinite(each.point).all():
            middle, along = scale * each.point, reach * each.axis
            cone = each.axis_cone if np.isfinite(each.axis_cone) else 0.0
            width = reach * float(np.tan(np.radians(min(cone, 60.0))))
            name = f"axis_{body + 1}"
            arrows.append(Arrow(name, middle - along, middle + along, str(colours[body]), width))
    return tuple(arrows)


def pymol_arrows(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows in PyMOL's words.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        Lines of a ``.pml`` script, an object for each.
    """
    lines = []
    for each in arrows:
        red, green, blue = _rgb(each.colour)
        tip = each.end - 0.12 * (each.end - each.start)
        paint = f"{red:.3f}, {green:.3f}, {blue:.3f}"
        shaft = f"9.0, {_list(each.start)}, {_list(tip)}, 0.4, {paint}, {paint}"
        point = f"27.0, {_list(tip)}, {_list(each.end)}, 1.0, 0.0, {paint}, {paint}, 1.0, 1.0"
        lines.append(f"/cmd.load_cgo([{shaft}, {point}], '{each.name}')")
        if each.width:
            middle = 0.5 * (each.start + each.end)
            cone = f"27.0, {_list(each.end)}, {_list(middle)}, {each.width:.3f}, 0.0"
            lines.append(
                f"/cmd.load_cgo([25.0, 0.35, {cone}, {paint}, {paint}, 1.0, 1.0], "
                f"'{each.name}_cone')"
            )
    return "\n".join([*lines, ""])


def chimerax_arrows(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows in ChimeraX's words.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        Lines of a ``.cxc`` script.
    """
    lines = []
    for each in arrows:
        tip = each.end - 0.12 * (each.end - each.start)
        parts = (
            ("cylinder", each.start, tip, "0.4", each.name),
            ("cone", tip, each.end, "1", f"{each.name}_tip"),
        )
        lines += [
            f"shape {shape} fromPoint {_joined(one)} toPoint {_joined(other)} radius {radius} "
            f"color {each.colour} name {name}"
            for shape, one, other, radius, name in parts
        ]
        if each.width:
            middle = 0.5 * (each.start + each.end)
            lines.append(
                f"shape cone fromPoint {_joined(each.end)} toPoint {_joined(middle)} "
                f"radius {each.width:.3f} color {each.colour}59 name {each.name}_cone"
            )
    return "\n".join([*lines, ""])


def vmd_arrows(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows in VMD's words.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        Lines of a ``.tcl`` script, in a molecule of their own.
    """
    if not arrows:
        return ""
    lines = ["mol new", "mol rename top axes"]
    for number, each in enumerate(arrows):
        colour = 32 - number  # the last of VMD's colours, which the bodies leave alone
        tip = each.end - 0.12 * (each.end - each.start)
        lines += [
            f"color change rgb {colour} {' '.join(f'{part:.3f}' for part in _rgb(each.colour))}",
            f"graphics top color {colour}",
            "graphics top material Opaque",
            f"graphics top cylinder {_braced(each.start)} {_braced(tip)} radius 0.4 resolution 20",
            f"graphics top cone {_braced(tip)} {_braced(each.end)} radius 1.0 resolution 20",
        ]
        if each.width:
            middle = 0.5 * (each.start + each.end)
            ends = f"{_braced(each.end)} {_braced(middle)}"
            lines += [
                "graphics top material Transparent",
                f"graphics top cone {ends} radius {each.width:.3f} resolution 40",
            ]
    return "\n".join([*lines, "display resetview", ""])


def _residues(analysis: Analysis) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Residue of each object, as its site tells."""
    from timme.system.residues import residue_index

    return residue_index(analysis.system.sites)[analysis.system.object_sites]


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))


def _list(point: Floats) -> str:
    return ", ".join(f"{part:.3f}" for part in point)


def _joined(point: Floats) -> str:
    return ",".join(f"{part:.3f}" for part in point)


def _braced(point: Floats) -> str:
    return "{" + " ".join(f"{part:.3f}" for part in point) + "}"
