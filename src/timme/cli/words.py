"""The library speaks Python, the command line options: errors and notes are translated here.

The library names a setting as Python does: ``radius=``, ``gaps=True``, ``unit='nm'``. A message is
plain text by the time it arrives, joined with others and stored on the way, and whatever else had
marked a setting in it would be lost, or be seen in Python. What is translated is therefore a closed
vocabulary, in a form that prose does not have, and never in quotes, in paths, or in the words of
the command itself.

A command has some of the options only. What it has no option for stays as Python says it, and is
left out where it is a remedy in brackets: an option that is not there helps nobody.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timme.settings import CompareSettings, RigidSettings, ServeSettings, Settings, settings_of

if TYPE_CHECKING:
    import click

# What is no setting: parameters of functions, and the options that stand for them, if any.
_OTHERS = {
    "folder": "-o",
    "path": "-o",
    "overwrite": "--overwrite",
    "resume": "--resume",
    "order": "--order",
    "workers": "--workers",
    "client": "--cluster",
    "sites": "--show",  # that an ensemble of rigid clusters counts
    "by": "",  # the recipe knows what nearest means
}
_KINDS = (ServeSettings, CompareSettings, RigidSettings, Settings)
_SETTINGS = [setting for kind in _KINDS for setting in settings_of(kind)]
_FLAGS = {setting.name: setting.flags for setting in _SETTINGS}
_DENIALS = {"--box": "--box none"} | {
    setting.flags[0]: setting.denial for setting in _SETTINGS if setting.denial
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
_REMEDY = rf" \((?P<remedy>{'|'.join(VOCABULARY)})=(?:{_VALUE})?\)"
_SPECIAL = re.compile(r"[^\w@%+=:,./-]")  # what a shell would not take as it is; letters are more


def in_options(text: str, given: Sequence[str] = (), command: click.Command | None = None) -> str:
    """Say with options what a message says in Python.

    Parameters
    ----------
    text : str
        An error or a note of the library.
    given : sequence of str, optional
        Words of the command, which stay as they are.
    command : click.Command, optional
        The command, whose options are named; by default those of all commands.

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
    offered = {*VOCABULARY.values()} - {""}
    if command is not None:
        offered &= {flag for parameter in command.params for flag in parameter.opts}
    kept = {name for word in given for name in (word, Path(word).name) if _SAID.search(name)}
    # A pattern that nothing fits stands for no names.
    ones = "|".join(re.escape(name) for name in sorted(kept, key=len, reverse=True)) or "(?!)"
    helpful = re.sub(f"(?P<kept>{ones})|{_REMEDY}", partial(_remedy, offered), text)
    return re.sub(f"(?P<kept>{ones})|{_SAID.pattern}", partial(_option, offered), helpful)


def _remedy(offered: Collection[str], found: re.Match[str]) -> str:
    """Keep a remedy if there is an option for it."""
    return found[0] if found["kept"] or VOCABULARY[found["remedy"]] in offered else ""


def _option(offered: Collection[str], found: re.Match[str]) -> str:
    if found["kept"]:
        return found[0]
    if found["call"]:  # another command, with options of its own
        return f"{_COMMANDS[found['call']]} {in_options(found['inside'])}".rstrip()
    if found["option"]:
        return f"the option {_FLAGS[found['option']][-1].removeprefix('--')}"
    flag = VOCABULARY[found["name"] or found["alone"]]
    try:
        value: Any = True if found["value"] is None else ast.literal_eval(found["value"])
    except (SyntaxError, ValueError):  # no Python, hence none of ours
        return found[0]
    return _typed(flag, value) if flag in offered else found[0]


def _typed(flag: str, value: Any) -> str:
    """Write an option with its value as they are typed."""
    if value is True:
        return flag
    if value is False:
        return _DENIALS.get(flag, f"no {flag}")
    if isinstance(value, dict):
        value = [f"{name}={other}" for name, other in value.items()]
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{flag} {shlex.quote(text) if _SPECIAL.search(text) else text}"
