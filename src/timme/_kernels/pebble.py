"""The pebble game on bodies and bars: which bars are independent, and which bodies rigid; blocks.

Every body has six pebbles, its degrees of freedom. An independent bar is covered by a pebble of one
of its ends; ``pebbles[body, k]`` is the body at the other end of the bar that the k-th pebble
covers, or ``FREE``. A free pebble is fetched along covered bars, each of which is then covered from
its other end. A bar is independent if seven pebbles can be gathered on its two ends.

Bodies from which no other pebble can be reached are rigid with one another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from timme._kernels import compiled
from timme._kernels.linkage import find

Ints = npt.NDArray[np.int64]
PEBBLES = 6
FREE = -1
NOWHERE = -3  # a verdict that no cluster has, nor that after it
SEARCHES, LISTED, JOINS = 0, 1, 2  # entries of counts


class Game(NamedTuple):
    """The state of a game.

    A cluster is known by its leader, which is dangling only if all its bodies are.
    """

    pebbles: Ints  # (bodies, 6)
    clusters: Ints  # (bodies,), bodies that are rigid with one another, as a union–find
    following: Ints  # (bodies,), the next body of the same cluster, in a circle
    sizes: Ints  # (bodies,), of the cluster of a leader, dangling bodies not counted
    verdicts: Ints  # (bodies,), of a leader: whether its cluster joins others
    reached: Ints  # (bodies,), the last search that reached a body
    origins: Ints  # (bodies,), from which body it did
    walk: Ints  # (bodies + 1,), those of the last search, in order
    listed: Ints  # (bodies,), bodies of the clusters that join
    joins: Ints  # (bodies, 3), leaders of two clusters that joined, and the bond that did it
    counts: Ints  # (3,)


@compiled
def _place(pebbles, body, end):
    """Place of a pebble of a body that covers a bar to an end, or is FREE; -1 if it has none."""
    for k in range(PEBBLES):
        if pebbles[body, k] == end:
            return k
    return -1


@compiled
def _search(game, start, held, inside):
    """Walk from a body along covered bars until a body with a free pebble is found.

    ``held``, the body whose pebbles must stay, is not entered, nor are clusters with the verdict
    ``inside``. Those with the verdict after it are known to reach a pebble. Returns the body found,
    -1 if there is none, and the number of bodies that ``game.walk`` lists.
    """
    pebbles, reached, walk = game.pebbles, game.reached, game.walk
    game.counts[SEARCHES] += 1
    stamp = game.counts[SEARCHES]
    reached[start] = stamp
    reached[held] = stamp
    walk[0] = start
    n_reached, n_done = 1, 0
    while n_done < n_reached:
        body = walk[n_done]
        n_done += 1
        for k in range(PEBBLES):
            other = pebbles[body, k]
            if other == FREE or reached[other] == stamp:
                continue
            reached[other] = stamp
            verdict = game.verdicts[find(game.clusters, other)]
            if verdict == inside:
                continue
            game.origins[other] = body
            if verdict == inside + 1 or _place(pebbles, other, FREE) >= 0:
                return other, n_reached
            walk[n_reached] = other
            n_reached += 1
    return -1, n_reached


@compiled
def _gather(game, body, needed, held):
    """Gather free pebbles on a body, as many as are needed or can be reached.

    Returns their number, and how many bodies ``game.walk`` lists: where there are fewer than were
    needed, all that can be reached from the body.
    """
    pebbles = game.pebbles
    count = 0
    for k in range(PEBBLES):
        count += pebbles[body, k] == FREE
    while count < min(needed, PEBBLES):
        found, n_reached = _search(game, body, held, NOWHERE)
        if found < 0:
            return count, n_reached
        while found != body:  # bring the pebble along the path, each bar covered from its other end
            before = game.origins[found]
            pebbles[found, _place(pebbles, found, FREE)] = before
            pebbles[before, _place(pebbles, before, found)] = FREE
            found = before
        count += 1
    game.walk[0] = body  # with six free pebbles it leads nowhere
    return count, 1


@compiled
def _add_bars(game, a, b, bars):
    """Add bars between two bodies.

    Returns the number of independent bars, and how many bodies, listed in ``game.walk``, are the
    least that hold the two rigid; 0 if they still move against one another.

    Bodies 0, 1 and 2 in a ring, six pebbles each, five bars to a bond (free pebbles in brackets):
    0-1: 0 holds 6, 1 has 6 to spare; 5 of them cover the bars (6, 1, 6): 6 > 5, so it is a hinge.
    1-2: 1 fetches 5 from 0, which covers these bars now, and holds 6; 2 gives 5 (1, 6, 1): a hinge.
    2-0: 2 fetches 5 from 1 and holds 6, 0 fetches the last of 1: it has 2 to spare (2, 0, 6).
    So 2 of the 5 bars are independent and 3 redundant, and 0 and 2 are rigid: the search for a
    third pebble walked from 0 to 1 and found none, so that the bodies listed are 0, 1 and, held, 2.
    """
    _gather(game, a, PEBBLES, a)
    spare, n_reached = _gather(game, b, bars + 1, a)
    independent = min(bars, spare)
    for _ in range(independent):
        game.pebbles[b, _place(game.pebbles, b, FREE)] = a
    if spare > bars:
        return independent, 0
    game.walk[n_reached] = a
    return independent, n_reached + 1


@compiled
def _stress(game, bond, n_reached, bonds, stress):
    """Put a redundant bond and the bonds that hold its ends rigid into one region.

    ``game.walk`` lists the bodies of these bonds. ``stress`` joins bonds into regions.
    """
    starts, others, numbers = bonds
    game.counts[SEARCHES] += 1
    stamp = game.counts[SEARCHES]
    for k in range(n_reached):
        game.reached[game.walk[k]] = stamp
    for k in range(n_reached):
        body = game.walk[k]
        for entry in range(starts[body], starts[body + 1]):
            number = numbers[entry]
            if number < bond and game.reached[others[entry]] == stamp:
                stress[find(stress, number)] = find(stress, bond)


@compiled
def _take(game, body, leader, inside, bond):
    """Join the cluster of a body to that of a leader (-1 for the first); return the new leader.

    The bodies of the smaller cluster are listed. In the ring of ``_add_bars``, 0 is the first and
    leads; 1 joins it, and the circle of ``following`` is 0 → 1 → 0; 2 joins them: 0 → 2 → 1 → 0.
    """
    other = find(game.clusters, body)
    if game.verdicts[other] == inside:
        return leader
    game.verdicts[other] = inside
    if leader < 0:
        return other
    if game.sizes[other] > game.sizes[leader]:
        leader, other = other, leader
    body = other
    while True:
        game.listed[game.counts[LISTED]] = body
        game.counts[LISTED] += 1
        body = game.following[body]
        if body == other:
            break
    if game.sizes[other] > 0:
        for k, joined in enumerate((leader, other, bond)):
            game.joins[game.counts[JOINS], k] = joined
        game.counts[JOINS] += 1
    game.clusters[other] = leader
    game.sizes[leader] += game.sizes[other]
    after = game.following[leader]
    game.following[leader] = game.following[other]
    game.following[other] = after
    return leader


@compiled
def _grow(game, bond, n_reached, bonds):
    """Join the clusters that one more bond makes rigid with one another.

    ``game.walk`` lists bodies that are rigid with its ends. What else is, reaches no pebble but
    theirs. Of the clusters that join, all but the largest are looked around: whatever has bars to
    the largest alone would have been rigid with it before.

    In the ring of ``_add_bars`` the walk is 0, 1, 2, of which ``_take`` lists 1 and 2, and around
    these there are only bodies that are inside. Were 1 bonded to a body 3 as well, which bears
    others, a search would start from 3: it finds a pebble that is not theirs, so that 3 moves
    against the ring. Had it found none, all that it reached would be taken and looked around.
    """
    starts, others, numbers = bonds
    game.counts[LISTED] = 0
    game.counts[SEARCHES] += 1
    inside = 2 * game.counts[SEARCHES]
    leader = -1
    for k in range(n_reached):
        leader = _take(game, game.walk[k], leader, inside, bond)
    n_done = 0
    while n_done < game.counts[LISTED]:
        member = game.listed[n_done]
        n_done += 1
        for entry in range(starts[member], starts[member + 1]):
            start = others[entry]
            cluster = find(game.clusters, start)
            if numbers[entry] > bond or game.verdicts[cluster] in (inside, inside + 1):
                continue
            found = start
            if _place(game.pebbles, start, FREE) < 0:
                found, n_reached = _search(game, start, start, inside)
            if found < 0:
                for k in range(n_reached):
                    leader = _take(game, game.walk[k], leader, inside, bond)
                continue
            while found != start:
                game.verdicts[find(game.clusters, found)] = inside + 1
                found = game.origins[found]
            game.verdicts[cluster] = inside + 1


@compiled
def play(ends, bars, bonds, dangling):
    """Add bonds one after another; return what is independent, stressed and rigid, and the joins.

    ``bonds`` are the first entry of each body, then other ends and numbers of bonds. Of each bond,
    the number of independent bars is returned, and some bond of the same region of stress, itself
    if there is no other; of each body, some body of the same cluster. Each of the joins (joins, 3)
    names two bodies whose clusters become one, and the bond that does it; ``dangling`` bodies join
    nothing.
    """
    n_bodies = len(dangling)
    game = Game(
        pebbles=np.full((n_bodies, PEBBLES), FREE),
        clusters=np.arange(n_bodies),
        following=np.arange(n_bodies),
        sizes=np.where(dangling, 0, 1),
        verdicts=np.full(n_bodies, -1),
        reached=np.zeros(n_bodies, np.int64),
        origins=np.empty(n_bodies, np.int64),
        walk=np.empty(n_bodies + 1, np.int64),
        listed=np.empty(n_bodies, np.int64),
        joins=np.empty((n_bodies, 3), np.int64),
        counts=np.zeros(3, np.int64),
    )
    independent = np.empty(len(ends), np.int64)
    stress = np.arange(len(ends))
    for bond in range(len(ends)):
        independent[bond], n_reached = _add_bars(game, ends[bond, 0], ends[bond, 1], bars[bond])
        if independent[bond] < bars[bond]:
            _stress(game, bond, n_reached, bonds, stress)
        if n_reached > 0:
            _grow(game, bond, n_reached, bonds)
    for body in range(n_bodies):
        game.clusters[body] = find(game.clusters, body)
    for bond in range(len(ends)):
        stress[bond] = find(stress, bond)
    return independent, stress, game.clusters, game.joins[: game.counts[JOINS]]


@compiled
def blocks(starts, partners, numbers):
    """Return the block of each edge: some edge of those that are on cycles with one another.

    Row k of ``partners`` and ``numbers``, from ``starts[k]`` on, holds the other ends and the
    numbers of the edges of node k. Nodes are ranked by a walk in breadth, which enters each by an
    edge from a node before it. Every other edge closes one cycle with these; cycles that share an
    edge share a block, and no other cycles are needed (blocks are the components of a matroid).
    Parallel edges share a block, a loop is on no cycle with others.
    """
    n_nodes = len(starts) - 1
    ranks = np.full(n_nodes, -1)
    queue, parents, entered = np.empty((3, n_nodes), np.int64)
    block = np.arange(len(numbers) // 2)
    n_queued, n_done = 0, 0
    for root in range(n_nodes):
        if ranks[root] < 0:
            queue[n_queued] = root
            ranks[root] = n_queued
            n_queued += 1
        while n_done < n_queued:
            node = queue[n_done]
            n_done += 1
            for entry in range(starts[node], starts[node + 1]):
                one, other, edge = node, partners[entry], numbers[entry]
                if ranks[other] < 0:
                    queue[n_queued] = other
                    ranks[other] = n_queued
                    n_queued += 1
                    parents[other] = node
                    entered[other] = edge
                while one != other:  # climb from the ends to where the paths meet
                    if ranks[one] < ranks[other]:
                        one, other = other, one
                    block[find(block, entered[one])] = find(block, edge)
                    one = parents[one]
    for edge in range(len(block)):
        block[edge] = find(block, edge)
    return block
