"""The pebble game on bodies and bars: which bars are independent, and which bodies are rigid.

Every body has six pebbles, its degrees of freedom. An independent bar is covered by a pebble of one
of its ends; ``pebbles[body, k]`` is the body at the other end of the bar that the k-th pebble
covers, ``FREE``, or ``ABSENT`` where the body has fewer. A free pebble can be fetched along covered
bars, each of which is then covered from its other end.

Bodies from which no pebble can be had are rigid with one another. Where they are stressed as well,
a hub takes the place of the bars between them: one more node, with six bars to each of them. Which
bars are independent and what is stressed remains the same, and a search steps through the hub
instead of walking through all of a region, however large it is. Where regions merge, the hub of one
takes the others in as it does bodies.
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
ABSENT = -2
_NO_VERDICT = -9


class Game(NamedTuple):
    """The state of a game. Nodes are bodies, and hubs after them.

    A cluster's leader is a body, and one that is anchored only if all its bodies are.
    """

    pebbles: Ints  # (nodes, 6)
    neighbour: Ints  # (2, bodies), the only neighbour, FREE if none, ABSENT if several; bars to it
    region: Ints  # (nodes,), a stressed bond of each hub
    cluster: Ints  # (nodes,), nodes that are rigid with one another; bodies with all pebbles only
    following: Ints  # (bodies,), the next body of the same cluster, in a circle
    size: Ints  # (bodies,), of the cluster of a leader, bodies that are not anchored
    verdict: Ints  # (nodes,), of the leader of a cluster: whether it joins another
    listed: Ints  # (bodies,), whether a body is listed for the same
    reached: Ints  # (nodes,), the last search that reached a node
    origin: Ints  # (nodes,), from which node
    by: Ints  # (nodes,), by which pebble
    walk: Ints  # (nodes + 1,), the nodes of the last search, in order
    counts: Ints  # (2,), searches and hubs so far


@compiled
def _new_game(anchored):
    """Set up bodies that have no bars yet: three pebbles each, the place of a point."""
    n_bodies = len(anchored)
    # A hub takes the place of at least six independent bars, and bodies have no more than six each.
    n_nodes = 2 * n_bodies
    pebbles = np.full((n_nodes, PEBBLES), FREE)
    pebbles[:n_bodies, 3:] = ABSENT
    neighbour = np.zeros((2, n_bodies), np.int64)
    neighbour[0] = FREE
    return Game(
        pebbles=pebbles,
        neighbour=neighbour,
        region=np.full(n_nodes, -1),
        cluster=np.arange(n_nodes),
        following=np.arange(n_bodies),
        size=np.where(anchored, 0, 1),
        verdict=np.zeros(n_nodes, np.int64),
        listed=np.zeros(n_bodies, np.int64),
        reached=np.zeros(n_nodes, np.int64),
        origin=np.empty(n_nodes, np.int64),
        by=np.empty(n_nodes, np.int64),
        walk=np.empty(n_nodes + 1, np.int64),
        counts=np.zeros(2, np.int64),
    )


@compiled
def _slot(pebbles, node, what):
    """Find a pebble of a node that is free, or absent; -1 if there is none."""
    for k in range(PEBBLES):
        if pebbles[node, k] == what:
            return k
    return -1


@compiled
def _count(pebbles, node, what):
    """Count the pebbles of a node that are free, or absent."""
    count = 0
    for k in range(PEBBLES):
        count += pebbles[node, k] == what
    return count


@compiled
def _search(game, start, held, inside):
    """Walk from a node along covered bars until one with a free pebble is found.

    ``held``, the body whose pebbles must stay, is not entered, nor are clusters whose verdict is
    ``inside``; one whose verdict is the number after it is known to reach a pebble. Returns the
    node found, -1 if there is none, and the number reached, which ``game.walk`` lists.
    """
    pebbles, reached, walk = game.pebbles, game.reached, game.walk
    game.counts[0] += 1
    stamp = game.counts[0]
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
            if other < 0 or reached[other] == stamp:
                continue
            reached[other] = stamp
            verdict = FREE
            if inside != _NO_VERDICT:
                verdict = game.verdict[find(game.cluster, other)]
            if verdict == inside:
                continue
            game.origin[other] = node
            game.by[other] = k
            if _slot(pebbles, other, FREE) >= 0 or verdict == inside + 1:
                return other, n_reached
            walk[n_reached] = other
            n_reached += 1
    return -1, n_reached


@compiled
def _fetch(game, start, found):
    """Bring the free pebble of a node that was found to the body where the search began."""
    slot = _slot(game.pebbles, found, FREE)
    while found != start:
        before, k = game.origin[found], game.by[found]
        game.pebbles[found, slot] = before
        game.pebbles[before, k] = FREE
        found, slot = before, k


@compiled
def _gather(game, body, wanted, held):
    """Gather free pebbles on a body, as many as are wanted or can be had.

    Returns their number, and how many nodes ``game.walk`` then lists: if there are fewer than were
    wanted, all that can be reached from the body.
    """
    count = _count(game.pebbles, body, FREE)
    most = min(wanted, PEBBLES - _count(game.pebbles, body, ABSENT))
    while count < most:
        found, n_reached = _search(game, body, held, _NO_VERDICT)
        if found < 0:
            return count, n_reached
        _fetch(game, body, found)
        count += 1
    game.walk[0] = body  # all its pebbles are free: they lead nowhere
    return count, 1


@compiled
def _add_neighbour(game, body, other, bars):
    """Give a body the pebbles it has more with one more bond.

    A point by itself has three. One with a single neighbour turns about itself unseen and has five,
    unless six bars hold it.
    """
    pebbles, neighbour = game.pebbles, game.neighbour
    if neighbour[0, body] == FREE:
        neighbour[0, body] = other
    elif neighbour[0, body] != other:
        neighbour[0, body] = ABSENT
    neighbour[1, body] += bars
    wanted = PEBBLES if neighbour[0, body] == ABSENT or neighbour[1, body] >= PEBBLES else 5
    while PEBBLES - _count(pebbles, body, ABSENT) < wanted:
        pebbles[body, _slot(pebbles, body, ABSENT)] = FREE


@compiled
def _add_bars(game, a, b, bars):
    """Add bars between two bodies; tell how many are independent, and what has become rigid.

    Returns the number of independent bars, and how many nodes, listed in ``game.walk``, are the
    least that hold these two rigid; 0 if they still move against one another.

    Bodies 0, 1 and 2 in a ring, six pebbles each, five bars to a bond (free pebbles in brackets):
    0-1: 0 holds 6, 1 has 6 to spare; 5 of them cover the bars (6, 1, 6): 6 > 5, so it is a hinge.
    1-2: 1 fetches 5 from 0, which covers these bars now, and holds 6; 2 gives 5 (1, 6, 1): a hinge.
    2-0: 2 fetches 5 from 1 and holds 6, 0 fetches the last of 1: it has 2 to spare (2, 0, 6).
    So 2 of the 5 bars are independent and 3 redundant, and 0 and 2 are rigid: the search for a
    third pebble walked from 0 to 1 and found none, so that the nodes listed are 0, 1 and, held, 2.
    """
    pebbles = game.pebbles
    if _count(pebbles, a, ABSENT) > 0:
        a, b = b, a
    # What two bodies keep, if they are rigid, is what the first has: six pebbles. Each pebble of
    # the second is worth a bar. Of two that have but one another, each turns about itself unseen
    # and has five: one of the second is left over if they are rigid, and taken only by a fifth
    # bar, with which they are a line.
    _gather(game, a, PEBBLES, -1)
    left = 1 if _count(pebbles, a, ABSENT) > 0 else 0
    spare, n_reached = _gather(game, b, bars + left + 1, a)
    independent = min(bars, spare)
    for _ in range(independent):
        pebbles[b, _slot(pebbles, b, FREE)] = a
    if spare > bars + left:
        return independent, 0
    game.walk[n_reached] = a
    return independent, n_reached + 1


@compiled
def _stress(game, bond, n_reached, bonds, stress):
    """Put a redundant bond and the bonds that hold its ends rigid into one region, with one hub.

    ``game.walk`` lists the nodes of these bonds. ``stress`` joins bonds into regions, -1 where
    there is none.
    """
    begin, others, numbers = bonds
    reached, walk = game.reached, game.walk
    n_bodies = len(game.following)
    game.counts[0] += 1
    stamp = game.counts[0]
    hub = -1
    for k in range(n_reached):
        reached[walk[k]] = stamp
        if walk[k] >= n_bodies:
            hub = walk[k]
    if hub < 0:
        hub = n_bodies + game.counts[1]
        game.counts[1] += 1
    stress[bond] = bond
    for k in range(n_reached):
        node = walk[k]
        game.pebbles[node] = hub
        if node >= n_bodies:
            stress[find(stress, game.region[node])] = find(stress, bond)
            continue
        for entry in range(begin[node], begin[node + 1]):
            number = numbers[entry]
            if number < bond and reached[others[entry]] == stamp:
                if stress[number] < 0:
                    stress[number] = number
                stress[find(stress, number)] = find(stress, bond)
    game.pebbles[hub] = FREE
    game.region[hub] = bond
    game.cluster[hub] = find(game.cluster, walk[0])


@compiled
def _list_bodies(game, leader, inside, members, n_members):
    """List the bodies of a cluster that are not listed yet."""
    body = leader
    while True:
        if game.listed[body] != inside:
            game.listed[body] = inside
            members[n_members] = body
            n_members += 1
        body = game.following[body]
        if body == leader:
            return n_members


@compiled
def _take(game, node, leader, inside, members, n_members):
    """Make the cluster of a node part of that of a leader, -1 for the first; list the smaller.

    In the ring of ``_add_bars`` each body is a cluster by itself, and 0, 1 and 2 are taken in turn:
    0 is the first, so it is the leader, and its bodies are not listed;
    1 joins it: size 2, the circle of ``following`` is 0 → 1 → 0, and 1 is listed;
    2 joins them: size 3, the circle is 0 → 2 → 1 → 0, and 2 is listed.
    Had the cluster of 2 been larger, it would lead, and the bodies of 0 and 1 would be listed.
    """
    other = find(game.cluster, node)
    if game.verdict[other] == inside:
        return leader, n_members
    game.verdict[other] = inside
    if _count(game.pebbles, node, ABSENT) > 0:  # an end of a chain: it may still come to turn
        return leader, _list_bodies(game, node, inside, members, n_members)
    if leader < 0:
        if game.size[other] == 0:  # its leader joins nothing: others may hang on its bodies
            n_members = _list_bodies(game, other, inside, members, n_members)
        return other, n_members
    if game.size[other] > game.size[leader]:
        leader, other = other, leader
    n_members = _list_bodies(game, other, inside, members, n_members)
    game.cluster[other] = leader
    game.size[leader] += game.size[other]
    after = game.following[leader]
    game.following[leader] = game.following[other]
    game.following[other] = after
    return leader, n_members


@compiled
def _grow(game, bond, n_reached, bonds, members):
    """Join the clusters that one more bond makes rigid with one another; list their bodies.

    ``game.walk`` lists nodes that are rigid with its ends. What else is, reaches no pebble but
    theirs. Of the clusters that join, all but the largest are looked around: whatever had bars to
    the largest alone would have been rigid with it before. The number of bodies listed is returned:
    those of all these clusters, and of the largest its leader.

    In the ring of ``_add_bars`` the walk is 0, 1, 2, of which ``_take`` lists 1 and 2.
    Around 1 and 2 there are but bodies that are inside: the list ends with the leader: 1, 2, 0.
    Were 1 bonded to a body 3 as well, which bears others, a search would start from 3: it finds a
    pebble that is not theirs, so that 3 moves against the ring, and its verdict is inside + 1.
    Had it found none, all that it reached would be taken, listed, and looked around in its turn.
    """
    begin, others, numbers = bonds
    game.counts[0] += 1
    inside = 2 * game.counts[0]
    leader, n_members = -1, 0
    for k in range(n_reached):
        leader, n_members = _take(game, game.walk[k], leader, inside, members, n_members)
    n_done = 0
    while n_done < n_members:
        member = members[n_done]
        n_done += 1
        for entry in range(begin[member], begin[member + 1]):
            start = others[entry]
            cluster = find(game.cluster, start)
            if numbers[entry] > bond or game.verdict[cluster] in (inside, inside + 1):
                continue
            found = start
            if _slot(game.pebbles, start, FREE) < 0:
                found, n_reached = _search(game, start, -1, inside)
            if found < 0:
                for k in range(n_reached):
                    leader, n_members = _take(
                        game, game.walk[k], leader, inside, members, n_members
                    )
                continue
            while found != start:
                game.verdict[find(game.cluster, found)] = inside + 1
                found = game.origin[found]
            game.verdict[cluster] = inside + 1
    if leader >= 0:
        members[n_members] = leader
        n_members += 1
    return n_members


@compiled
def _join(members, n_members, anchored, leader, n_bonds, joins, n_joins):
    """Join the clusters of bodies that are rigid with one another, anchored ones left aside."""
    first = -1
    for k in range(n_members):
        body = members[k]
        if anchored[body]:
            continue
        if first < 0:
            first = body
        elif find(leader, first) != find(leader, body):
            leader[find(leader, body)] = find(leader, first)
            joins[n_joins, 0] = first
            joins[n_joins, 1] = body
            joins[n_joins, 2] = n_bonds
            n_joins += 1
    return n_joins


@compiled
def _name_clusters(game, clusters):
    """Fill in the cluster of every body; an end of a chain is in that of its neighbour."""
    for body in range(len(clusters)):
        clusters[body] = find(game.cluster, body)
        other = game.neighbour[0, body]
        if other < 0 or _count(game.pebbles, body, ABSENT) == 0:
            continue
        # Two that have but one another are rigid with four bars: 5 + 5 - 4 = 6; else 5 + 6 - 5.
        alone = _count(game.pebbles, other, ABSENT) > 0
        if game.neighbour[1, body] >= (4 if alone else 5):
            clusters[body] = min(body, other) if alone else find(game.cluster, other)


@compiled
def play(ends, bars, bonds, n_first, anchored, independent, stress, clusters, freedoms, joins):
    """Add bonds one after another; fill in what is independent, stressed and rigid.

    The first ``n_first`` bonds count as added at once, the others one by one. ``bonds`` are the
    first entry of each body, then other ends and numbers of bonds. Each of ``joins`` names two
    bodies whose clusters become one, and the number of bonds by then; bodies that are ``anchored``
    to another join nothing. ``stress`` names a bond of the same region, ``clusters`` a body of the
    same cluster in the end, ``freedoms`` counts the pebbles of a body. Returns the number of joins.
    """
    n_bodies = len(anchored)
    game = _new_game(anchored)
    members = np.empty(n_bodies + 1, np.int64)
    leader = np.arange(n_bodies)
    stress[:] = -1
    n_joins = 0
    for bond in range(n_first):
        _add_neighbour(game, ends[bond, 0], ends[bond, 1], bars[bond])
        _add_neighbour(game, ends[bond, 1], ends[bond, 0], bars[bond])
    for bond in range(len(ends)):
        a, b = ends[bond, 0], ends[bond, 1]
        if bond >= n_first:
            _add_neighbour(game, a, b, bars[bond])
            _add_neighbour(game, b, a, bars[bond])
        independent[bond], n_reached = _add_bars(game, a, b, bars[bond])
        if independent[bond] < bars[bond]:
            _stress(game, bond, n_reached, bonds, stress)
        if n_reached > 0:
            n_members = _grow(game, bond, n_reached, bonds, members)
            n_bonds = max(n_first, bond + 1)
            n_joins = _join(members, n_members, anchored, leader, n_bonds, joins, n_joins)
    _name_clusters(game, clusters)
    for bond in range(len(ends)):
        if stress[bond] >= 0:
            stress[bond] = find(stress, bond)
    for body in range(n_bodies):
        freedoms[body] = PEBBLES - _count(game.pebbles, body, ABSENT)
    return n_joins
