"""Write the table of shipped files into data.md: python docs/make_data.py."""

from __future__ import annotations

from pathlib import Path

import timme

PAGE = Path(__file__).parent / "data.md"
BEGIN, END = "<!-- files: written by make_data.py -->", "<!-- end of files -->"


def table() -> str:
    """Tell of every file how large it is, what made it, and how to know it again."""
    lines = ["| file | kB | made by | seed | with | licence | SHA-256 |", "|" + " --- |" * 7]
    for record in timme.data.records().values():
        versions = ", ".join(f"{name} {number}" for name, number in record.versions.items())
        lines += [
            f"| `{file.name}` | {file.bytes / 1000:.0f} | `{record.script}` | {record.seed} | "
            f"{versions} | {record.licence} | `{file.sha256[:16]}…` |"
            for file in record.files
        ]
    return "\n".join(lines)


def main() -> None:
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
