"""Progress on stderr; results go to stdout."""

import os
import sys
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic, perf_counter

from sklearn.exceptions import FitFailedWarning

import skmtc
from skmtc.cli._safe_text import printable

# Times are printed from this many seconds on.
FEWEST_SECONDS = 5
# Estimates of fewer seconds than this are not printed.
REPORTED_SECONDS = 20
# Longest time without output, in seconds.
BEAT = 5


class Progress:
    """Print steps as they start: a bar in a terminal with rich, otherwise a line for each.

    Without a bar, a line every few seconds shows that a long step is running.

    Parameters
    ----------
    total : int
        Number of steps.

    quiet : bool, default=False
        Whether to print nothing.

    cost : float or None, default=None
        Sum of the costs of all steps, for the time that is left; None if each costs 1.
    """

    def __init__(self, total, *, quiet=False, cost=None):
        self.total = total
        self.quiet = quiet
        self.done = 0
        self._cost_left = total if cost is None else cost
        self._cost_done = self._cost_now = 0.0
        self._start = perf_counter()
        self._beats = None
        self._bar = None if quiet or not sys.stderr.isatty() else _make_bar()

    def __enter__(self):
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total)
        elif not self.quiet:
            self._beats = Beats()
        return self

    def __exit__(self, *error):
        if self._bar is not None:
            self._bar.stop()
        if self._beats is not None:
            self._beats.stop()

    @property
    def seconds(self):
        """Seconds since the start."""
        return perf_counter() - self._start

    def start(self, what, cost=1.0):
        """Report that the next step starts; its cost is in the unit of the sum of all."""
        self._cost_done += self._cost_now
        self._cost_left -= self._cost_now
        self._cost_now = cost
        self.done += 1
        if self._bar is not None:
            shown = f"{what}{self._times()}"
            self._bar.update(self._task, completed=self.done - 1, description=shown)
        elif not self.quiet:
            print_line(f"[{self.done}/{self.total}] {what}{self._times()}")
            if self._beats is not None:
                self._beats.set_step(what)

    def _times(self):
        """Return the elapsed time and, once a tenth is done, an estimate of the time left."""
        seconds = self.seconds
        if seconds < FEWEST_SECONDS:
            return ""
        times = f"{minutes(seconds)} so far"
        if self._cost_done >= 0.1 * (self._cost_done + self._cost_left):
            left = seconds / self._cost_done * max(0.0, self._cost_left)
            times += f", about {minutes(left)} left"
        return f" ({times})"

    def skip(self, n_steps, cost=None):
        """Report that some steps will not be taken."""
        self.total -= n_steps
        self._cost_left -= n_steps if cost is None else cost
        if self._bar is not None:
            self._bar.update(self._task, total=self.total)

    def print(self, text):
        """Print a result to stdout, above the bar if there is one."""
        if self._bar is not None:
            self._bar.stop()
        print(text, flush=True)
        if self._bar is not None:
            self._bar.start()

    def finish(self):
        """Fill the bar."""
        if self._bar is not None:
            self._bar.update(self._task, completed=self.total, description="done")


class Beats:
    """A thread that prints every few seconds that a step is running."""

    def __init__(self, what=""):
        self._lock = Lock()
        self._stopped = Event()
        self.set_step(what)
        self._thread = Thread(target=self._beat, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def set_step(self, what):
        """Set the step that is printed."""
        with self._lock:
            self._what, self._start = what, monotonic()

    def stop(self):
        """Print nothing more."""
        self._stopped.set()
        self._thread.join()

    def _beat(self):
        while not self._stopped.wait(BEAT):
            with self._lock:
                seconds = monotonic() - self._start
                if self._what and seconds >= BEAT - 0.5:
                    print_line(f"      {self._what}: {minutes(seconds)}")


def beats(what, *, quiet=False):
    """Return a context that prints every few seconds that a step is running."""
    return nullcontext() if quiet else Beats(what)


def print_line(line):
    """Print what is being done, in one line."""
    print(line, file=sys.stderr, flush=True)


def minutes(seconds):
    """Format seconds as text."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def note_first_compilation():
    """Print that the first large fit on a machine compiles, if numba has no cache yet."""
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
    # Results go to stdout, also if it is redirected.
    return Bar(*columns, console=Console(stderr=True), redirect_stdout=False)


def note(text):
    """Print a note in one line."""
    print(f"note: {printable(' '.join(str(text).split()))}", file=sys.stderr, flush=True)


@contextmanager
def warnings_as_notes():
    """Print each warning about data once as a note; drop warnings for developers."""
    shown = set()

    def show(message, category, *_, **__):
        if issubclass(category, UserWarning | RuntimeWarning) and str(message) not in shown:
            shown.add(str(message))
            note(message)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", FitFailedWarning)  # shown in the row of the table
        warnings.showwarning = show
        yield
