"""What goes over the wire and into job.json, described once for checks, files and OpenAPI."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from timme.workflow.settings import RigidSettings, Settings

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
Stage = Literal[
    "starting", "reading", "compiling", "measuring", "decomposing", "comparing", "drawing"
]
Recipe = Literal["auto", "run", "rigidity", "comparison"]

# What means the same for snapshots and for one structure.
_SHARED = ("start", "stop", "step", "show", "large", "min_size", "palette")

_Text = Annotated[str, Field(max_length=10_000)]
_Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class Model(BaseModel):
    """What all models have in common: nothing changes, nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Choices(Model):
    """What a user can choose; what is left out or null follows from the system.

    The fields are those of `timme.workflow.Settings` and of `timme run`. Where the command line
    takes the name of a file as well, only the names listed here are taken.
    """

    select: _Text | None = Field(
        default=None,
        description="Sites: ca, backbone, heavy, water-oxygen, or the MDAnalysis language. "
        "By default all atoms but waters and single ions.",
        examples=["ca"],
    )
    objects: Literal["auto", "points", "bodies", "links", "residues", "molecules"] = Field(
        default="auto", description="What is compared: what is rigid by itself."
    )
    reach: _Whole | None = Field(default=None, description="Bonds that a body spans (1).")
    reduction: Literal["rms", "max", "centre"] | None = Field(
        default=None,
        description="From cross pairs to objects: rms (default), max, or σ of centres.",
    )
    centre: Literal["mass", "geometry"] | None = Field(
        default=None, description="Centre of groups."
    )
    pairs: Literal["auto", "contact", "all", "sequence", "nearest", "sharing"] = Field(
        default="auto", description="Who is compared with whom."
    )
    radius: _Number | None = Field(
        default=None, description="Contact radius in units of the file (10 Å for molecules)."
    )
    contacts: _Whole | None = Field(default=None, description="Snapshots in contact, at least (1).")
    neighbours: _Whole | None = Field(
        default=None, description="How many nearest, or how far along the sequence."
    )
    min_bonds: _Whole | None = Field(
        default=None, description="Compare pairs at least so many bonds apart (4 in molecules)."
    )
    min_overlap: _Whole | None = Field(
        default=None, description="Snapshots that a pair must share (half of all)."
    )
    show: _Text | None = Field(
        default=None, description="Sites that are drawn and counted (Cα, P)."
    )
    cutoff: _Number | None = Field(
        default=None, description="Cutoff σc of the picture and structure."
    )
    length: _Number | None = Field(default=None, description="Length a for the axis σ/a.")
    large: _Whole | None = Field(
        default=None, description="R of the fraction in clusters of at least R (10)."
    )
    min_size: _Whole | None = Field(default=None, description="Clusters of fewer are grey (3).")
    palette: Literal["wide", "safe"] | None = Field(
        default=None, description="Colours; safe for colour-blind readers."
    )
    start: _Whole | None = Field(default=None, description="First frame, counted from 0.")
    stop: _Whole | None = Field(default=None, description="Frame to stop before.")
    step: _Whole | None = Field(default=None, description="Take every so many frames.")
    unit: Annotated[str, Field(max_length=40)] | None = Field(
        default=None, description="Unit of the coordinates: Å, nm, µm, …"
    )
    box: Annotated[list[_Number], Field(max_length=9)] | Literal[False] | None = Field(
        default=None,
        description="Periodic box: lengths, or lengths and angles; false ignores the file's.",
    )
    weights: Annotated[list[_Number], Field(max_length=100_000)] | None = Field(
        default=None, description="A weight for each snapshot."
    )
    columns: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)] | None = (
        Field(default=None, description="Columns of a table: frame, particle, x, y[, z].")
    )
    common_atoms: bool | None = Field(
        default=None, description="Go on with the atoms that all models share."
    )
    allow_truncated: bool | None = Field(
        default=None, description="Use the whole frames of a damaged file."
    )
    gaps: bool | None = Field(default=None, description="NaN means: not seen in this snapshot.")
    bonds: Literal["auto", "file", "guess", "none"] | None = Field(
        default=None, description="Covalent bonds: of the file, guessed, none, or as needed (auto)."
    )

    def settings(self) -> Settings:
        """Return the settings of the recipe; ValueError if they mean nothing.

        Returns
        -------
        Settings
            As the command line would make them.
        """
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        return Settings(**given)


class RigidChoices(Model):
    """What a user can choose of the rigid clusters of one structure.

    The fields are those of `timme.workflow.RigidSettings` and of `timme rigidity`, but for the list
    of constraints, which is a file.
    """

    chain: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="Chains to keep, as A or A,B (all).", examples=["A"]
    )
    model: _Whole | None = Field(default=None, description="Model, counted from 1 (the first).")
    ensemble: _Number | None = Field(
        default=None,
        description="Decompose all models with hydrogen bonds up to this energy, in kcal/mol.",
    )
    common_atoms: bool | None = Field(
        default=None, description="Go on with the atoms that all models of an ensemble share."
    )
    allow_truncated: bool | None = Field(
        default=None, description="Use the whole frames of a damaged file."
    )
    waters: bool | None = Field(default=None, description="Keep waters, and their hydrogen bonds.")
    tethers: Literal["shortest", "all", "none"] = Field(
        default="shortest",
        description="Hydrophobic tethers: the shortest of an atom to a residue, all, or none.",
    )
    start: _Whole | None = Field(default=None, description="First frame, counted from 0.")
    stop: _Whole | None = Field(default=None, description="Frame to stop before.")
    step: _Whole | None = Field(default=None, description="Take every so many frames.")
    show: _Text | None = Field(default=None, description="Sites that are drawn and counted (Cα).")
    cutoff: _Number | None = Field(
        default=None, description="Energy of the picture and structure, in kcal/mol."
    )
    length: _Number | None = Field(default=None, description="Length a for a second axis.")
    large: _Whole | None = Field(
        default=None, description="R of the fraction in clusters of at least R (10)."
    )
    min_size: _Whole | None = Field(default=None, description="Clusters of fewer are grey (3).")
    palette: Literal["wide", "safe"] | None = Field(
        default=None, description="Colours; safe for colour-blind readers."
    )

    def settings(self) -> RigidSettings:
        """Return the settings of the recipe; ValueError if they mean nothing.

        Returns
        -------
        RigidSettings
            As the command line would make them.
        """
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        return RigidSettings(**given)

    def completed(self, choices: Choices) -> tuple[RigidChoices, list[str]]:
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
        taken = {
            name: given[name] for name in _SHARED if name in given and getattr(self, name) is None
        }
        return self.model_copy(update=taken), [name for name in given if name not in _SHARED]


class Comparison(Model):
    """Two results to be compared on the sites that both show."""

    one: str = Field(description="Id of a job that is done.")
    other: str = Field(description="Id of another job that is done.")
    chains: (
        Annotated[
            dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=40)]],
            Field(max_length=1000),
        ]
        | None
    ) = Field(
        default=None,
        description="Chains of the first, and what they are called in the other (the same).",
        examples=[{"A": "B"}],
    )
    title: Annotated[str, Field(max_length=1000)] = Field(
        default="", description="Shown instead of both titles."
    )


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
    tethers: list[Choice]
    objects: list[Choice]
    pairs: list[Choice]
    select: list[Choice] = Field(description="Presets; the MDAnalysis language works as well.")
    topologies: list[str] = Field(description="Extensions of files that can come first.")
    trajectories: list[str] = Field(description="Extensions of files that can follow.")
    bare_trajectories: list[str] = Field(
        description="Those of them that hold coordinates only, so that names must come first."
    )
    limits: ServerLimits


class Problem(Model):
    """Why a request was refused."""

    detail: str = Field(description="What is needed, what came, what to do; one line.")
