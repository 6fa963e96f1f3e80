"""Options: made from the settings, or shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timme.settings import Setting, settings_of
from timme.settings.schema import GROUPS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def options(*decorators: _Decorator) -> _Decorator:
    """Make one decorator of several, which apply as they are listed.

    Parameters
    ----------
    *decorators : callable
        Options of a command.

    Returns
    -------
    callable
        All of them.
    """

    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


class Option(click.Option):
    """An option that stands with its like in the help.

    Parameters
    ----------
    *args : Any
        As of :class:`click.Option`.
    heading : str, optional
        Under which the help lists it.
    **more
        As of :class:`click.Option`.
    """

    def __init__(self, *args: Any, heading: str = "Options", **more: Any) -> None:
        super().__init__(*args, **more)
        self.heading = heading


class FigureName(click.ParamType):  # type: ignore[type-arg]  # generic in newer ones alone
    """The name of a figure: one of those that are declared, which only then are imported."""

    name = "figure"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return what stands for the value in the help.

        Parameters
        ----------
        param : click.Parameter
            The option.
        ctx : click.Context
            The command.

        Returns
        -------
        str or None
            All names.
        """
        return self._choice().get_metavar(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is no figure.

        Parameters
        ----------
        value : Any
            What the user wrote.
        param : click.Parameter or None
            The option.
        ctx : click.Context or None
            The command.

        Returns
        -------
        str
            The name.
        """
        return self._choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """List the names that begin with what was written.

        Parameters
        ----------
        ctx : click.Context
            The command.
        param : click.Parameter
            The option.
        incomplete : str
            What the user wrote so far.

        Returns
        -------
        list of CompletionItem
            Names.
        """
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> click.Choice[str]:
        from timme.output.figures import known_figures

        return click.Choice(list(known_figures()))


class Command(click.Command):
    """A command whose help lists options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what can be chosen.

        Parameters
        ----------
        ctx : click.Context
            Of the command.
        formatter : click.HelpFormatter
            What it is written with.
        """
        listed: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                listed.setdefault(getattr(parameter, "heading", "Options"), []).append(record)
        for heading, records in listed.items():
            with formatter.section(heading):
                formatter.write_dl(records)


running = partial(click.option, cls=Option, heading=GROUPS["running"])

debug = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of errors."
)

output = options(
    click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write."),
    click.option("--overwrite", is_flag=True, help="Replace an earlier result in that folder."),
)


def options_of(kind: type, *names: str) -> _Decorator:
    """Make the options of a command from its settings.

    Parameters
    ----------
    kind : type
        A dataclass of settings.
    *names : str
        Those that are wanted, all by default.

    Returns
    -------
    callable
        Options in the order of the settings; what is not given is None.
    """
    wanted = [setting for setting in settings_of(kind) if setting.about.command]
    return options(*(_option(each) for each in wanted if not names or each.name in names))


def given(chosen: dict[str, Any]) -> dict[str, Any]:
    """Keep the options that were given; the others follow from the system.

    Parameters
    ----------
    chosen : dict
        Values by name, None where an option was not given.

    Returns
    -------
    dict
        Without these.
    """
    return {name: value for name, value in chosen.items() if value is not None}


def stem(source: str) -> str:
    """Name a result after its source.

    Parameters
    ----------
    source : str
        A file, or pdb:CODE.

    Returns
    -------
    str
        Its name without folders and suffix.
    """
    name = Path(source.removeprefix("pdb:")).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or "result"


def _option(setting: Setting) -> _Decorator:
    about = setting.about
    named = [*about.choices] if about.choices and not about.besides else []
    kinds: dict[str, Any] = {"is_flag": True} if setting.kind is bool else {"type": setting.kind}
    if setting.many:
        kinds = {"type": str}  # which the setting understands
        if about.parse is None:
            kinds |= {"multiple": True, "callback": _if_any}
    elif about.words or about.parse:
        kinds = {"type": str}  # which the setting understands
    elif about.choices:  # others are refused by the setting, in the same words everywhere
        kinds["shell_complete"] = partial(_begun, [*about.choices])
    *short, long = setting.flags
    return click.option(
        *short,
        f"{long}/{setting.denial}" if setting.denial else long,
        setting.name,
        cls=Option,
        heading=GROUPS[about.group],
        default=None,
        help=setting.sentence(),
        metavar=about.metavar or (f"[{'|'.join(named)}]" if named else None),
        **kinds,
    )


def _begun(known: list[str], _: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the choices that begin as was typed."""
    return [name for name in known if name.startswith(begun)]


def _if_any(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> Any:
    """Leave out what was given no time."""
    return given or None
