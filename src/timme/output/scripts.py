"""Scripts for PyMOL, ChimeraX and VMD that draw the paper's picture: clusters bold, the rest small.

The structure file that a script loads has the cluster of every atom in its B-factor column (1 is
the core, 0 the rest). Scripts address atoms by that number and by nothing else: it is exact for
odd chain and residue names, for repeated numbers and for particles without names, and keeps a
script short whatever the number of atoms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from timme._files import write_atomically
from timme.analysis import Analysis
from timme.output.colours import REST, WIDE, colouring, only_trusted
from timme.output.picture import Picture, picture
from timme.output.script_words import rgb, row
from timme.output.structures import Written
from timme.settings.values import MIN_SIZE

# VMD's 33 numbered colours may be changed, but 8 and 16 are the white and black of its display.
_VMD_COLOURS = [number for number in range(33) if number not in {8, 16}]

# Particles of clusters are knots of thick sticks; the rest are balls of half their size, so that
# one sees past them. In units of the distance of neighbours.
_STICK, _NODE, _REST = 0.2, 0.3, 0.25

FILES = {
    "clusters.pml": "script for PyMOL",
    "clusters.cxc": "script for ChimeraX",
    "clusters.tcl": "script for VMD",
}


def write_scripts(
    analysis: Analysis,
    folder: str | Path,
    cutoff: float,
    structures: Written,
    *,
    min_size: int = MIN_SIZE,
    palette: Sequence[str] = WIDE,
) -> tuple[Path, ...]:
    """Write one script for each viewer, beside the structures they load.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        Where the structures are.
    cutoff : float
        That of the structures, in the units of the heights.
    structures : Written
        What :func:`timme.output.structures.write_structures` wrote.
    min_size : int, optional
        As for the structures.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    tuple of Path
        The files: ``clusters.pml``, ``clusters.cxc`` and ``clusters.tcl``, named as the structures.
    """
    found = colouring(
        analysis, cutoff, min_size=min_size, palette=palette, trusted=only_trusted(analysis)
    )
    mmcif, *pdb = (path.name for path in structures.paths)
    drawn = picture(analysis, found, mmcif)
    # VMD knows the PDB format best, the others mmCIF.
    for_vmd = picture(analysis, found, pdb[0]) if pdb else drawn
    programs: tuple[tuple[Callable[[Picture], str], str, Picture], ...] = (
        (pymol, ".pml", drawn),
        (chimerax, ".cxc", drawn),
        (vmd, ".tcl", for_vmd),
    )
    target = Path(folder) / mmcif
    return tuple(
        write_atomically(target.with_suffix(suffix), program(shown))
        for program, suffix, shown in programs
    )


def pymol(drawn: Picture) -> str:
    """Say a picture in PyMOL's words.

    Parameters
    ----------
    drawn : Picture
        What to draw.

    Returns
    -------
    str
        A ``.pml`` script; clusters are selections ``cluster_1``, ``cluster_2``, … and ``rest``.
    """
    lines = [
        f"# {drawn.title}. In PyMOL, from this folder: @{Path(drawn.structure).stem}.pml",
        f"/cmd.load({drawn.structure!r}, 'timme')",
        "hide everything, timme",
        "bg_color white",
        "set_color timme_rest, " + _rgb_list(REST),
        "select rest, timme and b=0",
        "color timme_rest, timme",
    ]
    for label, colour in enumerate(drawn.found.colours.tolist(), start=1):
        lines += [
            f"set_color timme_{label}, {_rgb_list(colour)}",
            f"select cluster_{label}, timme and b={label}",
            f"color timme_{label}, cluster_{label}",
        ]
    stick, node, rest = (f"{size * drawn.spacing:.4g}" for size in (_STICK, _NODE, _REST))
    lines += {
        "cartoon": [
            "show cartoon, timme",
            "cartoon tube, rest",
            "set cartoon_tube_radius, 0.15, timme",
            "cartoon oval, timme and b>0 and polymer.nucleic",  # PyMOL's own is a tube as well
            "show sticks, timme and b>0 and organic",
        ],
        "sticks": [
            "show sticks, timme",
            "set_bond stick_radius, 0.08, rest",
            "set_bond stick_radius, 0.3, timme and b>0",
        ],
        "particles": [
            "unbond timme, timme",
            f"alter rest, vdw={rest}",
            f"alter timme and b>0, vdw={node}",
            "rebuild",
            "show spheres, timme",
            *(f"bond timme and id {a}, timme and id {b}" for a, b in drawn.sticks.tolist()),
            f"set stick_radius, {stick}, timme",
            "show sticks, timme and b>0",
        ],
    }[drawn.style]
    return "\n".join([*lines, "deselect", "orient timme", ""])


def chimerax(drawn: Picture) -> str:
    """Say a picture in ChimeraX's words.

    Parameters
    ----------
    drawn : Picture
        What to draw.

    Returns
    -------
    str
        A ``.cxc`` script; clusters are named ``cluster_1``, ``cluster_2``, … and ``rest``.
    """
    lines = [
        f"# {drawn.title}",
        f"open {json.dumps(drawn.structure)} name timme",
        "name timme ##name=timme",
        "set bgColor white",
        "hide timme target abc",
        "name rest timme & @@bfactor=0",
        f"color timme {REST}",
    ]
    colours = drawn.found.colours.tolist()
    for label, colour in enumerate(colours, start=1):
        lines += [
            f"name cluster_{label} timme & @@bfactor={label}",
            f"color cluster_{label} {colour}",
        ]
    stick, node, rest = (f"{size * drawn.spacing:.4g}" for size in (_STICK, _NODE, _REST))
    lines += {
        "cartoon": [
            "show timme target c",
            "cartoon style rest width 0.5 thickness 0.3",
            "show timme & ligand & @@bfactor>0 target ab",
            "style timme stick",
        ],
        "sticks": [
            "show timme target ab",
            "style timme stick",
            "size rest stickRadius 0.08",
            "size timme & @@bfactor>0 stickRadius 0.3",
        ],
        "particles": [
            "~bond timme",
            "show timme target a",
            "style timme sphere",
            f"size rest atomRadius {rest}",
            f"size timme & @@bfactor>0 atomRadius {node}",
            *(
                f"pbond timme & @@serial_number={a} timme & @@serial_number={b} "
                f"color {colours[label]} radius {stick} dashes 0"
                for (a, b), label in zip(drawn.sticks.tolist(), drawn.stick_labels, strict=True)
            ),
        ],
    }[drawn.style]
    return "\n".join([*lines, "lighting soft", "view timme", ""])


def vmd(drawn: Picture) -> str:
    """Say a picture in VMD's words.

    Parameters
    ----------
    drawn : Picture
        What to draw.

    Returns
    -------
    str
        A ``.tcl`` script; clusters are selection macros ``cluster_1``, ``cluster_2``, … and
        ``rest``. One representation holds all clusters of one colour.
    """
    kind = "pdb" if drawn.structure.endswith(".pdb") else "pdbx"
    lines = [
        f"# {drawn.title}. In VMD: source {Path(drawn.structure).stem}.tcl",
        "set here [file dirname [info script]]",
        f"mol new [file join $here {_tcl(drawn.structure)}] type {kind} waitfor all",
        "mol rename top timme",
        "mol delrep 0 top",
        "color Display Background white",
        "atomselect macro rest {beta 0}",
        *(
            f"atomselect macro cluster_{label} {{beta {label}}}"
            for label in range(1, len(drawn.found.sizes) + 1)
        ),
    ]
    if drawn.style == "particles":
        lines += _vmd_bonds(drawn)
    small, bold = {
        "cartoon": ("Tube 0.15 12", "NewCartoon 0.3 12 4.5"),
        "sticks": ("Licorice 0.08 12 12", "Licorice 0.3 12 12"),
        "particles": (
            f"VDW {_REST * drawn.spacing / 1.5:.4g} 12",  # VMD's radius of an unknown atom is 1.5
            f"Licorice {_NODE * drawn.spacing:.4g} 12 12",
        ),
    }[drawn.style]
    colours, owner = np.unique(drawn.found.colours, return_inverse=True)
    if len(colours) >= len(_VMD_COLOURS):
        raise ValueError(
            f"VMD has room for {len(_VMD_COLOURS) - 1} colours of clusters, got {len(colours)}: "
            "use a shorter palette"
        )
    lines += _vmd_representation(_VMD_COLOURS[0], REST, [0], small, drawn.style)
    for number, colour in enumerate(colours.tolist()):
        clusters = (np.flatnonzero(owner == number) + 1).tolist()
        lines += _vmd_representation(_VMD_COLOURS[number + 1], colour, clusters, bold, drawn.style)
    return "\n".join([*lines, "display resetview", ""])


def _vmd_representation(
    number: int, colour: str, clusters: list[int], style: str, kind: str
) -> list[str]:
    chosen = "beta " + " ".join(str(cluster) for cluster in clusters)
    if kind == "cartoon":  # a cartoon needs whole residues: that of the atom its ribbon follows
        chosen = f"same residue as ({chosen} and name CA P C4')"
    return [
        f"color change rgb {number} {row(rgb(colour), ' ')}",
        f"mol color ColorID {number}",
        f"mol representation {style}",
        f"mol selection {{{chosen}}}",
        "mol material Opaque",
        "mol addrep top",
    ]


def _vmd_bonds(drawn: Picture) -> list[str]:
    """Replace the bonds that VMD guesses by those of the picture."""
    return [
        "set all [atomselect top all]",
        "set bonds [lrepeat [$all num] {}]",
        "foreach {a b} {",
        *(f"  {a - 1} {b - 1}" for a, b in drawn.sticks.tolist()),
        "} {",
        "  lset bonds $a [concat [lindex $bonds $a] $b]",
        "  lset bonds $b [concat [lindex $bonds $b] $a]",
        "}",
        "$all setbonds $bonds",
        "$all delete",
    ]


def _rgb_list(colour: str) -> str:
    return f"[{row(rgb(colour))}]"


def _tcl(word: str) -> str:
    """Quote a word so that Tcl takes it as it is."""
    return re.sub(r"([^\w.\-])", r"\\\1", word)
