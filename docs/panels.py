"""Draw one protein several times, in the colours of clusters that match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import timme
from timme.compare import Overlap, overlap
from timme.output.colours import CORE, REST, WIDE
from timme.output.common import on_common_sites

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = (CORE, *WIDE)


@dataclass(frozen=True)
class Panel:
    """One of several results of the same protein, at one cutoff."""

    title: str
    analysis: timme.Analysis
    cutoff: float
    level: str  # the cutoff in words


def draw_panels(shown: list[Panel]) -> Figure:
    """Draw each as the paper does: a chain in the colours of the clusters of the first."""
    figure, panels = plt.subplots(1, len(shown), figsize=(9.6, 3.3), layout="constrained")
    first = shown[0]
    fixed = places(first.analysis)
    view = np.linalg.svd(fixed)[2]
    reach = 1.15 * np.abs(fixed @ view.T).max(axis=0)
    left = overlap_at(first.analysis, first.analysis, (first.cutoff, first.cutoff))
    spare = iter(PALETTE[int((left.first.sizes >= left.min_size).sum()) :])
    for axes, panel in zip(panels, shown, strict=True):
        at = overlap_at(first.analysis, panel.analysis, (first.cutoff, panel.cutoff))
        moving = places(on_common_sites(first.analysis, panel.analysis)[1])
        draw_chain(axes, moving @ turn(moving, fixed) @ view.T, colours_of(at, spare))
        told = "" if panel is first else f"\nadjusted Rand {minus(at.rand, 2)}, {matched(at)}"
        axes.set(aspect="equal", xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]))
        axes.set_title(f"{panel.title}\n{panel.level}{told}", fontsize=9)
    return figure


def places(analysis: timme.Analysis) -> np.ndarray:
    """Shown sites about their middle."""
    system = analysis.system
    found = system.coordinates[system.object_sites[system.shown]].astype(float)
    return np.asarray(found - found.mean(axis=0))


def turn(moving: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Rotation that lays one set of centred points onto another."""
    left, _, right = np.linalg.svd(moving.T @ fixed)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.asarray(left @ flip @ right)


def matched(at: Overlap) -> str:
    """Say how many clusters have a partner."""
    number = int((at.partners >= 0).sum())
    return f"{number} matched cluster{'s' * (number != 1)}"


def colours_of(at: Overlap, spare: Iterator[str]) -> np.ndarray:
    """Clusters of the second in the colours of their partners, which are coloured by size.

    Those without a partner take the next spare colours, so that no colour means two things.
    """
    chosen = []
    for size, partner in zip(at.second.sizes.tolist(), at.partners.tolist(), strict=True):
        free = next(spare, REST) if size >= at.min_size and partner < 0 else REST
        chosen.append(PALETTE[partner] if partner >= 0 else free)
    return np.array(chosen)[at.second.labels]


def draw_chain(axes: Axes, points: np.ndarray, colours: np.ndarray) -> None:
    """Draw a chain of Cα as a smooth tube, the near over the far."""
    along = CubicSpline(np.arange(len(points)), points)
    pieces = np.arange(len(points))[:, None] + np.linspace(-0.55, 0.55, 8)
    tubes = along(np.clip(pieces, 0, len(points) - 1))
    for site in np.argsort(tubes[..., 2].mean(axis=1)):
        x, y = tubes[site, :, :2].T
        axes.plot(x, y, color="white", linewidth=7, solid_capstyle="butt")
        axes.plot(x, y, color=colours[site], linewidth=4.5, solid_capstyle="round")
    axes.set_axis_off()


def overlap_at(
    first: timme.Analysis, second: timme.Analysis, cutoffs: tuple[float, float]
) -> Overlap:
    one, other, _ = on_common_sites(first, second)
    cuts = (a.shown_hierarchy.cut(c) for a, c in zip((one, other), cutoffs, strict=True))
    return overlap(*cuts)


def minus(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
