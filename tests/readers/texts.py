"""Texts and files like them, written with atoms in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from timme._arrays import Floats

N_FRAMES, N_ATOMS = 4, 6
NAMES = ["C", "N", "O", "S", "P", "H"]
PLACES = np.round(np.random.default_rng(2).normal(scale=9.0, size=(N_FRAMES, N_ATOMS, 3)), 2)
KEPT = [list(range(N_ATOMS))] * N_FRAMES
SHUFFLED = [np.random.default_rng(k).permutation(N_ATOMS).tolist() for k in range(N_FRAMES)]

Orders = Sequence[Sequence[int]]
Write = Callable[[Path, Floats, Orders], Path]


def words(place: Floats) -> str:
    return " ".join(f"{x:.2f}" for x in place)


def as_xyz(path: Path, places: Floats, orders: Orders, properties: str = "") -> Path:
    lines = list[str]()
    for frame, order in zip(places, orders, strict=True):
        lines += [str(len(order)), f"Properties={properties}" if properties else "a title"]
        for k in order:
            fields = {"species": NAMES[k], "pos": words(frame[k]), "id": str(10 * k + 5)}
            asked = (properties or "species:S:1:pos").split(":")[::3]
            lines.append(" ".join(fields[name.lower()] for name in asked))
    path.write_text("\n".join(lines) + "\n")
    return path


def as_numbered_xyz(path: Path, places: Floats, orders: Orders) -> Path:
    return as_xyz(path, places, orders, "species:S:1:pos:R:3:id:I:1")  # as OVITO writes it


def as_numbers_alone(path: Path, places: Floats, orders: Orders) -> Path:
    return as_xyz(path, places, orders, "id:I:1:pos:R:3")


def as_named_xyz(path: Path, places: Floats, orders: Orders) -> Path:
    return as_xyz(path, places, orders, "pos:R:3:species:S:1")


def as_gro(path: Path, places: Floats, orders: Orders) -> Path:
    lines = list[str]()
    for frame, order in zip(places / 10, orders, strict=True):
        lines += ["made", str(len(order))]
        for serial, k in enumerate(order, start=1):
            place = "".join(f"{x:8.3f}" for x in frame[k])
            lines.append(f"{k + 1:5d}{'PAR':<5}{NAMES[k]:>5}{serial:5d}{place}")
        lines.append("0 0 0")
    path.write_text("\n".join(lines) + "\n")
    return path


def as_dump(path: Path, places: Floats, orders: Orders, ids: bool = True) -> Path:
    lines = list[str]()
    for step, (frame, order) in enumerate(zip(places, orders, strict=True)):
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(order))]
        lines += ["ITEM: BOX BOUNDS ff ff ff", *["0 100"] * 3]
        lines += [f"ITEM: ATOMS {'id ' if ids else ''}element x y z"]
        number = [f"{10 * k + 5} " if ids else "" for k in range(N_ATOMS)]
        lines += [f"{number[k]}{NAMES[k]} {words(frame[k])}" for k in order]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_bare_dump(path: Path, places: Floats, orders: Orders) -> Path:
    return as_dump(path, places, orders, ids=False)


def as_h5md(path: Path, places: Floats, orders: Orders, ids: bool = False) -> Path:
    h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'pytimme[formats]'")
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
        group = file.create_group("particles/all")
        rows = np.array(orders)
        group["position/value"] = np.take_along_axis(places, rows[..., None], axis=1)
        group["position/step"] = group["species/step"] = np.arange(len(places))
        group["species/value"] = rows
        if ids:
            group["id/value"], group["id/step"] = 10 * rows + 5, np.arange(len(places))
    return path


def as_numbered_h5md(path: Path, places: Floats, orders: Orders) -> Path:
    return as_h5md(path, places, orders, ids=True)


NUMBERED: dict[str, tuple[str, Write]] = {
    "extxyz": ("extxyz", as_numbered_xyz),
    "extxyz without species": ("xyz", as_numbers_alone),
    "dump": ("dump", as_dump),
    "h5md": ("h5md", as_numbered_h5md),
}
NAMED: dict[str, tuple[str, Write]] = {
    "xyz": ("xyz", as_xyz),
    "extxyz": ("extxyz", as_named_xyz),
    "gro": ("gro", as_gro),
    "dump": ("lammpstrj", as_bare_dump),
    "h5md": ("h5md", as_h5md),
}
