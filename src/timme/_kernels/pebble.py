"""The pebble game on bodies and bars: which bars are independent, and which bodies are rigid.

Every body has six pebbles, its degrees of freedom. An independent bar is covered by a pebble of one
of its ends; ``pebbles[body, k]`` is the body at the other end of the bar that the k-th pebble
covers, ``FREE``, or ``ABSENT`` where the body has fewer. A free pebble can be fetched along covered
bars, each of which is then covered from its other end.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from timme._kernels.linkage import find

PEBBLES = 6
FREE = -1
ABSENT = -2
_NO_VERDICT = -9


@njit(nogil=True, cache=True)
def new_game(n_bodies):
    """Return the pebbles of bodies that have no bars yet: three each, the place of a point."""
    pebbles = np.full((n_bodies, PEBBLES), ABSENT)
    for body in range(n_bodies):
        for k in range(3):
            pebbles[body, k] = FREE
    return pebbles


@njit(nogil=True, cache=True)
def _slot(pebbles, body, what):
    """Find a pebble of a body that is free, or absent; -1 if there is none."""
    for k in range(PEBBLES):
        if pebbles[body, k] == what:
            return k
    return -1


@njit(nogil=True, cache=True)
def _count(pebbles, body, what):
    """Count the pebbles of a body that are free, or absent."""
    count = 0
    for k in range(PEBBLES):
        count += pebbles[body, k] == what
    return count


@njit(nogil=True, cache=True)
def _search(pebbles, start, held, rigid, scratch, stamp):
    """Walk from a body along covered bars until one with a free pebble is found.

    ``held``, the body whose pebbles must stay, is not entered, nor are bodies whose verdict is
    ``rigid``; one whose verdict is the number after it is known to reach a pebble. ``scratch`` is
    (5, bodies): the stamp of bodies that were reached, from which, by which pebble, a list of them
    in order, and verdicts. Returns the body found, -1 if there is none, and the number reached.
    """
    reached, origin, pebble, walk, verdict = scratch
    reached[start] = stamp
    if held >= 0:
        reached[held] = stamp
    walk[0] = start
    n_reached, n_done = 1, 0
    while n_done < n_reached:
        body = walk[n_done]
        n_done += 1
        for k in range(PEBBLES):
            other = pebbles[body, k]
            if other >= 0 and reached[other] != stamp and verdict[other] != rigid:
                reached[other] = stamp
                origin[other] = body
                pebble[other] = k
                if _slot(pebbles, other, FREE) >= 0 or verdict[other] == rigid + 1:
                    return other, n_reached
                walk[n_reached] = other
                n_reached += 1
    return -1, n_reached


@njit(nogil=True, cache=True)
def _fetch(pebbles, start, found, scratch):
    """Bring the free pebble of a body that was found to the body where the search began."""
    origin, pebble = scratch[1], scratch[2]
    slot = _slot(pebbles, found, FREE)
    while found != start:
        before, k = origin[found], pebble[found]
        pebbles[found, slot] = before
        pebbles[before, k] = FREE
        found, slot = before, k


@njit(nogil=True, cache=True)
def _gather(pebbles, body, wanted, held, scratch, stamp):
    """Gather free pebbles on a body, as many as are wanted or can be had.

    Returns their number, the bodies reached by the last search if it found none, and the stamp.
    """
    count = _count(pebbles, body, FREE)
    most = min(wanted, PEBBLES - _count(pebbles, body, ABSENT))
    n_reached = 0
    while count < most:
        stamp += 1
        found, n_reached = _search(pebbles, body, held, _NO_VERDICT, scratch, stamp)
        if found < 0:
            break
        _fetch(pebbles, body, found, scratch)
        count += 1
    return count, n_reached, stamp


@njit(nogil=True, cache=True)
def add_neighbour(pebbles, neighbour, body, other, bars):
    """Give a body the pebbles it has more with one more bond.

    A point by itself has three. One with a single neighbour turns about itself unseen and has five,
    unless six bars hold it. ``neighbour`` is (2, bodies): the only neighbour, ``FREE`` if there is
    none and ``ABSENT`` if there are several, and the bars to it.
    """
    if neighbour[0, body] == FREE:
        neighbour[0, body] = other
    elif neighbour[0, body] != other:
        neighbour[0, body] = ABSENT
    neighbour[1, body] += bars
    wanted = PEBBLES if neighbour[0, body] == ABSENT or neighbour[1, body] >= PEBBLES else 5
    while PEBBLES - _count(pebbles, body, ABSENT) < wanted:
        pebbles[body, _slot(pebbles, body, ABSENT)] = FREE


@njit(nogil=True, cache=True)
def add_bars(pebbles, a, b, bars, scratch, stamp):
    """Add bars between two bodies; tell how many are independent, and where the others' stress is.

    If some bars are redundant, the list of ``scratch`` begins with the bodies that hold these two
    rigid without them; their number is returned, and the stamp.
    """
    if _count(pebbles, a, ABSENT) > 0:
        a, b = b, a
    # Together two bodies keep six pebbles; two points that have but one another keep five.
    kept = PEBBLES - (_count(pebbles, a, ABSENT) > 0)
    own, _, stamp = _gather(pebbles, a, PEBBLES, -1, scratch, stamp)
    others, n_reached, stamp = _gather(pebbles, b, bars + kept - own, a, scratch, stamp)
    independent = min(bars, own + others - kept)
    for _ in range(independent):
        slot = _slot(pebbles, b, FREE)
        if slot >= 0:
            pebbles[b, slot] = a
        else:
            pebbles[a, _slot(pebbles, a, FREE)] = b
    scratch[3, n_reached] = a
    return independent, n_reached + 1, stamp


@njit(nogil=True, cache=True)
def rigid_cluster(pebbles, body, bonds, n_bonds, scratch, stamp, members):
    """List the bodies that are rigid with one body, itself first; return their number.

    ``bonds`` are the first entry of each body, then other ends and numbers of bonds, of which only
    those below ``n_bonds`` are there. Whatever reaches a free pebble besides the six of this body
    moves against it.
    """
    begin, others, numbers = bonds
    verdict = scratch[4]
    _, _, stamp = _gather(pebbles, body, PEBBLES, -1, scratch, stamp)
    stamp += 1
    rigid, floppy = 2 * stamp, 2 * stamp + 1
    verdict[body] = rigid
    members[0] = body
    n_members, n_done = 1, 0
    while n_done < n_members:
        member = members[n_done]
        n_done += 1
        for entry in range(begin[member], begin[member + 1]):
            start = others[entry]
            if numbers[entry] >= n_bonds or verdict[start] == rigid or verdict[start] == floppy:
                continue
            found = start
            if _slot(pebbles, start, FREE) < 0:
                stamp += 1
                found, n_reached = _search(pebbles, start, body, rigid, scratch, stamp)
            if found < 0:
                for k in range(n_reached):
                    members[n_members] = scratch[3, k]
                    verdict[scratch[3, k]] = rigid
                    n_members += 1
                continue
            while found != start:
                verdict[found] = floppy
                found = scratch[1, found]
            verdict[start] = floppy
    return n_members, stamp


@njit(nogil=True, cache=True)
def rigid_clusters(pebbles, bonds, n_bonds, scratch, stamp, clusters):
    """Fill in the cluster of every body, named by one of its bodies."""
    n_bodies = len(pebbles)
    members = np.empty(n_bodies, np.int64)
    clusters[:] = -1
    for whole in (True, False):  # ends of chains turn about themselves: others are asked first
        for body in range(n_bodies):
            if clusters[body] < 0 and (_count(pebbles, body, ABSENT) == 0 or not whole):
                n_members, stamp = rigid_cluster(
                    pebbles, body, bonds, n_bonds, scratch, stamp, members
                )
                for k in range(n_members):
                    if clusters[members[k]] < 0:
                        clusters[members[k]] = body
    return stamp


@njit(nogil=True, cache=True)
def _stress(bond, a, b, n_bodies, bonds, scratch, stamp, region, leader):
    """Put a redundant bond and the bonds that hold its ends rigid into one region of stress.

    The list of ``scratch`` begins with the bodies of these bonds. ``leader`` joins bonds into
    regions, -1 where there is no stress; ``region`` is some stressed bond of each body.
    """
    begin, others, numbers = bonds
    reached, walk = scratch[0], scratch[3]
    leader[bond] = bond
    if region[a] >= 0 and region[b] >= 0:
        known = find(leader, region[a])
        if known == find(leader, region[b]):
            leader[bond] = known
            return stamp
    stamp += 1
    for k in range(n_bodies):
        reached[walk[k]] = stamp
    for k in range(n_bodies):
        body = walk[k]
        region[body] = bond
        for entry in range(begin[body], begin[body + 1]):
            number = numbers[entry]
            if number < bond and reached[others[entry]] == stamp:
                if leader[number] < 0:
                    leader[number] = number
                leader[find(leader, number)] = find(leader, bond)
    return stamp


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def play(ends, bars, bonds, n_first, anchored, independent, stress, clusters, freedoms, joins):
    """Add bonds one after another; fill in what is independent, stressed and rigid.

    The first ``n_first`` bonds come at once, the others one by one. Each of ``joins`` names two
    bodies whose clusters become one, and the number of bonds by then; bodies that are ``anchored``
    to another join nothing. ``stress`` names a bond of the same region, ``clusters`` a body of the
    same cluster in the end, ``freedoms`` counts the pebbles of a body. Returns the number of joins.
    """
    n_bodies = len(anchored)
    pebbles = new_game(n_bodies)
    neighbour = np.zeros((2, n_bodies), np.int64)
    neighbour[0] = FREE
    scratch = np.zeros((5, n_bodies + 1), np.int64)
    region = np.full(n_bodies, -1)
    members = np.empty(n_bodies, np.int64)
    leader = np.arange(n_bodies)
    stress[:] = -1
    stamp, n_joins = 1, 0
    for bond in range(n_first):
        add_neighbour(pebbles, neighbour, ends[bond, 0], ends[bond, 1], bars[bond])
        add_neighbour(pebbles, neighbour, ends[bond, 1], ends[bond, 0], bars[bond])
    for bond in range(len(ends) + 1):
        if bond == n_first:
            stamp = rigid_clusters(pebbles, bonds, n_first, scratch, stamp, clusters)
            ranked = np.argsort(clusters, kind="mergesort")
            start = 0
            for k in range(1, n_bodies + 1):
                if k == n_bodies or clusters[ranked[k]] != clusters[ranked[start]]:
                    n_joins = _join(
                        ranked[start:k], k - start, anchored, leader, n_first, joins, n_joins
                    )
                    start = k
        if bond == len(ends):
            break
        a, b = ends[bond, 0], ends[bond, 1]
        if bond >= n_first:
            add_neighbour(pebbles, neighbour, a, b, bars[bond])
            add_neighbour(pebbles, neighbour, b, a, bars[bond])
        independent[bond], n_reached, stamp = add_bars(pebbles, a, b, bars[bond], scratch, stamp)
        if independent[bond] < bars[bond]:
            stamp = _stress(bond, a, b, n_reached, bonds, scratch, stamp, region, stress)
        if bond >= n_first and independent[bond] > 0:
            start = a if _count(pebbles, a, ABSENT) == 0 else b
            n_members, stamp = rigid_cluster(
                pebbles, start, bonds, bond + 1, scratch, stamp, members
            )
            n_joins = _join(members, n_members, anchored, leader, bond + 1, joins, n_joins)
    rigid_clusters(pebbles, bonds, len(ends), scratch, stamp, clusters)
    for bond in range(len(ends)):
        if stress[bond] >= 0:
            stress[bond] = find(stress, bond)
    for body in range(n_bodies):
        freedoms[body] = PEBBLES - _count(pebbles, body, ABSENT)
    return n_joins


@njit(nogil=True, cache=True)
def blocks(n_nodes, ends, bonds, block):
    """Fill in the block of each edge: edges that lie on a common cycle are in one block.

    ``bonds`` are the first entry of each node, then other ends and numbers of edges. Returns the
    number of blocks. (Hopcroft and Tarjan's walk, with a stack in place of recursion.)
    """
    begin, others, numbers = bonds
    depth = np.full(n_nodes, -1)
    low = np.empty(n_nodes, np.int64)
    entry = begin[:-1].copy()
    by = np.full(n_nodes, -1)  # edge by which a node was entered
    above = np.full(n_nodes, -1)
    waiting = np.empty(len(ends), np.int64)  # edges walked and not yet in a block
    n_waiting, n_blocks = 0, 0
    for root in range(n_nodes):
        if depth[root] >= 0:
            continue
        depth[root] = low[root] = 0
        node = root
        while node >= 0:
            if entry[node] < begin[node + 1]:
                other, edge = others[entry[node]], numbers[entry[node]]
                entry[node] += 1
                if edge == by[node] or (depth[other] >= 0 and depth[other] > depth[node]):
                    continue
                waiting[n_waiting] = edge
                n_waiting += 1
                if depth[other] >= 0:
                    low[node] = min(low[node], depth[other])
                else:
                    depth[other] = low[other] = depth[node] + 1
                    by[other], above[other] = edge, node
                    node = other
                continue
            parent = above[node]
            if parent >= 0:
                low[parent] = min(low[parent], low[node])
                if low[node] >= depth[parent]:
                    while True:
                        n_waiting -= 1
                        block[waiting[n_waiting]] = n_blocks
                        if waiting[n_waiting] == by[node]:
                            break
                    n_blocks += 1
            node = parent
    return n_blocks
