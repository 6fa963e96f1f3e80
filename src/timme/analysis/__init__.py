"""Analysis of one ensemble: its steps, its result, and what was found."""
