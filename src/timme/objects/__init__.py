"""What is rigid by itself: points, links, bodies and groups, the objects that are compared."""

from timme.objects.collection import Objects, require_objects, require_places_on_sphere
from timme.objects.elementary import bodies, links, points
from timme.objects.grouping import groups, molecules, residues

__all__ = [
    "Objects",
    "bodies",
    "groups",
    "links",
    "molecules",
    "points",
    "require_objects",
    "require_places_on_sphere",
    "residues",
]
