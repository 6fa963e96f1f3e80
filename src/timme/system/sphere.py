"""Points on the Earth, given by latitude and longitude, as points in space.

Who is near whom does not change: a straight line through the Earth is the longer, the longer the
way along its surface is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Coordinates
from timme._kernels.metrics import EARTH
from timme.system.derived_frames import MappedFrames
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames

if TYPE_CHECKING:
    import numpy.typing as npt


def in_space(ensemble: Ensemble) -> Ensemble:
    """Put latitudes and longitudes onto the surface of the Earth in space.

    Parameters
    ----------
    ensemble : Ensemble
        Latitude and longitude of each site, in degrees.

    Returns
    -------
    Ensemble
        The same in three dimensions, in km from the centre of the Earth.

    Examples
    --------
    >>> pole = in_space(Ensemble.from_array([[[90.0, 12.0]]])).coordinates()
    >>> pole.round(3).tolist()
    [[[0.0, 0.0, 6371.009]]]
    """
    return replace(ensemble, frames=_SphereFrames(ensemble.frames), unit="km", images=None)


def through_the_earth(distance: float) -> float:
    """Return how long the straight line is between two places on the surface.

    Parameters
    ----------
    distance : float
        Along the surface, in km.

    Returns
    -------
    float
        In km, at most the diameter.

    Examples
    --------
    >>> round(through_the_earth(100.0), 4)
    99.999
    """
    return 2 * EARTH * math.sin(min(distance / (2 * EARTH), math.pi / 2))


@dataclass(frozen=True, slots=True, eq=False)
class _SphereFrames(MappedFrames):
    """Frames of places on a sphere, in space."""

    frames: Frames

    @property
    def shape(self) -> tuple[int, int, int]:
        snapshots, sites, _ = self.frames.shape
        return snapshots, sites, 3

    def read(self, start: int, stop: int) -> tuple[Coordinates, None]:
        degrees, _ = self.frames.read(start, stop)
        latitude, longitude = np.moveaxis(np.radians(degrees.astype(np.float64)), 2, 0)
        if (np.abs(latitude) > np.pi / 2).any():
            raise ValueError(
                "latitudes come first, and are from -90 to 90 degrees, got "
                f"{np.degrees(np.nanmax(np.abs(latitude))):g}"
            )
        across = np.cos(latitude)
        axes = (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude))
        return EARTH * np.stack(axes, axis=2), None

    def marks(self) -> Iterator[npt.ArrayLike]:
        yield from ("sphere", *self.frames.marks())
