"""Ensembles: snapshots of the same sites, the atoms they stand for, and the space they are in."""

from timme.ensemble.atoms import Atoms
from timme.ensemble.ensemble import Block, Ensemble
from timme.ensemble.frames import Frames
from timme.ensemble.residues import selector
from timme.ensemble.space import Boxes, Images

__all__ = ["Atoms", "Block", "Boxes", "Ensemble", "Frames", "Images", "selector"]
