"""Folders are written whole or not at all, by one run at a time, and keep what is not ours."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.processes import python
from timme.output import folder
from timme.output.folder import File, claim, export, write_folder

OLD, NEW = SimpleNamespace(text="old"), SimpleNamespace(text="new")
OWN = "my notes"


def _text(result: Any) -> str:
    return str(result.text)


LISTED = [
    File("summary.txt", "words", lambda _: True, _text),
    File("result.npz", "everything", lambda _: True, lambda result: result.text.encode()),
    File("tables/linkage.csv", "a table", lambda _: True, _text, full=True),
    File("never.txt", "absent", lambda _: False, _text),
]


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "COMPARISON_FILES", LISTED)


def contents(path: Path) -> dict[str, str]:
    return {
        each.relative_to(path).as_posix(): each.read_text("utf-8")
        for each in path.rglob("*")
        if each.is_file()
    }


def whole(text: str) -> dict[str, str]:
    return {"summary.txt": text, "result.npz": text}


def test_a_new_result_replaces_the_old_one_and_keeps_what_is_not_ours(tmp_path: Path) -> None:
    target = tmp_path / "a" / "result"
    written = write_folder(OLD, target, full=True)
    assert [path.relative_to(target).as_posix() for path in written] == [
        *("summary.txt", "result.npz", "tables/linkage.csv")
    ]
    own = {"notes.txt": OWN, "tables/mine.csv": OWN, "work/deep/x": OWN}
    for name, text in own.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    write_folder(NEW, target, overwrite=True)
    assert contents(target) == whole("new") | own
    assert [path.name for path in target.parent.iterdir()] == ["result"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a child process that is a fork")
@pytest.mark.parametrize("at_once", [True, False])
def test_a_run_killed_at_any_step_leaves_the_old_or_the_new_result(
    tmp_path: Path, *, at_once: bool
) -> None:
    call = "from tests.output.test_folder import kill_at_every_step as k; "
    call += f"k({str(tmp_path)!r}, at_once={at_once and sys.platform == 'linux'})"
    done = python("-c", call)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15  # steps


def kill_at_every_step(place: str, *, at_once: bool) -> None:
    """Kill a run at each event of its file system, and look at what the next run finds."""
    if not at_once:  # as on systems that cannot exchange folders
        folder.ctypes.CDLL = lambda _: None  # type: ignore[attr-defined]
    folder.COMPARISON_FILES = LISTED
    events = {"os.rename", "os.link", "os.mkdir", "os.rmdir", "os.remove", "open", "shutil.rmtree"}
    step, code = 0, 9
    while code:
        step += 1
        target = Path(place) / str(step) / "result"
        write_folder(OLD, target, full=True)
        (target / "notes.txt").write_text(OWN)
        (target / "tables" / "mine.csv").write_text(OWN)
        child = os.fork()
        if child == 0:
            left = [step]

            def hook(event: str, args: Any, left: list[int] = left) -> None:
                if event in events and place in str(args[0]):
                    left[0] -= 1
                    if not left[0]:
                        os._exit(9)

            sys.addaudithook(hook)
            write_folder(NEW, target, overwrite=True)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert (target / "result.npz").is_file() or not at_once, step
        with claim(target, overwrite=True) as found:
            here = contents(found)
        assert here.pop("notes.txt") == here.pop("tables/mine.csv") == OWN, step
        old = whole("old") | {"tables/linkage.csv": "old"}
        assert here in (old, whole("new")), (step, here)
        assert [path.name for path in target.parent.iterdir()] == ["result"], step
    print(step)  # noqa: T201, read by the test


@pytest.mark.parametrize("present", [False, True])
def test_a_full_disk_leaves_everything_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, present: bool
) -> None:
    target = tmp_path / "result"
    if present:
        write_folder(OLD, target)
    before = sorted(tmp_path.glob("**/*"))

    def full(path: Path, _: str | bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            write_folder(NEW, target, overwrite=True)
    assert [path for path in sorted(tmp_path.glob("**/*")) if "cache" not in path.parts] == [
        path for path in before if "cache" not in path.parts
    ]


def test_a_second_run_into_the_same_folder_stops_at_once(tmp_path: Path) -> None:
    target, problems = tmp_path / "result", list[str]()
    (tmp_path / "link").symlink_to(tmp_path)

    def second() -> None:
        try:
            write_folder(NEW, tmp_path / "link" / "result")
        except FileExistsError as error:
            problems.append(str(error))

    with claim(target):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(timeout=20)
        write_folder(OLD, target)  # the run that has claimed it
    assert len(problems) == 1
    assert "another run is writing into this folder" in problems[0]
    assert contents(target) == whole("old")


def test_folders_that_cannot_be_replaced_are_refused_before_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_folder(OLD, tmp_path / "result")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text(OWN)
    (tmp_path / "file").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    for name, overwrite, words in (
        ("result", False, "exists: choose another folder, or add overwrite=True"),
        ("foreign", True, "exists, but is no result of TIMME"),
        ("file", True, "exists, but is no result"),
        ("file/result", False, "cannot be written"),
        (".", True, "choose a folder in it"),
        ("/proc/result", False, "cannot be written"),
    ):
        if name.startswith("/") and not Path("/proc").is_dir():
            continue
        with pytest.raises(OSError, match=words), claim(name, overwrite=overwrite):
            raise AssertionError(f"work for {name} began")
    assert contents(tmp_path / "foreign") == {"thesis.tex": OWN}
    (tmp_path / "empty").mkdir()
    write_folder(NEW, tmp_path / "empty")
    assert contents(tmp_path / "empty") == whole("new")


def test_some_files_are_exported_by_name_or_by_how_names_begin(tmp_path: Path) -> None:
    (path,) = export(NEW, tmp_path / "one.csv", "linkage")
    assert path.read_text() == "new"
    (path,) = export(NEW, tmp_path / "one.txt", ["linkage", "summary"])  # only one is a text
    assert path.is_file()
    export(NEW, tmp_path / "more", ["tables", "summary.txt"])
    assert set(contents(tmp_path / "more")) == {"tables/linkage.csv", "summary.txt"}
    for what, words in (("sumary", "choose summary"), ("never", "no file 'never'")):
        with pytest.raises(ValueError, match=words):
            export(NEW, tmp_path / "x", what)
    with pytest.raises(ValueError, match=r"x.png is one file: choose one of summary.txt"):
        export(NEW, tmp_path / "x.png", "summary")
