"""How a setting is described, once: commands, the server, help, checks and docs are made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

# In the order in which data pass through them.
GROUPS = {
    "reading": "What is read",
    "objects": "What is compared",
    "pairs": "Who with whom",
    "network": "What holds the structure",
    "sure": "How sure it is",
    "shown": "What is shown",
    "running": "How it is done",
    "server": "The server and its jobs",
}
# Options of the command line that are no settings, and what Python has in place of them.
_INSTEAD = {
    "overwrite": "pass it to timme.write",
    "output": "pass the folder to timme.write",
    "resume": "pass checkpoint=timme.engine.checkpoint.Checkpoint('run.checkpoint', resume=True)",
    "cluster": "pass client=, a distributed.Client",
    "verbose": "pass tell=print",
    "debug": "errors come with their traceback",
}
FILE = "a file"  # what a setting may take in place of one of its choices


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is to be known of a setting besides its name, type and default."""

    group: str  # one of GROUPS
    help: str  # a sentence without its full stop
    usual: str = ""  # the default in words, where it follows from the system
    choices: Mapping[str, str] = field(default_factory=dict)  # values, and what each means
    besides: str = ""  # what else is taken: FILE, or what a text may be
    late: bool = False  # whether the recipe checks it, once it knows that the setting is of use
    least: int | None = None
    most: int | None = None
    positive: bool = False
    parse: Callable[[str], Any] | None = None  # makes a value of its text, where it is several
    words: Mapping[str, Any] = field(default_factory=dict)  # that stand for other values
    such: str = ""  # what such a text may be, where `parse` does not say it by itself
    flags: tuple[str, ...] = ()  # on the command line, where the name alone does not tell
    metavar: str = ""
    example: str = ""
    command: bool = True  # whether the command line offers it
    server: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing that a user can choose."""

    name: str  # in Python, and in the API
    kind: type  # of its value, or of each of them: bool, int, float, str
    many: bool  # whether there may be several
    default: Any
    about: About

    @property
    def flags(self) -> tuple[str, ...]:
        """What the command line calls it, the short form first."""
        given = self.about.flags
        long = () if given and given[-1].startswith("--") else (f"--{self.name.replace('_', '-')}",)
        return (*given, *long)

    @property
    def denial(self) -> str:
        """What the command line calls its contrary, where leaving it out leaves it open."""
        return f"--no-{self.name}" if self.kind is bool and self.default is None else ""

    @property
    def usual(self) -> str:
        """The default in words; nothing where there is none to be told."""
        told = self.default is not None and self.default is not False
        return self.about.usual or (str(self.default) if told else "")

    def sentence(self, *, names: bool = True) -> str:
        """Return the help as one sentence.

        Parameters
        ----------
        names : bool, optional
            Whether to list the choices, where something else is taken as well.

        Returns
        -------
        str
            With the default in brackets.
        """
        told = self.about.help
        if names and self.about.besides:
            told = f"{told}: {', '.join(self.about.choices)}, or {self.about.besides}"
        return f"{told} ({self.usual})." if self.usual else f"{told}."

    def understand(self, value: Any) -> Any:
        """Make a value of its text, so that Python takes what the command line does.

        Parameters
        ----------
        value : Any
            What the user gave.

        Returns
        -------
        Any
            The value that a text stands for; what is no text stays as it is.
        """
        about = self.about
        if not isinstance(value, str) or (self.kind is str and about.parse is None):
            return value
        if value in about.words:
            return about.words[value]
        if self.kind is bool:
            raise ValueError(f"{self.name}= is True or False, got {value!r}")
        number = "a whole number" if self.kind is int else "a number"
        wanted = about.such or " or ".join([number, *about.words])
        try:
            return (about.parse or self.kind)(value)
        except ValueError:
            if about.parse is not None and not about.such:
                raise
            raise ValueError(f"{self.name}= takes {wanted}, got {value!r}") from None

    def check(self, value: Any) -> None:
        """Refuse a value that means nothing.

        Parameters
        ----------
        value : Any
            Of the type that the setting has.
        """
        about = self.about
        if value is None or (isinstance(value, str) and self.kind is not str):
            return  # such a text was understood
        if self.many and self.kind is int and isinstance(value, int):
            wanted = about.such or "whole numbers"
            raise ValueError(f"{self.name}= takes {wanted}, got {value}")
        if about.least is not None and not value >= about.least:
            raise ValueError(f"{self.name}= must be at least {about.least}, got {value}")
        if about.most is not None and not value <= about.most:
            raise ValueError(f"{self.name}= must be at most {about.most}, got {value}")
        if about.positive and not 0 < value < math.inf:
            raise ValueError(f"{self.name}= must be above 0, got {value}")
        if self.kind is float and not self.many and not math.isfinite(value):
            raise ValueError(f"{self.name}= must be a number, got {value}")
        if about.choices and not (about.besides or about.late):
            check_choice(self.name, value, about.choices)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is none of those there are.

    Parameters
    ----------
    name : str
        Of the setting.
    value : Any
        What it was given.
    choices : collection of str
        What it takes.
    """
    if value not in choices:
        raise ValueError(f"{name}= is one of {', '.join(choices)}, got {value!r}")


def understand(kind: type, **given: Any) -> tuple[Any, ...]:
    """Make values of texts, where a function takes some of the settings.

    Parameters
    ----------
    kind : type
        A dataclass of settings.
    **given
        What the user gave, by name.

    Returns
    -------
    tuple
        The values, in the same order.
    """
    known = {setting.name: setting for setting in settings_of(kind)}
    return tuple(known[name].understand(value) for name, value in given.items())


def settle(settings: Any) -> None:
    """Understand the texts among settings, and refuse what means nothing.

    Parameters
    ----------
    settings : Any
        A dataclass of settings that was just made; texts are replaced by what they stand for.
    """
    for setting in settings_of(type(settings)):
        given = getattr(settings, setting.name)
        value = setting.understand(given)
        if value is not given:
            object.__setattr__(settings, setting.name, value)
        setting.check(value)


def change(settings: Any, taker: str, /, *others: str, **options: Any) -> Any:
    """Change settings by keywords as users give them, and refuse those that are none.

    Parameters
    ----------
    settings : Any
        A dataclass of settings.
    taker : str
        Who takes the keywords, by its name within timme.
    *others : str
        What else it takes, which may have been meant.
    **options
        Values by the names of the settings, or by those of the command line: ``begin``.

    Returns
    -------
    Any
        The same, changed.

    Examples
    --------
    >>> from timme.settings import Settings
    >>> change(Settings(), "analyse", begin="2", radius=8).start
    2
    """
    known = {setting.name: setting.name for setting in settings_of(type(settings))}
    long = {flag.lstrip("-"): name for name, flag in _flags_of(type(settings))}
    meant = {name: (long | known).get(name) for name in options}
    for name, setting in meant.items():
        if setting is None:
            near = get_close_matches(name, [*long, *known, *others], n=1)
            usual = f"do you mean {near[0]}=?" if near else f"help(timme.{taker}) tells of all"
            remedy = _INSTEAD.get(name, usual)
            raise TypeError(f"timme.{taker} has no keyword {name}=: {remedy}")
        if setting != name and setting in options:
            raise TypeError(f"{name}= is the same as {setting}=: leave one of them out")
    changed = {str(setting): options[name] for name, setting in meant.items()}
    return replace(settings, **changed)


def _flags_of(kind: type) -> Iterator[tuple[str, str]]:
    """Yield settings with what the command line calls them, in words."""
    for setting in settings_of(kind):
        yield from ((setting.name, flag) for flag in setting.flags if len(flag) > 2)


def choose(about: str, *, group: str, default: Any = None, **more: Any) -> Any:
    """Describe a setting where it is declared.

    Parameters
    ----------
    about : str
        A sentence without its full stop.
    group : str
        One of GROUPS.
    default : Any, optional
        What it is where nothing is said; None where that follows from the system.
    **more
        Other fields of :class:`About`.

    Returns
    -------
    Any
        The field of a dataclass.
    """
    return field(default=default, metadata={"about": About(group=group, help=about, **more)})


def settings_of(kind: type) -> tuple[Setting, ...]:
    """List the settings of a dataclass.

    Parameters
    ----------
    kind : type
        All of its fields are made by :func:`choose`.

    Returns
    -------
    tuple of Setting
        In the order of GROUPS, and within a group in that of the fields.

    Examples
    --------
    >>> from timme.settings import Display
    >>> [setting.name for setting in settings_of(Display)]
    ['cutoff', 'large', 'min_size', 'palette', 'length']
    """
    hints = get_type_hints(kind)
    found = [_setting(each, hints[each.name]) for each in fields(kind)]
    order = list(GROUPS)
    return tuple(sorted(found, key=lambda setting: order.index(setting.about.group)))


def _setting(declared: Any, hint: Any) -> Setting:
    parts = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    several = [get_args(part)[-1] for part in parts if get_origin(part) in {Sequence, Mapping}]
    single = [part for part in parts if part is not NoneType]
    return Setting(
        name=declared.name,
        kind=several[0] if several else single[0],
        many=bool(several),
        default=declared.default,
        about=declared.metadata["about"],
    )
