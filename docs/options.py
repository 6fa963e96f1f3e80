"""Write what reference.md includes: options of commands by the settings, and the public names."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isclass, ismodule
from pathlib import Path
from types import ModuleType
from typing import Any

import timme
from timme._text import Described
from timme.analysis import settings

FOLDER = Path(__file__).with_name("generated")
COMMANDS = {
    "run": settings.Settings,
    "motion": settings.MotionSettings,
    "rigidity": settings.RigiditySettings,
    "compare": settings.CompareSettings,
    "serve": settings.ServeSettings,
}


def table(model: type[settings.Model]) -> Iterator[str]:
    """Yield the rows of a command, in the order of its help."""
    yield "| option | in Python | default | meaning |\n|---|---|---|---|"
    fields = model.model_fields
    assign = "--limit" if model is settings.ServeSettings else "--set"
    for name in settings.in_order(model):
        about, default = settings.details(model, name), fields[name].default
        label = f" {about['label']}" if about["flags"] and about["label"] else ""
        option = ", ".join(f"`{flag}{label}`" for flag in about["flags"] or [f"{assign} {name}=…"])
        plain = {"None": "–", "True": "yes", "False": "no"}.get(str(default), str(default))
        usual, meaning = about["usual"] or plain, fields[name].description
        yield f"| {option.replace('|', chr(92) + '|')} | `{name}` | {usual} | {meaning} |"


def is_public(each: Any, module: ModuleType) -> bool:
    """Return whether a module without a list offers this: a documented function, or a result."""
    result = isclass(each) and issubclass(each, Described)
    documented = result or "Parameters\n" in (each.__doc__ or "")
    return documented and getattr(each, "__module__", "") == module.__name__


def names() -> Iterator[str]:
    """Yield lists of public names for autosummary: of the package, then of each module."""
    every = {name: getattr(timme, name) for name in timme.__all__}
    lists = {"": [name for name in every if not ismodule(every[name])]}
    lists[""] += ["mdanalysis.CoMovingClusters", "sklearn.CoMovingClustering"]
    for name, module in every.items():
        if ismodule(module):
            own = [n for n, each in vars(module).items() if is_public(each, module)]
            public = set(getattr(module, "__all__", own)) - every.keys()
            lists[name] = [f"{name}.{each}" for each in sorted(public)]
    yield "Python\n======\n\n.. currentmodule:: timme"
    for name, listed in lists.items():
        about = str(every.get(name, timme).__doc__).partition("\n")[0]
        yield from ("", f".. rubric:: {name or 'timme'}", "", about, "")
        yield from (".. autosummary::", "   :toctree: .", "", *(f"   {each}" for each in listed))


def main() -> None:
    """Write one file for each command, and the lists of names."""
    FOLDER.mkdir(exist_ok=True)
    tables = {f"{command}.txt": table(model) for command, model in COMMANDS.items()}
    for name, lines in {**tables, "python.rst": names()}.items():
        (FOLDER / name).write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
