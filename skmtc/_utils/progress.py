"""A bar while something slow goes on, where somebody is there to see it."""

import sys
from importlib.util import find_spec


def is_watched():
    """Check whether a bar would be shown: standard error is a terminal, and rich is installed."""
    return sys.stderr.isatty() and find_spec("rich") is not None


def with_bar(items, what, n_items):
    """Go through items with a bar, if standard error is a terminal and rich is installed.

    Parameters
    ----------
    items : iterable
        What to go through.

    what : str
        What is going on, shown before the bar.

    n_items : int or None
        How many items there are; None if that is not known.

    Yields
    ------
    item : object
        The items.
    """
    if not is_watched():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(file=sys.stderr)
    yield from track(items, what, total=n_items, console=console, transient=True)
