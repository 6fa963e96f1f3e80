"""The documentation: its commands print what its pages say, and its snippets run."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import gemmi
import numpy as np
import pytest

import timme
from timme.cli import commands

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ENTRIES = {"1bnr": "nmr", "1a2p": "xray", "4ake": "xray", "1ake": "xray"}
BLOCK = re.compile(r"^```\{?(sh|console|python)\}?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# They install, build, test or measure, or open a browser: CONTRIBUTING.md names them.
NOT_RUN = ("make", "pip", "apt", "python -m benchmarks", "python docs/", "timme serve")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of files with the names that pages use, made of shipped data."""
    import MDAnalysis
    from MDAnalysis.transformations import set_dimensions
    from MDAnalysisTests.datafiles import DCD, PSF

    folder = tmp_path_factory.mktemp("files")
    shutil.copy(PSF, folder / "top.psf")
    adk = MDAnalysis.Universe(PSF, DCD)
    adk.atoms.write(folder / "traj.dcd", frames=adk.trajectory[::3])
    # MDAnalysis writes beside what it reads
    for name in ("barnase_md", "water_drop_dense"):
        for end in (".pdb", ".xtc"):
            shutil.copy(timme.data.path(name + end), folder)
    shutil.copy(folder / "barnase_md.pdb", folder / "top.pdb")
    frames = MDAnalysis.Universe(folder / "barnase_md.pdb", folder / "barnase_md.xtc")
    for name, part in (("run1", slice(None, 125)), ("run2", slice(125, None))):
        frames.atoms.write(folder / f"{name}.xtc", frames=frames.trajectory[part])
    drop = MDAnalysis.Universe(folder / "water_drop_dense.pdb", folder / "water_drop_dense.xtc")
    drop.trajectory.add_transformations(set_dimensions([80.0] * 3 + [90.0] * 3))
    for name in ("water.pdb", "box.gro"):
        drop.atoms.write(folder / name)
    for name in ("water.xtc", "box.xtc"):
        drop.atoms.write(folder / name, frames=drop.trajectory[:20])
    np.savetxt(folder / "weights.txt", np.ones(125))
    page = (ROOT / "docs" / "howto.md").read_text("utf-8")
    domains = page.partition("```text\n# name")[2].partition("```")[0]
    (folder / "domains.txt").write_text(f"# name{domains}", "utf-8")
    with contextlib.chdir(folder):
        runpy.run_path(str(ROOT / "examples" / "tracks.py"))
    for code, kind in ENTRIES.items():
        if SHARED.is_dir():
            path = shutil.copy(SHARED / kind / f"{code}.pdb", folder)
            structure = gemmi.read_structure(str(path))
            structure.setup_entities()
            text = structure.make_mmcif_document().as_string()
            (folder / "timme").mkdir(exist_ok=True)
            (folder / "timme" / f"{code}.cif.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def run(text: str) -> str:
    """Run a command of timme and return what it prints."""
    words = shlex.split(text, comments=True)[1:]
    for word in words:
        if word.startswith("timme-demo-") and not Path(word).exists():
            run(f"timme demo {word.removeprefix('timme-demo-')}")
    if words[0] not in {"serve", "show"}:
        words.append("--overwrite")  # commands of a page may write the same folder
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        commands.app.main(words, standalone_mode=False, obj=words)
    return printed.getvalue().strip()


def commands_of(block: str, *, prompted: bool) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with what the page says that it prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] if prompted else block.splitlines()
    for part in parts:
        command, _, printed = part.partition("\n")
        if command.strip() and not command.startswith("#"):
            yield command, printed.strip()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_snippets_of_a_page_run_as_printed(
    page: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for kind, block in BLOCK.findall(page.read_text("utf-8")):
        if kind == "python":
            exec(compile(block, page.name, "exec"), {"__name__": "__main__"})
            continue
        for command, printed in commands_of(block, prompted=kind == "console"):
            needs_entry = any(code in command for code in ENTRIES)
            if command.startswith(NOT_RUN) or (needs_entry and not SHARED.is_dir()):
                continue
            assert command.startswith("timme "), command
            found = run(command)
            assert not printed or found == printed, command


@pytest.mark.parametrize("name", ["crowd", "ring_road"])
def test_shipped_tables_are_made_by_their_scripts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = ROOT / "examples" / "simulate"
    monkeypatch.syspath_prepend(scripts)
    made = runpy.run_path(str(scripts / f"{name}.py"))
    made["main"]([str(tmp_path)])
    text = (tmp_path / f"{name}.csv").read_text("utf-8")
    assert text == timme.data.path(f"{name}.csv").read_text("utf-8")
