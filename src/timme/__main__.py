"""Run the command line by ``python -m timme``."""

from timme.cli import main

main()
