"""Rigid clusters of a structure by counting constraints, and how hydrogen bonds join them."""
