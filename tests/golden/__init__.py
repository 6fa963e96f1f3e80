"""Golden vectors: small inputs with their answers, to which the package and the page are held.

`trees.json` and `motions.json` are made by `make.py` from slow, obvious code; `words.json` is
written by hand. None of them ever comes from what the package or the page computes.
"""
