"""Options of commands, made from the fields of settings; messages in the words of the options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, TypeVar

import click

from timme._text import typed
from timme.analysis.settings import Model, ServeSettings, details, group_of, in_order, make

M = TypeVar("M", bound=Model)
Command = Callable[..., None]

_ALIASES = {"start": "begin", "stop": "end", "sites": "shown"}  # of functions below the recipes
_RECIPES = {"analyse": "run", "analyse_rigidity": "rigidity", "analyse_motion": "motion"}
_VALUE = r"True|False|None|'[^']*'|\{[^}]*\}|\[[^\]]*\]|-?\d+(?:\.\d+)?"
_CALL = re.compile(rf"timme\.({'|'.join(_RECIPES)})\b(\(\))?")


def options_of(model: type[Model]) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of a model, and ``--set`` for other fields."""
    assign, about = _assignments(model)
    known = [name for name in in_order(model) if details(model, name)["flags"]]

    def decorate(command: Command) -> Command:
        command.model = model  # type: ignore[attr-defined]
        command = click.option(
            *(assign, "assigned"),
            multiple=True,
            is_eager=True,
            callback=_list_experts,
            metavar="KEY=VALUE",
            help=about,
        )(command)
        for name in reversed(known):
            flags, label = (details(model, name)[each] for each in ("flags", "label"))
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


def _help(model: type[Model], name: str, *, numbers: bool = False) -> str:
    """Return what a field is and its default, which some options need not show."""
    field, usual = model.model_fields[name], details(model, name)["usual"]
    plain = isinstance(field.default, bool | str | None)
    usual = usual or ("" if numbers and plain else _word(field.default))
    return f"{field.description}{f' (default: {usual})' * bool(usual)}."


def _list_experts(
    context: click.Context, _: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """List the fields without options of their own, on ``--set help``."""
    if "help" in given:
        model: type[Model] = getattr(context.command.callback, "model", Model)
        experts = [name for name in in_order(model) if not details(model, name)["flags"]]
        formatter = click.HelpFormatter(max_width=100)
        for group, names in groupby(experts, group_of):
            with formatter.section(group.capitalize()):
                formatter.write_dl([(name, _help(model, name)) for name in names])
        click.echo(formatter.getvalue().strip())
        context.exit()
    return given


def read_settings(model: type[M], given: Mapping[str, Any]) -> M:
    """Return checked settings of what was given, texts KEY=VALUE as ``assigned`` among it."""
    known = given.keys() & model.model_fields.keys()
    chosen = {name: given[name] for name in known if given[name] is not None}
    for text in given.get("assigned", ()):
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

    def translate(found: re.Match[str]) -> str:
        name, flag = _ALIASES.get(found[1], found[1]), flags[found[1]]
        value = None if found[2] is None else ast.literal_eval(found[2])
        text = "" if value is None else "none" if flag and value is False else _word(value)
        if not flag:
            return f"{assign} {name}={text}"
        return flag if value is None or value is True else f"{flag} {text}"

    names = "|".join(sorted(flags, key=len, reverse=True))
    text = re.sub(rf"(?<![\w./\\'\"=-])({names})=({_VALUE})?(?![\w./\\=])", translate, text)
    return _CALL.sub(lambda found: f"timme {_RECIPES[found[1]]}", text)


def _word(value: Any) -> str:
    """Return a value as it is typed."""
    text = typed(value)
    return shlex.quote(text) if re.search(r"[\s&;|<>*?$`\"'()]", text) else text
