"""What is told while work goes on, always on stderr: results alone go to stdout."""

import os
import sys
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from sklearn.exceptions import FitFailedWarning

import skmtc
from skmtc.cli._safe_text import printable

# Times are told from this many seconds on.
FEWEST_SECONDS = 5


class Progress:
    """Print steps as they start: a bar in a terminal with rich, otherwise a line for each.

    Parameters
    ----------
    total : int
        Number of steps.

    quiet : bool, default=False
        Whether to tell nothing.
    """

    def __init__(self, total, *, quiet=False):
        self.total = total
        self.quiet = quiet
        self.done = 0
        self._start = perf_counter()
        self._bar = None if quiet or not sys.stderr.isatty() else _make_bar()

    def __enter__(self):
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total)
        return self

    def __exit__(self, *error):
        if self._bar is not None:
            self._bar.stop()

    def start(self, what):
        """Report that the next step starts."""
        self.done += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done - 1, description=what)
        elif not self.quiet:
            line = f"[{self.done}/{self.total}] {what}{self._times()}"
            print(line, file=sys.stderr, flush=True)

    def _times(self):
        """Return how long it has taken, and about how long it will, once a third is done."""
        seconds, before = perf_counter() - self._start, self.done - 1
        if seconds < FEWEST_SECONDS:
            return ""
        told = f"{_minutes(seconds)} so far"
        if 3 * before >= self.total:
            told += f", about {_minutes(seconds / before * (self.total - before))} left"
        return f" ({told})"

    def skip(self, n_steps):
        """Report that some steps will not be taken."""
        self.total -= n_steps
        if self._bar is not None:
            self._bar.update(self._task, total=self.total)

    def finish(self):
        """Fill the bar."""
        if self._bar is not None:
            self._bar.update(self._task, completed=self.total, description="done")


def _minutes(seconds):
    """Show seconds as a person would."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def tell_first_compilation():
    """Report that the first large fit on a machine compiles for a while, if it has not yet."""
    compiled = Path(skmtc.__file__).parent.rglob("*.nbi")  # what numba keeps
    if find_spec("numba") is not None and not any(compiled) and "NUMBA_CACHE_DIR" not in os.environ:
        note(
            "the first fit on a large table compiles its inner loops, which takes some twenty "
            "seconds, once per machine"
        )


def _make_bar():
    """Make rich's progress bar; None without rich."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    columns = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    # Names of rankers are text, not markup.
    columns.append(TextColumn("{task.description}", markup=False))
    return Bar(*columns, console=Console(stderr=True))


def note(text):
    """Print something that is worth knowing, in one line."""
    print(f"note: {printable(' '.join(str(text).split()))}", file=sys.stderr, flush=True)


@contextmanager
def warnings_as_notes():
    """Turn warnings about data into notes, each told once; those to developers are left out."""
    told = set()

    def show(message, category, *_, **__):
        if issubclass(category, UserWarning | RuntimeWarning) and str(message) not in told:
            told.add(str(message))
            note(message)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", FitFailedWarning)  # the table says it in its row
        warnings.showwarning = show
        yield
