"""Errors as people read them, one line each, and words that lines share."""

from collections.abc import Mapping
from typing import Any


def one_line(error: Exception) -> str:
    r"""Say what is wrong in one line; the file system's own errors name their file last.

    Parameters
    ----------
    error : Exception
        Any error.

    Returns
    -------
    str
        What it says; with the kind of error where that was not written for users.

    Examples
    --------
    >>> one_line(ValueError("too\n  few")), one_line(KeyError("a"))
    ('too few', "KeyError: 'a'")
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    text = " ".join(text.split())
    known = isinstance(error, ValueError | OSError | ImportError) and text
    return text if known else f"{type(error).__name__}: {text}"


def counted(count: int, what: str) -> str:
    """Say how many there are.

    Parameters
    ----------
    count : int
        Number of them.
    what : str
        Name of one.

    Returns
    -------
    str
        Number and name, in the plural unless there is one.

    Examples
    --------
    >>> counted(1, "hinge"), counted(2, "hinge")
    ('1 hinge', '2 hinges')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def require(given: Any, kind: type, step: str, remedies: Mapping[str, str]) -> None:
    """Refuse what belongs to another step, and say what to pass.

    Parameters
    ----------
    given : Any
        What the user passed.
    kind : type
        What is needed.
    step : str
        Which step needs it, by its name within timme.
    remedies : mapping of str
        What to pass in place of things, by the name of their type; of "other" for all else.

    Examples
    --------
    >>> require("1bnr.pdb", int, "example", {"other": "pass a number"})
    Traceback (most recent call last):
    TypeError: timme.example needs int, got str: pass a number
    """
    if not isinstance(given, kind):
        got = type(given).__name__
        remedy = remedies.get(got, remedies["other"])
        raise TypeError(f"timme.{step} needs {kind.__name__}, got {got}: {remedy}")
