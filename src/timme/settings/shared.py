"""Settings that several recipes have: which frames are taken, and what is shown."""

from functools import partial

from timme.settings.schema import choose
from timme.settings.values import MIN_SIZE, PALETTE

PALETTES = {"wide": "Many colours", "safe": "Colours for the colour-blind"}

choose_start = partial(
    choose, "First frame, counted from 0", group="reading", flags=("-b", "--begin")
)
choose_stop = partial(choose, "Frame to stop before", group="reading", flags=("-e", "--end"))
choose_step = partial(choose, "Take every so many frames", group="reading", flags=("-dt",), least=1)
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
