"""Write the tables of options into the pages, between their marks; `make docs` calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from timme.settings import RigidSettings, ServeSettings, Setting, Settings, settings_of
from timme.settings.schema import GROUPS

TABLES: dict[str, type] = {
    "using.md": Settings,
    "rigidity.md": RigidSettings,
    "server.md": ServeSettings,
}
BEGIN = "<!-- options: written by make_options.py -->"
END = "<!-- end of options -->"


def table(kind: type) -> str:
    """Lay out the settings that a command offers."""
    return "\n".join(_lines(kind))


def filled(page: str, kind: type) -> str:
    """Put the table between the marks of a page."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"a page needs {BEGIN} and {END}, each once")
    between = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return between.sub(lambda _: f"{BEGIN}\n{table(kind)}\n{END}", page)


def main() -> None:
    """Write all tables."""
    for name, kind in TABLES.items():
        page = Path(__file__).with_name(name)
        page.write_text(filled(page.read_text("utf-8"), kind), "utf-8")


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
