"""Motion of the parts of a system against one another: bodies, axes, variance, correlation."""

from timme.motion.correlation import TwoPoint, two_point
from timme.motion.fits import Poses, Shape, Superposition, fit, rmsf, superpose
from timme.motion.hinges import Hinge, hinge
from timme.motion.motions import Motions, describe_motion
from timme.motion.rigid_bodies import Bodies, Level, bodies
from timme.motion.screws import Screw, bending_residues, closure, effective_rotation, screw
from timme.motion.variance import (
    Components,
    Explained,
    explained_variance,
    overlap_with_bodies,
    principal_components,
    rmsip,
)

__all__ = [
    "Bodies", "Components", "Explained", "Hinge", "Level", "Motions", "Poses", "Screw", "Shape",
    "Superposition", "TwoPoint", "bending_residues", "bodies", "closure",
    "describe_motion", "effective_rotation", "explained_variance", "fit", "hinge",
    "overlap_with_bodies", "principal_components", "rmsf", "rmsip", "screw",
    "superpose", "two_point",
]  # fmt: skip
