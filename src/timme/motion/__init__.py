"""How parts of a system move against one another: bodies, axes, variance, correlation."""

from timme.motion.bending import bending_residues, restless_sites
from timme.motion.components import (
    BlockCovariance,
    Components,
    block_covariance,
    distance_components,
    halves,
    mode_trajectory,
    overlap_with_bodies,
    principal_components,
    rmsip,
)
from timme.motion.correlations import TwoPoint, two_point
from timme.motion.counting import Level
from timme.motion.domains import Agreement, Bodies, bodies
from timme.motion.fits import Poses, Shape, fit, shape_of
from timme.motion.gaps import fill_gaps
from timme.motion.hinges import Hinge, hinge
from timme.motion.overview import Motions, describe_motion
from timme.motion.screws import (
    EffectiveRotation,
    Screw,
    closure,
    effective_rotation,
    interdomain_ratio,
    screw,
)
from timme.motion.splits import SplitMotion, split_motions
from timme.motion.superposition import Superposition, rmsf, superpose
from timme.motion.variance import Explained, explained_variance

__all__ = [
    "Agreement",
    "BlockCovariance",
    "Bodies",
    "Components",
    "EffectiveRotation",
    "Explained",
    "Hinge",
    "Level",
    "Motions",
    "Poses",
    "Screw",
    "Shape",
    "SplitMotion",
    "Superposition",
    "TwoPoint",
    "bending_residues",
    "block_covariance",
    "bodies",
    "closure",
    "describe_motion",
    "distance_components",
    "effective_rotation",
    "explained_variance",
    "fill_gaps",
    "fit",
    "halves",
    "hinge",
    "interdomain_ratio",
    "mode_trajectory",
    "overlap_with_bodies",
    "principal_components",
    "restless_sites",
    "rmsf",
    "rmsip",
    "screw",
    "shape_of",
    "split_motions",
    "superpose",
    "two_point",
]
