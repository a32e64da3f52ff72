"""A bar where somebody sees it."""

import io
import sys

import pandas as pd
from damage import mpd_slice, mpd_track

from skmtc import PopularityRanker, compare
from skmtc._utils.progress import with_bar
from skmtc.datasets import load_mpd, make_playlists
from skmtc.model_selection import ColdUserKFold


class Terminal(io.StringIO):
    """Text that says that it is a terminal."""

    def isatty(self):
        """Return True."""
        return True


def fake_terminal(monkeypatch):
    """Put a terminal in place of standard error; in a fixture, pytest would undo it."""
    fake = Terminal()
    monkeypatch.setattr(sys, "stderr", fake)
    monkeypatch.setenv("TERM", "xterm")
    return fake


def test_a_terminal_shows_a_bar(monkeypatch):
    terminal = fake_terminal(monkeypatch)
    assert list(with_bar(iter("abc"), "Reading", 3)) == ["a", "b", "c"]
    assert "Reading" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


def test_nothing_is_shown_without_a_terminal(capsys):
    assert list(with_bar(iter("abc"), "Reading", None)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_without_rich(monkeypatch):
    terminal = fake_terminal(monkeypatch)
    monkeypatch.setattr("skmtc._utils.progress.find_spec", lambda _: None)
    assert list(with_bar("abc", "Reading", 3)) == ["a", "b", "c"]
    assert terminal.getvalue() == ""


def test_compare_shows_a_bar(monkeypatch):
    terminal = fake_terminal(monkeypatch)
    X = make_playlists(8, 20, 40, 6, random_state=0)
    compare({"popularity": PopularityRanker()}, X, ColdUserKFold(2), "hit_rate@1")
    assert "Comparing" in terminal.getvalue()


def test_loaders_show_a_bar(monkeypatch, tmp_path):
    text = mpd_slice({0: [mpd_track(0, 1), mpd_track(1, 2)], 1: [mpd_track(0, 2), mpd_track(1, 3)]})
    (tmp_path / "mpd.slice.0-999.json").write_text(text)
    seen_by_nobody = load_mpd(tmp_path, min_songs=2).X
    terminal = fake_terminal(monkeypatch)
    pd.testing.assert_frame_equal(load_mpd(tmp_path, min_songs=2).X, seen_by_nobody)
    assert "Reading slices" in terminal.getvalue()
