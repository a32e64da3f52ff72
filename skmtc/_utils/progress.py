"""Progress bars on terminals."""

import sys
from importlib.util import find_spec


def shows_a_bar():
    """Check whether a bar would be shown: standard error is a terminal, and rich is installed."""
    return sys.stderr.isatty() and find_spec("rich") is not None


def with_bar(items, what, n_items):
    """Iterate over items with a progress bar, if stderr is a terminal and rich is installed.

    Parameters
    ----------
    items : iterable
        Items to iterate over.

    what : str
        Description, shown before the bar.

    n_items : int or None
        Number of items; None if unknown.

    Yields
    ------
    item : object
        The items.
    """
    if not shows_a_bar():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(file=sys.stderr)
    yield from track(items, what, total=n_items, console=console, transient=True)
