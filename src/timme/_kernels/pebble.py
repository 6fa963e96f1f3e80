"""The pebble game on bodies and bars: which bars are independent, and which bodies rigid; blocks.

Every body has six pebbles, its degrees of freedom. An independent bar is covered by a pebble of one
of its ends; ``pebbles[body, k]`` is the body at the other end of the bar that the k-th pebble
covers, or ``FREE``. A free pebble is fetched along covered bars, each of which is then covered from
its other end. A bar is independent if seven pebbles can be gathered on its two ends.

Bodies from which no other pebble can be reached are rigid with one another. Where they are stressed
as well, a hub takes the place of the bars between them: one more node, with six bars to each of
them. Which bars are independent and what is stressed remains the same, and a search steps through
the hub instead of walking through the whole region. Where regions merge, the hub of one takes the
others in as it does bodies.
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
SEARCHES, HUBS, LISTED, JOINS = 0, 1, 2, 3  # entries of counts


class Game(NamedTuple):
    """The state of a game. Nodes are bodies, and hubs after them.

    A cluster is known by its leader, which is dangling only if all its bodies are.
    """

    pebbles: Ints  # (nodes, 6)
    regions: Ints  # (nodes,), a stressed bond of each hub
    clusters: Ints  # (nodes,), nodes that are rigid with one another, as a union–find
    following: Ints  # (bodies,), the next body of the same cluster, in a circle
    sizes: Ints  # (bodies,), of the cluster of a leader, dangling bodies not counted
    verdicts: Ints  # (nodes,), of a leader: whether its cluster joins others
    reached: Ints  # (nodes,), the last search that reached a node
    origins: Ints  # (nodes,), from which node it did
    walk: Ints  # (nodes + 1,), the nodes of the last search, in order
    listed: Ints  # (bodies,), bodies of the clusters that join
    joins: Ints  # (bodies, 3), leaders of two clusters that joined, and the bond that did it
    counts: Ints  # (4,)


@compiled
def _new_game(dangling):
    """Set up bodies without bars. ``dangling`` ones do not take part in joins."""
    n_bodies = len(dangling)
    # A hub takes the place of at least six independent bars, and bodies have no more than six each.
    n_nodes = 2 * n_bodies
    return Game(
        pebbles=np.full((n_nodes, PEBBLES), FREE),
        regions=np.full(n_nodes, -1),
        clusters=np.arange(n_nodes),
        following=np.arange(n_bodies),
        sizes=np.where(dangling, 0, 1),
        verdicts=np.full(n_nodes, -1),
        reached=np.zeros(n_nodes, np.int64),
        origins=np.empty(n_nodes, np.int64),
        walk=np.empty(n_nodes + 1, np.int64),
        listed=np.empty(n_bodies, np.int64),
        joins=np.empty((n_bodies, 3), np.int64),
        counts=np.zeros(4, np.int64),
    )


@compiled
def _place(pebbles, node, end):
    """Place of a pebble of a node that covers a bar to an end, or is FREE; -1 if it has none."""
    for k in range(PEBBLES):
        if pebbles[node, k] == end:
            return k
    return -1


@compiled
def _search(game, start, held, inside):
    """Walk from a node along covered bars until a node with a free pebble is found.

    ``held``, the body whose pebbles must stay, is not entered. Where ``inside`` is not negative,
    clusters with this verdict are not entered either, and one with the verdict after it is known to
    reach a pebble. Returns the node found, -1 if there is none, and the number of nodes that
    ``game.walk`` lists.
    """
    pebbles, reached, walk = game.pebbles, game.reached, game.walk
    game.counts[SEARCHES] += 1
    stamp = game.counts[SEARCHES]
    reached[start] = stamp
    if held >= 0:
        reached[held] = stamp
    walk[0] = start
    n_reached, n_done = 1, 0
    while n_done < n_reached:
        node = walk[n_done]
        n_done += 1
        for k in range(PEBBLES):
            other = pebbles[node, k]
            if other == FREE or reached[other] == stamp:
                continue
            reached[other] = stamp
            verdict = game.verdicts[find(game.clusters, other)] if inside >= 0 else FREE
            if inside >= 0 and verdict == inside:
                continue
            game.origins[other] = node
            if _place(pebbles, other, FREE) >= 0 or (inside >= 0 and verdict == inside + 1):
                return other, n_reached
            walk[n_reached] = other
            n_reached += 1
    return -1, n_reached


@compiled
def _gather(game, body, needed, held):
    """Gather free pebbles on a body, as many as are needed or can be reached.

    Returns their number, and how many nodes ``game.walk`` lists: where there are fewer than were
    needed, all that can be reached from the body.
    """
    pebbles = game.pebbles
    count = 0
    for k in range(PEBBLES):
        count += pebbles[body, k] == FREE
    while count < min(needed, PEBBLES):
        found, n_reached = _search(game, body, held, -1)
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

    Returns the number of independent bars, and how many nodes, listed in ``game.walk``, are the
    least that hold the two rigid; 0 if they still move against one another.

    Bodies 0, 1 and 2 in a ring, six pebbles each, five bars to a bond (free pebbles in brackets):
    0-1: 0 holds 6, 1 has 6 to spare; 5 of them cover the bars (6, 1, 6): 6 > 5, so it is a hinge.
    1-2: 1 fetches 5 from 0, which covers these bars now, and holds 6; 2 gives 5 (1, 6, 1): a hinge.
    2-0: 2 fetches 5 from 1 and holds 6, 0 fetches the last of 1: it has 2 to spare (2, 0, 6).
    So 2 of the 5 bars are independent and 3 redundant, and 0 and 2 are rigid: the search for a
    third pebble walked from 0 to 1 and found none, so that the nodes listed are 0, 1 and, held, 2.
    """
    _gather(game, a, PEBBLES, -1)
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
    """Put a redundant bond and the bonds that hold its ends rigid into one region, with one hub.

    ``game.walk`` lists the nodes of these bonds. ``stress`` joins bonds into regions, -1 where
    there is none.
    """
    starts, others, numbers = bonds
    reached, walk = game.reached, game.walk
    n_bodies = len(game.following)
    game.counts[SEARCHES] += 1
    stamp = game.counts[SEARCHES]
    hub = -1
    for k in range(n_reached):
        reached[walk[k]] = stamp
        if walk[k] >= n_bodies:
            hub = walk[k]
    if hub < 0:
        hub = n_bodies + game.counts[HUBS]
        game.counts[HUBS] += 1
    stress[bond] = bond
    for k in range(n_reached):
        node = walk[k]
        game.pebbles[node] = hub
        if node >= n_bodies:
            stress[find(stress, game.regions[node])] = find(stress, bond)
            continue
        for entry in range(starts[node], starts[node + 1]):
            number = numbers[entry]
            if number < bond and reached[others[entry]] == stamp:
                if stress[number] < 0:
                    stress[number] = number
                stress[find(stress, number)] = find(stress, bond)
    game.pebbles[hub] = FREE
    game.regions[hub] = bond
    game.clusters[hub] = find(game.clusters, walk[0])


@compiled
def _take(game, node, leader, inside, bond):
    """Join the cluster of a node to that of a leader (-1 for the first); return the new leader.

    The bodies of the smaller cluster are listed. In the ring of ``_add_bars``, 0 is the first and
    leads; 1 joins it, and the circle of ``following`` is 0 → 1 → 0; 2 joins them: 0 → 2 → 1 → 0.
    """
    other = find(game.clusters, node)
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

    ``game.walk`` lists nodes that are rigid with its ends. What else is, reaches no pebble but
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
                found, n_reached = _search(game, start, -1, inside)
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
    the number of independent bars is returned, and some bond of the same region of stress, -1 for
    none; of each body, some body of the same cluster. Each of the joins (joins, 3) names two bodies
    whose clusters become one, and the bond that does it; ``dangling`` bodies join nothing.
    """
    game = _new_game(dangling)
    independent = np.empty(len(ends), np.int64)
    stress = np.full(len(ends), -1)
    for bond in range(len(ends)):
        independent[bond], n_reached = _add_bars(game, ends[bond, 0], ends[bond, 1], bars[bond])
        if independent[bond] < bars[bond]:
            _stress(game, bond, n_reached, bonds, stress)
        if n_reached > 0:
            _grow(game, bond, n_reached, bonds)
    for body in range(len(dangling)):
        game.clusters[body] = find(game.clusters, body)
    for bond in range(len(ends)):
        if stress[bond] >= 0:
            stress[bond] = find(stress, bond)
    return independent, stress, game.clusters[: len(dangling)], game.joins[: game.counts[JOINS]]


@compiled
def blocks(starts, partners, numbers, block):
    """Fill in the block of each edge: some edge of those that are on cycles with one another.

    Row k of ``partners`` and ``numbers``, from ``starts[k]`` on, holds the other ends and the
    numbers of the edges of node k. Nodes are ranked by a walk in breadth, which enters each by an
    edge from a node before it. Every other edge closes one cycle with these; cycles that share an
    edge share a block, and no other cycles are needed (blocks are the components of a matroid).
    Parallel edges share a block, a loop is on no cycle with others.
    """
    n_nodes = len(starts) - 1
    ranks = np.full(n_nodes, -1)
    queue, parents, entered = np.empty((3, n_nodes), np.int64)
    for edge in range(len(block)):
        block[edge] = edge
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
