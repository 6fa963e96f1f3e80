"""Commands from the first to the last line: folders, answers, errors and interruptions."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Call, Done, tracks
from tests.processes import python
from timme.analysis.result import Analysis
from timme.analysis.store import load
from timme.cli import main
from timme.cli.console import Progress
from timme.demo import DEMOS

ATOM = "ATOM  {0:5d}  CA  ALA A{0:4d}    {1:8.3f}{2:8.3f}{3:8.3f}  1.00  0.00           C\n"


def pdb(n_models: int, *, x: str = "") -> str:
    """Return models of a chain of 30 residues; x replaces a coordinate of the last."""
    rng = np.random.default_rng(0)
    models = []
    for model in range(n_models):
        places = np.arange(30)[:, None] * [3.0, 1.0, 0.0] + rng.normal(scale=0.2, size=(30, 3))
        atoms = "".join(ATOM.format(k + 1, *place) for k, place in enumerate(places.tolist()))
        models.append(f"MODEL     {model + 1:4d}\n{atoms}ENDMDL\n")
    text = "".join(models) + "END\n"
    return text[:-46] + x.rjust(8) + text[-38:] if x else text


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A folder with a table of tracks and the result of a run, and how the run ended."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "tracks.csv").write_text(tracks())
    return folder, start("run", "tracks.csv", folder=folder)


@pytest.fixture
def result(first: tuple[Path, Done], tmp_path: Path) -> Path:
    shutil.copytree(first[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "timme-tracks"


def start(*words: str, folder: Path, **environment: str) -> Done:
    """Run a command in a process of its own."""
    done = python("-m", "timme", *words, cwd=folder, **environment)
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_run_prints_its_answer_and_writes_its_folder(first: tuple[Path, Done]) -> None:
    folder, (code, out, err) = first
    assert (code, err) == (0, "")
    sentence, *facts = out.splitlines()
    assert sentence.startswith("tracks: one group moves together, well supported: 15 of 30")
    assert len(facts) <= 11
    assert facts[-1].startswith("Open timme-tracks/report.html  (more: summary.txt, clusters.csv;")
    written = {path.name for path in (folder / "timme-tracks").iterdir()} - {"report.html"}
    assert written == {
        *("summary.txt", "result.npz", "sites.csv", "clusters.csv", "levels.csv"),
        *("sites.extxyz", "finding.png", "dilution.png"),
    }
    summary = (folder / "timme-tracks" / "summary.txt").read_text("utf-8")
    assert summary.startswith("\n".join(out.splitlines()[:-1]))
    assert "timme run tracks.csv" in summary
    assert {path.name for path in folder.iterdir()} == {"tracks.csv", "timme-tracks"}


def test_a_result_is_replaced_on_demand_only_and_files_of_the_user_stay(
    result: Path, call: Call
) -> None:
    (result / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in result.iterdir()}
    code, out, err = call("run", "tracks.csv")
    assert (code, out) == (2, "")
    assert err == (
        f"timme: error: {result} exists: choose another folder, or add --overwrite to replace it\n"
    )
    assert {path.name: path.read_bytes() for path in result.iterdir()} == before
    code, out, err = call("run", "tracks.csv", "--overwrite", "-e", "20", "--min-size", "5")
    assert (code, err) == (0, "")
    assert (result / "notes.txt").read_text() == "mine"
    made = load(result).made
    assert made.command == "timme run tracks.csv --overwrite -e 20 --min-size 5"
    assert set(made.given) == {"end", "min_size"}
    shutil.rmtree(result)
    result.mkdir()
    (result / "thesis.tex").write_text("mine")
    assert "exists, but is no result of TIMME" in call("run", "tracks.csv", "--overwrite").err
    assert [path.name for path in result.iterdir()] == ["thesis.tex"]


def test_show_prints_the_answer_again(result: Path, first: tuple[Path, Done], call: Call) -> None:
    answer = first[1].out
    assert call("show", "timme-tracks") == (0, answer, "")
    assert call("show", "timme-tracks/result.npz") == (0, answer, "")
    code, text, _ = call("show", "timme-tracks", "-v")
    assert code == 0
    assert text.splitlines()[0] == answer.splitlines()[0]
    assert "Levels worth a look" in text
    assert text.splitlines()[-1] == answer.splitlines()[-1]
    (result / "report.html").unlink(missing_ok=True)
    assert "timme export timme-tracks report" in call("show", "timme-tracks", "--open").err
    (result / "result.npz").write_bytes((result / "result.npz").read_bytes()[:2000])
    code, out, err = call("show", "timme-tracks")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "result.npz" in err


def test_a_console_without_greek_letters_shows_the_answer(first: tuple[Path, Done]) -> None:
    code, out, _ = start("show", "timme-tracks", folder=first[0], PYTHONIOENCODING="ascii")
    assert code == 0
    assert out.startswith("tracks: one group moves together")


def test_files_are_exported_again_with_other_choices(result: Path, call: Call) -> None:
    exported = call("export", "timme-tracks", "dilution", "-o", "a.pdf", "--cutoff", "0.3")
    assert exported == (0, "a.pdf\n", "")
    assert Path("a.pdf").read_bytes().startswith(b"%PDF")
    assert call("export", "timme-tracks", "sites", "-o", "a.csv").out == "a.csv\n"
    assert "a.pdf exists" in call("export", "timme-tracks", "dilution", "-o", "a.pdf").err
    assert call("export", "timme-tracks", "fraction", "linkage").code == 2
    assert call("export", "timme-tracks", "fraction", "mobility").code == 0
    assert {path.name for path in (result / "figures").iterdir()} == {
        *("fraction.png", "fraction.svg", "mobility.png", "mobility.svg")
    }
    for size in ("2", "16"):
        call("export", "timme-tracks", "fraction", "--set", f"min_size={size}", "-o", f"{size}.png")
    assert Path("2.png").read_bytes() != Path("16.png").read_bytes()
    for words, message in (
        ("dilutions", "no file 'dilutions': choose dilution"),
        (
            "dilution -o a.txt",
            "a.txt is one file: choose one of dilution.png; figures are .png, .svg",
        ),
        ("sites -o b.png", "b.png is one file: choose one of sites.csv, sites.extxyz"),
        ("dilution fraction -o b.png", "b.png is one file: choose one of dilution.png"),
        (
            "dilution --set min_bonds=2",
            "min_bonds= changes the result: analyse it again with this option",
        ),
        ("dilution --set palete=wide", "there is no option palete=: use palette="),
        ("dilution --cutoff -1", "--cutoff must be at least 0, got -1"),
    ):
        code, _, err = call("export", "timme-tracks", *words.split())
        assert (code, err.count("\n")) == (2, 1)
        assert message in err


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("absent.pdb", None, "", "absent.pdb"),
        ("pdb:nope", None, "", "'nope'"),
        ("empty.pdb", "", "", "empty.pdb"),
        ("noise.dcd", "\x00\x01" * 300, "", "noise.dcd"),
        ("one.pdb", pdb(1), "", "timme rigidity"),
        ("nan.pdb", pdb(4, x="nan"), "", "nan.pdb"),
        ("few.pdb", pdb(4), "-s resid\\ 99", "resid 99"),
        ("words.pdb", pdb(4), "-s nonsense\\ 5", "nonsense"),
        ("chain.pdb", pdb(4), "--chain X", "--chain names X, and the chains are 'A'"),
        ("late.pdb", pdb(4), "-b 9", "late.pdb"),
        ("pairs.pdb", pdb(4), "--pairs missing.csv", "missing.csv"),
        ("box.pdb", pdb(4), "--unwrap", "--unwrap needs a periodic box"),
        ("text.csv", "frame,particle,x\n0,1,a\n1,1,b\n", "", "text.csv"),
        ("matrix.npy", "no array", "", "matrix.npy"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    name: str, content: str | None, options: str, message: str, call: Call, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content.encode("latin1"))
    words = [word.replace("\0", " ") for word in options.replace("\\ ", "\0").split()]
    code, out, err = call("run", name, *words)
    assert (code, out) == (2, "")
    assert err.startswith("timme: error: ")
    assert err.count("\n") == 1
    assert message in err
    left = {path.name for path in tmp_path.iterdir()} - {".cache"}
    assert left <= {name}


def test_tracebacks_are_shown_to_those_who_look_for_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TIMME_DEBUG", "1")
    with pytest.raises(OSError, match=r"absent\.pdb"):
        main(["run", "absent.pdb"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_libraries_are_imported_ends_in_one_line(number: signal.Signals) -> None:
    script = (
        "import os, sys\n"
        "from timme.cli import main\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == 'numpy': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "main(['run', 'tracks.csv'])\n"
    )
    done = python("-c", script)
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr == "timme: interrupted, nothing was written\n"


def test_an_interrupted_run_writes_nothing_and_goes_on(tmp_path: Path) -> None:
    # ten blocks: after the first, much of the work is left
    np.save(tmp_path / "walk.npy", np.random.default_rng(1).normal(size=(2560, 500, 2)).cumsum(0))
    quick = "--pairs all -j 1 --set confidence=no --set chance=no".split()
    words = [sys.executable, "-m", "timme", "run", "walk.npy", *quick]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TIMME_CHECKPOINT_INTERVAL": "0"
    }  # fmt: skip
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not [*tmp_path.glob(".*.checkpoint")] and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == b"timme: interrupted, the same command goes on from here\n"
    assert {path.name for path in tmp_path.iterdir()} == {*("walk.npy", ".timme-walk.checkpoint")}
    done = start(*words[3:], folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    whole = start(*words[3:], "-o", "whole", folder=tmp_path)
    assert done.out.replace("timme-walk", "whole") == whole.out
    resumed, plain = load(tmp_path / "timme-walk"), load(tmp_path / "whole")
    assert {*resumed.notes} - {*plain.notes} == {"this run went on from one that was interrupted"}
    assert isinstance(resumed, Analysis)
    assert isinstance(plain, Analysis)
    np.testing.assert_array_equal(resumed.hierarchy.heights, plain.hierarchy.heights)
    assert {path.name for path in tmp_path.iterdir()} == {"walk.npy", "timme-walk", "whole"}


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress() as progress:
            progress.begin("measuring σ")
            progress(0, 100)
            time.sleep(0.15)  # tqdm writes ten times a second
            progress(62, 100)
        seen = [part.strip() for part in stream.getvalue().split("\r") if part.strip()]
        shown = [part for part in seen if re.fullmatch(r"measuring σ  62 %  \(\d+ s left\)", part)]
        assert len(shown) == stream.isatty()
        assert bool(seen) == stream.isatty()
        assert "\n" not in stream.getvalue()


def test_help_lists_every_demo_and_others_are_refused(call: Call) -> None:
    text = " ".join(call("demo", "--help").out.split())
    assert all(re.search(rf"\b{name}\b", text) for name in DEMOS)
    code, _, err = call("demo", "nothing")
    assert (code, err) == (
        *(2, f"timme: error: a demo is one of {', '.join(DEMOS)}, got 'nothing'\n"),
    )
