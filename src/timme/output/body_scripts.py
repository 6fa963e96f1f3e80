"""Scripts for PyMOL, ChimeraX and VMD that draw rigid bodies and the axes about which they turn.

A script draws what those of clusters do, of a structure with the body of every atom as its
B-factor, and an arrow for every axis, within a translucent cone that holds it in 95 of 100 draws,
and the arc on which the middle of the body goes from its least angle to its largest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from timme._arrays import Floats
from timme._files import write_atomically
from timme.analysis import Analysis, Moved
from timme.output.arrows import Arrow, body_arrows, body_colouring
from timme.output.picture import picture
from timme.output.script_words import rgb, row, tcl
from timme.output.scripts import chimerax, pymol, vmd
from timme.output.structures import mmcif_text, structure

FILES = {
    "bodies.cif": "structure with the rigid body as B-factor",
    "bodies.pml": "script for PyMOL: bodies and axes",
    "bodies.cxc": "script for ChimeraX: bodies and axes",
    "bodies.tcl": "script for VMD: bodies and axes",
}


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
        tip, paint = each.tip, row(rgb(each.colour))
        shaft = f"9.0, {row(each.start)}, {row(tip)}, 0.4, {paint}, {paint}"
        point = f"27.0, {row(tip)}, {row(each.end)}, 1.0, 0.0, {paint}, {paint}, 1.0, 1.0"
        lines.append(f"/cmd.load_cgo([{shaft}, {point}], '{each.name}')")
        if each.width:
            cone = f"27.0, {row(each.end)}, {row(each.middle)}, {each.width:.3f}, 0.0"
            lines.append(
                f"/cmd.load_cgo([25.0, 0.35, {cone}, {paint}, {paint}, 1.0, 1.0], "
                f"'{each.name}_cone')"
            )
        if each.arc is not None:
            lines += _pymol_arc(each, each.arc, paint)
    if lines:  # every new object draws PyMOL's camera to itself
        lines += ["set float_labels, on", "orient timme", "zoom all"]
    return "\n".join([*lines, ""])


def _pymol_arc(arrow: Arrow, arc: Floats, paint: str) -> list[str]:
    pieces = ", ".join(
        f"9.0, {row(one)}, {row(other)}, 0.25, {paint}, {paint}" for one, other in pairwise(arc)
    )
    name = f"{arrow.name}_label"
    spot = row(arc[len(arc) // 2] if arrow.spot is None else arrow.spot)
    return [
        f"/cmd.load_cgo([{pieces}], '{arrow.name}_arc')",
        f"/cmd.pseudoatom('{name}', pos=[{spot}], label='{arrow.label}')",
        f"set label_size, 20, {name}",
        f"set_color {name}, [{paint}]",
        f"set label_color, {name}, {name}",
    ]


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
    for number, each in enumerate(arrows):
        tip = each.tip
        parts = (
            ("cylinder", each.start, tip, "0.4", each.name),
            ("cone", tip, each.end, "1", f"{each.name}_tip"),
        )
        lines += [
            f"shape {shape} fromPoint {row(one, ',')} toPoint {row(other, ',')} "
            f"radius {radius} color {each.colour} name {name}"
            for shape, one, other, radius, name in parts
        ]
        if each.width:
            lines.append(
                f"shape cone fromPoint {row(each.end, ',')} toPoint {row(each.middle, ',')} "
                f"radius {each.width:.3f} color {each.colour}59 name {each.name}_cone"
            )
        if each.arc is not None:
            lines += [
                f"shape cylinder fromPoint {row(one, ',')} toPoint {row(other, ',')} "
                f"radius 0.25 color {each.colour} name {each.name}_arc"
                for one, other in pairwise(each.arc)
            ]
            lines.append(
                f'2dlabels text "{each.name}: {each.label}" color {each.colour} xpos 0.03 '
                f"ypos {0.95 - 0.05 * number:.2f}"
            )
    if lines:  # axes and cones reach beyond the structure
        lines.append("view")
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
        Lines of a ``.tcl`` script, in two molecules of their own: of all that is drawn in one, VMD
        takes the last material that is named, and cones are translucent. Its letters are ASCII.
    """
    if not arrows:
        return ""
    cones = ["mol new", "mol rename top cones", "graphics top material Transparent"]
    lines = ["mol new", "mol rename top axes", "graphics top material Opaque"]
    for number, each in enumerate(arrows):
        colour = 32 - number  # the last of VMD's colours, which the bodies leave alone
        tip = each.tip
        lines += [
            f"color change rgb {colour} {row(rgb(each.colour), ' ')}",
            f"graphics top color {colour}",
            f"graphics top cylinder {tcl(each.start)} {tcl(tip)} radius 0.4 resolution 20",
            f"graphics top cone {tcl(tip)} {tcl(each.end)} radius 1.0 resolution 20",
        ]
        if each.width:
            ends = f"{tcl(each.end)} {tcl(each.middle)}"
            cones += [
                f"graphics top color {colour}",
                f"graphics top cone {ends} radius {each.width:.3f} resolution 40",
            ]
        if each.arc is not None:
            lines += [
                f"graphics top cylinder {tcl(one)} {tcl(other)} radius 0.25 resolution 12"
                for one, other in pairwise(each.arc)
            ]
            spot = tcl(each.arc[len(each.arc) // 2] if each.spot is None else each.spot)
            words = each.label.replace("°", " deg").replace("±", "+/-")
            lines.append(f'graphics top text {spot} "{words}" size 1.5')
    drawn = cones if any(each.width for each in arrows) else []
    return "\n".join([*lines, *drawn, "display resetview", ""])
