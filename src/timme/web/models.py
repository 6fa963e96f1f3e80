"""What goes over the wire and into job.json, described once for checks, files and OpenAPI."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from timme.settings import CompareSettings, RigidSettings, Setting, Settings, settings_of
from timme.settings.schema import FILE

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
Stage = Literal[
    "starting", "reading", "compiling", "measuring", "decomposing", "comparing", "drawing"
]
Recipe = Literal["auto", "run", "rigidity", "comparison"]

# What means the same for snapshots and for one structure.
_SHARED = ("start", "stop", "step", "show", "large", "min_size", "palette")

_LETTERS = 10_000  # of a text, at most
_WORD = 40  # or of a time
_Text = Annotated[str, Field(max_length=_LETTERS)]
_Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]
_Number = Annotated[float, Field(allow_inf_nan=False)]

# How much is taken of whom.
_KINDS: dict[type, Any] = {bool: bool, int: _Whole, float: _Number, str: _Text}
_LONGEST = {"unit": 40, "chain": 1000, "noise": 200}  # letters
_LISTS = {"box": 9, "weights": 100_000, "columns": 20, "cutoffs": 2}  # entries
_Name = Annotated[str, Field(max_length=40)]
_Names = Annotated[dict[_Name, _Name], Field(max_length=1000)]


class Model(BaseModel):
    """What all models have in common: nothing changes, nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _fields(kind: type) -> type[Model]:
    """Make a model of the settings that the server offers."""
    offered = (setting for setting in settings_of(kind) if setting.about.server)
    made: dict[str, Any] = {setting.name: (_type(setting), _field(setting)) for setting in offered}
    return create_model(f"{kind.__name__}Fields", __base__=Model, **made)


def _type(setting: Setting) -> Any:
    """Say what is taken: a file is never named, and null is the default."""
    about, letters = setting.about, _LONGEST.get(setting.name)
    if about.choices and about.besides in {"", FILE}:
        return Literal[*about.choices] | None
    if setting.name == "chains":  # of one result, and their names in the other
        return _Names | None
    kind: Any = _KINDS[setting.kind]
    if is_number_or_word(setting):
        kind = kind | Annotated[str, Field(max_length=_WORD)]
    if setting.name in _LISTS:
        kind = Annotated[list[kind], Field(max_length=_LISTS[setting.name])]
    elif letters is not None:
        kind = Annotated[str, Field(max_length=letters)]
        if setting.many:  # one text, or several
            kind = kind | Annotated[list[kind], Field(max_length=letters)]
    besides = {"box": Literal[False], "noise": _Number}.get(setting.name)
    return kind | None if besides is None else kind | besides | None


def _field(setting: Setting) -> Any:
    about = setting.about
    limits: dict[str, Any] = {} if about.least is None else {"minimum": about.least}
    return Field(
        default=setting.default,
        description=setting.sentence(names=about.besides != FILE),
        examples=[about.example] if about.example else None,
        json_schema_extra=limits | ({"exclusiveMinimum": 0} if about.positive else {}),
    )


def is_number_or_word(setting: Setting) -> bool:
    """Tell whether a text may stand for a number, such as a time or ``auto``.

    Parameters
    ----------
    setting : Setting
        One that the server offers.

    Returns
    -------
    bool
        Whether the setting understands it.
    """
    about = setting.about
    return setting.kind is int and (about.parse is not None or bool(about.words))


def longest(setting: Setting) -> int | None:
    """Return how long a text may be.

    Parameters
    ----------
    setting : Setting
        One that the server offers.

    Returns
    -------
    int or None
        Letters; None for what is no text.
    """
    if is_number_or_word(setting):
        return _WORD
    return _LONGEST.get(setting.name, _LETTERS) if setting.kind is str else None


# The fields of these are known at run time only, hence what the type checker is told.


class Choices(_fields(Settings)):  # type: ignore[misc]
    """What a user can choose; what is left out or null has its default.

    The fields are those of `timme.Settings` and of `timme run`. Where the command line takes the
    name of a file as well, only the names listed here are taken.
    """

    def settings(self) -> Settings:
        """Return the settings of the recipe; ValueError if they mean nothing.

        Returns
        -------
        Settings
            As the command line would make them.
        """
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        return Settings(**given)


class RigidChoices(_fields(RigidSettings)):  # type: ignore[misc]
    """What a user can choose of the rigid clusters of one structure.

    The fields are those of `timme.RigidSettings` and of `timme rigidity`, but for the list of
    constraints, which is a file.
    """

    def settings(self) -> RigidSettings:
        """Return the settings of the recipe; ValueError if they mean nothing.

        Returns
        -------
        RigidSettings
            As the command line would make them.
        """
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        return RigidSettings(**given)

    def complete_from(self, choices: Choices) -> tuple[RigidChoices, list[str]]:
        """Take over from the choices for snapshots what means the same.

        Parameters
        ----------
        choices : Choices
            Made before it was known that there is one snapshot only.

        Returns
        -------
        RigidChoices, list of str
            All choices for one structure, and the names of those that mean nothing for it.
        """
        given = choices.model_dump(exclude_none=True, exclude_defaults=True)
        own = self.model_dump(exclude_none=True, exclude_defaults=True)
        taken = {name: given[name] for name in _SHARED if name in given and name not in own}
        return self.model_copy(update=taken), [name for name in given if name not in _SHARED]


class Comparison(_fields(CompareSettings)):  # type: ignore[misc]
    """Two results to be compared on the sites that both show.

    Besides the two and the title, the fields are those of `timme compare`.
    """

    one: str = Field(description="Id of a job that is done.")
    other: str = Field(description="Id of another job that is done.")
    title: Annotated[str, Field(max_length=1000)] = Field(
        default="", description="Shown instead of both titles."
    )

    def settings(self) -> CompareSettings:
        """Return the settings of the recipe; ValueError if they mean nothing.

        Returns
        -------
        CompareSettings
            As the command line would make them.
        """
        given: dict[str, Any] = self.model_dump(
            exclude_none=True, exclude={"one", "other", "title"}
        )
        return CompareSettings(**given)


class File(Model):
    """A file that was given."""

    name: str = Field(description="What the client called it: text to be shown, never a path.")
    size: int = Field(description="Bytes, unpacked.")
    stored: str = Field(description="Its name among the files of the job.")


class Row(Model):
    """A row of the summary."""

    name: str = Field(description="What, such as snapshots; empty where it is the same as above.")
    value: str = Field(description="Its value, as people read it.")


class Task(Model):
    """What is to be done with some files."""

    title: str = Field(description="Text to be shown.")
    recipe: Recipe = Field(
        default="auto",
        description="What is done: run finds co-moving clusters, rigidity the rigid clusters of "
        "one structure, comparison compares two results. auto is a run; where there is one "
        "snapshot only, it becomes rigidity.",
    )
    files: list[File] = Field(description="The topology or ensemble first; or the two results.")
    settings: Choices = Field(default=Choices(), description="Of a run.")
    rigidity: RigidChoices = Field(default=RigidChoices(), description="Of one structure.")
    comparison: Comparison | None = Field(default=None, description="Of two results.")


class Job(Task):
    """A job as it is kept on disk."""

    id: str = Field(description="Unguessable name.")
    state: State = Field(
        description="waiting, running, then done, failed or cancelled; interrupted if the server "
        "stopped in between."
    )
    created: datetime
    started: datetime | None = None
    finished: datetime | None = None
    version: str = Field(default="", description="Version of TIMME that did it.")
    command: str = Field(default="", description="The command that does the same.")
    summary: list[Row] = Field(default=[], description="What was found, in a few rows.")
    notes: list[str] = Field(default=[], description="What to know about the result.")
    error: str = Field(default="", description="Why it failed, in one line.")


class Progress(Model):
    """How far a running job is."""

    stage: Stage = Field(description="What is being done.")
    done: int = Field(default=0, ge=0, description="Work done in this stage.")
    total: int = Field(default=0, ge=0, description="Work of this stage; 0 where it is not known.")
    seconds_left: float | None = Field(
        default=None, description="Of this stage, where it can be told."
    )


class Outcome(Model):
    """What the process of a job leaves behind."""

    recipe: Recipe = "auto"
    command: str = ""
    summary: list[Row] = []
    notes: list[str] = []
    error: str = ""


class JobStatus(Job):
    """A job, and how far it is."""

    progress: Progress | None = Field(default=None, description="While it runs.")
    ahead: int = Field(default=0, description="Jobs that wait before this one.")
    report: bool = Field(default=False, description="Whether there is an interactive report.")
    scene: bool = Field(default=False, description="Whether the interactive page can show it.")


class JobList(Model):
    """All jobs, the newest first."""

    jobs: list[JobStatus]


class ResultFile(Model):
    """A file of the result."""

    name: str
    size: int = Field(description="Bytes.")
    about: str = Field(description="What it holds.")


class ResultFiles(Model):
    """The files of the result."""

    files: list[ResultFile]


class Version(Model):
    """What is running here."""

    name: Literal["timme"] = "timme"
    version: str
    page_missing: str = Field(
        description="Why the pages are not installed, and how to get them; empty if they are."
    )


class Choice(Model):
    """One of the values of a setting."""

    value: str
    help: str


class FormField(Model):
    """A setting as a form asks for it."""

    name: str = Field(description="Of the setting, in `settings` or in `rigidity`.")
    label: str
    kind: Literal["text", "list", "whole", "number", "tick", "choice"] = Field(
        description="A list is written with commas."
    )
    help: str
    usual: str = Field(description="The default, in words.")
    least: float | None = Field(description="The least number that it takes.")
    longest: int | None = Field(description="Letters that it takes.")
    choices: list[Choice] = Field(description="All values of a choice; proposals for a text.")


class FormPart(Model):
    """Settings that stand together in a form."""

    recipe: Literal["run", "rigidity"] = Field(description="For which they are asked.")
    legend: str
    main: bool = Field(description="Whether it is seen before one asks for more.")
    fields: list[FormField]


class ServerLimits(Model):
    """What a job may take."""

    upload: int = Field(description="Bytes of all files of a job, unpacked.")
    seconds: float = Field(description="Time that a job may run.")
    memory: int = Field(description="Bytes of memory that a job may take.")
    jobs: int = Field(description="Jobs that run at once.")
    queue: int = Field(description="Jobs that may wait.")


class Defaults(Model):
    """What can be chosen, with help, and what is filled in."""

    settings: Choices = Field(description="What is used where nothing is said.")
    rigidity: RigidChoices = Field(description="The same for one structure.")
    recipes: list[Choice] = Field(description="What can be done with files.")
    form: list[FormPart] = Field(description="What the start page asks for.")
    topologies: list[str] = Field(description="Extensions of files that can come first.")
    trajectories: list[str] = Field(description="Extensions of files that can follow.")
    bare_trajectories: list[str] = Field(
        description="Those of them that hold coordinates only, so that names must come first."
    )
    limits: ServerLimits


class Problem(Model):
    """Why a request was refused."""

    detail: str = Field(description="What is needed, what came, what to do; one line.")
