"""Motion of the parts of a system against one another: bodies, axes, variance, correlation."""

from timme_next.motion.fits import Poses, Shape, fit
from timme_next.motion.rigid_bodies import Agreement, Bodies, Level, bodies
from timme_next.motion.superposition import Superposition, rmsf, superpose

__all__ = [
    "Agreement",
    "Bodies",
    "Level",
    "Poses",
    "Shape",
    "Superposition",
    "bodies",
    "fit",
    "rmsf",
    "superpose",
]
