"""Words: the library speaks Python, the command line options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Refused, Run
from tests.cli.ensembles import wandering, write_tracks
from timme.cli import app
from timme.cli.words import VOCABULARY, in_options
from timme.settings import Display, RigidSettings, Settings, settings_of

SOURCE = Path(library.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]|\(-[a-z]+\)")
COMMAND = re.compile(r"(timme serve|pip install) --[a-z-]+")  # which is to be typed as it is
# Programs that are started, and commands that are written, are made of options.
OF_USE = {"--centre": ("--objects", "residues")}  # what makes the recipe look at an option
WRITERS = {"engine/connect.py", "web/recipes.py", "settings/schema.py", "settings/shared.py"}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_message_of_the_library_names_an_option() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "cli" not in path.parts and path.relative_to(SOURCE).as_posix() not in WRITERS
        for line, text in texts(path)
        if OPTION.search(COMMAND.sub("", text))
    ]
    assert found == []


def test_every_option_of_every_command_has_its_name_in_python() -> None:
    flags = {
        flag
        for command in app.commands.values()
        for option in command.params
        if isinstance(option, click.Option)
        for flag in option.opts
    }
    assert set(VOCABULARY.values()) - {""} <= flags
    for kind in (Settings, RigidSettings):
        assert {setting.name for setting in settings_of(kind)} <= set(VOCABULARY)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("a smaller radius (radius=)", "a smaller radius (--radius)"),
        ("select fewer sites (select=)", "select fewer sites (-s)"),
        ("columns= is for tables", "--columns is for tables"),
        ("common_atoms=True goes on", "--common-atoms goes on"),
        ("say so with unit='nm'", "say so with --unit nm"),
        ("if it is one, box=[20, 21.5, 22]", "if it is one, --box 20,21.5,22"),
        ("box=False", "--box none"),
        ("waters=False", "no --waters"),
        ("gaps=False", "--no-gaps"),
        ("(select='not element H')", "(-s 'not element H')"),
        ("say so (unit='Å')", "say so (--unit Å)"),
        ("choose some of them (sites=), such as", "choose some of them (--show), such as"),
        ("take the nearest on average (by='mean'), or", "take the nearest on average, or"),
        ("bonds apart (min_bonds=4), or", "bonds apart (--min-bonds 4), or"),
        ("the same (chains={'A': 'B'})", "the same (--chains A=B)"),
        ("min_size must be at least 1, got 0", "--min-size must be at least 1, got 0"),
        ("the option start was 0, now 1", "the option begin was 0, now 1"),
        ("have one (timme.rigid(ensemble=))", "have one (timme rigidity --ensemble)"),
        ("have one (timme.rigid())", "have one (timme rigidity)"),
        ("add overwrite=True", "add --overwrite"),
    ],
)
def test_python_becomes_options(said: str, expected: str) -> None:
    assert in_options(said) == expected


@pytest.mark.parametrize(
    ("command", "said", "expected"),
    [
        ("rigidity", "where the unit is wrong (unit='Å')", "where the unit is wrong"),
        ("run", "where the unit is wrong (unit='Å')", "where the unit is wrong (--unit Å)"),
        ("rigidity", "say unit='Å', or waters=True", "say unit='Å', or --waters"),
        ("rigidity", "max_time and min_size", "max_time and --min-size"),
        (
            "run",
            "only such have one (timme.rigid(waters=True))",
            "only such have one (timme rigidity --waters)",
        ),
        ("serve", "memory= and (radius=) alone", "--memory and alone"),
    ],
)
def test_options_are_those_of_the_command(command: str, said: str, expected: str) -> None:
    assert in_options(said, command=app.commands[command]) == expected


def test_no_command_is_told_of_an_option_that_it_has_not(folder: Path, refused: Refused) -> None:
    np.save(folder / "flat.npy", np.random.default_rng(0).normal(size=(3, 4, 2)))
    (folder / "a.csv").write_text("frame,particle,x,y\n0,0,1,2\n0,1,2,3\n")
    for name in ("flat.npy", "a.csv"):
        said = refused("rigidity", name)
        assert said.endswith("got 2 dimensions: give a file of atoms, such as PDB or mmCIF\n")


@pytest.mark.parametrize(
    "said",
    [
        "the radius of pairs in contact",
        "radius=4.pdb: no atoms were found",
        "runs/radius=4/a.pdb: no atoms were found",
        "runs/min_size.pdb: no atoms were found",
        "a.txt, line 1: expected 'name = selection', got 'radius=4'",
        "there is no column 'min_size'; the table has 'a'",
        "the contour= of another program",
        "σ=0.5",
        "weights=[a b] and step=007",
    ],
)
def test_other_words_stay(said: str) -> None:
    assert in_options(said) == said


@pytest.mark.parametrize("name", ["radius= a.pdb", "min_size", "unit='nm'", "in/gaps=True x.npy"])
def test_names_of_the_user_stay(name: str) -> None:
    said = in_options(f"{name}: no such file, or say gaps=True", ["run", name])
    assert said == f"{name}: no such file, or say --gaps"
    base = Path(name).name
    assert in_options(f"{base}: the unit (unit=)", ["run", name]) == f"{base}: the unit (--unit)"


def test_an_error_is_told_in_both_tongues(folder: Path, refused: Refused) -> None:
    snapshots = np.random.default_rng(0).normal(size=(4, 5, 3))
    np.save(folder / "a.npy", snapshots)
    with pytest.raises(ValueError, match=r"^radius= is for contact pairs, not for all pairs"):
        library.analyse(snapshots, pairs="all", radius=4.0)
    said = refused("run", "a.npy", "--pairs", "all", "--radius", 4)
    assert "--radius is for contact pairs, not for all pairs" in said
    with pytest.raises(ValueError, match=r"^min_size= must be at least 1, got 0$"):
        library.analyse(snapshots, min_size=0)
    assert "--min-size must be at least 1, got 0" in refused("run", "a.npy", "--min-size", 0)
    snapshots[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"missing values are gaps \(gaps=True\)$"):
        library.analyse(snapshots)
    np.save(folder / "gaps=True.npy", snapshots)
    said = refused("run", "gaps=True.npy")
    assert said.startswith("timme: error: gaps=True.npy: ")
    assert said.rstrip().endswith("missing values are gaps (--gaps)")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("result") / "result.npz"
    library.save(library.analyse(np.random.default_rng(0).normal(size=(4, 5, 3))), path)
    return path


def wrong_values(kind: type[Display]) -> Iterator[tuple[str, str]]:
    """Options, and values that mean nothing."""
    for setting in settings_of(kind):
        about, flag = setting.about, setting.flags[0]
        if not about.command:
            continue
        if about.least is not None:
            yield flag, str(about.least - 1)
        if about.positive:
            yield flag, "-1"
        if setting.kind is float and not setting.many:
            yield flag, "nan"
        if about.choices and not about.besides:
            yield flag, "other"


@pytest.mark.parametrize(
    ("command", "flag", "value"),
    [
        *(("run", *wrong) for wrong in wrong_values(Settings)),
        *(("rigidity", *wrong) for wrong in wrong_values(RigidSettings)),
        *(("plot", *wrong) for wrong in wrong_values(Display)),
        ("compare", "--min-size", "0"),
        ("compare", "--palette", "other"),
        ("run", "--memory", "lots"),
        ("serve", "--memory", "lots"),
        ("serve", "--max-upload", "lots"),
        ("serve", "--max-time", "soon"),
        ("serve", "--jobs", "0"),
        ("serve", "--queue", "0"),
    ],
)
def test_a_refusal_names_the_option_as_it_is_typed(
    timme: Run, peptide_file: Path, result: Path, command: str, flag: str, value: str
) -> None:
    files = {
        "run": [peptide_file, *OF_USE.get(flag, ())],
        "rigidity": [peptide_file],
        "plot": [result],
        "compare": [result, result],
        "serve": list[object](),
    }
    found = timme(command, *files[command], flag, value)
    assert found.code == 2
    assert re.match(rf"timme: error: {flag} (must be|is one of|is written as) .*, got ", found.err)


@pytest.mark.usefixtures("without_figures")
def test_gaps_of_a_table_can_be_refused(folder: Path, timme: Run, refused: Refused) -> None:
    write_tracks(folder / "a.csv", wandering(6, 8, 2), unseen=[(0, 0)])
    assert "coordinates must be finite" in refused("run", "a.csv", "--no-gaps")
    assert timme("run", "a.csv").code == 0


@pytest.mark.usefixtures("without_figures")
def test_a_note_is_told_in_both_tongues(folder: Path, timme: Run) -> None:
    snapshots = np.random.default_rng(0).normal(size=(8, 5, 3))
    snapshots[:6, 0] = np.nan
    np.save(folder / "a.npy", snapshots)
    notes = library.analyse(snapshots, gaps=True).notes
    assert any(note.endswith("of 8 snapshots (min_overlap=)") for note in notes)
    out = timme("run", "a.npy", "--gaps").out
    assert "of 8 snapshots (--min-overlap)\n" in out
    assert "min_overlap" not in out


@pytest.mark.usefixtures("without_figures")
def test_the_overlap_that_would_keep_somebody_is_told_as_an_option(
    folder: Path, refused: Refused, timme: Run
) -> None:
    rows = [
        f"{4 * person + step},{person},{step**person},{person}"
        for person in range(10)
        for step in range(8)
    ]
    (folder / "crowd.csv").write_text("\n".join(["frame,particle,x,y", *rows]))
    said = refused("run", "crowd.csv")
    assert "--min-overlap 4 would keep 10 of 10; --min-overlap auto chooses" in said
    assert "min_overlap" not in said
    told = timme("run", "crowd.csv", "--min-overlap", "auto").out
    assert "36 of 45 left out, which share fewer than 4 snapshots" in " ".join(told.split())
