"""What is reported while work goes on."""

import io
import sys
import time
import warnings

import pytest
from sklearn.exceptions import FitFailedWarning

from skmtc.cli import _progress_lines
from skmtc.cli._progress_lines import Progress, warnings_as_notes


class Terminal(io.StringIO):
    """A stream that looks like a terminal."""

    def isatty(self):
        """Return True."""
        return True


def _work(quiet=False):
    with Progress(4, quiet=quiet) as progress:
        progress.start("one [bold]")
        progress.skip(2)
        progress.start("two")
        progress.finish()


def test_lines_where_there_is_no_terminal(capsys):
    _work()
    assert capsys.readouterr().err == "[1/4] one [bold]\n[2/2] two\n"


def test_quiet(capsys):
    _work(quiet=True)
    assert capsys.readouterr().err == ""


def test_a_bar_in_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    _work()
    reported = sys.stderr.getvalue()
    assert "2/2" in reported
    assert "[1/4]" not in reported


def test_lines_in_a_terminal_without_rich(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for name in ("rich", "rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)
    _work()
    assert sys.stderr.getvalue() == "[1/4] one [bold]\n[2/2] two\n"


def test_warnings_become_notes_reported_once(capsys):
    with warnings_as_notes():
        for _ in range(2):
            warnings.warn("Left out:\n 3 rows", UserWarning, stacklevel=1)
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
        warnings.warn("reported elsewhere", FitFailedWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: Left out: 3 rows\n"
    with pytest.warns(UserWarning, match="as before"):
        warnings.warn("as before", UserWarning, stacklevel=1)


def test_times_are_reported_once_they_are_long(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 60.0, 300.0])
    monkeypatch.setattr(_progress_lines, "perf_counter", lambda: next(clock))
    progress = Progress(6)
    for step in ("a", "b", "c"):
        progress.start(step)
    assert capsys.readouterr().err.splitlines() == [
        "[1/6] a",
        "[2/6] b (60 s so far, about 5 min left)",
        "[3/6] c (5 min so far, about 10 min left)",
    ]


def test_what_is_left_follows_the_costs(monkeypatch, capsys):
    clock = iter([0.0, 0.0, 10.0, 100.0, 110.0])
    monkeypatch.setattr(_progress_lines, "perf_counter", lambda: next(clock))
    progress = Progress(4, cost=200.0)
    progress.start("a", 10.0)
    progress.start("b", 90.0)
    progress.start("c", 10.0)
    progress.skip(1, 50.0)
    progress.start("d", 40.0)
    assert capsys.readouterr().err.splitlines() == [
        "[1/4] a",
        "[2/4] b (10 s so far)",
        "[3/4] c (2 min so far, about 2 min left)",
        "[4/3] d (2 min so far, about 40 s left)",
    ]


def test_long_steps_are_reported_again_and_again(monkeypatch, capsys):
    monkeypatch.setattr(_progress_lines, "BEAT", 0.05)
    with Progress(2) as progress:
        progress.start("long")
        time.sleep(0.4)
        progress.start("short")
    reported = capsys.readouterr().err.splitlines()
    assert reported[0] == "[1/2] long"
    assert "[2/2] short" in reported
    assert reported.count("      long: 0 s") >= 2
    time.sleep(0.2)
    assert capsys.readouterr().err == ""  # the thread is gone


def test_results_are_printed_above_the_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with Progress(1) as progress:
        progress.start("one")
        progress.print("the result")
    assert capsys.readouterr().out == "the result\n"
    assert "the result" not in sys.stderr.getvalue()


def test_the_first_compilation_is_reported(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(_progress_lines.skmtc, "__file__", str(tmp_path / "__init__.py"))
    _progress_lines.note_first_compilation()
    assert "note: the first fit on a large table compiles" in capsys.readouterr().err
    (tmp_path / "sweep.nbi").write_text("")
    _progress_lines.note_first_compilation()
    assert capsys.readouterr().err == ""
