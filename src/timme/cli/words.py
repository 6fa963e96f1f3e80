"""The library speaks Python, the command line options: errors and notes are translated here.

The library names a setting as Python does: ``radius=``, ``gaps=True``, ``unit='nm'``. A message is
plain text by the time it arrives, joined with others and stored on the way, and whatever else had
marked a setting in it would be lost, or be seen in Python. What is translated is therefore a closed
vocabulary, in a form that prose does not have, and never in quotes, in paths, or in the words of
the command itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from timme.settings import RigidSettings, Settings, settings_of

# What has no setting: parameters of functions, and the options that stand for them.
_OTHERS = {
    "folder": "-o",
    "path": "-o",
    "overwrite": "--overwrite",
    "resume": "--resume",
    "order": "--order",
    "chains": "--chains",
    "cutoffs": "--cutoffs",
    "workers": "--workers",
    "client": "--cluster",
    "data": "--data",
    "port": "--port",
    "jobs": "--jobs",
    "queue": "--queue",
    "max_upload": "--max-upload",
    "max_time": "--max-time",
}
_FLAGS = {
    setting.name: setting.flags
    for kind in (RigidSettings, Settings)
    for setting in settings_of(kind)
}
VOCABULARY = _OTHERS | {name: flags[0] for name, flags in _FLAGS.items()}

_COMMANDS = {"analyse": "timme run", "rigid": "timme rigidity"}

_VALUE = r"""True|False|'[^']*'|-?\d+(?:\.\d+)?(?![\w.])|\[[^\]]*\]|\{[^}]*\}"""
_SAID = re.compile(
    rf"(?<![\w./\\='\"-])(?:(?P<name>{'|'.join(VOCABULARY)})=(?P<value>{_VALUE})?"
    rf"|the option (?P<option>{'|'.join(_FLAGS)})"
    # Such a name is no word of prose, and needs no sign of equality to be known.
    rf"|(?P<alone>{'|'.join(name for name in VOCABULARY if '_' in name)})"
    rf"|timme\.(?P<call>{'|'.join(_COMMANDS)})\((?P<inside>[^()]*)\))(?![\w./\\=-])"
)


def in_options(text: str, given: Sequence[str] = ()) -> str:
    """Say with options what a message says in Python.

    Parameters
    ----------
    text : str
        An error or a note of the library.
    given : sequence of str, optional
        Words of the command, which stay as they are.

    Returns
    -------
    str
        The same for the command line.

    Examples
    --------
    >>> in_options("choose a smaller radius (radius=), or bonds='none'")
    'choose a smaller radius (--radius), or --bonds none'
    >>> in_options("radius=4.pdb: repair it, or gaps=True")
    'radius=4.pdb: repair it, or --gaps'
    """
    kept = {name for word in given for name in (word, Path(word).name) if _SAID.search(name)}
    ones = "|".join(re.escape(name) for name in sorted(kept, key=len, reverse=True))
    said = re.compile(f"(?P<kept>{ones})|{_SAID.pattern}") if kept else _SAID
    return said.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    if found.groupdict().get("kept"):
        return found[0]
    if found["call"]:
        return f"{_COMMANDS[found['call']]} {in_options(found['inside'])}".rstrip()
    if found["option"]:
        return f"the option {_FLAGS[found['option']][-1].removeprefix('--')}"
    flag = VOCABULARY[found["name"] or found["alone"]]
    try:
        value = _written(found["value"])
    except (SyntaxError, ValueError):  # no Python, hence none of ours
        return found[0]
    return f"{flag} {value}" if value else flag


def _written(literal: str | None) -> str:
    """Write a value as it is given to an option."""
    value: Any = True if literal is None else ast.literal_eval(literal)
    if value is True:
        return ""
    if value is False:
        return "none"
    if isinstance(value, dict):
        return ",".join(f"{name}={other}" for name, other in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
