"""The Million Playlist Dataset."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from damage import damaged, load_damaged, mpd_slice, mpd_track, msd_row, write_metadata
from hypothesis import given

from skmtc import PopularityRanker
from skmtc.datasets import load_mpd

SLICE = mpd_slice(
    {
        0: [mpd_track(0, 1), mpd_track(1, 2), mpd_track(2, 3)],
        1: [mpd_track(0, 2), mpd_track(1, 2), mpd_track(2, 4)],
        2: [mpd_track(0, 5)],
    }
)


def _folder(tmp_path, *texts, pack=bytes):
    for i, text in enumerate(texts):
        name = f"mpd.slice.{1000 * i}-{1000 * i + 999}.json"
        (tmp_path / name).write_bytes(pack(text.encode()))
    return tmp_path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_case_worked_by_hand(tmp_path, pack):
    bunch = load_mpd(_folder(tmp_path, SLICE, pack=pack), min_songs=2)
    assert bunch.X["playlist"].tolist() == [0, 0, 0, 1, 1]
    assert bunch.X["song"].tolist() == [f"spotify:track:{i}" for i in (1, 2, 3, 2, 4)]
    assert bunch.X["artist"].tolist() == [f"spotify:artist:{i}" for i in (1, 2, 0, 2, 1)]
    assert bunch.X["duration"].tolist() == [1, 2, 3, 2, 4]
    assert bunch.dropped == {
        "songs that stand twice in a playlist": 1,
        "playlists with fewer than 2 songs": 1,
        "rows of these playlists": 1,
    }
    assert bunch.users is None
    assert bunch.songs["title"].tolist() == ["Title 1", "Title 2", "Title 3", "Title 4"]
    assert bunch.playlists["name"].to_dict() == {0: "p0", 1: "p1"}


def test_text_is_categorical(tmp_path):
    X = load_mpd(_folder(tmp_path, SLICE), min_songs=2).X
    for column in ("song", "artist"):
        assert isinstance(X[column].dtype, pd.CategoricalDtype)
        assert set(X[column].cat.categories) == set(X[column])  # none that is not used


def test_rankers_fit_without_users(tmp_path):
    bunch = load_mpd(_folder(tmp_path, SLICE), min_songs=2)
    assert len(PopularityRanker(user=None).fit(bunch.X).songs_) == 4


def test_slices_are_read_in_the_order_of_their_numbers(tmp_path):
    for first, song in ((10_000, 3), (0, 1), (2_000, 2)):
        text = mpd_slice({first: [mpd_track(0, song)]})
        (tmp_path / f"mpd.slice.{first}-{first + 999}.json").write_text(text)
    (tmp_path / "mpd.slice.notes.json").write_text("not a slice")
    bunch = load_mpd(tmp_path, min_songs=1)
    assert bunch.X["playlist"].tolist() == [0, 2_000, 10_000]


def test_songs_keep_one_code_across_slices(tmp_path):
    more = mpd_slice({1000: [mpd_track(0, 4), mpd_track(1, 1)]})
    bunch = load_mpd(_folder(tmp_path, SLICE, more), min_songs=2)
    assert bunch.X["song"].tolist()[-2:] == ["spotify:track:4", "spotify:track:1"]
    assert bunch.songs.index.is_unique


def test_tracks_are_put_in_the_order_of_their_positions(tmp_path):
    text = mpd_slice({0: [mpd_track(2, 1), mpd_track(0, 2), mpd_track(1, 3)]})
    bunch = load_mpd(_folder(tmp_path, text), min_songs=1)
    assert bunch.X["song"].tolist() == [f"spotify:track:{i}" for i in (2, 3, 1)]
    assert bunch.repaired == {"playlists put in the order of `pos`": 1}


def test_songs_are_matched_to_the_msd_by_name(tmp_path):
    rows = [
        msd_row(1, artist_name="ARTIST 1", title="title-1"),
        msd_row(2, artist_name="Artist 2", title="Title 2!"),
    ]
    msd = write_metadata(tmp_path / "track_metadata.db", rows)
    bunch = load_mpd(_folder(tmp_path, SLICE), msd=msd, min_songs=1)
    assert bunch.X["song"].tolist() == ["SO1", "SO2", "SO2"]
    # Songs 3 and 5 once, song 4 once.
    assert bunch.dropped["rows with songs that are not in the MSD"] == 3


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"name": "x", "tracks": []}, "playlists without an id or tracks"),
        ({"pid": -1, "tracks": []}, "playlists without an id or tracks"),
        ({"pid": True, "tracks": []}, "playlists without an id or tracks"),
        ({"pid": 7}, "playlists without an id or tracks"),
        ({"pid": 0, "tracks": []}, "playlists with an id seen before"),
        ({"pid": 7, "tracks": [mpd_track(0, 1), "x"]}, "malformed tracks"),
        ({"pid": 7, "tracks": [mpd_track(0, 1, track_uri=None)]}, "malformed tracks"),
        ({"pid": 7, "tracks": [mpd_track(0, 1, track_uri=["x"])]}, "malformed tracks"),
        ({"pid": 7, "tracks": [mpd_track(0, 1, track_uri=5)]}, "malformed tracks"),
        (3, "malformed records"),
    ],
)
def test_malformed_records_are_counted_and_reported(tmp_path, record, reason):
    whole = json.loads(SLICE)
    whole["playlists"].append(record)
    with pytest.warns(UserWarning, match=f"1 {reason}"):
        bunch = load_mpd(_folder(tmp_path, json.dumps(whole)), min_songs=1)
    assert bunch.dropped[reason] == 1
    assert {0, 1, 2} <= set(bunch.X["playlist"])


def test_missing_facts_of_a_song_are_missing_values(tmp_path):
    track = {"pos": 0, "track_uri": "t", "duration_ms": "long"}
    text = mpd_slice({"4": [track], 5: [mpd_track(0, 1)]})
    bunch = load_mpd(_folder(tmp_path, text), min_songs=1)
    assert bunch.X["playlist"].tolist() == [4, 5]  # a number written as text is still one
    assert bunch.X["artist"].isna().tolist() == [True, False]
    assert np.isnan(bunch.X["duration"]).tolist() == [True, False]


def test_a_broken_slice_does_not_hide_the_others(tmp_path):
    folder = _folder(tmp_path, SLICE, "no JSON", SLICE[: len(SLICE) // 2])
    with pytest.warns(UserWarning, match="files without records"):
        bunch = load_mpd(folder, min_songs=1)
    assert bunch.dropped["malformed records"] == 1
    assert set(bunch.X["playlist"]) == {0, 1, 2}


def test_a_playlist_in_the_middle_may_be_broken(tmp_path):
    text = SLICE.replace('"pos": 1,\n', '"pos": ,\n', 1)  # of the first playlist
    with pytest.warns(UserWarning, match="1 malformed records"):
        bunch = load_mpd(_folder(tmp_path, text), min_songs=1)
    assert set(bunch.X["playlist"]) == {1, 2}


def test_the_folder_must_hold_slices(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold files mpd.slice"):
        load_mpd(tmp_path)
    with pytest.raises(NotADirectoryError, match="must be that of a folder"):
        load_mpd(tmp_path / "nothing")


def test_the_real_layout_has_a_data_folder(tmp_path):
    (tmp_path / "data").mkdir()
    _folder(tmp_path / "data", SLICE)
    assert len(load_mpd(tmp_path, min_songs=2).X) == 5


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    folder = tmp_path / "mpd"
    folder.mkdir()
    (tmp_path / "elsewhere.json").write_text(SLICE)
    (folder / "mpd.slice.0-999.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(ValueError, match="must lie inside"):
        load_mpd(folder)


def test_a_bomb_is_refused(tmp_path):
    _folder(tmp_path, " " * 10_000_000, pack=gzip.compress)
    with pytest.raises(ValueError, match="max_bytes=1000000"):
        load_mpd(tmp_path, max_bytes=1_000_000)


@given(damaged(SLICE.encode()))
def test_any_bytes_give_a_table_or_a_clear_error(content):
    bunch = load_damaged(load_mpd, {"mpd.slice.0-999.json": content}, min_songs=1)
    if bunch is not None:
        assert not bunch.X[["playlist", "song"]].isna().any(axis=None)
        assert not bunch.X.duplicated(["playlist", "song"]).any()
