"""How a result changes in time: ribbons of clusters, σ against time, tables, and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.analysis import QUANTILES, Analysis, Timed
from timme.confidence.findings import Windows
from timme.output.axes import COLUMN, new_axes, set_symbol
from timme.output.colours import CORE, REST
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, runs_text, short_names, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLOCK = 0.18  # half the width of a block, in windows


def windows_csv(part: Timed, analysis: Analysis) -> str:
    """List the clusters of every window, one per row.

    Parameters
    ----------
    part : Timed
        How the result changes in time.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV: window, its snapshots, the track, its size, who joined it since the window before and
        who left, and the members.
    """
    found = part.windows
    if found is None:
        return ""
    names, rows = short_names(analysis), list[list[object]]()
    for number, (window, tracks) in enumerate(zip(found.windows, found.tracks, strict=True)):
        before = found.tracks[number - 1] if number else tracks
        for track in np.unique(tracks[tracks >= 0]).tolist():
            here, there = tracks == track, before == track
            known = there.any()  # of a track that begins, nobody joined
            rows.append(
                [
                    *(number + 1, window.start, window.stop - 1, track + 1, int(here.sum())),
                    _text(here & ~there & known, names),
                    _text(there & ~here, names),
                    _text(here, names),
                ]
            )
    head = ["window", "first snapshot", "last snapshot", "track", "size"]
    return csv_text([*head, "joined", "left", "members"], rows)


def _text(members: Bools, names: list[tuple[str, str]]) -> str:
    return runs_text(np.flatnonzero(members), names) if members.any() else ""


def times_csv(part: Timed, analysis: Analysis) -> str:
    """List σ of pairs against the time over which snapshots are compared.

    Parameters
    ----------
    part : Timed
        How the result changes in time.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV: snapshots of a window, and quantiles of σ over all pairs.
    """
    if part.lags is None or part.sigma is None:
        return ""
    symbol = analysis.hierarchy.quantity.symbol
    head = [with_unit(f"{symbol} of {100 * q:.0f} %", part.unit) for q in QUANTILES]
    rows = [
        [int(lag), *(f"{value:.6g}" for value in row)]
        for lag, row in zip(part.lags, part.sigma, strict=True)
    ]
    return csv_text(["snapshots", *head], rows)


def ribbons(found: Windows, *, palette: tuple[str, ...], ax: Axes | None = None) -> Axes:
    """Draw who joins and leaves clusters: a block for each in every window, ribbons between.

    Parameters
    ----------
    found : Windows
        Tracks of clusters.
    palette : tuple of str
        Colours of tracks 2, 3, …; the first is dark blue.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on. What is in no large cluster is grey, on top.
    """
    axes = new_axes(COLUMN, 2.6) if ax is None else ax
    colours = [CORE, *(palette[k % len(palette)] for k in range(found.n_tracks - 1)), REST]
    tracks = np.where(found.tracks < 0, found.n_tracks, found.tracks)
    blocks = [np.bincount(row, minlength=found.n_tracks + 1) for row in tracks]
    floors = [np.cumsum(block) - block for block in blocks]
    for window, (block, floor) in enumerate(zip(blocks, floors, strict=True)):
        for track in np.flatnonzero(block).tolist():
            shape = {"width": 2 * _BLOCK, "bottom": floor[track], "color": colours[track]}
            axes.bar(window + 1, block[track], linewidth=0, **shape)
    for window in range(len(tracks) - 1):
        _draw_ribbons(
            axes, tracks[window : window + 2], floors[window : window + 2], colours, window
        )
    axes.set(xlabel="Window", ylabel="Shown objects", ylim=(0, tracks.shape[1]))
    axes.set_xlim(1 - 2 * _BLOCK, len(tracks) + 2 * _BLOCK)
    return axes


def _draw_ribbons(
    axes: Axes, tracks: Ints, floors: list[Ints], colours: list[str], window: int
) -> None:
    """Ribbons from the blocks of one window to those of the next, as thick as they share sites."""
    along = np.linspace(0.0, 1.0, 20)
    ease: Floats = along**2 * (3 - 2 * along)
    left, right = floors[0].astype(float), floors[1].astype(float)
    for one in np.unique(tracks[0]).tolist():
        for other in np.unique(tracks[1][tracks[0] == one]).tolist():
            shared = int(np.count_nonzero((tracks[0] == one) & (tracks[1] == other)))
            low = left[one] + (right[other] - left[one]) * ease
            x = window + 1 + _BLOCK + (1 - 2 * _BLOCK) * along
            axes.fill_between(x, low, low + shared, color=colours[one], alpha=0.45, linewidth=0)
            left[one] += shared
            right[other] += shared


def _draw_windows(part: Timed, analysis: Analysis, look: Look) -> Axes:
    del analysis
    assert part.windows is not None  # noqa: S101, as `suits` asks
    return ribbons(part.windows, palette=tuple(look.palette))


def _draw_times(part: Timed, analysis: Analysis, look: Look) -> Axes:
    """σ of the median pair, and of the middle half and nine tenths, against time."""
    del look
    assert part.lags is not None and part.sigma is not None  # noqa: S101, PT018, as `suits` asks
    axes = new_axes(COLUMN, 2.2)
    lowest, low, middle, high, highest = part.sigma.T
    axes.fill_between(part.lags, lowest, highest, color=CORE, alpha=0.15, linewidth=0)
    axes.fill_between(part.lags, low, high, color=CORE, alpha=0.3, linewidth=0)
    axes.plot(part.lags, middle, "o-", color=CORE, markersize=3)
    unit = f" ({part.unit})" if part.unit else ""
    axes.set(xscale="log", yscale="log", xlabel="Snapshots compared")
    axes.set_ylabel(f"{set_symbol(analysis.hierarchy.quantity.symbol)} of pairs{unit}")
    return axes


def _panel(part: Timed, analysis: Analysis) -> dict[str, Any] | None:
    """What a slider of the page needs: windows, and the track of every shown object in each."""
    del analysis
    found = part.windows
    if found is None:
        return None
    return {
        "cutoff": found.cutoff,
        "windows": [[window.start, window.stop] for window in found.windows],
        "tracks": found.tracks.tolist(),
        "sizes": found.sizes().tolist(),
    }


def _tables(part: Timed, analysis: Analysis) -> dict[str, str]:
    made = {"windows.csv": windows_csv(part, analysis), "times.csv": times_csv(part, analysis)}
    return {name: text for name, text in made.items() if text}


def _has_windows(analysis: Analysis) -> bool:
    part = analysis.part(Timed)
    return part is not None and part.windows is not None


def _has_times(analysis: Analysis) -> bool:
    part = analysis.part(Timed)
    return part is not None and part.lags is not None


TIMED = PartOutput(
    Timed,
    figures=(
        PartFigure(
            "windows",
            _draw_windows,
            "windows were not asked for (windows=)",
            caption="who joins and leaves clusters, window after window",
            first=False,
            suits=_has_windows,
        ),
        PartFigure(
            "times",
            _draw_times,
            "σ of shorter times was not asked for (lags=)",
            caption="σ against the time over which snapshots are compared",
            first=False,
            suits=_has_times,
        ),
    ),
    files={
        "windows.csv": "clusters of sliding windows, who joined and who left",
        "times.csv": "σ against the time over which snapshots are compared",
    },
    tables=lambda part, analysis, _: _tables(part, analysis),
    panels={"windows": _panel},
)
