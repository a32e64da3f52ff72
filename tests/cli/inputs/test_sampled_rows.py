"""Parts of large tables."""

import numpy as np
import pandas as pd
import pytest

from skmtc.cli import main
from skmtc.cli.inputs._read_table import Table
from skmtc.cli.inputs._sampled_rows import FEWEST_LEFT, sample_rows
from skmtc.cli.inputs._settings import make_splitter
from skmtc.datasets import make_playlists


@pytest.fixture(scope="module")
def table():
    return Table(make_playlists(60, 300, 120, random_state=0), "it")


def test_a_small_table_is_whole(table):
    assert sample_rows(table) is table
    assert sample_rows(table, max_songs=None, max_rows=None) is table


def test_the_songs_in_most_playlists_stay(table):
    part = sample_rows(table, max_songs=40)
    counts = table.X.groupby("song")["playlist"].nunique()
    kept = part.X["song"].unique()
    assert len(kept) <= 40
    assert counts[kept].min() >= counts.drop(kept).max()
    sizes, before = (X.groupby("playlist").size() for X in (part.X, table.X))
    assert ((sizes >= FEWEST_LEFT) | (sizes == before[sizes.index])).all()
    assert f"the 40 songs in most playlists of {len(counts)}" in part.sampled
    assert part.playlist_share == len(sizes) / 300
    assert part.whole_size == table.size != part.size


def test_users_stay_with_all_their_playlists(table, monkeypatch):
    monkeypatch.setattr("skmtc.cli.inputs._sampled_rows.FEWEST_USERS", 5)
    part = sample_rows(table, max_rows=1000)
    assert 0 < len(part.X) <= 1000
    users = part.X["user"].unique()
    assert len(part.X) == table.X["user"].isin(users).sum()
    assert f"{len(users)} of 60 users at random" in part.sampled
    again, other = (sample_rows(table, max_rows=1000, seed=seed) for seed in (0, 1))
    pd.testing.assert_frame_equal(again.X, part.X)
    assert not other.X.equals(part.X)


def test_of_few_users_playlists_are_sampled(table):
    part = sample_rows(table, max_rows=2000)  # there are fewer than 500 of both
    assert 0 < len(part.X) <= 2000
    assert part.X["user"].nunique() > 40
    assert "of 300 playlists at random" in part.sampled
    alone = sample_rows(Table(table.X, "it", user=None), max_rows=5)
    assert alone.X["playlist"].nunique() == 1  # nothing is smaller than a playlist


def test_a_sample_asks_less_of_the_songs_of_new_playlists(table):
    part = sample_rows(table, max_rows=len(table.X) // 2)
    splitter = make_splitter("cold-playlists", part, seed=0)
    assert splitter.min_song_count == round(5 * part.playlist_share) < 5
    options = {"min_song_count": 4}
    splitter = make_splitter("cold-playlists", part, seed=0, options=options)
    assert splitter.min_song_count == 4
    assert make_splitter("cold-playlists", table, seed=0).min_song_count == 5


def test_songs_of_new_playlists_may_be_rarer_if_few_are_tested_else(capsys):
    # Songs are in two playlists, but for three, which are in five.
    rng = np.random.default_rng(0)
    songs = rng.permutation(np.repeat(np.arange(300), 2))
    X = pd.DataFrame({"playlist": np.repeat(np.arange(60), 10), "song": songs})
    frequent = pd.DataFrame({"playlist": np.repeat([60, 61, 62], 3), "song": [0, 1, 2] * 3})
    X = pd.concat([X, frequent], ignore_index=True)
    table = Table(X.assign(user=X["playlist"] // 3), "it")
    splitter = make_splitter("cold-playlists", table, seed=0)
    assert splitter.min_song_count < 5
    n_tested = splitter.describe(X.assign(user=X["playlist"] // 3))["test_playlists"].iloc[0]
    printed = capsys.readouterr().err
    assert (
        f"at least {splitter.min_song_count} playlists instead of 5, so that {n_tested} of 63"
        in printed
    )
    options = {"min_song_count": 5}  # as asked for
    assert make_splitter("cold-playlists", table, seed=0, options=options).min_song_count == 5
    assert capsys.readouterr().err == ""


def test_a_sample_is_reported_and_all_is_on_request(table, tmp_path, capsys):
    table.X.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["compare", str(tmp_path / "t.csv"), "--rankers", "popularity"]
    arguments += ["--setting", "cold-users", "--out", str(tmp_path / "out"), "--max-songs", "50"]
    assert main(arguments) == 0
    reported = capsys.readouterr().err
    assert "sampled for speed: the 50 songs in most playlists of" in reported
    assert "the whole table: --all" in reported
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Sampled for speed: the 50 songs" in page
    assert "<code>--all</code>" in page
    assert main([*arguments, "--all"]) == 0
    assert "sampled" not in capsys.readouterr().err
    assert "Sampled" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
