"""Settings that several recipes have, or that have names of their own on the command line."""

from functools import partial

from timme.settings.schema import choose
from timme.settings.texts import parse_counts, parse_frame_or_time
from timme.settings.values import MIN_SIZE, PALETTE

PALETTES = {"wide": "Many colours", "safe": "Colours for the colour-blind"}

_frame_or_time = partial(
    choose,
    group="reading",
    metavar="FRAME|TIME",
    parse=parse_frame_or_time,
    such="a whole number, or a time such as 10ns or 500ps",
)
choose_start = partial(
    _frame_or_time, "First frame, counted from 0, or its time (10ns)", flags=("-b", "--begin")
)
choose_stop = partial(
    _frame_or_time, "Frame to stop before, or the last time", flags=("-e", "--end")
)
choose_step = partial(
    _frame_or_time, "Take every so many frames, or one in such a time", flags=("-dt",), least=1
)
choose_replicas = partial(
    choose,
    "Snapshots of each independent run, in their order, or one for a single run",
    group="sure",
    usual="one, or trajectory files that do not go on from the one before",
    flags=("--replicas", "--replica"),
    metavar="500,500,…|one",
    parse=parse_counts,
    words={"one": "one"},
    such="numbers of snapshots such as 500,500, or one",
)
choose_truncated = partial(
    choose, "Use the whole frames of a damaged file", group="reading", default=False
)
choose_common_atoms = partial(
    choose, "Go on with the atoms that all models share", group="reading", default=False
)
choose_show = partial(
    choose,
    "Sites that are drawn and counted",
    group="shown",
    usual="Cα of proteins, P or C4' of nucleic acids",
)
choose_min_size = partial(
    choose, "Clusters of fewer are grey", default=MIN_SIZE, group="shown", least=1
)
choose_palette = partial(
    choose, "Colours; safe for the colour-blind", default=PALETTE, group="shown", choices=PALETTES
)
