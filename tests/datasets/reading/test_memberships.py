"""Playlists read from files."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skmtc.datasets.reading import _memberships
from skmtc.datasets.reading._load_report import LoadReport
from skmtc.datasets.reading._memberships import Join, Memberships, to_bunch

PLAYLISTS = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=12)


def _bunch(playlists, min_songs, block_rows=2**22):
    memberships, load_report = Memberships(), LoadReport("test")
    for song in range(7):
        memberships.songs[f"s{song}"] = song
    for number, songs in enumerate(playlists):
        memberships.add(f"p{number}", songs, f"u{number % 3}")
    songs = pd.DataFrame({"tempo": np.arange(7.0)}, index=pd.Index(memberships.songs, name="song"))
    users = pd.DataFrame({"age": np.arange(float(len(memberships.users)))}, memberships.users)
    with mock.patch.object(_memberships, "BLOCK_ROWS", block_rows):
        return to_bunch(
            memberships, songs, users, Join(None, None, "id", min_songs, 1), load_report, ""
        )


@given(PLAYLISTS, st.integers(1, 4), st.integers(1, 5))
def test_rows_are_first_songs_of_long_enough_playlists(playlists, min_songs, block_rows):
    distinct = {f"p{i}": [f"s{s}" for s in dict.fromkeys(p)] for i, p in enumerate(playlists)}
    expected = {i: songs for i, songs in distinct.items() if len(songs) >= min_songs}
    if not expected:
        with pytest.raises(ValueError, match="must hold at least one; got no"):
            _bunch(playlists, min_songs, block_rows)
        return
    bunch = _bunch(playlists, min_songs, block_rows)
    found = bunch.X.groupby("playlist", observed=True, sort=False)["song"].agg(list).to_dict()
    assert found == expected
    n_short = bunch.dropped.get(f"playlists with fewer than {min_songs} songs", 0)
    assert n_short == len(playlists) - len(expected)
    lost = {k: v for k, v in bunch.dropped.items() if not k.startswith("playlists")}
    assert len(bunch.X) + sum(lost.values()) == sum(map(len, playlists))


def test_columns_are_those_of_the_song_and_the_user():
    bunch = _bunch([[3, 5], [5], [6, 1]], min_songs=2)
    assert list(bunch.X) == ["user", "playlist", "song", "tempo", "age"]
    assert bunch.X["tempo"].tolist() == [3, 5, 6, 1]
    assert bunch.X["user"].tolist() == ["u0", "u0", "u2", "u2"]
    assert bunch.X["age"].tolist() == [0, 0, 2, 2]
    assert bunch.songs.index.tolist() == ["s1", "s3", "s5", "s6"]  # only those in the table
    assert list(bunch.users.index) == ["u0", "u2"]
    assert "1 playlists with fewer than 2 songs" in bunch.DESCR
