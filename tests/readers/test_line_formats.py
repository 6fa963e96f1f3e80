"""Texts of Amber and Tinker that end within a frame, which MDAnalysis takes for shorter ones."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import waters, write_pdb
from timme._arrays import Coordinates
from timme.readers import read
from timme.readers.integrity import layout

N_FRAMES = 4
BOX = (30.0, 31.0, 32.0)


def places(n_atoms: int) -> Coordinates:
    found: Coordinates = np.random.default_rng(n_atoms).uniform(1, 29, (N_FRAMES, n_atoms, 3))
    return found.round(3)


def amber_frame(frame: Coordinates, *, boxed: bool) -> str:
    words = [f"{number:8.3f}" for number in frame.ravel()]
    lines = ["".join(words[k : k + 10]) for k in range(0, len(words), 10)]
    lines += ["".join(f"{length:8.3f}" for length in BOX)] if boxed else []
    return "\n".join(lines) + "\n"


def tinker_frame(frame: Coordinates, *, boxed: bool) -> str:
    lines = [f"{len(frame):6d}  title"]
    lines += ["".join(f"{v:12.6f}" for v in (*BOX, 90.0, 90.0, 90.0))] if boxed else []
    for atom, place in enumerate(frame, start=1):
        x, y, z = place
        lines.append(f"{atom:6d}  Ar {x:12.6f}{y:12.6f}{z:12.6f}{1:6d}")
    return "\n".join(lines) + "\n"


def written(suffix: str, frames: Coordinates, *, boxed: bool) -> list[str]:
    """Texts of frames; the first has what stands before them."""
    make = amber_frame if suffix == ".mdcrd" else tinker_frame
    texts = [make(frame, boxed=boxed) for frame in frames]
    return ["made\n" + texts[0] if suffix == ".mdcrd" else texts[0], *texts[1:]]


KINDS = pytest.mark.parametrize(
    ("suffix", "n_atoms", "boxed"),
    [
        (suffix, n_atoms, boxed)
        for suffix in (".mdcrd", ".arc")
        for n_atoms in (12, 30)  # a last line of six numbers, and of ten
        for boxed in (False, True)
    ],
)


@KINDS
def test_no_byte_of_a_frame_may_be_missing(
    tmp_path: Path, suffix: str, n_atoms: int, *, boxed: bool
) -> None:
    *before, last = written(suffix, places(n_atoms), boxed=boxed)
    path = tmp_path / f"a{suffix}"
    for missing in range(len(last) + 1):
        rest = last[: len(last) - missing]
        path.write_text("".join(before) + rest)
        found = layout(path, suffix, n_atoms)
        assert found is not None
        assert found.n_atoms == n_atoms
        whole = missing <= 1  # the last line end
        assert len(found.offsets) == N_FRAMES - 1 + whole, missing
        assert bool(found.damage) == (not whole and rest.strip() != ""), missing


@KINDS
def test_a_text_that_is_cut_off_has_to_be_allowed(
    tmp_path: Path, suffix: str, n_atoms: int, *, boxed: bool
) -> None:
    topology = write_pdb(tmp_path / "top.pdb", [waters(n_atoms // 3)])
    expected = places(n_atoms)
    text = "".join(written(suffix, expected, boxed=boxed))
    path = tmp_path / f"a{suffix}"
    for content in (text, text[:-1], text + "\n\n", text.replace("\n", "\r\n")):
        path.write_bytes(content.encode())
        found, boxes = read(topology, path, bonds="none").frames.read(0, N_FRAMES)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert (boxes is not None) == boxed
    for missing in (4, 9, 40, 130):
        path.write_text(text[: len(text) - missing - 5])
        with pytest.raises(
            ValueError, match=rf"a\{suffix}: frame 4 .*allow_truncated=True goes on"
        ):
            read(topology, path)
        kept = read(topology, path, bonds="none", allow_truncated=True)
        assert kept.n_snapshots == N_FRAMES - 1
        assert "the 3 whole frames before it are used" in kept.notes[0]
        np.testing.assert_allclose(kept.frames.read(0, 3)[0], expected[:3], atol=1e-5)


@pytest.mark.parametrize("suffix", [".mdcrd", ".arc"])
def test_a_compressed_text_is_followed_too(tmp_path: Path, suffix: str) -> None:
    topology = write_pdb(tmp_path / "top.pdb", [waters(4)])
    text = "".join(written(suffix, places(12), boxed=False))
    path = tmp_path / f"a{suffix}.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read(topology, path).n_snapshots == N_FRAMES
    path.write_bytes(gzip.compress(text[:-20].encode()))
    with pytest.raises(ValueError, match="frame 4 is damaged or cut off"):
        read(topology, path)


def test_a_text_of_amber_of_other_atoms_says_how_many_it_needs(tmp_path: Path) -> None:
    topology = write_pdb(tmp_path / "top.pdb", [waters(5)])
    path = tmp_path / "a.mdcrd"
    path.write_text("".join(written(".mdcrd", places(12), boxed=False)))
    with pytest.raises(ValueError, match=r"a\.mdcrd: no whole frame .* as 15 atoms need"):
        read(topology, path)


def test_a_frame_of_tinker_in_the_midst_that_lacks_a_line_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.arc"
    texts = written(".arc", places(12), boxed=True)
    texts[1] = "\n".join(texts[1].splitlines()[:-1]) + "\n"
    path.write_text("".join(texts))
    with pytest.raises(ValueError, match=r"a\.arc: frame 2 is damaged"):
        read(path)
