from pathlib import Path

import pytest

from timme._files import write_atomically


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "a", "σ\r\nÅ\n").read_bytes() == "σ\r\nÅ\n".encode()
    assert write_atomically(tmp_path / "a", b"\x00\xff").read_bytes() == b"\x00\xff"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    written = write_atomically(tmp_path / "a", "")
    assert written.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def fail(self: Path, target: Path) -> Path:
        raise OSError(f"cannot rename {self} to {target}")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="cannot rename"):
        write_atomically(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
