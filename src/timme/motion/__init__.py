"""Motion of the parts of a system against one another: bodies, axes, variance, correlation."""

from timme.motion.body_search import Level
from timme.motion.correlation import TwoPoint, two_point
from timme.motion.fits import Poses, Shape, Superposition, fit, rmsf, superpose
from timme.motion.hinges import Hinge, Motions, describe_motion, hinge
from timme.motion.rigid_bodies import Bodies, bodies
from timme.motion.screws import EffectiveRotation, Screw, bending_residues, screw
from timme.motion.variance import (
    Components,
    Explained,
    explained_variance,
    overlap_with_bodies,
    principal_components,
    rmsip,
)

__all__ = [
    "Bodies", "Components", "EffectiveRotation", "Explained", "Hinge", "Level", "Motions", "Poses",
    "Screw", "Shape", "Superposition", "TwoPoint", "bending_residues", "bodies", "describe_motion",
    "explained_variance", "fit", "hinge", "overlap_with_bodies", "principal_components", "rmsf",
    "rmsip", "screw", "superpose", "two_point",
]  # fmt: skip
