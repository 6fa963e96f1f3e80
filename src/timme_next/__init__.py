"""TIMME finds which parts of a many-particle system move together."""
