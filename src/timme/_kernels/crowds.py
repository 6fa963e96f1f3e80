"""Sums over the sites of many rigid bodies: their mean shapes, their turns, how still sites are.

Products of matrices would tell all of these, but of so few numbers each that a library that starts
threads for them waits for threads more than it computes, above all on a busy machine.

Rows of sites are (snapshots × 3,), all coordinates of a snapshot together; sites are in the order
of their bodies, and those of body b begin at ``begins[b]`` and end before ``begins[b + 1]``.
Rotations of bodies are held by columns, ``turns`` (bodies, 3, snapshots × 3), so that the place of
a site in the frame of a body is three sums over the same row.
"""

from __future__ import annotations

from timme._kernels import compiled

_FAST = {"reassoc", "contract", "nsz"}  # sums may be reordered for vector units


@compiled(fastmath=_FAST)
def average(about, begins, turns, shapes):
    """Fill the mean places ``shapes`` (sites, 3) of sites ``about`` the middles of their bodies."""
    width = about.shape[1]
    for body in range(len(begins) - 1):
        for site in range(begins[body], begins[body + 1]):
            x = y = z = 0.0
            for k in range(width):
                x += about[site, k] * turns[body, 0, k]
                y += about[site, k] * turns[body, 1, k]
                z += about[site, k] * turns[body, 2, k]
            shapes[site, 0] = 3.0 * x / width
            shapes[site, 1] = 3.0 * y / width
            shapes[site, 2] = 3.0 * z / width


@compiled(fastmath=_FAST)
def correlate(about, begins, shapes, products):
    """Fill Σ y xᵀ over the sites of each body, x their shape: (bodies, 3, snapshots × 3) by x."""
    width = about.shape[1]
    products[:] = 0.0
    for body in range(len(begins) - 1):
        for site in range(begins[body], begins[body + 1]):
            x, y, z = shapes[site, 0], shapes[site, 1], shapes[site, 2]
            for k in range(width):
                products[body, 0, k] += about[site, k] * x
                products[body, 1, k] += about[site, k] * y
                products[body, 2, k] += about[site, k] * z


@compiled(fastmath=_FAST)
def move(sites, centres, turns, moved):
    """Fill how much each site moves in the frame of each body: ``moved`` (sites, bodies).

    That is Σ |x − c|² over snapshots less that of its mean place there, which all snapshots share.
    """
    width = sites.shape[1]
    for site in range(len(sites)):
        for body in range(len(centres)):
            square = x = y = z = 0.0
            for k in range(width):
                away = sites[site, k] - centres[body, k]
                square += away * away
                x += away * turns[body, 0, k]
                y += away * turns[body, 1, k]
                z += away * turns[body, 2, k]
            moved[site, body] = max(0.0, square - 3.0 * (x * x + y * y + z * z) / width)
