"""Ensembles: snapshots of the same sites, the atoms they stand for, and the space they are in."""

from timme_next.ensemble.atoms import Atoms
from timme_next.ensemble.ensemble import Block, Ensemble
from timme_next.ensemble.frames import Frames
from timme_next.ensemble.space import Boxes, Images

__all__ = ["Atoms", "Block", "Boxes", "Ensemble", "Frames", "Images"]
