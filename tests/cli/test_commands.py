"""The other commands: demo, plot, fetch, completion, help; and true processes."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree as ET

import gemmi
import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Outcome, Refused, Run
from tests.cli.ensembles import shaken, swinging, wandering
from tests.cli.test_folder import FIGURES, FILES, OF_BODIES, OF_PARTICLES
from tests.conftest import leave_out_figures
from tests.patience import LONGEST
from tests.readers.builders import pdb_text, peptide, write_pdb
from timme import theory

SOURCE = Path(__file__).parents[2] / "src"
DRAWN = ("-m", "timme")
UNDRAWN = (
    "-c",
    "from timme import cli, workflow; workflow.folder.save_figures = lambda *_: (); cli.main()",
)


def process(
    *arguments: object, cwd: Path, program: tuple[str, str] = DRAWN, **environment: str
) -> Outcome:
    """Call the command line as users do, in a process of its own."""
    done = subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        check=False,
        timeout=LONGEST,
    )
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


# ---- help --------------------------------------------------------------------------------------


def test_the_version_is_told(timme: Run) -> None:
    assert timme("--version").out.strip().endswith(library.__version__)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_teaches_by_examples(timme: Run, flag: str) -> None:
    found = timme(flag)
    assert (found.code, found.err) == (0, "")
    for text in ("timme demo", "timme run 1bnr.pdb", "timme run pdb:1bnr", "timme plot", "fetch"):
        assert text in found.out


@pytest.mark.parametrize("command", ["run", "demo", "fetch", "plot", "completion"])
def test_every_command_has_help(timme: Run, command: str) -> None:
    found = timme(command, "--help")
    assert (found.code, found.err) == (0, "")
    assert f"Usage: timme {command}" in found.out


def test_the_help_of_run_has_examples(timme: Run) -> None:
    out = timme("run", "--help").out
    assert "timme run " in out.replace("Usage: timme run ", "")
    assert len(re.findall(r"\n  -", out)) > 25


def test_every_option_of_every_command_is_explained() -> None:
    from timme.cli import app

    for name, command in app.commands.items():
        for option in command.params:
            if option.param_type_name == "option":
                assert getattr(option, "help", None), f"{name} {option.name}"


@pytest.mark.parametrize("arguments", [[], ["run"], ["fetch"], ["plot"], ["completion"]])
def test_a_command_without_arguments_says_what_it_needs(timme: Run, arguments: list[str]) -> None:
    found = timme(*arguments)
    assert found.code == 2
    expected = "timme: error: Missing argument" if arguments else "Usage: timme"
    assert expected in found.err + found.out
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["demo", "boat"], ["completion", "tcsh"], ["plot", "x", "--what", "pie"]],
)
def test_unknown_words_are_usage_errors(timme: Run, arguments: list[str]) -> None:
    found = timme(*arguments)
    assert (found.code, found.out) == (2, "")
    assert repr(arguments[-1]) in found.err


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -"), ("zsh", "compdef"), ("fish", "complete -")]
)
def test_completion_prints_a_script(timme: Run, shell: str, sign: str) -> None:
    found = timme("completion", shell)
    assert found.code == 0
    assert "_TIMME_COMPLETE" in found.out
    assert sign in found.out


def test_the_shell_is_told_commands_and_options(tmp_path: Path) -> None:
    asked = {"_TIMME_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    command = "import sys; sys.argv = ['timme']; from timme.cli import main; main()"

    def complete(words: str, number: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", command],
            cwd=tmp_path,
            env={
                **os.environ,
                **asked,
                "PYTHONPATH": str(SOURCE),
                "COMP_WORDS": words,
                "COMP_CWORD": str(number),
            },
            capture_output=True,
            check=False,
            text=True,
            timeout=LONGEST,
        ).stdout

    assert {"run", "demo", "fetch", "plot"} <= set(
        re.findall(r"plain,(\w+)", complete("timme ", 1))
    )
    assert "--min-bonds" in complete("timme run --min", 2)


# ---- true processes ----------------------------------------------------------------------------


def test_a_true_process_runs_and_is_silent_on_standard_error(tmp_path: Path) -> None:
    write_pdb(tmp_path / "a.pdb", swinging(8, 4))
    done = process("run", "a.pdb", "-s", "ca", "-o", "out", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "objects    8 points" in done.out
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == set(FILES) - set(OF_BODIES)  # 8 sites are too few for bodies
    made = library.load(tmp_path / "out" / "result.npz")
    assert made.recipe.provenance.command == "timme run a.pdb -s ca -o out"


def test_a_true_process_refuses_in_one_line(tmp_path: Path) -> None:
    write_pdb(tmp_path / "one.pdb", [peptide(n_residues=6)])
    done = process("run", "one.pdb", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(r"timme: error: one\.pdb: .*at least 2 snapshots, got 1.*\n", done.err)
    done = process("--debug", "run", "one.pdb", cwd=tmp_path)
    assert done.code != 0
    assert "Traceback (most recent call last)" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["one.pdb"]


@pytest.mark.parametrize(
    "encoding",
    [
        pytest.param("ascii", marks=pytest.mark.thorough),
        pytest.param("cp1252", marks=pytest.mark.long),
    ],
)
def test_terminals_without_greek_letters_get_their_answer_too(
    tmp_path: Path, encoding: str
) -> None:
    """Output that is sent into a file on Windows is not in UTF-8."""
    np.save(tmp_path / "m.npy", 1.0 - np.eye(3))
    assert process("--help", cwd=tmp_path, PYTHONIOENCODING=encoding).code == 0
    arguments = ("run", "m.npy", "--unit", "Å", "-o")
    done = subprocess.run(
        [sys.executable, "-m", "timme", *arguments, "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
        timeout=LONGEST,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out" / "result.npz").is_file()


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of Unix")
def test_a_process_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    """The signal comes when the work has begun: the input is a pipe that never ends."""
    pipe = tmp_path / "a.pdb"
    os.mkfifo(pipe)
    running = subprocess.Popen(
        [sys.executable, "-m", "timme", "run", "a.pdb"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with pipe.open("wb", buffering=0):  # returns when the process reads
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=LONGEST)
    finally:
        running.kill()
    assert (running.returncode, out) == (130, "")
    assert err.strip() == "timme: interrupted, nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdb"]


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of Unix")
@pytest.mark.parametrize("library", ["click", "numba", "gemmi"])
def test_an_interrupt_while_libraries_are_imported_is_one_line(
    library: str, tmp_path: Path
) -> None:
    """The signal comes within the import of one: a module of that name which sends it."""
    text = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / f"{library}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "timme", "run", "a.pdb"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE)])},
        capture_output=True,
        check=False,
        text=True,
        timeout=LONGEST,
    )
    told = "timme: interrupted, nothing was written\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", told)


# ---- demo --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    done = process("demo", "chain", cwd=place)
    assert (done.code, done.err) == (0, "")
    assert "timme-demo-chain/dilution.png" in done.out.replace(os.sep, "/")
    assert [path.name for path in place.iterdir()] == ["timme-demo-chain"]
    return place / "timme-demo-chain"


def test_the_chain_is_that_of_the_paper(chain: Path) -> None:
    without = {"clusters.pdb", *(f"convergence.{kind}" for kind in ("csv", "png", "svg"))}
    assert {path.name for path in chain.iterdir()} >= set(OF_PARTICLES) - without
    made = library.load(chain / "result.npz")
    assert made.hierarchy.n_sites == 10_000
    assert (made.system.n_snapshots, made.length) == (2, 1.0)
    assert made.recipe.options["objects"] == "links"
    assert made.recipe.options["pairs"] == "sharing"
    assert made.recipe.theory == "freely-jointed chain"


def test_the_chain_follows_the_theory(chain: Path) -> None:
    """P(r ≥ 10) of 10,000 links; clusters of about 10 make some 1000 independent pieces."""
    with (chain / "levels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cutoffs = np.array([float(row["cutoff"]) for row in rows])
    found = np.array([float(row["P(r >= 10)"]) for row in rows])
    for cutoff in (0.328, 0.481, 0.645):
        expected = float(theory.tail_fraction(theory.join_probability(cutoff), large=10))
        measured = found[np.searchsorted(cutoffs, cutoff, side="right") - 1]
        tolerance = 4 * np.sqrt(expected * (1 - expected) * 30 / 10_000)
        assert measured == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("figure", ["fraction", "size-distribution"])
def test_the_theory_of_the_chain_is_drawn_dashed(chain: Path, figure: str) -> None:
    from timme.output.figures import draw
    from timme.output.look import Look

    made = library.load(chain / "result.npz")
    axes = draw(made, figure, Look()).axes[0]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert len(dashed) == len(solid) > 0
    assert len(dashed[0].get_xdata()) > 50  # type: ignore[arg-type]


def test_the_hinge_demo_finds_its_bodies(folder: Path, timme: Run, without_figures: None) -> None:
    del without_figures
    found = timme("demo", "hinge", "-o", "out")
    assert found.code == 0
    made = library.load(folder / "out" / "result.npz")
    planted = library.synthetic.hinged().labels[0]
    middle = made.hierarchy.heights[-len(set(planted.tolist())) + 1] * 0.999
    labels = made.hierarchy.cut(middle).labels
    assert len(set(zip(labels.tolist(), planted.tolist(), strict=True))) == 3 == labels.max() + 1


@pytest.mark.thorough
@pytest.mark.usefixtures("blank_figures")
def test_the_first_demo_is_barnase_beside_its_rigid_clusters(folder: Path, timme: Run) -> None:
    found = timme("demo")
    assert (found.code, found.err) == (0, "")
    made = library.load(folder / "timme-demo-barnase" / "result.npz")
    static = library.load(folder / "timme-demo-barnase" / "rigidity" / "result.npz")
    assert len(made.shown) == len(static.shown) == 108
    assert (made.hierarchy.unit, static.hierarchy.unit) == ("Å", "kcal/mol")
    opened = static.suggest()[0].cutoff, static.recipe.provenance.title
    assert opened == (-0.048, "Barnase, rigid clusters of one snapshot")
    both = folder / "timme-demo-barnase" / "comparison"
    assert {"dilutions.png", "agreement.png", "matched.csv"} <= {p.name for p in both.iterdir()}
    assert "asked for  E = -0.048 kcal/mol with σc = 0.1047 Å (σc/a = 0.068)" in found.out
    assert timme("demo", "--overwrite").code == 0


def test_a_demo_overwrites_only_when_asked(
    folder: Path, timme: Run, refused: Refused, without_figures: None
) -> None:
    del folder, without_figures
    assert timme("demo", "hinge").code == 0
    assert "--overwrite" in refused("demo", "hinge")
    assert timme("demo", "hinge", "--overwrite").code == 0


# ---- plot --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undrawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of a peptide, without pictures."""
    place = tmp_path_factory.mktemp("undrawn")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_figures(patch)
        made = library.analyse(write_pdb(place / "peptide.pdb", swinging()))
        library.write(made, place / "out")
    return place / "out"


@pytest.fixture
def result(folder: Path, peptide_file: Path, undrawn: Path) -> Path:
    del peptide_file
    return Path(shutil.copytree(undrawn, folder / "out"))


@pytest.mark.parametrize("what", FIGURES)
def test_every_figure_is_drawn_again(folder: Path, timme: Run, result: Path, what: str) -> None:
    found = timme("plot", result, "--what", what)
    assert (found.code, found.out, found.err) == (0, f"{what}.png\n", "")
    assert (folder / f"{what}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")],
    ids=["png", "svg", "pdf"],
)
def test_the_suffix_is_the_format(
    folder: Path, timme: Run, result: Path, name: str, start: bytes
) -> None:
    assert timme("plot", result / "result.npz", "-o", name).code == 0
    first = (folder / name).read_bytes()
    assert first.startswith(start)
    assert timme("plot", result / "result.npz", "-o", name, "--overwrite").code == 0
    assert (folder / name).read_bytes() == first


def test_a_figure_drawn_again_is_that_of_the_run(folder: Path, timme: Run) -> None:
    np.save(folder / "a.npy", wandering())
    assert timme("run", "a.npy", "-o", "out").code == 0
    for what in FIGURES:
        assert timme("plot", "out", "--what", what, "-o", "again.svg", "--overwrite").code == 0
        assert (folder / "again.svg").read_bytes() == (folder / "out" / f"{what}.svg").read_bytes()


@pytest.mark.parametrize("name", ["a.xyz", "a", "a.txt", ".png", "a.png.gz"])
def test_an_unknown_format_is_refused(refused: Refused, result: Path, name: str) -> None:
    message = refused("plot", result, "-o", name)
    assert name in message
    assert "png" in message
    assert "svg" in message


def test_an_existing_picture_is_kept(folder: Path, refused: Refused, result: Path) -> None:
    (folder / "a.png").write_text("mine")
    message = refused("plot", result, "-o", "a.png")
    assert "a.png exists" in message
    assert "--overwrite" in message


@pytest.mark.parametrize("place", ["lost/a.png", "peptide.pdb/a.png"])
def test_a_picture_in_a_folder_that_is_not_there_is_refused(
    refused: Refused, result: Path, place: str
) -> None:
    message = refused("plot", result, "-o", place)
    assert place in message
    assert "/." not in message  # no temporary name


def test_orders_move_the_stripes(folder: Path, timme: Run, result: Path) -> None:
    alphas = library.load(result / "result.npz").shown + 1  # objects are counted from 1
    numbers = np.random.default_rng(0).permutation(alphas)
    (folder / "own.txt").write_text("# mine\n" + ", ".join(map(str, numbers)))
    drawn = {}
    for order in ("auto", "label", "sequence", "own.txt"):
        name = f"{order.removesuffix('.txt')}.svg"
        assert timme("plot", result, "--order", order, "-o", name).code == 0
        drawn[order] = (folder / name).read_text(encoding="utf-8")
    assert drawn["auto"] == drawn["sequence"]  # a protein is drawn by residue
    assert len(set(drawn.values())) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 7 three\n", "own.txt, line 1"),
        ("2 7 12\n", "own.txt"),
        ("\n".join(["2"] * 24), "own.txt"),
        (" ".join(map(str, range(1, 25))), "own.txt"),
        (" ".join(map(str, range(2, 242, 10))), "own.txt"),
        (" ".join(map(str, range(0, 120, 5))), "sites.csv"),
        ("", "own.txt"),
    ],
    ids=["words", "few", "twice", "not shown", "too large", "zero", "none"],
)
def test_orders_that_are_none_are_refused(
    folder: Path, refused: Refused, result: Path, text: str, expected: str
) -> None:
    (folder / "own.txt").write_text(text)
    assert expected in refused("plot", result, "--order", "own.txt")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--order", "alphabet"], "--order is one of auto, label, sequence"),
        (["--cutoff", "nan"], "cutoff"),
        (["--length", "0"], "length"),
        (["--length", "-1"], "length"),
        (["--large", "0"], "large"),
        (["--min-size", "0"], "size"),
    ],
)
def test_looks_that_make_no_sense_are_refused(
    refused: Refused, result: Path, options: list[str], expected: str
) -> None:
    assert expected in refused("plot", result, *options)


def test_the_look_of_a_figure_can_be_changed(folder: Path, timme: Run, result: Path) -> None:
    seen = set()
    looks: list[list[object]] = [
        [],
        ["--cutoff", 0.5],
        ["--length", 3.8],
        ["--min-size", 20],
        ["--palette", "safe"],
    ]
    for k, options in enumerate(looks):
        assert timme("plot", result, "-o", f"{k}.svg", *options).code == 0
        ET.parse(folder / f"{k}.svg")
        seen.add((folder / f"{k}.svg").read_bytes())
    assert len(seen) == 5
    assert timme("plot", result, "--what", "fraction", "-o", "R10.svg").code == 0
    assert timme("plot", result, "--what", "fraction", "--large", 3, "-o", "R3.svg").code == 0
    assert (folder / "R10.svg").read_bytes() != (folder / "R3.svg").read_bytes()


def test_a_matrix_is_drawn_like_any_other(folder: Path, timme: Run) -> None:
    np.save(folder / "m.npy", 1.0 - np.eye(5))
    assert timme("run", "m.npy", "-o", "out").code == 0
    assert (folder / "out" / "sigma-matrix.png").stat().st_size > 1000


@pytest.mark.usefixtures("without_figures")
def test_pairs_that_were_not_kept_cannot_be_drawn(folder: Path, refused: Refused) -> None:
    np.save(folder / "m.npy", 1.0 - np.eye(5))
    library.write(replace(library.analyse(folder / "m.npy"), parts=()), folder / "out")
    assert "σ of pairs was not kept" in refused("plot", "out", "--what", "sigma-matrix")


@pytest.mark.parametrize("name", ["lost", "lost.npz", "empty", "a.pdb", "foreign.npz", "cut.npz"])
def test_what_is_no_result_cannot_be_drawn(
    folder: Path, refused: Refused, result: Path, name: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "a.pdb").write_text(pdb_text([peptide()]))
    np.savez(folder / "foreign.npz", x=np.arange(3))
    (folder / "cut.npz").write_bytes((result / "result.npz").read_bytes()[:-500])
    message = refused("plot", name)
    assert name in message
    assert "give the result.npz" in message or "no such file" in message.lower()


# ---- fetch -------------------------------------------------------------------------------------


class Entries(BaseHTTPRequestHandler):
    """A server that has the entry 1abc only."""

    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        structure = gemmi.read_pdb_string(pdb_text(shaken(peptide(n_residues=8), 3)))
        structure.setup_entities()
        body = gzip.compress(structure.make_mmcif_document().as_string().encode())
        self.send_response(200 if self.path == "/1abc.cif.gz" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Entries.requests.clear()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Entries)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TIMME_PDB_SERVER", f"http://127.0.0.1:{httpd.server_port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.mark.usefixtures("server")
class TestFetch:
    def test_an_entry_is_kept_in_the_cache(self, folder: Path, timme: Run) -> None:
        kept = folder.parent / "cache" / "timme" / "1abc.cif.gz"
        for _ in range(2):
            found = timme("fetch", "1ABC")
            assert (found.code, found.out, found.err) == (0, f"{kept}\n", "")
        assert Entries.requests == ["/1abc.cif.gz"]
        assert list(kept.parent.iterdir()) == [kept]
        assert list(folder.iterdir()) == []

    def test_a_copy_goes_where_it_is_wanted(
        self, folder: Path, timme: Run, refused: Refused
    ) -> None:
        found = timme("fetch", "1abc", "-o", "structures")
        copy = folder / "structures" / "1abc.cif.gz"
        assert found.out == f"{Path('structures') / '1abc.cif.gz'}\n"
        assert library.read(copy).n_snapshots == 3
        assert "exists" in refused("fetch", "1abc", "-o", "structures")

    def test_a_code_is_run_like_a_file(
        self, folder: Path, timme: Run, without_figures: None
    ) -> None:
        del without_figures
        found = timme("run", "pdb:1abc")
        assert (found.code, found.err) == (0, "")
        assert "snapshots  3" in found.out
        assert [path.name for path in folder.iterdir()] == ["timme-1abc"]
        made = library.load(folder / "timme-1abc" / "result.npz")
        inputs = made.recipe.provenance.inputs
        assert len(inputs) == 1
        assert "1abc" in inputs[0].name
        assert re.fullmatch("[0-9a-f]{64}", inputs[0].sha256)

    @pytest.mark.parametrize("arguments", [["fetch", "9zzz"], ["run", "pdb:9zzz"]])
    def test_an_entry_that_does_not_exist_is_told(
        self, timme: Run, folder: Path, arguments: list[str]
    ) -> None:
        found = timme(*arguments)
        assert found.code == 2
        assert re.fullmatch(
            r"timme: error: there is no PDB entry 9zzz .*check the code\n", found.err
        )
        assert list(folder.iterdir()) == []

    @pytest.mark.parametrize("arguments", [["fetch", "bnr"], ["run", "pdb:"], ["run", "pdb:../1"]])
    def test_what_is_no_code_is_told(self, refused: Refused, arguments: list[str]) -> None:
        assert "is not a PDB code" in refused(*arguments)
        assert not Entries.requests

    @pytest.mark.parametrize("arguments", [["fetch", "1abc"], ["run", "pdb:1abc"]])
    def test_no_network_is_told_in_one_line(
        self,
        refused: Refused,
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
    ) -> None:
        monkeypatch.setenv("TIMME_PDB_SERVER", "http://127.0.0.1:9")
        message = refused(*arguments)
        assert "1abc.cif.gz: the download failed" in message
        assert "check the network, or give the file itself" in message


def test_a_table_in_other_units_keeps_them_everywhere(
    folder: Path, timme: Run, without_figures: None
) -> None:
    del without_figures
    np.save(folder / "a.npy", wandering(8, 20))
    found = timme("run", "a.npy", "--unit", "um", "-o", "out")
    assert found.code == 0
    assert re.search(r"σc = [\d.]+ µm", found.out)
    assert json.loads((folder / "out" / "hierarchy.json").read_text("utf-8"))["unit"] == "µm"
    for name in ("clusters.csv", "levels.csv", "linkage.csv", "sites.csv"):
        assert "µm" in (folder / "out" / name).read_text("utf-8").split("\n")[0]
