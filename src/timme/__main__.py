"""Run the command line as ``python -m timme``."""

from timme.cli import main

main()
