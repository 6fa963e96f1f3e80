"""Settings of every recipe, as one schema for options, Python, files and the server."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, ByteSize, Field

GROUPS = {  # fields in the order in which options are listed
    "reading": "select chain chains align model begin end step unit box unwrap columns min_overlap "
    "common_atoms weights gaps bonds allow_truncated".split(),
    "network": "energy ensemble perturb ph tethers constraints waters".split(),
    "objects": "objects reach reduction centre".split(),
    "pairs": "pairs contacts min_bonds linkage".split(),
    "confidence": "noise replicas confidence chance".split(),
    "motion": "bodies reference axis_from superposed".split(),
    "display": "cutoffs cutoff min_size shown length palette".split(),
    "server": "port data no_browser upload time jobs queue".split(),
    "running": "full workers memory seed".split(),
}
OBJECTS = ("auto", "points", "bodies", "links", "residues", "molecules")
PAIRS = ("auto", "contact", "all", "sequence", "nearest", "sharing")


def option(about: str, flags: str = "", *, default: Any = None, **limits: Any) -> Any:
    """Return a field of settings.

    Parameters
    ----------
    about : str
        One sentence for help, with the default in words: ``"Chains to keep (default: all)"``.
    flags : str, optional
        On the command line, with the label of the value: ``"-b --begin FRAME"``. Without any, it
        is set by ``--set NAME=VALUE``.
    default : object, optional
        None if it follows from the system.
    **limits
        Limits of pydantic; ``choices``, names that a text may be; ``path``, whether it may be a
        file.
    """
    text, _, usual = about.removesuffix(")").partition(" (default: ")
    words = flags.split()
    extra: Any = {
        "flags": [word for word in words if word.startswith("-")],
        "label": "".join(word for word in words if not word.startswith("-")),
        "usual": usual,
        "path": limits.pop("path", False),
        "choices": limits.pop("choices", ()),
    }
    return Field(default, description=text if usual else about, json_schema_extra=extra, **limits)


def split_rule(text: str) -> tuple[str, float | None]:
    """Return the name of a rule for pairs and its number; a file has none.

    Examples
    --------
    >>> split_rule("contact:8"), split_rule("all"), split_rule("pairs.csv")
    (('contact', 8.0), ('all', None), ('pairs.csv', None))
    """
    name, colon, number = text.partition(":")
    if name not in PAIRS or not colon:
        return text, None
    if name not in {"contact", "nearest", "sequence"}:
        raise ValueError(f"takes {name} without a number, got {text!r}")
    whole = name != "contact"
    if not re.fullmatch(r"0*[1-9]\d*" if whole else r"(?=.*[1-9])(\d+\.?\d*|\.\d+)", number):
        raise ValueError(f"takes {name}:{'N' if whole else 'RADIUS'} above 0, got {text!r}")
    return name, float(number)


def _as_list(value: Any) -> Any:
    """Return the parts of a text, or a single number, as a tuple."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(","))
    return (value,) if isinstance(value, int | float) else value


def _as_box(value: Any) -> Any:
    """Return lengths, or False for no box."""
    return False if value is False or value == "none" else _as_list(value)


def _as_chains(value: Any) -> Any:
    """Return what the second result calls chains of the first, of a text such as ``A=B,C=D``."""
    if not isinstance(value, str):
        return value
    ends = [part.partition("=")[::2] for part in _as_list(value)]
    if not all(map(all, ends)) or len(set(dict(ends).values())) < len(ends):
        raise ValueError(f"takes each chain once, such as A=B,C=D, got {value!r}")
    return dict(ends)


def _check_rule(value: str) -> str:
    split_rule(value)
    return value


Text = Annotated[str, Field(max_length=10_000)]
Time = Annotated[str, Field(pattern=r"^\s*(\d+\.?\d*|\.\d+)(e-?\d+)?\s*[fpnuµμm]?s\s*$")]
Names = Annotated[tuple[Text, ...], BeforeValidator(_as_list)]
Columns = Annotated[tuple[int | Text, ...], BeforeValidator(_as_list)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(_as_list)]
Counts = Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_as_list)]
Errors = Annotated[tuple[Annotated[float, Field(ge=0)], ...], BeforeValidator(_as_list)]
Bound = int | Time | None
Stride = Annotated[int, Field(ge=1)] | Time | None
_Rows = tuple[tuple[float, ...], ...]
Box = Annotated[tuple[float, ...] | _Rows | Literal[False] | None, BeforeValidator(_as_box)]
Rule = Annotated[Text, AfterValidator(_check_rule)]
Memory = Annotated[ByteSize, Field(gt=0)]
Chains = Annotated[dict[str, str], BeforeValidator(_as_chains)]


class Model(pydantic.BaseModel):
    """Settings that were checked, and do not change."""

    expert: ClassVar[frozenset[str]] = frozenset()  # fields that are left to ``--set`` here
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _read_arrays_and_none(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
        value = value.tolist() if hasattr(value, "tolist") else value
        value = str(value) if isinstance(value, PurePath) else value
        unset = value == "none" and info.field_name != "box"
        return None if unset and cls.model_fields[str(info.field_name)].default is None else value


class _Running(Model):
    """Settings of every recipe."""

    min_size: int = option("Smallest cluster that counts", "--min-size N", default=10, ge=1)
    palette: Literal["safe", "wide"] = option("Colours: colour-blind safe, or wide", default="safe")
    full: bool = option("Also write all figures, tables and index groups", "--full", default=False)
    workers: int | None = option("Number of threads (default: all cores)", "-j --workers N", ge=1)
    memory: Memory | None = option("Most memory to use, such as 2GB (default: what is free)")
    seed: int = option("Seed of random numbers", default=0, ge=0)


class _Snapshots(_Running):
    """Settings of every recipe that reads snapshots."""

    chain: Names | None = option("Chains to keep (default: all)", "--chain A,B")
    begin: Bound = option(
        "First frame (counted from 0) or time, for example 10ns", "-b --begin FRAME|TIME"
    )
    end: Bound = option("Stop before this frame, or after this time", "-e --end FRAME|TIME")
    step: Stride = option("Use every Nth frame, or one frame per TIME", "-dt --step N|TIME")
    common_atoms: bool = option(
        "Use only the atoms present in every model", "--common-atoms", default=False
    )
    allow_truncated: bool = option("Use complete frames of a damaged file", default=False)
    shown: Text | None = option("Sites to draw and count, a selection (default: Cα, P or C4')")


class _Trajectories(_Snapshots):
    """Settings of recipes that read trajectories and tables as well."""

    select: Text | None = option(
        "Atoms to analyse: ca, backbone, heavy, or an MDAnalysis selection "
        "(default: all but water and ions)",
        "-s --select TEXT",
    )
    unit: Text | None = option(
        "Length unit of the coordinates, such as Å, nm or µm (default: from the file)",
        "--unit UNIT",
    )
    box: Box = option("Override the periodic box", "--box LENGTHS|none")
    unwrap: bool = option(
        "Follow particles and molecules across periodic boundaries", "--unwrap", default=False
    )
    columns: Columns | None = option(
        "Table columns for frame, particle and coordinates (default: trackpy or TrackMate names)",
        "--columns NAMES",
    )
    weights: Numbers | Text | None = option(
        "Weights of snapshots: numbers or a file", path=True, union_mode="left_to_right"
    )
    gaps: bool | None = option("Treat NaN as a site not seen (default: in tables only)")
    bonds: Literal["auto", "file", "guess", "none"] = option("Covalent bonds", default="auto")
    replicas: Literal["one"] | Counts | None = option(
        "Frames in each independent run (default: detected from the files)",
        "--replicas LENGTHS|one",
    )


class Settings(_Trajectories):
    """Settings of an analysis of snapshots; None follows from the system."""

    min_overlap: Literal["auto"] | Annotated[int, Field(ge=2)] | None = option(
        "Frames two tracks must share to be compared (default: half of all)",
        "--min-overlap N|auto",
    )
    objects: Text = option(
        "What moves: auto, points, bodies, links, residues, molecules, or a file of groups",
        "--objects KIND|FILE",
        default="auto",
        path=True,
        choices=OBJECTS,
    )
    reach: int = option("Radius of a body, in bonds from its central atom", default=1, ge=0)
    reduction: Literal["rms", "max", "centre"] | None = option(
        "σ of objects from their sites: rms, max, or centre (default: rms, max for links)"
    )
    centre: Literal["mass", "geometry"] | None = option("Centre of groups (default: by kind)")
    pairs: Rule = option(
        "Which objects to compare: contact[:RADIUS], all, sequence[:N], nearest[:N], or a file "
        "(default: contact:10 for molecules)",
        "--pairs RULE|FILE",
        default="auto",
        path=True,
        choices=PAIRS,
    )
    contacts: int = option("Least number of snapshots with the pair in contact", default=1, ge=1)
    min_bonds: int | None = option("Fewest bonds between a pair (default: 4 in molecules)", ge=0)
    linkage: Literal["single", "braced", "average"] = option(
        "How pairs join into clusters: single (as in the paper), braced, or average",
        "--linkage NAME",
        default="single",
    )
    noise: Literal["auto"] | Errors | None = option(
        "Localization error to subtract from σ",
        "--noise LENGTH|auto",
    )
    confidence: bool | None = option("Resample to see which clusters recur (default: yes)")
    chance: bool | None = option("Compare with independent walkers (default: for particles only)")
    cutoff: float | None = option("Also report clusters at this σc", "--cutoff VALUE", ge=0)
    length: float | None = option("Length a for the axis σc/a (default: that of a bond)", gt=0)


class MotionSettings(_Trajectories):
    """Settings of the motion of rigid bodies."""

    expert = frozenset("unit box unwrap columns replicas common_atoms full min_size".split())

    bodies: int | None = option("Number of bodies (default: as many as found)", "--bodies N", ge=2)
    reference: Text | None = option("Body held still (default: the largest)", "--reference TEXT")
    axis_from: Names | None = option(
        "Two structures: measure angles about the axis of their transition",
        "--axis-from FILE,FILE",
        path=True,
        min_length=2,
        max_length=2,
    )
    superposed: Text | None = option("Save superposed PDB models", "--superposed FILE", path=True)


class RigiditySettings(_Snapshots):
    """Settings of the rigid clusters of a structure."""

    expert = frozenset("begin end step common_atoms min_size".split())

    model: int | None = option("Model or frame (default: the first)", "--model N", ge=1)
    waters: bool = option("Keep waters and their hydrogen bonds", "--waters", default=False)
    energy: float = option(
        "Energy of the weakest hydrogen bond that holds, in kcal/mol", "--energy E", default=-1.0
    )
    ensemble: bool = option("Analyse all models or frames", "--ensemble", default=False)
    perturb: int | None = option("Analyse N copies, perturbed by 0.1 Å each", ge=2)
    ph: float = option("pH at which hydrogens are added", default=7.0, ge=0, le=14)
    tethers: Literal["shortest", "all", "none"] = option(
        "Hydrophobic tethers: shortest, all or none", "--tethers NAME", default="shortest"
    )
    constraints: Text | None = option("Read constraints", "--constraints FILE", path=True)

    @pydantic.model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if self.ensemble and (self.model or self.perturb or self.constraints):
            raise ValueError("ensemble= takes all models: leave out model=, perturb=, constraints=")
        if self.constraints and self.perturb:
            raise ValueError("constraints= lists bonds of one structure: leave out perturb=")
        return self


class CompareSettings(_Running):
    """Settings of a comparison of two results."""

    expert = frozenset({"full", "min_size"})

    chains: Chains | None = option("Chains of the first and the second", "--chains A=B,C=D")
    align: Literal["auto", "number", "sequence"] = option(
        "Match residues by number, by sequence, or by what fits best", default="auto"
    )
    cutoffs: Annotated[tuple[float, float] | None, BeforeValidator(_as_list)] = option(
        "Also compare at these cutoffs", "--cutoffs V,V"
    )


class ServeSettings(Model):
    """Settings of the server: where it listens, and the limits of its jobs."""

    port: int = option("Port, 0 for any free one", "--port N", default=8377, ge=0, le=65535)
    data: Text | None = option("Folder of results (default: your data folder)", "--data FOLDER")
    no_browser: bool = option("Do not open a browser", "--no-browser", default=False)
    upload: Memory = option("Largest size of the files of a job (default: 2GB)", default=2 * 10**9)
    time: Text = option("Longest time that a job may run", default="12h")
    memory: Memory = option("Most memory that a job may use (default: 4GB)", default=4 * 10**9)
    jobs: int = option("Jobs that run at once", default=1, ge=1)
    queue: int = option("Jobs that may wait", default=8, ge=1)


M = TypeVar("M", bound=Model)


def details(model: type[Model], name: str) -> dict[str, Any]:
    """Return flags, label, usual, path and choices of a field."""
    extra: Any = model.model_fields[name].json_schema_extra
    return {**extra, "flags": []} if name in model.expert else {**extra}


def group_of(name: str) -> str:
    """Return the group of a field."""
    return next(group for group, names in GROUPS.items() if name in names)


def in_order(model: type[Model]) -> list[str]:
    """Return the fields in the order in which options are listed."""
    return [name for names in GROUPS.values() for name in names if name in model.model_fields]


def make(model: type[M], /, **options: Any) -> M:
    """Return checked settings; a ValueError says in one line what is wrong.

    Examples
    --------
    >>> make(Settings, begin="10ns", box="20,20,20", min_size="5").box
    (20.0, 20.0, 20.0)
    """
    for name in options.keys() - model.model_fields.keys():
        near = [f": use {each}=" for each in get_close_matches(name, model.model_fields, n=1)]
        raise ValueError("".join([f"there is no option {name}=", *near]))
    try:
        return model.model_validate(options)
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[-1]  # where several types are allowed, the last
    reason = problem["msg"].removeprefix("Value error, ")
    if not problem["loc"]:
        raise ValueError(reason)
    name = str(problem["loc"][0])
    if problem["type"] != "value_error":
        label, given = details(model, name)["label"], repr(options[name])
        reason = reason.replace("Input should", "must").partition(", unable")[0]
        reason = f"takes {label}" if re.search("[|,]", label) else reason
        reason += f", got {given if len(given) < 60 else given[:59] + '…'}"
    raise ValueError(f"{name}= {reason}")
