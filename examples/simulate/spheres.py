"""Simulate attracting spheres between two plates, as in section B of the paper."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from brownian import advance, strength_for
from runs import CHECKPOINT, describe, last_checkpoint, options, record, write
from tqdm import tqdm

DIAMETER = 1.3  # µm
NOISE = np.array([0.03, 0.03, 0.05])  # µm, localization error of confocal microscopy, along x, y, z
BLOCK = 5_000  # steps between checkpoints
ARRESTED = 0.3  # diameters: spheres that move less from the first to the last snapshot
TOUCHING = 1.1  # diameters between centres, the range of the attraction


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings; lengths in diameters, energies in k_B T, times in d²/D."""

    spheres: int = 991
    snapshots: int = 46
    packing: float = 0.2
    height: float = 10.0  # between the plates
    reach: float = 0.1  # of the attraction
    quench: tuple[tuple[float, float], ...] = ((4.0, 6.0), (3.4, 12.0))  # depths and durations
    depth: float = 2.9  # of the attraction afterwards
    age: float = 3.0  # from the end of the quench to the first snapshot
    interval: float = 0.0045  # between snapshots
    step: float = 1e-5

    @property
    def width(self) -> float:
        """Width of the box along x and y."""
        return float(np.sqrt(self.spheres * np.pi / 6 / self.packing / self.height))


# A packing as in the experiment, with an attraction of order k_B T: spheres are not arrested.
FLUID = Plan(
    packing=0.42,
    height=12.0,
    quench=((1.5, 1.0),),
    depth=1.5,
    age=1.0,
    interval=0.010,
)


def main(arguments: list[str]) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--fluid", action="store_true", help="simulate a dense fluid instead of a gel"
    )
    chosen = parser.parse_args(arguments)
    plan = FLUID if chosen.fluid else Plan()
    if chosen.short:
        quench = tuple((depth, 0.05) for depth, _ in plan.quench)
        plan = replace(plan, spheres=90, snapshots=6, height=6.0, quench=quench, age=0.1)
    settings = {"seed": chosen.seed, "short": chosen.short, "plan": asdict(plan)}
    record(chosen.folder, settings, ("numpy", "numba"))
    frames = simulate(plan, chosen.seed, chosen.folder)
    name = "spheres_fluid" if chosen.fluid else "spheres"
    finish(plan, chosen.seed, chosen.folder / name, frames)


def simulate(plan: Plan, seed: int, folder: Path) -> np.ndarray:
    """Run all blocks, from the last checkpoint if there is one; return snapshots in diameters."""
    blocks = list(divide(plan))
    kept = last_checkpoint(folder) or {"done": 0, "places": start(plan, seed), "frames": []}
    done, places, frames = int(kept["done"]), kept["places"], list(kept["frames"])
    steps = [n for _, n, _ in blocks]
    with tqdm(total=sum(steps), initial=sum(steps[:done]), unit="step") as bar:
        for number, (depth, n_steps, ends_at_snapshot) in enumerate(blocks[done:], start=done):
            own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            strength = strength_for(depth, plan.reach)
            room = plan.width, plan.height
            advance(places, *room, strength, plan.reach, plan.step, n_steps, own)
            if ends_at_snapshot:
                frames.append(places.copy())
            write(folder / CHECKPOINT, done=number + 1, places=places, frames=np.array(frames))
            bar.update(n_steps)
    return np.array(frames)


def divide(plan: Plan) -> Iterator[tuple[float, int, bool]]:
    """Yield depth, number of steps, and whether a snapshot follows, for each block."""
    stages = [(depth, time, False) for depth, time in plan.quench]
    stages += [(plan.depth, plan.age, True)]
    stages += [(plan.depth, plan.interval, True)] * (plan.snapshots - 1)
    for depth, time, seen in stages:
        steps = round(time / plan.step)
        for first in range(0, steps, BLOCK):
            yield depth, min(BLOCK, steps - first), seen and first + BLOCK >= steps


def start(plan: Plan, seed: int) -> np.ndarray:
    """Draw places at random from a grid of one diameter that fills the box."""
    edges = np.array([plan.width, plan.width, plan.height])
    numbers = edges.astype(int)
    cells = np.column_stack(np.unravel_index(np.arange(numbers.prod()), numbers))
    if len(cells) < plan.spheres:
        raise SystemExit(
            f"{plan.spheres} spheres do not fit into {len(cells)} cells: lower the packing"
        )
    chosen = np.random.default_rng([seed, 0]).permutation(len(cells))[: plan.spheres]
    return (cells[chosen] + 0.5) * edges / numbers


def finish(plan: Plan, seed: int, path: Path, frames: np.ndarray) -> None:
    """Write the snapshots in µm, without and with localization error."""
    box = DIAMETER * np.array([plan.width, plan.width, 0.0])  # open between the plates
    times = plan.interval * np.arange(len(frames))
    noise = np.random.default_rng([seed, 1]).normal(0.0, NOISE, frames.shape)
    seen = {
        f"{path.name}.npz": DIAMETER * frames,
        f"{path.name}_noisy.npz": DIAMETER * frames + noise,
    }
    for name, positions in seen.items():
        positions[..., :2] %= box[:2]
        write(path.parent / name, positions=positions.astype(np.float32), box=box, times=times)
    describe(path, "spheres.py", list(seen), measure(plan, frames))
    draw(path, np.log10(displacements(frames)))


def measure(plan: Plan, frames: np.ndarray) -> dict[str, Any]:
    """Measure the run, in diameters."""
    lengths = nearest_lengths(plan, frames)
    steps = np.linalg.norm(np.diff(frames, axis=0), axis=2)
    return {
        "shortest_distance": float(lengths.min()),
        "longest_step_between_snapshots": float(steps.max()),
        "nearest_to_a_wall": float(min(frames[..., 2].min(), plan.height - frames[..., 2].max())),
        "log_displacements": two_modes(np.log(displacements(frames))),
        "arrested": network(plan, frames[0][displacements(frames) < ARRESTED]),
    }


def network(plan: Plan, places: np.ndarray) -> dict[str, Any]:
    """Measure the network of arrested spheres, and the space that it fills."""
    apart = vectors(places, places, plan.width)
    touching = np.linalg.norm(apart, axis=2) < TOUCHING
    members, spans = largest_piece(apart, touching, plan.width)
    points = np.random.default_rng(0).uniform(0, 1, (5_000, 3))
    points = [0, 0, 0.5] + points * [plan.width, plan.width, plan.height - 1]
    near = np.linalg.norm(vectors(points, places, plan.width), axis=2) < TOUCHING
    return {
        "spheres": len(places),
        "largest_piece": members,
        "spans_along_x_and_y": spans,
        "neighbours": float(touching.sum() - len(places)) / max(len(places), 1),
        "share_of_the_room_near_one": float(near.any(axis=1).mean()),
    }


def largest_piece(apart: np.ndarray, touching: np.ndarray, width: float) -> tuple[int, list[bool]]:
    """Size of the largest piece of touching spheres, and whether it spans the box along x and y.

    A piece is followed from sphere to sphere across the faces of the box. It spans the box where
    it reaches a sphere again, displaced by a box.
    """
    seen, met = np.zeros(len(apart), bool), np.zeros((len(apart), 3))
    largest, spans = 0, [False, False]
    for first in range(len(apart)):
        if seen[first]:
            continue
        seen[first], waiting, members, far = True, [first], 0, np.zeros(2)
        while waiting:
            i, members = waiting.pop(), members + 1
            for j in np.flatnonzero(touching[i]):
                place = met[i] + apart[i, j]
                if not seen[j]:
                    seen[j], met[j] = True, place
                    waiting.append(j)
                far = np.maximum(far, np.abs(place - met[j])[:2])
        if members > largest:
            largest, spans = members, (far > width / 2).tolist()
    return largest, spans


def vectors(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    """Vectors from each point of the first to the nearest image of each of the second."""
    apart = second - first[:, None]
    apart[..., :2] -= width * np.rint(apart[..., :2] / width)
    return apart


def draw(path: Path, moved: np.ndarray) -> None:
    """Draw the distribution of displacements with its two Gaussians."""
    import matplotlib.pyplot as plt

    modes, width = two_modes(moved), 0.08
    places = np.arange(moved.min() - 0.2, moved.max() + 0.2, width)
    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    axes.hist(moved, places, color="0.8")
    for mean, spread, share in zip(modes["means"], modes["spreads"], modes["shares"], strict=True):
        height = share * len(moved) * width / (spread * np.sqrt(2 * np.pi))
        axes.plot(places, height * np.exp(-(((places - mean) / spread) ** 2) / 2))
    axes.set(xlabel="log₁₀ of displacement / diameter", ylabel="Spheres")
    axes.set_title(f"Ashman's D = {modes['ashman_d']:.1f}")
    figure.savefig(path.with_name(f"{path.name}_displacements.png"), dpi=150)
    plt.close(figure)


def nearest_lengths(plan: Plan, frames: np.ndarray) -> np.ndarray:
    """Distance of each sphere to the nearest other, in every snapshot."""
    lengths = []
    for frame in frames:
        distances = np.linalg.norm(vectors(frame, frame, plan.width), axis=2)
        np.fill_diagonal(distances, np.inf)
        lengths.append(distances.min(axis=1))
    return np.array(lengths)


def displacements(frames: np.ndarray) -> np.ndarray:
    """Displacement of each sphere from the first snapshot to the last."""
    return np.linalg.norm(frames[-1] - frames[0], axis=1)


def two_modes(values: np.ndarray) -> dict[str, list[float] | float]:
    """Fit two Gaussians by expectation maximisation, with Ashman's D.

    D = √2 |μ₁ - μ₂| / √(s₁² + s₂²) exceeds 2 where two modes are clearly separate.
    """
    means, spreads, shares = np.quantile(values, [0.2, 0.9]), np.full(2, values.std() / 2), 0.5
    for _ in range(1_000):
        heights = shares * np.exp(-(((values[:, None] - means) / spreads) ** 2) / 2) / spreads
        weights = heights / heights.sum(axis=1, keepdims=True)
        shares = weights.mean(axis=0)
        means = (weights * values[:, None]).sum(axis=0) / weights.sum(axis=0)
        squares = (weights * (values[:, None] - means) ** 2).sum(axis=0)
        spreads = np.sqrt(squares / weights.sum(axis=0)) + 1e-6
    apart = np.sqrt(2) * abs(means[0] - means[1]) / np.hypot(*spreads)
    return {
        "ashman_d": float(apart),
        "means": means.tolist(),
        "spreads": spreads.tolist(),
        "shares": np.broadcast_to(shares, 2).tolist(),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
