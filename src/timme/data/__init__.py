"""Systems that come with the package: those of the paper, simulated anew, and a few more.

Each was made by a script of ``examples/simulate``; :func:`records` tells by which, from which seed
and with which versions. Entries of the PDB are not among them: ``timme.read("pdb:1bnr")`` fetches
one by its code.
"""

from __future__ import annotations

from timme.data.shipped import File, Record, path, records
from timme.data.systems import barnase_md, crowd, ring_road, spheres, water_drop

__all__ = [
    "File",
    "Record",
    "barnase_md",
    "crowd",
    "path",
    "records",
    "ring_road",
    "spheres",
    "water_drop",
]
