"""Run the command line by ``python -m timme_next``."""

from timme_next.cli import main

main()
