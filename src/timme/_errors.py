"""Errors as people read them: one line each."""


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
