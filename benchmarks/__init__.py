"""How fast TIMME is, always beside a peer in the same run: ``python -m benchmarks``."""
