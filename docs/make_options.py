"""Write the tables of options into the pages, between their marks; `make docs` calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from timme.settings import RigidSettings, ServeSettings, Setting, Settings, settings_of
from timme.settings.schema import FILE, GROUPS

TABLES: dict[str, type] = {
    "using.md": Settings,
    "rigidity.md": RigidSettings,
    "server.md": ServeSettings,
}
BEGIN = "<!-- options: written by make_options.py -->"
END = "<!-- end of options -->"
API_BEGIN = "<!-- differences: written by make_options.py -->"
API_END = "<!-- end of differences -->"


def table(kind: type) -> str:
    """Lay out the settings that a command offers."""
    return "\n".join(_lines(kind))


def filled(page: str, kind: type) -> str:
    """Put the table between the marks of a page, and what the API takes otherwise into its own."""
    made = _between(page, BEGIN, END, table(kind))
    if kind is not ServeSettings:
        return made
    return _between(made, API_BEGIN, API_END, "\n".join(_differences()))


def main() -> None:
    """Write all tables."""
    for name, kind in TABLES.items():
        page = Path(__file__).with_name(name)
        page.write_text(filled(page.read_text("utf-8"), kind), "utf-8")


def _between(page: str, begin: str, end: str, text: str) -> str:
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"a page needs {begin} and {end}, each once")
    place = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    return place.sub(lambda _: f"{begin}\n{text}\n{end}", page)


def _differences() -> Iterator[str]:
    """Say what the API takes otherwise than the command line: it never takes the name of a file."""
    yield "| in | setting | on the command line | in the API |"
    yield "| --- | --- | --- | --- |"
    for part, kind in {"settings": Settings, "rigidity": RigidSettings}.items():
        for setting in settings_of(kind):
            about = setting.about
            if not about.command:
                continue
            said = f"| `{part}` | `{setting.name}` | `{setting.flags[-1]}"
            if not about.server:
                yield f"{said}` | not taken |"
            elif about.besides == FILE:
                yield f"{said}`, a choice or a file | a choice |"
            elif about.metavar == "FILE":
                yield f"{said} FILE` | a list of numbers |"


def _lines(kind: type) -> Iterator[str]:
    yield "| option | in Python | default | meaning |"
    yield "| --- | --- | --- | --- |"
    group = ""
    for setting in settings_of(kind):
        if not setting.about.command:
            continue
        if setting.about.group != group:
            group = setting.about.group
            yield f"| *{GROUPS[group]}* | | | |"
        named = (*setting.flags, *filter(None, [setting.denial]))
        flags = ", ".join(f"`{flag}`" for flag in named)
        yield f"| {flags} | `{setting.name}` | {setting.usual} | {_meaning(setting)} |"


def _meaning(setting: Setting) -> str:
    about = setting.about
    names = ", ".join(f"`{name}`" for name in about.choices)
    if about.choices:
        names = f": {names}" + (f", or {about.besides}" if about.besides else "")
    return f"{about.help}{names}".replace("|", "\\|")


if __name__ == "__main__":
    main()
