"""The AotM-2011 playlists."""

import gzip
import json

import pandas as pd
import pytest
from damage import aotm_record, damaged, load_damaged, msd_row, write_metadata
from hypothesis import given

from skmtc import PopularityRanker
from skmtc.datasets import load_aotm2011

RECORDS = [
    aotm_record(1, ["SO1", None, "SO2", "SO3"]),
    aotm_record("2", ["SO2", "SO2", "SO4", "SO1"], user="bo"),
    aotm_record(3, ["SO5"], user="cy"),
]


def _write(folder, records, pack=bytes):
    path = folder / "aotm2011_playlists.json"
    path.write_bytes(pack(json.dumps(records).encode()))
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_case_worked_by_hand(tmp_path, pack):
    bunch = load_aotm2011(_write(tmp_path, RECORDS, pack), min_songs=3)
    rows = bunch.X[["user", "playlist", "song", "artist"]].astype(str).to_numpy().tolist()
    assert rows == [
        ["ana", "1", "SO1", "artist of SO1"],
        ["ana", "1", "SO2", "artist of SO2"],
        ["ana", "1", "SO3", "artist of SO3"],
        ["bo", "2", "SO2", "artist of SO2"],
        ["bo", "2", "SO4", "artist of SO4"],
        ["bo", "2", "SO1", "artist of SO1"],
    ]
    assert bunch.dropped == {
        "songs without an MSD id": 1,
        "songs that stand twice in a playlist": 1,
        "playlists with fewer than 3 songs": 1,
        "rows of these playlists": 1,
    }
    assert bunch.repaired == {}
    assert bunch.songs.loc["SO4", "title"] == "title of SO4"
    assert list(bunch.users.index) == ["ana", "bo"]
    assert bunch.users["mixes_posted"].tolist() == [3, 3]
    assert bunch.playlists["category"].to_dict() == {"1": "Theme", "2": "Theme"}
    assert "AotM-2011" in bunch.DESCR


def test_every_row_is_kept_or_counted(tmp_path):
    bunch = load_aotm2011(_write(tmp_path, RECORDS), min_songs=3)
    n_rows = sum(len(record["playlist"]) for record in RECORDS)
    lost = {k: v for k, v in bunch.dropped.items() if not k.startswith("playlists")}
    assert len(bunch.X) + sum(lost.values()) == n_rows


def test_a_ranker_fits_the_table(tmp_path):
    bunch = load_aotm2011(_write(tmp_path, RECORDS), min_songs=3)
    assert list(PopularityRanker().fit(bunch.X).songs_) == ["SO1", "SO2", "SO3", "SO4"]


def test_songs_and_genres_are_joined_in_one_call(tmp_path):
    msd = write_metadata(tmp_path / "track_metadata.db", [msd_row(1), msd_row(2, year=0)])
    genres = tmp_path / "genres.cls"
    genres.write_text("TR1\tRock\nTR2\tJazz\tBlues\n")
    bunch = load_aotm2011(_write(tmp_path, RECORDS), msd=msd, genres=genres, min_songs=2)
    assert bunch.X["song"].tolist() == ["SO1", "SO2", "SO2", "SO1"]
    assert bunch.X["genre"].tolist() == ["Rock", "Jazz|Blues", "Jazz|Blues", "Rock"]
    assert bunch.X["artist"].tolist() == ["AR1", "AR2", "AR2", "AR1"]
    assert bunch.X["year"].isna().tolist() == [False, True, True, False]
    assert "second_genre" not in bunch.X
    assert bunch.dropped["rows with songs that are not in the MSD"] == 3


def test_genres_need_the_msd(tmp_path):
    with pytest.raises(ValueError, match="`msd` must be given"):
        load_aotm2011(_write(tmp_path, RECORDS), genres="genres.cls")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (aotm_record(None, ["SO1"]), "playlists without an id or a user"),
        (aotm_record(10**20, ["SO1"]), "playlists without an id or a user"),
        (aotm_record(9, ["SO1"], user=" "), "playlists without an id or a user"),
        (aotm_record(9, ["SO1"]) | {"user": None}, "playlists without an id or a user"),
        (aotm_record(1, ["SO1"]), "playlists with an id seen before"),
        (aotm_record(9, ["SO1"]) | {"playlist": ["SO1"]}, "malformed songs"),
        ("a text", "malformed records"),
    ],
)
def test_malformed_records_are_counted_and_reported(tmp_path, record, reason):
    path = _write(tmp_path, [*RECORDS, record])
    with pytest.warns(UserWarning, match=f"1 {reason}"):
        bunch = load_aotm2011(path, min_songs=1)
    assert bunch.dropped[reason] == 1
    assert bunch.X["playlist"].nunique() == 3


def test_a_record_without_playlist_is_read_from_its_filtered_lists(tmp_path):
    records = [*RECORDS, aotm_record(9, ["SO1", None, "SO7"]) | {"playlist": None}]
    bunch = load_aotm2011(_write(tmp_path, records), min_songs=2)
    assert bunch.X.loc[bunch.X["playlist"] == "9", "song"].tolist() == ["SO1", "SO7"]
    assert bunch.repaired == {"playlists read from their filtered lists": 1}


def test_a_truncated_file_gives_the_playlists_before_the_cut(tmp_path):
    path = _write(tmp_path, RECORDS)
    path.write_bytes(gzip.compress(path.read_bytes()[:-200]))
    with pytest.warns(UserWarning, match="1 malformed records"):
        bunch = load_aotm2011(path, min_songs=1)
    assert bunch.X["playlist"].unique().tolist() == ["1", "2"]


def test_truncated_gzip_is_reported(tmp_path):
    records = [aotm_record(i, [f"SO{i}", f"SO{i * i}"]) for i in range(2, 3000)]
    path = _write(tmp_path, records, gzip.compress)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(UserWarning, match="truncated gzip data"):
        bunch = load_aotm2011(path, min_songs=2)
    assert 100 < bunch.X["playlist"].nunique() < 2998


def test_a_wrong_encoding_is_repaired(tmp_path):
    record = aotm_record(1, ["SO1"], user="Zoë")
    path = tmp_path / "latin.json"
    path.write_bytes(json.dumps([record], ensure_ascii=False).encode("latin-1"))
    bunch = load_aotm2011(path, min_songs=1)
    assert bunch.X["user"].tolist() == ["Zoë"]
    assert bunch.repaired == {"bytes in a wrong encoding, read as Latin-1": 1}


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\x1f\x8b", b"hello"])
def test_a_file_without_playlists_is_an_error(tmp_path, content):
    path = tmp_path / "playlists.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="got no songs in playlists"):
        load_aotm2011(path)


def test_a_filter_that_leaves_nothing_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"got no playlists left .* Lower `min_songs`"):
        load_aotm2011(_write(tmp_path, RECORDS), min_songs=9)
    with pytest.raises(ValueError, match="`min_songs` must be an integer; got 'all'"):
        load_aotm2011(_write(tmp_path, RECORDS), min_songs="all")


@given(damaged(json.dumps(RECORDS).encode()))
def test_any_bytes_give_a_table_or_a_clear_error(content):
    bunch = load_damaged(
        lambda folder: load_aotm2011(folder / "file", min_songs=1), {"file": content}
    )
    if bunch is not None:
        assert isinstance(bunch.X, pd.DataFrame)
        assert not bunch.X[["user", "playlist", "song"]].isna().any(axis=None)
        assert not bunch.X.duplicated(["playlist", "song"]).any()
