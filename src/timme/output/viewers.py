"""Scripts for PyMOL, ChimeraX and VMD: one structure, seen by bodies and clusters.

Atoms are addressed by B-factor and occupancy alone, and all names are our own, so that no name in
a file of the user becomes a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from timme.analysis.result import Analysis
from timme.output import space, structures, style

STRUCTURE = "structure.cif"
_RADIUS = 0.8  # of the base of a cone, in Å
_FIRST_COLOUR = 33  # of VMD's own, which are left as they are below


class Group(NamedTuple):
    """Atoms with one value in a column."""

    name: str
    value: int
    colour: str


class Cone(NamedTuple):
    """Points along the axis of a body, where the structure lies."""

    name: str
    colour: str
    start: list[float]
    end: list[float]


class View(NamedTuple):
    """A way to see the structure."""

    name: str
    column: Literal["b", "q"]  # B-factor or occupancy
    groups: list[Group]
    cones: list[Cone]


def views(analysis: Analysis) -> list[View]:
    """Return the views of a result: bodies with axes, and clusters."""
    labels, cutoff = analysis.finding.labels, analysis.finding.cutoff
    kind = {"rigidity": "core", "compare": "cluster_of_first"}.get(analysis.made.recipe, "body")
    paint = style.group_colours(analysis)[: labels.max(initial=-1) + 1].tolist()
    groups = [Group(f"{kind}_{k}", k, colour) for k, colour in enumerate(paint, start=1)]
    found = [View("bodies", "b", groups, _axes(analysis))]
    if cutoff is not None:
        colours = style.cluster_colours(analysis, cutoff)
        numbers = range(1, int(structures.clusters_of_sites(analysis).max(initial=0)) + 1)
        clusters = [Group(f"cluster_{k}", k, str(colours[k - 1])) for k in numbers]
        found.append(View("clusters", "q", clusters, []))
    return found


def _axes(analysis: Analysis) -> list[Cone]:
    """Return the axes of moving bodies, as the page shows them."""
    moving, colours = space.motion(analysis), style.group_colours(analysis)
    return [
        Cone(f"axis_{axis['body'] + 1}", str(colours[axis["body"]]), axis["from"], axis["to"])
        for axis in ([] if moving is None else moving["axes"])
    ]


def pymol(analysis: Analysis) -> str:
    """Return a script of PyMOL with a scene for each view."""
    lines = [
        f"# {structures.title(analysis)}",
        "# In PyMOL, in this folder: @view.pml (scenes: bodies, clusters)",
        f"load {STRUCTURE}, timme",
        "bg_color white",
    ]
    look = "cartoon" if structures.has_backbone(analysis) else "ribbon"
    every = views(analysis)
    for view in every:
        lines += ["hide everything", "disable all", "enable timme"]
        lines += [f"show {look}, timme", "show sticks, timme and organic"]
        lines.append(f"color {_hex(style.REST)}, timme")
        for name, value, colour in view.groups:
            lines.append(f"select {name}, timme and {view.column}={value}")
            lines.append(f"color {_hex(colour)}, {name}")
        for cone in view.cones:
            ends = f"{_row(cone.start)}, {_row(cone.end)}, {_RADIUS}, 0.0"
            paint = _row(_parts(cone.colour))
            cgo = f"[27.0, {ends}, {paint}, {paint}, 1.0, 1.0]"  # a cone with both ends closed
            lines.append(f"/cmd.load_cgo({cgo}, '{cone.name}')")
        lines += ["deselect", "orient timme", f"scene {view.name}, store"]
    return "\n".join([*lines, f"scene {every[0].name}, recall", ""])


def chimerax(analysis: Analysis) -> str:
    """Return a script of ChimeraX with a model for each view; the first is shown."""
    lines = [f"# {structures.title(analysis)}", "set bgColor white"]
    shape = "c" if structures.has_backbone(analysis) else "a"
    for number, view in enumerate(views(analysis), start=1):
        lines += [f"open {STRUCTURE} name {view.name}", f"hide #{number} target abc"]
        lines += [f"show #{number} target {shape}", f"show #{number} & ligand target a"]
        lines.append(f"color #{number} {_css(style.REST)}")
        attribute = {"b": "bfactor", "q": "occupancy"}[view.column]
        for name, value, colour in view.groups:
            chosen = f"#{number} & @@{attribute}={value}"
            lines.append(f"color {chosen} {_css(colour)} target ab")
            lines.append(f"color {chosen} & @CA,P {_css(colour)} target c")
            lines.append(f"name {name} {chosen}")
        for model, cone in enumerate(view.cones, start=100):  # above those of ChimeraX
            ends = f"fromPoint {_row(cone.start, ',')} toPoint {_row(cone.end, ',')}"
            look = f"radius {_RADIUS} color {_css(cone.colour)} name {cone.name}"
            lines.append(f"shape cone {ends} {look} modelId #{number}.{model}")
        if number > 1:
            lines.append(f"hide #{number} models")
    return "\n".join([*lines, "lighting soft", "view", ""])


def vmd(analysis: Analysis) -> str:
    """Return a script of VMD with a molecule for each view; the first is shown."""
    lines = [
        f"# {structures.title(analysis)}",
        "set here [file dirname [info script]]",
        "color Display Background white",
    ]
    look = "NewCartoon" if structures.has_backbone(analysis) else "Licorice"
    every = views(analysis)
    paints = {style.REST, *style.group_colours(analysis).tolist()}
    paints |= {group.colour for view in every for group in view.groups}
    numbers = {colour: _FIRST_COLOUR - 1 - k for k, colour in enumerate(sorted(paints))}
    lines += [f"color change rgb {k} {_row(_parts(c), ' ')}" for c, k in numbers.items()]
    for view in every:
        lines += [
            f"mol new [file join $here {STRUCTURE}] type pdbx waitfor all",
            f"mol rename top {view.name}",
            "mol delrep 0 top",
        ]
        column = {"b": "beta", "q": "occupancy"}[view.column]
        values = {0: style.REST} | {group.value: group.colour for group in view.groups}
        for value, colour in values.items():
            # A cartoon needs whole residues: those of the atom that its ribbon follows.
            own = f"{column} {value}"
            whole = f'same residue as ({own} and name CA P "C4\'")'
            lines += [
                f"mol representation {look}",
                f"mol color ColorID {numbers[colour]}",
                f"mol selection {{{whole if look == 'NewCartoon' else own}}}",
                "mol addrep top",
            ]
        for cone in view.cones:
            ends = f"{{{_row(cone.start, ' ')}}} {{{_row(cone.end, ' ')}}}"
            lines.append(f"graphics top color {numbers[cone.colour]}")
            lines.append(f"graphics top cone {ends} radius {_RADIUS} resolution 20")
    hidden = [f"mol off [lindex [molinfo list] end-{k}]" for k in range(len(every) - 1)]
    return "\n".join([*lines, *hidden, "display resetview", ""])


def _parts(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def _css(colour: str) -> str:
    """Return a colour for ChimeraX, which takes #882255 for a model."""
    return f"rgb({','.join(str(round(255 * part)) for part in _parts(colour))})"


def _hex(colour: str) -> str:
    """Return a colour for PyMOL."""
    return colour.replace("#", "0x")


def _row(numbers: Iterable[float], between: str = ", ") -> str:
    return between.join(f"{number:.3f}" for number in numbers)
