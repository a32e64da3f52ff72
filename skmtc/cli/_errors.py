"""Error messages of one line."""

import errno
from difflib import get_close_matches

from skmtc._utils.memory_errors import ToldMemoryError
from skmtc.cli._safe_text import printable

# Errors that users can fix; anything else is a bug of this package.
EXPECTED = (ValueError, TypeError, ImportError, OSError, MemoryError)
ADVICE = {
    errno.ENOSPC: "Free some space, or write elsewhere with --out.",
    errno.EDQUOT: "Free some space, or write elsewhere with --out.",
    errno.EACCES: "Change the permissions, or choose another place.",
    errno.EPERM: "Change the permissions, or choose another place.",
    errno.EROFS: "Choose another place.",
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "Check the path.",
    errno.EISDIR: "Name a file.",
}


LONGEST_MESSAGE = 2000  # ids may be long


class CommandError(ValueError):
    """Invalid data, file or id."""


class UsageError(CommandError):
    """Invalid arguments."""


def one_line(error):
    """Describe an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f" {str(error.filename)!r}" if error.filename else ""
        text = f"{error.strerror}:{where}" if where else error.strerror
        advice = ADVICE.get(error.errno, "")
        text = f"{text}. {advice}" if advice else text
    elif isinstance(error, MemoryError):
        text = str(error) or "There is not enough memory."
        if not isinstance(error, ToldMemoryError):
            text += " Use a table with fewer rows, or leave out columns with many different values."
    else:
        text = str(error) or type(error).__name__
    text = printable(" ".join(text.split()))
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}…"
    if isinstance(error, EXPECTED):
        return text
    return f"{type(error).__name__}: {text} (unexpected: run with --debug and report it)"


def nearest(name, known, n=3):
    """Name the known names that are most like one, as the end of a message."""
    by_text = {}
    for value in known:
        by_text.setdefault(str(value).lower(), str(value))
    found = get_close_matches(str(name).lower(), by_text, n=n, cutoff=0.5)
    if not found:
        return ""
    return f" Nearest: {', '.join(repr(by_text[text]) for text in found)}."


def check_name(what, name, known, error=UsageError):
    """Raise if a name is unknown, with the nearest known name."""
    if name not in known:
        near = nearest(name, known) or f" Choose among {', '.join(map(str, known))}."
        raise error(f"There is no {what} {name!r}.{near}")
