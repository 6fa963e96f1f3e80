"""Ensembles with known answers, for tests, examples and benchmarks."""

from timme.synthetic.answers import Planted
from timme.synthetic.colloids import spheres
from timme.synthetic.crowds import crowd
from timme.synthetic.families import FAMILIES
from timme.synthetic.fluids import suspension
from timme.synthetic.frameworks import noncontiguous
from timme.synthetic.jointed import chain
from timme.synthetic.motions import PlantedMotion, moving
from timme.synthetic.nested import planted
from timme.synthetic.roads import ring_road
from timme.synthetic.softness import soft
from timme.synthetic.solids import elastic
from timme.synthetic.swinging import hinged

__all__ = [
    "FAMILIES",
    "Planted",
    "PlantedMotion",
    "chain",
    "crowd",
    "elastic",
    "hinged",
    "moving",
    "noncontiguous",
    "planted",
    "ring_road",
    "soft",
    "spheres",
    "suspension",
]
