"""The form of the start page: which settings it asks for, in which words, and why not the others.

Everything else about a setting comes from where it is declared: its help, its default, its limits
and its choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from timme.settings import Display, RigidSettings, Setting, Settings, settings_of
from timme.settings.schema import FILE
from timme.web.models import Choice, FormField, FormPart, is_number_or_word, longest

_KINDS: dict[type, Literal["tick", "whole", "number", "text"]] = {
    bool: "tick",
    int: "whole",
    float: "number",
    str: "text",
}
_OF: dict[str, type[Display]] = {"run": Settings, "rigidity": RigidSettings}


@dataclass(frozen=True, slots=True)
class _Part:
    """Settings that stand together, and what the page calls them."""

    recipe: Literal["run", "rigidity"]
    legend: str
    labels: dict[str, str]
    main: bool = False  # whether it is seen before one asks for more


_FRAMES = {"start": "From", "stop": "To", "step": "Take every"}
_PICTURES = {
    "show": "Shown sites",
    "palette": "Colours",
    "min_size": "Grey below",
    "large": "Large from",
}
_READ = {
    "common_atoms": "Only atoms that all models share",
    "allow_truncated": "Use what is whole of a damaged file",
}
PARTS = (
    _Part(
        "run",
        "What is compared",
        {"select": "Selection", "radius": "Contact radius", "objects": "Objects", "pairs": "Pairs"},
        main=True,
    ),
    _Part(
        "rigidity",
        "The structure",
        {
            "chain": "Chains",
            "model": "Model",
            "tethers": "Hydrophobic tethers",
            "waters": "Keep waters",
        },
        main=True,
    ),
    _Part("run", "Frames", _FRAMES),
    _Part(
        "run",
        "Pairs",
        {
            "neighbours": "Neighbours",
            "min_bonds": "Bonds apart",
            "contacts": "Snapshots in contact",
            "min_overlap": "Snapshots shared",
            "linkage": "How pairs are joined",
            "noise": "Error of positions",
        },
    ),
    _Part(
        "run",
        "Objects",
        {
            "reach": "Bonds of a body",
            "reduction": "From sites to objects",
            "centre": "Centre of a group",
        },
    ),
    _Part(
        "run",
        "File",
        {"unit": "Unit of lengths", "columns": "Columns of a table", "bonds": "Covalent bonds"},
    ),
    _Part(
        "run",
        "How the file is read",
        {
            **_READ,
            "unwrap": "Follow through the walls",
            "trust_images": "Believe image flags",
            "gaps": "NaN means: not seen",
        },
    ),
    _Part("rigidity", "Ensemble", {"ensemble": "Energy for all models", **_FRAMES}),
    _Part("rigidity", "How the file is read", _READ),
    _Part("run", "Pictures", {"cutoff": "Cutoff σc", **_PICTURES, "length": "Length a"}),
    _Part("rigidity", "Pictures", {"cutoff": "Cutoff energy", **_PICTURES}),
)

# What the API takes and the page does not ask for, and why.
LEFT_OUT = {
    "run": {
        "box": "files hold it, and where one is wrong, a list of numbers is for programs",
        "weights": "a number for each snapshot is for programs",
        "replicas": "a number for each run is for programs",
        "confidence": "it is quick, and said with every result",
        "trusted": "the page dims what is not trusted, and structures are for programs",
        "windows": "how clusters change in time is asked by few, and of long trajectories",
        "lags": "a list of times is for programs",
        "chance": "it is drawn where it is quick",
    },
    "rigidity": dict[str, str](),
}


def form() -> list[FormPart]:
    """Describe the form.

    Returns
    -------
    list of FormPart
        In the order of the page.
    """
    return [_part(part) for part in PARTS]


def _part(part: _Part) -> FormPart:
    known = {setting.name: setting for setting in settings_of(_OF[part.recipe])}
    fields = [_field(known[name], label) for name, label in part.labels.items()]
    return FormPart(recipe=part.recipe, legend=part.legend, main=part.main, fields=fields)


def _field(setting: Setting, label: str) -> FormField:
    about = setting.about
    chosen = bool(about.choices) and about.besides in {"", FILE}
    kind = "list" if setting.many else _KINDS[str if is_number_or_word(setting) else setting.kind]
    words = f": {', '.join(about.choices)}, or {about.besides}" if about.choices else ""
    return FormField(
        name=setting.name,
        label=label,
        kind="choice" if chosen else kind,
        help=about.help if chosen else about.help + words,
        usual=setting.usual,
        least=0 if about.positive else about.least,
        longest=longest(setting),
        choices=[Choice(value=value, help=text) for value, text in about.choices.items()],
    )
