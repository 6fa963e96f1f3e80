"""The part of a result that says how it changes in time: clusters of windows, and σ of times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.analysis.protocol import Arrays, PlainPart, Rows
from timme.analysis.system import System
from timme.confidence.findings import Windows
from timme.hierarchy.tree import Hierarchy

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Timed(PlainPart):
    """How a result changes in time."""

    windows: Windows | None = None  # clusters of sliding windows; None if not asked for
    lags: Ints | None = None  # (lags,), snapshots over which σ is measured; None if not asked for
    sigma: Floats | None = None  # (lags, quantiles), σ of pairs over so many snapshots
    unit: str = ""  # of σ
    name: ClassVar[str] = "time"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Bounds of windows, tracks and their cutoff; lags and quantiles of σ.
        """
        made: dict[str, Any] = {"unit": np.array(self.unit)}
        if self.windows is not None:
            bounds = [(window.start, window.stop) for window in self.windows.windows]
            made |= {"bounds": np.array(bounds), "tracks": self.windows.tracks}
            made |= {"cutoff": np.array(self.windows.cutoff)}
        if self.lags is not None and self.sigma is not None:
            made |= {"lags": self.lags, "sigma": self.sigma}
        return made

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Timed
            The same.
        """
        del hierarchy
        windows = None
        if "tracks" in arrays:
            tracks = arrays["tracks"]
            if tracks.shape[1] != len(system.shown):
                raise ValueError(f"tracks of {tracks.shape[1]} sites, of {len(system.shown)} shown")
            bounds = tuple(range(int(a), int(b)) for a, b in arrays["bounds"])
            windows = Windows(bounds, frozen(tracks), float(arrays["cutoff"]))
        lags, sigma = (frozen(arrays[k]) if k in arrays else None for k in ("lags", "sigma"))
        return cls(windows, lags, sigma, str(arrays["unit"]))

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            How many clusters there were ever, and how σ grows.
        """
        rows = Rows()
        if self.windows is not None:
            found = self.windows
            alive = (found.sizes() > 0).sum(axis=1)
            told = f"{len(found.windows)} of {len(found.windows[0])} snapshots: {alive.min()} to "
            told += f"{alive.max()} clusters at {found.cutoff:.4g}, {found.n_tracks} in all"
            rows.append(("windows", told))
        if self.lags is not None and self.sigma is not None:
            middle = self.sigma[:, QUANTILES.index(0.5)]
            unit = f" {self.unit}" if self.unit else ""
            each = [f"{s:.3g}{unit} over {n}" for n, s in zip(self.lags, middle, strict=True)]
            rows.append(("times", f"median {', '.join(each)} snapshots"))
        return rows

    def _facts(self) -> Iterable[tuple[str, object]]:
        return self.facts()
