"""The largest principal component for viewers: an arrow at every site, and a film along it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from timme._files import write_atomically
from timme.analysis import Analysis, Modes
from timme.motion import mode_trajectory
from timme.output.arrows import Arrow
from timme.output.ensembles import write_ensemble
from timme.output.script_words import rgb, row, tcl
from timme.output.structures import file_coordinates
from timme.system.ensemble import Ensemble

FILES = {
    "porcupine.pml": "script for PyMOL: where the largest component takes each site of the bodies",
    "porcupine.bild": "the same arrows for ChimeraX, to be opened after bodies.cxc",
    "porcupine.tcl": "the same arrows for VMD, and the bodies",
    "mode.pdb": "film along the largest component: 21 models of the shown sites",
}
_COLOUR = "#d55e00"
_STEP = 2.0  # standard deviations that arrows reach
_SHORT = 0.1  # of the longest: arrows that would hardly be seen


def write_mode_scripts(analysis: Analysis, folder: str | Path) -> tuple[Path, ...]:
    """Write the largest component as arrows for each viewer, and as a film.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.

    Returns
    -------
    tuple of Path
        The files; none where no components were looked for, or in a plane.
    """
    part = analysis.part(Modes)
    if part is None or analysis.system.n_dimensions != 3:
        return ()
    arrows = mode_arrows(part, analysis)
    texts = (porcupine_pymol(arrows), porcupine_bild(arrows), porcupine_vmd(arrows))
    written = [
        write_atomically(Path(folder) / name, text)
        for name, text in zip(FILES, texts, strict=False)
    ]
    system = analysis.system
    film = Ensemble.from_array(
        mode_trajectory(part.components),
        atoms=system.sites.take(system.object_sites[system.shown]),
        unit=system.unit,
    )
    return (*written, write_ensemble(film, Path(folder) / "mode.pdb"))


def mode_arrows(part: Modes, analysis: Analysis) -> tuple[Arrow, ...]:
    """Lay out where the largest component takes sites, by two standard deviations.

    Parameters
    ----------
    part : Modes
        Components.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of Arrow
        In the coordinates of the structure file; short ones are left out.
    """
    system = analysis.system
    scale = 10.0 if system.unit == "nm" else 1.0
    starts = file_coordinates(analysis)[system.object_sites[system.shown]]
    ways = scale * _STEP * np.sqrt(part.components.variances[0]) * part.components.modes[0]
    long = np.linalg.norm(ways, axis=1)
    return tuple(
        Arrow(f"mode_1_{site + 1}", starts[site], starts[site] + ways[site], _COLOUR, 0.0)
        for site in np.flatnonzero(long > _SHORT * long.max())
    )


def porcupine_pymol(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows as one object of PyMOL, beside the bodies.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        A ``.pml`` script, which draws that of the bodies first and hides their axes.
    """
    paint = row(rgb(_COLOUR))
    cones = ", ".join(
        f"27.0, {row(each.start)}, {row(each.end)}, 0.35, 0.0, {paint}, {paint}, 1.0, 1.0"
        for each in arrows
    )
    return f"@bodies.pml\ndisable axis_*\n/cmd.load_cgo([{cones}], 'mode_1')\nzoom all\n"


def porcupine_bild(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows in ChimeraX's words.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        A ``.bild`` file.
    """
    lines = [f".cone {row(each.start, ' ')} {row(each.end, ' ')} 0.35" for each in arrows]
    return "\n".join([f".color {row(rgb(_COLOUR), ' ')}", *lines, ""])


def porcupine_vmd(arrows: tuple[Arrow, ...]) -> str:
    """Say arrows in VMD's words.

    Parameters
    ----------
    arrows : tuple of Arrow
        What to draw.

    Returns
    -------
    str
        A ``.tcl`` script, in a molecule of its own beside the bodies.
    """
    lines = [
        f"graphics top cone {tcl(each.start)} {tcl(each.end)} radius 0.35 resolution 12"
        for each in arrows
    ]
    own = ["source bodies.tcl", "mol new", "mol rename top mode_1", "graphics top color orange"]
    return "\n".join([*own, *lines, ""])
