"""Golden cases of the core: what is compared with whom, in which system, and how it is linked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.golden.systems import SYSTEMS, Plain

METRICS = (
    "cityblock chebyshev sqeuclidean cosine correlation braycurtis canberra jensenshannon"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One way through the core, from sites to the hierarchy."""

    name: str
    system: str  # of SYSTEMS
    single: bool = False  # coordinates brought into single precision
    double: bool = False  # coordinates brought into double precision
    reading: dict[str, Any] | None = None  # options of timme.read; None: Ensemble.from_array
    objects: str = "points"  # function of timme.objects
    made: dict[str, Any] = field(default_factory=dict)  # its options; "size": groups of so many
    pairs: str = "all"  # function of timme.pairs
    chosen: dict[str, Any] = field(default_factory=dict)  # its arguments
    min_overlap: int | Literal["auto"] | None = None
    metric: str | None = None
    linkage: Literal["single", "braced", "average"] = "single"

    def plain(self) -> Plain:
        """Arrays of the system, in the precision of the case."""
        made = SYSTEMS[self.system]()
        return made.single() if self.single else made.double() if self.double else made


def _case(name: str, system: str, near: Any = None, size: int = 0, **options: Any) -> Case:
    """Make a case; `near` are arguments of pairs.within or the radius alone, `size` of groups."""
    if near is not None:
        chosen = near if isinstance(near, dict) else {"radius": near}
        options |= {"pairs": "within", "chosen": chosen}
    if size:
        options |= {"objects": "groups", "made": options.get("made", {}) | {"size": size}}
    return Case(name=name, system=system, **options)


_CHAIN = [
    _case("chain-max", "chain", objects="links", pairs="sharing"),
    _case("chain-max-single", "chain", objects="links", pairs="sharing", single=True),
    _case("chain-max-all", "chain", objects="links"),
    _case("chain-rms", "chain", objects="links", made={"reduction": "rms"}, pairs="sharing"),
    _case("chain-rms-all-single", "chain", objects="links", made={"reduction": "rms"}, single=True),
    _case("chain-centre", "chain", objects="links", made={"reduction": "centre"}),
    _case("chain-points", "chain", pairs="sequence", chosen={"reach": 3}),
    _case("chain-points-apart", "chain", chosen={"min_bonds": 4}),
    _case("chain-bodies", "chain", objects="bodies", chosen={"min_bonds": 4}),
    _case("chain-bodies-wide", "chain", objects="bodies", made={"reach": 2, "reduction": "max"}),
]

_SPACES = ["open", "straight", "tilted", "steep", "slab", "tilted-slab", "plane", "ring"]
_BOXES = [
    *(_case(f"{space}-all", space) for space in [*_SPACES, "breathing", "short"]),
    *(_case(f"{space}-all-single", space, single=True) for space in [*_SPACES, "short"]),
    *(
        _case(f"{space}-contact", space, near={"radius": 3.0, "at_least": 10})
        for space in [*_SPACES, "breathing"]
    ),
    *(
        _case(f"{space}-groups-{reduction}", space, size=5, made={"reduction": reduction})
        for space in ["open", "straight", "tilted"]
        for reduction in ["rms", "max", "centre"]
    ),
    _case("tilted-groups-single", "tilted", size=5, near=6.0, single=True),
    _case("straight-nearest", "straight", pairs="nearest", chosen={"count": 6}),
    _case("tilted-nearest", "tilted", pairs="nearest", chosen={"count": 6, "by": "mean"}),
    _case("open-braced", "open", linkage="braced"),
    _case("open-average", "open", linkage="average"),
    _case("ring-unwrapped", "ring", reading={"unwrap": True}),
    _case("straight-unwrapped", "straight", reading={"unwrap": True}),
    _case("breathing-unwrapped", "breathing", reading={"unwrap": True}),
    _case("tilted-unwrapped", "tilted", reading={"unwrap": True}),
]

_INCOMPLETE = [
    _case("weighted", "weighted"),
    _case("weighted-single", "weighted", single=True),
    _case("weighted-tilted", "weighted-tilted", size=5),
    _case("gapped", "gapped"),
    _case("gapped-single", "gapped", single=True),
    _case("gapped-auto", "gapped", min_overlap="auto"),
    _case("gapped-least", "gapped", min_overlap=10),
    _case("gapped-contact", "gapped", near={"radius": 3.0, "at_least": 10}),
    _case("gapped-nearest", "gapped", pairs="nearest", chosen={"count": 6, "by": "mean"}),
    _case("gapped-groups", "gapped", size=5, min_overlap=20),
    _case("gapped-straight", "gapped-straight"),
    _case("gapped-tilted-single", "gapped-tilted", single=True),
    _case("gapped-weighted", "gapped-weighted"),
    _case("crowd", "crowd", min_overlap="auto"),
    _case("crowd-contact", "crowd", near=5.0, min_overlap=10),
    _case("people", "people", min_overlap="auto"),
    _case("ring-road", "ring-road", min_overlap="auto"),
    _case("latex", "latex"),
    _case("latex-auto-single", "latex", min_overlap="auto", single=True),
    _case("latex-contact", "latex", near=40.0, min_overlap=30),
]

_METRICS = [
    _case("cloud", "cloud"),
    _case("cloud-single", "cloud", single=True),
    *(_case(f"cloud-{metric}", "cloud", metric=metric) for metric in METRICS),
    _case("cloud-hamming", "coarse-cloud", metric="hamming"),
    _case("sphere-tracks", "sphere-tracks", metric="haversine"),
    _case(
        "sphere-tracks-contact",
        "sphere-tracks",
        near={"radius": 300.0, "metric": "haversine"},
        metric="haversine",
    ),
    _case(
        "sphere-tracks-nearest",
        "sphere-tracks",
        pairs="nearest",
        chosen={"count": 5, "metric": "haversine"},
        metric="haversine",
    ),
]

_NEAR = {"radius": 10.0, "min_bonds": 4}
_MOLECULES = [
    _case("1bnr-bodies", "1bnr", objects="bodies", near=_NEAR),
    _case(
        "1bnr-bodies-max",
        "1bnr",
        objects="bodies",
        made={"reduction": "max"},
        near={"radius": 6.0, "at_least": 10, "min_bonds": 2},
    ),
    _case("1bnr-residues", "1bnr", objects="residues", made={"centre": "mass"}),
    _case("1bnr-ca", "1bnr-ca"),
    _case("1bnr-ca-contact", "1bnr-ca", near=_NEAR),
    _case("1bnr-ca-braced", "1bnr-ca", linkage="braced"),
    _case("1bnr-ca-average", "1bnr-ca", linkage="average"),
    _case("1omp-1anf-bodies", "1omp-1anf", objects="bodies", near=_NEAR),
    _case("4ake-1ake-bodies", "4ake-1ake", objects="bodies", near=_NEAR),
    _case("4ake-1ake-atoms", "4ake-1ake", near=_NEAR),
    _case("adk-bodies", "adk", objects="bodies", near=_NEAR),
    _case("adk-atoms", "adk", near=_NEAR),
    _case("adk-atoms-often", "adk", near={"radius": 6.0, "at_least": 50}),
    _case("adk-atoms-all", "adk", chosen={"min_bonds": 4}),
    _case("adk-ca", "adk-ca"),
    _case("adk-ca-double", "adk-ca", double=True),
    _case("adk-ca-contact", "adk-ca", near=_NEAR),
    _case("barnase-md-bodies", "barnase-md", objects="bodies", near=_NEAR),
    _case("barnase-md-ca", "barnase-md-ca"),
]

_LIQUIDS = [
    _case("water-box-molecules", "water-box", objects="molecules"),
    _case("water-box-molecules-double", "water-box", objects="molecules", near=5.0, double=True),
    _case("water-box-centres", "water-box", objects="molecules", made={"reduction": "centre"}),
    _case("water-box-whole", "water-box", reading={}, objects="molecules", near=5.0),
    _case("water-box-unwrapped", "water-box", reading={"unwrap": True}, objects="molecules"),
    _case("water-drop", "water-drop"),
    _case("water-drop-contact", "water-drop", near=10.0),
    _case("water-drop-molecules", "water-drop-dense", objects="molecules", near=5.0),
    _case("spheres", "spheres"),
    _case("spheres-double", "spheres", double=True),
    _case("spheres-braced", "spheres", linkage="braced"),
    _case("spheres-nearest", "spheres", pairs="nearest", chosen={"count": 12}),
    _case("spheres-contact", "spheres", near=2.0),
    _case("spheres-fluid", "spheres-fluid"),
]

CASES: dict[str, Case] = {
    case.name: case for case in [*_CHAIN, *_BOXES, *_INCOMPLETE, *_METRICS, *_MOLECULES, *_LIQUIDS]
}


def labels_of_groups(n_sites: int, size: int) -> list[int]:
    """Label of each site, for groups of so many sites that follow one another."""
    return [site // size for site in range(n_sites)]
