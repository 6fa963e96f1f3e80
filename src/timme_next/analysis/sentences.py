"""Words of a finding: its sentence, its facts with their baselines, and its notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from timme_next.analysis import evidence as made_of
from timme_next.analysis import tables
from timme_next.analysis.evidence import AGREEMENT, FEW_SAMPLES, GAP, Evidence
from timme_next.ensemble.atoms import unit_label
from timme_next.hierarchy.condensed import PLATEAU
from timme_next.hierarchy.curves import count_clusters

if TYPE_CHECKING:
    from timme_next.analysis.result import Analysis, Body

Sure = Literal["well supported", "tentative", "not established", "no error bars", ""]

_ENOUGH = 30  # independent samples for exact cutoffs
_BRIDGED, _SHORT = 5, 3  # sites: gaps within a stretch; stretches left out of a long list
_WIDE = 84  # characters of a fact in one line
_RIGID = 2.0  # median σ between groups over that inside, from which they are rigid bodies
_NUMBERS = "no one two three four five six seven eight nine ten".split()


class Fact(NamedTuple):
    """A number with its baseline, beside its label."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a finding."""

    sentence: str
    facts: Sequence[Fact | None]
    notes: Sequence[str] = ()
    sure: Sure = ""


# ---- numbers -------------------------------------------------------------------------------


def number(count: int) -> str:
    """Return a number in words up to ten: "three", "1,024"."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def value(x: float, unit: str = "") -> str:
    """Return a cutoff or a fit with its unit: "0.029 Å", "0.67 Å", "3.62 Å"."""
    size = abs(x)
    digits = f"{x:.2g}" if size < 0.01 else f"{x:.3f}" if size < 0.15 else f"{x:.2f}"
    return f"{f'{x:.3g}' if size >= 100 else digits} {unit_label(unit)}".rstrip()


def sigma(x: float, unit: str = "") -> str:
    """Return a σ with two digits: "0.20 Å", "3.4 µm"."""
    return f"{x:.0f} {unit_label(unit)}".rstrip() if x >= 9.95 else f"{x:#.2g} {unit}".rstrip()


def times(x: float) -> str:
    """Return a ratio: "3.8×", "15×"."""
    return f"{x:.1f}×" if x < 9.95 else f"{x:,.0f}×"


def percent(share: float) -> str:
    """Return a share: "91 %"."""
    return f"{100 * share:.0f} %"


def samples(count: float) -> str:
    """Return a number of independent samples: "about 2 independent samples"."""
    whole = max(1, round(count))
    return f"about {whole:,} independent sample{'s' * (whole != 1)}"


def listed(parts: Sequence[str]) -> str:
    """Return a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def noun(analysis: Analysis, count: int = 2) -> str:
    """Return what the shown sites are: "residues", "particle"."""
    name = {"Cα": "residue"}.get(analysis.system.shown_name, analysis.system.shown_name)
    return name if count == 1 else f"{name}s"


def energy(x: float) -> str:
    """Return an energy of bonds: "−1.5"."""
    return f"{x:.2g}".replace("-", "−")


# ---- molecules -----------------------------------------------------------------------------


def _bodies(analysis: Analysis, found: Evidence) -> Words:
    bodies, alike = analysis.bodies, _chains_alike(analysis)
    known = found.bodies is not None and found.bodies.agreement >= AGREEMENT
    count = f"{number(len(bodies))} rigid bodies"
    if alike:
        each = len(bodies) // len(alike)
        what = f"{number(each)} rigid bodies" if each > 1 else "one rigid body"
        count = f"each of {number(len(alike))} chains is {what}"
    sure = ", well supported" if known else ""
    if alike and len(bodies) > len(alike):
        turns = "; ".join(f"{chain}: {_angles(own)}" for chain, own in alike.items())
        sentence = f"{count}{sure} ({turns})."
    else:
        sentence = f"{count}{sure}. {moves(bodies)}"
    facts = [
        _members(analysis, alike),
        _fit(analysis, found, alike),
        _separation(found, alike),
        _halves(found),
        None if alike else _hierarchy(analysis, found),
    ]
    notes = _packing(analysis, alike) + _sampling_notes(analysis, found)
    return Words(sentence, facts, notes, "well supported" if known else "no error bars")


def moves(bodies: Sequence[Body]) -> str:
    """Return how far the bodies turn that turn most."""
    moving = [body for body in bodies if body.motion is not None]
    if len(bodies) == 2 and moving and moving[0].motion:
        hinge = ", as on a hinge" if moving[0].motion.kind == "hinge" else ""
        return f"One turns by {moving[0].angle:.0f}° against the other{hinge}."
    most = sorted(moving, key=lambda body: -np.nan_to_num(body.angle))[:3]
    turns = [
        f"{main(body)} {'turns ' * (not k)}by {body.angle:.0f}°" for k, body in enumerate(most)
    ]
    return f"{', '.join(turns)} against the core."


def main(body: Body) -> str:
    """Return the longest stretch of a body, gaps of few sites bridged: "A 116-164"."""
    parts = [part.split("-") for part in body.members.split("; ")[0].split(", ")]
    chain, _, first = parts[0][0].rpartition(" ")
    parts[0][0] = first
    if not all(end.isdigit() for part in parts for end in part):
        return f"body {body.name}"
    stretches = [[int(part[0]), int(part[-1])] for part in parts[:1]]
    for part in parts[1:]:
        if int(part[0]) - stretches[-1][1] <= _BRIDGED:
            stretches[-1][1] = int(part[-1])
        else:
            stretches.append([int(part[0]), int(part[-1])])
    first_site, last_site = max(stretches, key=lambda ends: ends[1] - ends[0])
    return f"{chain} {first_site}-{last_site}".strip()


def _angles(bodies: Sequence[Body]) -> str:
    """Angles of the moving bodies of a chain against its own core."""
    return listed([f"{body.angle:.0f}°" for body in bodies[1:]])


def _chains_alike(analysis: Analysis) -> dict[str, list[Body]]:
    """Bodies of each chain, where there are several chains of as many bodies each."""
    found: dict[str, list[Body]] = {}
    for body in analysis.bodies:
        found.setdefault(body.chain, []).append(body)
    same = len({len(own) for own in found.values()}) == 1 and len(found) > 1
    return dict(sorted(found.items())) if same else {}


def _members(analysis: Analysis, alike: dict[str, list[Body]]) -> Fact:
    if alike:
        chains = (
            " | ".join(main_runs(analysis, body, 1) for body in own) for own in alike.values()
        )
        text = ";  ".join(chains)
        for chain in alike:
            text = text.replace(f"| {chain} ", "| ")
        return Fact("bodies", text)
    short = 1
    while True:
        text = " · ".join(f"{b.name}: {main_runs(analysis, b, short)}" for b in analysis.bodies)
        if len(text) <= _WIDE or short > 2 * _SHORT:
            return Fact("bodies", text)
        short += _SHORT - 1


def main_runs(analysis: Analysis, body: Body, short: int) -> str:
    """Return the stretches of a body, and how many sites of shorter ones there are: "(+2)"."""
    atoms = analysis.shown_atoms
    kept = [k for k in tables.ranges(atoms, body.sites) if k[1] - k[0] + 1 >= short]
    sites = [site for first, last in kept for site in range(first, last + 1)]
    rest = len(body.sites) - len(sites)
    return tables.runs(atoms, sites) + (f" (+{rest})" if rest else "")


def _fit(analysis: Analysis, found: Evidence, alike: dict[str, list[Body]]) -> Fact | None:
    """The rms fit of the bodies that were chosen, beside that of one and of other numbers."""
    if found.bodies is None:
        return None
    unit, bodies = analysis.system.unit, found.bodies
    if alike:
        own = np.array([[len(b.sites), b.fit] for chain in alike.values() for b in chain])
        each = float(np.sqrt((own[:, 0] * own[:, 1] ** 2).sum() / own[:, 0].sum()))
        if np.isnan(each):
            return None
        chains = analysis.shown_atoms.chains
        whole = [
            f"{value(analysis.fit(np.flatnonzero(chains == chain)), unit)} ({chain})"
            for chain in alike
        ]
        return Fact("fit", f"{value(each, unit)} rms in each chain; as one body {listed(whole)}")
    n, fits = bodies.n, bodies.fit
    others = [k for k in sorted({1, n - 1, n + 1}) if 0 < k <= len(fits) and k != n]
    known = [f"{value(fits[k - 1], unit)} as {number(k)}" for k in others if fits[k - 1] >= 0]
    return Fact("fit", f"{value(fits[n - 1], unit)} rms as {number(n)} bodies; {', '.join(known)}")


def _separation(found: Evidence, alike: dict[str, list[Body]]) -> Fact | None:
    if found.bodies is None:
        return None
    both = " in all chains" if len(alike) > 2 else " in both chains" if alike else ""
    ratio, share = times(np.sqrt(found.bodies.gap)), found.bodies.explained
    explained = "" if both or np.isnan(share) else f"; {percent(share)} of motion"
    return Fact(
        "separation",
        f"bodies move {ratio} as far as parts within them{both} ({_needed()}){explained}",
    )


def _needed() -> str:
    return f"{np.floor(10 * np.sqrt(GAP)) / 10:.1f}× needed"


def _halves(found: Evidence) -> Fact | None:
    if found.bodies is None or np.isnan(found.bodies.agreement):
        return None
    same = f"agreement {found.bodies.agreement:.2f} of 1"
    what = "the same bodies" if found.bodies.agreement >= AGREEMENT else "other bodies"
    return Fact("support", f"{what} in both alternating halves of the frames ({same})")


def _packing(analysis: Analysis, alike: dict[str, list[Body]]) -> list[str]:
    """How the chains move against one another, where each has bodies of its own."""
    cores = [own[0] for own in alike.values()] if len(analysis.bodies) > len(alike) else []
    apart = [body.motion for body in cores if body.motion is not None]
    if not apart or np.isnan(apart[0].range):
        return []
    far = value(float(np.ptp(apart[0].shifts)) if len(apart[0].frames) < 3 else apart[0].move)
    what = ": crystal packing, not counted as motion" * (analysis.system.n_snapshots == 2)
    shift = f"{apart[0].range:.0f}°, {float(far):.0f} {unit_label(analysis.system.unit)}".rstrip()
    return [f"the chains also shift against each other ({shift}){what}."]


def _sampling_notes(analysis: Analysis, found: Evidence) -> list[str]:
    if found.n_snapshots == 2:
        return ["two structures say what differs, not how surely: no error bars."]
    if found.independent and len(analysis.made.sources) <= 1:
        return [
            "NMR models show where restraints fix the structure, not how far it moves thermally."
        ]
    if found.n_independent < FEW_SAMPLES:
        few = ": one passage between two states" * (found.n_independent < 2)
        return [f"{samples(found.n_independent)}{few}. A second run may differ."]
    return []


def _one_body(analysis: Analysis, found: Evidence) -> Words:
    motion, n = analysis.motion, found.n_sites
    loose = [] if motion is None else motion.bodies.unassigned.tolist()
    what = noun(analysis, n)
    over = f"over {found.n_snapshots or 0:,} snapshots"
    if found.independent:
        models = "NMR models" if len(analysis.made.sources) <= 1 else "structures"
        over = f"in all {found.n_snapshots} {models}"
    who = (
        f"{n - len(loose):,} of {n:,} {what} keep their shape"
        if loose
        else f"All {n:,} {what} move together"
    )
    ends = f"; loose ends: {tables.runs(analysis.shown_atoms, loose)}" if loose else ""
    fit = f"{value(found.bodies.fit[0], analysis.system.unit)} rms" if found.bodies else ""
    facts = [
        Fact("fit", f"{fit} within the body{ends}" if loose else f"{fit} {over}"),
        _split(analysis, found),
        _stiffest(analysis),
        _hierarchy(analysis, found),
        _sampling(found),
    ]
    notes = [] if found.n_independent < FEW_SAMPLES else _sampling_notes(analysis, found)
    if found.n_snapshots == 2:
        notes = _sampling_notes(analysis, found)
    sentence = f"one rigid body. {who} {over}; no domain moves."
    return Words(
        sentence, facts, notes, "no error bars" if found.n_snapshots == 2 else "well supported"
    )


def _flexible(analysis: Analysis, found: Evidence) -> Words:
    fit = value(found.bodies.fit[0], analysis.system.unit) if found.bodies else ""
    limit = value(found.bodies.fit_limit, analysis.system.unit) if found.bodies else ""
    facts = [
        Fact("fit", f"{fit} rms as one body; a rigid one has at most {limit}"),
        _split(analysis, found),
        _stiffest(analysis),
        _hierarchy(analysis, found),
        _sampling(found),
    ]
    sure: Sure = "no error bars" if found.n_snapshots == 2 else ""
    notes = _sampling_notes(analysis, found) if found.n_snapshots == 2 else []
    return Words("no rigid body: flexible throughout.", facts, notes, sure)


def _undecided(analysis: Analysis, found: Evidence) -> Words:
    bodies, unit = found.bodies, analysis.system.unit
    if bodies is None:
        return _none(analysis, found)
    best = number(bodies.candidate)
    few = f"{found.n_snapshots} snapshots are too few to tell one body from {best}."
    halves = f"{number(min(bodies.counts, default=1))} and {number(max(bodies.counts, default=1))}"
    if bodies.n > 1:
        agreed = f"{bodies.agreement:.2f} of 1, {AGREEMENT} needed"
        few = f"Both halves of the data do not have the same {best} bodies ({agreed})."
    elif max(bodies.counts, default=1) > 1:
        few = f"The halves of the data have {halves} bodies, the whole one."
    fits = [
        f"{value(bodies.fit[k - 1], unit)}{' rms' * (k == 1)} as {number(k)}{' body' * (k == 1)}"
        for k in sorted({1, bodies.candidate})
        if k <= len(bodies.fit)
    ]
    enough = f"; {FEW_SAMPLES:.0f} or more usually decide"
    known = not np.isnan(found.n_independent)
    facts = [
        Fact("fit", ", ".join(fits)),
        _candidate(analysis, found),
        Fact("sampling", samples(found.n_independent) + enough) if known else None,
        _hierarchy(analysis, found),
    ]
    notes = _sampling_notes(analysis, found) if found.n_snapshots == 2 else []
    return Words(f"not established. {few}", facts, notes, "not established")


def _parts(analysis: Analysis, *, rest: bool) -> str:
    """Bodies of the best candidate; the largest as "rest" where it need not be spelled out."""
    level = made_of.candidate(analysis)
    if level is None:
        return ""
    atoms = analysis.shown_atoms
    names = [tables.runs(atoms, np.flatnonzero(level.labels == k)) for k in range(level.n_bodies)]
    return " | ".join([*names[1:], "rest"] if rest else names)


def _candidate(analysis: Analysis, found: Evidence) -> Fact | None:
    if found.bodies is None or np.isnan(found.bodies.candidate_gap):
        return None
    ratio = times(np.sqrt(found.bodies.candidate_gap))
    parts = _parts(analysis, rest=False)
    return Fact("candidate", f"{parts}: they move {ratio} as far as parts within them; {_needed()}")


def _split(analysis: Analysis, found: Evidence) -> Fact | None:
    """Why the best candidate was not chosen."""
    bodies = found.bodies
    if bodies is None or np.isnan(bodies.candidate_gap):
        return None
    parts = f"the best {number(bodies.candidate)} parts ({_parts(analysis, rest=True)})"
    far = f"move {times(np.sqrt(bodies.candidate_gap))} as far as parts within them"
    if bodies.bends and bodies.candidate_gap >= GAP:
        return Fact("split?", f"no: it bends evenly, not as on a hinge; {parts} {far}")
    return Fact("split?", f"no: {parts} {far}; {_needed()}")


def _stiffest(analysis: Analysis) -> Fact | None:
    """The largest well supported clusters within a body."""
    judged, unit = analysis.confidence, analysis.hierarchy.unit
    found = (
        []
        if judged is None
        else [r for r in judged.trusted if 2 * r.size < len(judged.tree.owners)]
    )
    some = found[:2]
    if not some:
        return None
    names = [
        f"{tables.runs(analysis.shown_atoms, record.sites)} ({support}{percent(record.support)})"
        for record, support in zip(some, ("support ", ""), strict=False)
    ]
    apart = [record.separation for record in some if record.separation is not None]
    inside, across = (
        float(np.median([getattr(each, x) for each in apart])) for x in ("inside", "across")
    )
    compared = f"±{sigma(inside, unit)} inside, ±{sigma(across, unit)} against the rest"
    return Fact("stiffest", f"{', '.join(names)}: {compared}")


def _hierarchy(analysis: Analysis, found: Evidence) -> Fact | None:
    """Level worth a look beside bodies; else where half, and nearly all, of the sites join."""
    tree, size = analysis.hierarchy, found.min_size
    levels = () if analysis.confidence is None else analysis.confidence.silhouettes.standing_out
    if levels and found.bodies is not None and found.bodies.n > 1:
        sizes = [s for s in tree.cut(levels[0].cutoff).sizes.tolist() if s >= size]
        if len(sizes) > 1:
            where = f"at {_cutoff(analysis, levels[0].cutoff)}"
            some = listed([*map(str, sizes[:4]), *["…"] * (len(sizes) > 4)])
            clusters = f"{number(len(sizes))} clusters of {some} {noun(analysis)}"
            return Fact("hierarchy", f"{where} {clusters}; σ joins bodies through hinges")
    if found.n_snapshots == 2:
        return None
    counted = count_clusters(tree, large=size, sizes=())
    places = [
        np.flatnonzero(c >= x)
        for c, x in ((counted.large_fraction, 0.5), (counted.largest_fraction, 0.95))
    ]
    if not all(len(place) for place in places):
        return None
    half, most = (float(counted.cutoffs[place[0]]) for place in places)
    if 0 < half < most < half * np.exp(PLATEAU):
        low, high = value(half), value(most, tree.unit)
        factor = f"a factor of {most / half:.1f}: no scale stands out"
        forms = f"forms between {tree.quantity.cutoff} = {low} and {high}"
        return Fact("hierarchy", f"{forms}, {factor}")
    joins = f"at {_cutoff(analysis, half)}, 95 % in one at {value(most, tree.unit)}"
    return Fact("hierarchy", f"half of the {noun(analysis)} in clusters of ≥ {size} {joins}")


def _cutoff(analysis: Analysis, x: float) -> str:
    tree = analysis.hierarchy
    return f"{tree.quantity.cutoff} = {value(x, tree.unit)}"


def _sampling(found: Evidence) -> Fact | None:
    if found.independent or np.isnan(found.n_independent):
        return None
    enough = f"; {_ENOUGH} are enough for exact cutoffs" * (found.n_independent < _ENOUGH)
    return Fact("sampling", f"{samples(found.n_independent)} of the slowest motion{enough}")


# ---- particles, groups and matrices --------------------------------------------------------


def _none(analysis: Analysis, found: Evidence) -> Words:
    return Words("no lasting clusters.", [_hierarchy(analysis, found), _sampling(found)])


WORDS: dict[str, Callable[[Analysis, Evidence], Words]] = {
    "bodies": _bodies,
    "one body": _one_body,
    "flexible": _flexible,
    "undecided": _undecided,
    "groups": _none,
    "network": _none,
    "none": _none,
}
