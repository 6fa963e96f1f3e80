"""Options of commands, made from the fields of settings; messages in the words of the options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, TypeVar

import click

from timme.analysis.settings import GROUPS, Model, ServeSettings, details, make

M = TypeVar("M", bound=Model)
Command = Callable[..., None]

_ALIASES = {"start": "begin", "stop": "end", "sites": "shown"}  # of functions below the recipes
_RECIPES = {"analyse": "run", "analyse_rigidity": "rigidity", "analyse_motion": "motion"}
_VALUE = r"True|False|None|'[^']*'|\{[^}]*\}|\[[^\]]*\]|-?\d+(?:\.\d+)?"
_CALL = re.compile(rf"timme\.({'|'.join(_RECIPES)})\b(\(\))?")


def options_of(model: type[Model]) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of a model, and ``--set`` for other fields."""
    assign, about = _assignments(model)

    def decorate(command: Command) -> Command:
        command.model = model  # type: ignore[attr-defined]
        command = click.option(
            *(assign, "assigned"),
            multiple=True,
            is_eager=True,
            callback=_experts_of(model),
            metavar="KEY=VALUE",
            help=about,
        )(command)
        for name in reversed(_by_group(model)):
            flags, label = (details(model, name)[each] for each in ("flags", "label"))
            if flags:
                more: Any = {"metavar": label} if label else {"is_flag": True}
                more |= {"default": None, "help": _help(model, name, numbers=True)}
                command = click.option(*flags, name, **more)(command)
        return command

    return decorate


def _assignments(model: type[Model] | None) -> tuple[str, str]:
    """Return the option that sets the other fields, and what it does."""
    if model is ServeSettings:
        return "--limit", "Limit jobs: upload=2GB,time=12h,memory=4GB,jobs=1,queue=8."
    return "--set", "Set an expert option; --set help lists them."


def _by_group(model: type[Model]) -> list[str]:
    return sorted(model.model_fields, key=lambda name: GROUPS.index(details(model, name)["group"]))


def _help(model: type[Model], name: str, *, numbers: bool = False) -> str:
    """Return what a field is and its default, which some options need not show."""
    field, usual = model.model_fields[name], details(model, name)["usual"]
    plain = isinstance(field.default, bool | str | None)
    usual = usual or ("" if numbers and plain else _word(field.default))
    return f"{field.description}{f' (default: {usual})' * bool(usual)}."


def _experts_of(model: type[Model]) -> Callable[..., tuple[str, ...]]:
    """Return a callback that lists the fields without options of their own, on ``--set help``."""

    def look_for_help(
        context: click.Context, _: click.Parameter, given: tuple[str, ...]
    ) -> tuple[str, ...]:
        if "help" in given:
            formatter = click.HelpFormatter(max_width=100)
            experts = [name for name in _by_group(model) if not details(model, name)["flags"]]
            for group, names in groupby(experts, lambda name: details(model, name)["group"]):
                with formatter.section(group.capitalize()):
                    formatter.write_dl([(name, _help(model, name)) for name in names])
            click.echo(formatter.getvalue().strip())
            context.exit()
        return given

    return look_for_help


def read_settings(model: type[M], assigned: Iterable[str], given: dict[str, Any]) -> M:
    """Return checked settings of texts KEY=VALUE and of options that were given."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for text in assigned:
        key, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"--set takes KEY=VALUE, got {text!r}: --set help lists the keys")
        chosen[key.strip().replace("-", "_")] = value.strip()
    return make(model, **chosen)


def in_options(text: str, model: type[Model] | None) -> str:
    """Return a message of the library with options as they are typed.

    Examples
    --------
    >>> from timme.analysis.settings import Settings
    >>> in_options("use unwrap=True or pairs='contact:8' (reach=2), not a.box=3", Settings)
    'use --unwrap or --pairs contact:8 (--set reach=2), not a.box=3'
    """
    assign, _ = _assignments(model)
    flags = {"overwrite": "--overwrite", "folder": "-o", "cutoff": "--cutoff"}
    if model is not None:
        flags |= {name: "".join(details(model, name)["flags"][-1:]) for name in model.model_fields}
        flags |= {name: flags[other] for name, other in _ALIASES.items() if other in flags}

    def typed(found: re.Match[str]) -> str:
        name, flag = found[1], flags[found[1]]
        value = None if found[2] is None else ast.literal_eval(found[2])
        if not flag:
            return f"{assign} {_ALIASES.get(name, name)}={'' if value is None else _word(value)}"
        return flag if value is None or value is True else f"{flag} {_word(value)}"

    names = "|".join(sorted(flags, key=len, reverse=True))
    text = re.sub(rf"(?<![\w./\\'\"=-])({names})=({_VALUE})?(?![\w./\\=])", typed, text)
    return _CALL.sub(lambda found: f"timme {_RECIPES[found[1]]}", text)


def _word(value: Any) -> str:
    """Return a value as it is typed."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, dict):
        value = [f"{key}={other}" for key, other in value.items()]
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return shlex.quote(text) if re.search(r"[\s&;|<>*?$`\"'()]", text) else text
