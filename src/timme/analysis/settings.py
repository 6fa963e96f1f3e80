"""Settings of every recipe, as one schema for options, Python, files and the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from timme import memory

GROUPS = (  # in the order in which options are listed
    "reading", "objects", "pairs", "network", "motion", "confidence", "display", "running", "server"
)  # fmt: skip
OBJECTS = ("auto", "points", "bodies", "links", "residues", "molecules")
PAIRS = ("auto", "contact", "all", "sequence", "nearest", "sharing")
_FORMER = {  # names of former versions and of other programs
    "start": "begin=", "stop": "end=", "large": "min_size=", "on": "reference=",
    "radius": "pairs='contact:8'", "neighbours": "pairs='nearest:12'", "cutoff": "energy=",
}  # fmt: skip
_TIME = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*(fs|ps|ns|us|µs|μs|ms|s)")
_KINDS = {  # of pydantic's errors, in words
    "int": "a whole number", "float": "a number", "finite": "a number", "bool": "yes or no",
    "string": "text", "tuple": "a list",
}  # fmt: skip


def option(about: str, *flags: str, group: str, default: Any = None, **more: Any) -> Any:
    """Return a field of settings.

    Parameters
    ----------
    about : str
        One sentence for help, with the default in words: ``"Chains to keep (default: all)"``.
    *flags : str
        On the command line, the last with the label of its value: ``"-b", "--begin FRAME"``.
        Without any, it is set by ``--set NAME=VALUE``.
    group : str
        One of GROUPS.
    default : object, optional
        None if it follows from the system.
    **more
        ``takes``, what the value may be; ``path``, whether it may be a file besides ``choices``;
        and limits of pydantic.
    """
    text, _, usual = about.removesuffix(")").partition(" (default: ")
    last, _, label = flags[-1].partition(" ") if flags else ("", "", "")
    extra: Any = {"flags": [*flags[:-1], last] if flags else [], "label": label, "group": group}
    usuals: dict[str, Any] = {"takes": "", "path": False, "choices": ()}
    extra |= {"usual": usual} | {name: more.pop(name, plain) for name, plain in usuals.items()}
    return Field(default, description=text if usual else about, json_schema_extra=extra, **more)


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


def _as_numbers(value: Any) -> Any:
    """Return numbers of a text, or a single number, as a tuple."""
    if isinstance(value, str) and re.fullmatch(r"[-+.,\deE\s]+", value):
        return tuple(word.strip() for word in value.split(","))
    return (value,) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_names(value: Any) -> Any:
    return tuple(word.strip() for word in value.split(",")) if isinstance(value, str) else value


def _as_bound(value: Any) -> Any:
    """Return the number of a frame, or a time as it was written."""
    if not isinstance(value, str) or re.fullmatch(r"\s*[-+]?\d+\s*", value):
        return value if value is None else int(value)
    if not _TIME.fullmatch(value.strip()):
        raise ValueError(f"takes a frame number, or a time such as 10ns, got {value!r}")
    return value.strip()


def _as_box(value: Any) -> Any:
    return False if value == "none" else _as_numbers(value)


def _as_chains(value: Any) -> Any:
    """Return what the second result calls chains of the first, of a text such as ``A=B,C=D``."""
    if not isinstance(value, str | Mapping):
        return value
    text = value if isinstance(value, str) else ",".join(map("=".join, value.items()))
    parts = [part.strip() for part in text.split(",")]
    ends = dict(part.partition("=")[::2] for part in parts)
    if not all("=" in part for part in parts) or len({*ends.values()}) < len(parts):
        raise ValueError(f"takes each chain once, such as A=B,C=D, got {value!r}")
    return ends


def _check_memory(value: str, info: pydantic.ValidationInfo) -> str:
    memory.parse(value, f"{info.field_name}=")
    return value


Text = Annotated[str, Field(max_length=10_000)]
Names = Annotated[tuple[Text, ...], BeforeValidator(_as_names)]
Columns = Annotated[tuple[int | Text, ...], BeforeValidator(_as_names)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(_as_numbers)]
Counts = Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_as_numbers)]
Errors = Annotated[tuple[Annotated[float, Field(ge=0)], ...], BeforeValidator(_as_numbers)]
Bound = Annotated[int | str | None, BeforeValidator(_as_bound)]
Stride = Annotated[Annotated[int, Field(ge=1)] | str | None, BeforeValidator(_as_bound)]
_Rows = tuple[tuple[float, ...], ...]
Box = Annotated[tuple[float, ...] | _Rows | Literal[False] | None, BeforeValidator(_as_box)]
Rule = Annotated[Text, AfterValidator(lambda text: split_rule(text) and text)]
Memory = Annotated[str, AfterValidator(_check_memory)]
Chains = Annotated[dict[str, str], BeforeValidator(_as_chains)]

_reading, _objects = partial(option, group="reading"), partial(option, group="objects")
_pairs, _network = partial(option, group="pairs"), partial(option, group="network")
_motion, _confidence = partial(option, group="motion"), partial(option, group="confidence")
_display, _running = partial(option, group="display"), partial(option, group="running")
_server = partial(option, group="server")


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

    min_size: int = _display("Smallest cluster that counts", "--min-size N", default=10, ge=1)
    palette: Literal["safe", "wide"] = _display("Safe for the colour-blind", default="safe")
    order: Literal["auto", "sequence", "labels"] = _display("Order in dilutions", default="auto")
    full: bool = _running("Write all figures, tables and index groups", "--full", default=False)
    workers: int | None = _running("Threads (default: all cores)", "-j", "--workers N", ge=1)
    memory: Memory | None = _running("Maximum memory to use, such as 2GB")
    seed: int = _running("Seed of random numbers", default=0, ge=0)


class _Snapshots(_Running):
    """Settings of every recipe that reads snapshots."""

    chain: Names | None = _reading("Chains to keep (default: all)", "--chain A,B")
    begin: Bound = _reading("First frame (from 0 on), or a time", "-b", "--begin FRAME|TIME")
    end: Bound = _reading("Stop before this frame, or after this time", "-e", "--end FRAME|TIME")
    step: Stride = _reading("Use every Nth frame, or one frame per TIME", "-dt", "--step N|TIME")
    common_atoms: bool = _reading("Atoms that all models share", "--common-atoms", default=False)
    allow_truncated: bool = _reading("Use complete frames of a damaged file", default=False)
    shown: Text | None = _display("Sites to draw and count, a selection (default: Cα, P or C4')")


class _Trajectories(_Snapshots):
    """Settings of recipes that read trajectories and tables as well."""

    select: Text | None = _reading(
        "Atoms to analyse: ca, backbone, heavy, or an MDAnalysis selection "
        "(default: all but water and ions)", "-s", "--select TEXT",
    )  # fmt: skip
    unit: Text | None = _reading("Unit of coordinates (default: from the file)", "--unit UNIT")
    box: Box = _reading(
        "Override the periodic box", "--box LENGTHS|none", takes="lengths such as 20,20,20, or none"
    )
    unwrap: bool = _reading("Follow molecules out of the periodic box", "--unwrap", default=False)
    columns: Columns | None = _reading("Columns of a table of tracks", "--columns FRAME,ID,X,Y")
    weights: Numbers | Text | None = _reading("Weights of snapshots: numbers or a file", path=True)
    gaps: bool | None = _reading("NaN means not seen in the snapshot (default: in tables only)")
    bonds: Literal["auto", "file", "guess", "none"] = _reading("Covalent bonds", default="auto")
    replicas: Literal["one"] | Counts | None = _confidence(
        "Frames in each independent run (default: detected from the files)",
        "--replicas LENGTHS|one", takes="numbers of frames such as 500,500, or one",
    )  # fmt: skip


class Settings(_Trajectories):
    """Settings of an analysis of snapshots; None follows from the system."""

    min_overlap: Literal["auto"] | Annotated[int, Field(ge=2)] | None = _reading(
        "Frames two tracks must share to be compared (default: half of all)",
        "--min-overlap N|auto", takes="a whole number from 2 on, or auto",
    )  # fmt: skip
    objects: Text = _objects(
        "What moves: auto, points, bodies, links, residues, molecules, or a file of groups",
        "--objects KIND|FILE", default="auto", path=True, choices=OBJECTS,
    )  # fmt: skip
    reach: int = _objects("Bonds from the central atom of a body", default=1, ge=0)
    reduction: Literal["rms", "max", "centre"] | None = _objects(
        "σ of objects from that of their sites, or of their centres (default: rms, max for links)"
    )
    centre: Literal["mass", "geometry"] | None = _objects("Centre of groups (default: by kind)")
    pairs: Rule = _pairs(
        "Which objects to compare: contact[:RADIUS], all, sequence[:N], nearest[:N], or a file "
        "(default: contact:10 for molecules)",
        "--pairs RULE|FILE", default="auto", path=True, choices=PAIRS,
    )  # fmt: skip
    contacts: int = _pairs("Snapshots in which pairs must be in contact", default=1, ge=1)
    min_bonds: int | None = _pairs("Fewest bonds between a pair (default: 4 in molecules)", ge=0)
    linkage: Literal["single", "braced", "average"] = _pairs(
        "How pairs join into clusters (the paper: single)", "--linkage NAME", default="single"
    )
    noise: Literal["auto"] | Errors | None = _confidence(
        "Localization error to subtract from σ", "--noise LENGTH|auto",
        takes="a length, one for each axis such as 0.03,0.03,0.06, or auto",
    )  # fmt: skip
    confidence: bool | None = _confidence("Resample to see which clusters recur (default: yes)")
    chance: bool | None = _confidence("Compare with independent walkers (default: for particles)")
    cutoff: float | None = _display("Report the clusters at this σc, too", "--cutoff VALUE")
    length: float | None = _display("Length a of the axis σ/a (default: that of a bond)", gt=0)


class MotionSettings(_Trajectories):
    """Settings of the motion of rigid bodies."""

    expert = frozenset("unit box unwrap columns replicas common_atoms full min_size".split())

    bodies: int | None = _motion("Number of bodies (default: as many as found)", "--bodies N", ge=1)
    reference: Text | None = _motion("Body held still (default: the largest)", "--reference TEXT")
    axis_from: Names | None = _motion(
        "Two structures, to measure angles along the transition between them",
        "--axis-from FILE,FILE", path=True, min_length=2, max_length=2, takes="two files",
    )  # fmt: skip
    superposed: Text | None = _motion("Write superposed snapshots", "--superposed FILE", path=True)


class RigiditySettings(_Snapshots):
    """Settings of the rigid clusters of a structure."""

    expert = frozenset("begin end step common_atoms min_size".split())

    model: int | None = _reading("Model or frame (default: the first)", "--model N", ge=1)
    waters: bool = _reading("Keep waters and their hydrogen bonds", "--waters", default=False)
    energy: float = _network(
        "Weakest hydrogen bonds that hold, in kcal/mol", "--energy E", default=-1.0
    )
    ensemble: bool = _network("Analyse all models or frames", "--ensemble", default=False)
    perturb: int | None = _network("Analyse this many copies, perturbed by 0.1 Å", ge=2)
    ph: float = _network("pH for added hydrogens", default=7.0, ge=0, le=14)
    tethers: Literal["shortest", "all", "none"] = _network(
        "Hydrophobic tethers between an atom and a residue", "--tethers NAME", default="shortest"
    )
    constraints: Text | None = _network("Read the constraints", "--constraints FILE", path=True)

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

    chains: Chains | None = _reading("Chains of the first = of the second", "--chains A=B,C=D")
    align: Literal["auto", "number", "sequence"] = _reading("Match residues by", default="auto")
    cutoffs: Annotated[tuple[float, float] | None, BeforeValidator(_as_numbers)] = _display(
        "Compare at these two cutoffs, too", "--cutoffs V,V", takes="two numbers such as -0.5,0.06"
    )


class ServeSettings(Model):
    """Settings of the server: where it listens, and the limits of its jobs."""

    port: int = _server("Port, 0 for any free one", "--port N", default=8377, ge=0, le=65535)
    data: Text | None = _server("Folder of results (default: your data folder)", "--data FOLDER")
    no_browser: bool = _server("Do not open a browser", "--no-browser", default=False)
    upload: Memory = _server("Size of the files of a job", default="2GB")
    time: Text = _server("Time a job may run", default="12h")
    memory: Memory = _server("Memory a job may use", default="4GB")
    jobs: int = _server("Jobs that run at once", default=1, ge=1)
    queue: int = _server("Jobs that may wait", default=8, ge=1)


M = TypeVar("M", bound=Model)


def details(model: type[Model], name: str) -> dict[str, Any]:
    """Return flags, group, label, usual, takes, path and choices of a field."""
    extra: Any = model.model_fields[name].json_schema_extra
    return {**extra, "flags": []} if name in model.expert else {**extra}


def hints_for(model: type[Model]) -> dict[str, str]:
    """Return what to write for names of options, former ones included."""
    known = {name: f"{name}=" for name in model.model_fields}
    return {name: hint for name, hint in _FORMER.items() if hint.partition("=")[0] in known} | known


def make(model: type[M], /, **options: Any) -> M:
    """Return checked settings; a ValueError says in one line what is wrong.

    Examples
    --------
    >>> make(Settings, begin="10ns", box="20,20,20", min_size="5").box
    (20.0, 20.0, 20.0)
    """
    for name in options.keys() - model.model_fields.keys():
        near = get_close_matches(name, hints := hints_for(model), 1, 0.75)
        raise ValueError(
            f"there is no option {name}=" + (f": use {hints[near[0]]}" if near else "")
        )
    try:
        return model.model_validate(options)
    except pydantic.ValidationError as error:
        raise ValueError(first_problem(error, model)) from None


def first_problem(error: pydantic.ValidationError, model: type[Model] = Settings) -> str:
    """Return the first problem in one line: ``min_size= must be at least 1, got 0``."""
    problem = error.errors(include_url=False)[0]
    kind, context = problem["type"], problem.get("ctx", {})
    if not problem["loc"]:
        return str(context["error"])
    name, given = str(problem["loc"][0]), repr(problem["input"])
    if kind == "value_error":
        reason = str(context["error"])
        return reason if reason.startswith(name) else f"{name}= {reason}"
    limits = {"ge": "at least", "gt": "above", "le": "at most"}
    said = [f"must be {limits[key]} {limit}" for key, limit in context.items() if key in limits]
    if details(model, name)["takes"]:
        said = [f"takes {details(model, name)['takes']}"]
    elif kind == "literal_error":
        said = [f"takes {context['expected'].replace(chr(39), '')}"]
    said.append(f"takes {_KINDS.get(kind.partition('_')[0], 'another value')}")
    return f"{name}= {said[0]}, got {given if len(given) < 60 else given[:59] + '…'}"
